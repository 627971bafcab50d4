import pytest
import typer

from bayespoint.cli.options import (
    make_cluster,
    make_column_wishes,
    make_plan,
    make_read_options,
)


def test_a_tab_may_be_written_with_a_backslash():
    assert make_read_options(delimiter="\\t").delimiter == "\t"
    with pytest.raises(typer.BadParameter, match="one character"):
        make_read_options(delimiter=";;")


def test_the_number_of_features_is_a_read_option():
    plan = make_plan(make_read_options(encoding="latin-1"), features=7)
    assert (plan.read_options.encoding, plan.read_options.n_features) == ("latin-1", 7)


def test_wishes_about_columns():
    wishes = make_column_wishes(
        drop=["a"], ignore=["b"], keep=["c"], dates=["d=%d.%m.%Y", "e=f"], decimal=","
    )
    assert wishes.uses == {
        "a": "drop",
        "b": "drop",
        "c": "keep",
        "d": "date %d.%m.%Y",
        "e=f": "date",
    }
    assert wishes.decimal == ","


def test_workers_are_started_or_found():
    assert make_cluster() is None
    assert make_cluster(workers=2) == (2, None)
    assert make_cluster(scheduler="tcp://here:1") == (None, "tcp://here:1")
    with pytest.raises(typer.BadParameter, match="not both"):
        make_cluster(workers=2, scheduler="tcp://here:1")
