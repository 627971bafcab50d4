import pytest
import typer

from bayespoint.cli.reject_options import make_rejection, with_groups


def test_rejection_holds_only_what_was_given():
    assert make_rejection() is None
    assert make_rejection(reject_rate=0.0) == {"reject_rate": 0.0}
    expected = {"max_error": 0.1, "confidence_level": 0.9}
    assert make_rejection(max_error=0.1, confidence_level=0.9) == expected


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"reject_rate": 0.1, "max_error": 0.1}, "not both"),
        ({"confidence_level": 0.9}, "needs --max-error"),
    ],
)
def test_options_that_do_not_go_together(given, message):
    with pytest.raises(typer.BadParameter, match=message):
        make_rejection(**given)


def test_groups_need_a_promise():
    promise = {"max_error": 0.1}
    assert with_groups(promise, "town") == {"max_error": 0.1, "groups": "town"}
    assert with_groups(promise, None) == promise
    assert with_groups(None, None) == {}
    for rejection in (None, {"reject_rate": 0.1}):
        with pytest.raises(typer.BadParameter, match="--groups needs --max-error"):
            with_groups(rejection, "town")
