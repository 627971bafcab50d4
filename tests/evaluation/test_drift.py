import json

import numpy as np
import pandas as pd
import pytest

from bayespoint.evaluation.drift import LEVEL, drift, summarize


def table(n_rows, seed, shift=0.0, town=("Ulm", "Bonn", "Köln")):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.normal(size=n_rows) + shift,
            "stars": rng.integers(1, 6, n_rows).astype(float),
            "town": rng.choice(list(town), n_rows),
            "note": rng.choice(["good", "very good", "not so good"], n_rows),
        }
    ).astype({"town": object, "note": object})
    frame.loc[::7, "age"] = np.nan
    frame.loc[::9, "town"] = None
    return frame


def by_name(found):
    return {column.column: column for column in found}


def test_the_summary_is_plain_json_of_a_bounded_size():
    frame = table(500, 0).assign(code=[f"c{i}" for i in range(500)])
    reference = summarize(frame, texts=["note"])
    assert json.loads(json.dumps(reference)) == reference
    assert reference["n_rows"] == 500
    kinds = {name: column["kind"] for name, column in reference["columns"].items()}
    assert kinds == dict(
        age="number", stars="number", town="category", note="text", code="category"
    )
    for name, column in reference["columns"].items():
        shares = column["shares"]
        total = sum(shares.values() if isinstance(shares, dict) else shares)
        assert total + column.get("other", 0) + column["missing"] == pytest.approx(1), name
    assert len(reference["columns"]["code"]["shares"]) == 50
    assert reference["columns"]["age"]["missing"] == pytest.approx(72 / 500)
    # Five stars need no more than five bins.
    assert len(reference["columns"]["stars"]["edges"]) <= 5


def test_the_same_law_is_rarely_accused():
    """Holm keeps the chance of any false accusation below the level: 40 tries, at most 6.

    The binomial probability of more than 6 of 40 at the level 0.05 is 0.3 %.
    """
    reference = summarize(table(1000, 0), texts=["note"])
    wrong = 0
    for seed in range(1, 41):
        found = drift(reference, table(600, seed))
        wrong += any(column.p_value < LEVEL for column in found)
    assert wrong <= 6


def test_what_has_changed_is_found_and_the_rest_is_not():
    reference = summarize(table(1000, 0), texts=["note"])
    new = table(800, 1, shift=1.0, town=("Ulm", "Bonn", "Rom"))
    new.loc[::2, "stars"] = np.nan
    found = by_name(drift(reference, new))
    assert {name for name, column in found.items() if column.drifted} == {"age", "stars", "town"}
    assert found["town"].new_categories == ["Rom"]
    # A shift by one standard deviation: total variation 2 Phi(1/2) - 1 = 0.38 of known ages.
    assert found["age"].distance == pytest.approx(0.38 * 6 / 7, abs=0.07)
    assert found["stars"].missing_before == 0
    assert found["stars"].missing_now == 0.5
    assert [column.distance for column in drift(reference, new)] == sorted(
        [column.distance for column in found.values()], reverse=True
    )


def test_longer_texts_are_found():
    reference = summarize(table(500, 0), texts=["note"])
    new = table(500, 1).assign(note="a text that is much longer than all the others")
    assert by_name(drift(reference, new))["note"].drifted


def test_few_rows_many_columns_and_nothing_to_compare():
    reference = summarize(table(500, 0))
    assert not any(column.drifted for column in drift(reference, table(3, 1, shift=5.0)))
    assert drift(reference, table(0, 1)) == []
    assert drift(summarize(table(0, 0)), table(9, 1)) == []
    assert [c.column for c in drift(reference, table(50, 1)[["town"]].assign(x=1))] == ["town"]
    empty = pd.DataFrame({"x": [np.nan] * 30})
    assert drift(summarize(empty), empty)[0].distance == 0
    assert drift(summarize(empty), pd.DataFrame({"x": np.arange(30.0)}))[0].drifted
