import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.stats import binom

from bayespoint.classifiers.reject.chain import make_chain
from bayespoint.classifiers.reject.groups import (
    MISSING,
    UNKNOWN,
    as_groups,
    certify_groups,
    group_codes,
    group_values,
    known_groups,
)
from bayespoint.classifiers.reject.promise import Promise

RISK, N_DRAWS, N_GROUPS = 0.05, 400, 8


def promise_of(wrong, limit=0.1):
    return Promise("error", limit, wrong, np.ones(len(wrong), dtype=bool))


def draw(rng, n, risk_of, n_groups=N_GROUPS):
    """Draw confidences, errors and groups; the error of rank u in group g is risk_of(u, g)."""
    rank, group = rng.random(n), rng.integers(n_groups, size=n)
    return rank, rng.random(n) < risk_of(rank, group), group


def error_above(threshold, group, risk_of):
    """Return the true error of the rows of a group that a threshold accepts."""
    ranks = np.linspace(max(threshold, 0), 1, 2001)
    return np.mean(risk_of(ranks, group))


def flat(rank, group):
    """Return an error just above the limit in each group, whatever the confidence."""
    return np.full(np.shape(rank), 0.1005)


def wave(rank, group):
    """Return errors that rise and fall with confidence, and are too large on the whole."""
    return 0.1 + 0.08 * np.cos(12 * rank + np.asarray(group))


@pytest.mark.parametrize("risk_of", [flat, wave])
def test_promises_hold_in_all_groups_together(rng, risk_of):
    def n_broken(certify):
        broken = 0
        for _ in range(N_DRAWS):
            confidence, wrong, group = draw(rng, 1600, risk_of)
            thresholds = certify(confidence, [promise_of(wrong)], group, N_GROUPS, RISK)
            broken += any(
                threshold < np.inf and error_above(threshold, code, risk_of) > 0.1
                for code, threshold in enumerate(thresholds)
            )
        return broken

    def each_with_all_the_risk(confidence, promises, group, n_groups, risk):
        parts = [np.flatnonzero(group == code) for code in range(n_groups)]
        return [
            make_chain(confidence[rows], [promises[0].of(rows)], risk).lowest_certified(risk)[0]
            for rows in parts
        ]

    limit = binom.ppf(0.999, N_DRAWS, RISK)
    assert n_broken(certify_groups) <= limit
    if risk_of is flat:  # groups that do not share the risk break their promises
        assert n_broken(each_with_all_the_risk) > limit


def test_a_group_without_need_of_its_risk_gives_it_to_others(rng):
    n = 40_000
    confidence, group = rng.random(n), rng.integers(4, size=n)
    wrong = rng.random(n) < np.where(group == 0, 0.25 * (1 - confidence), 0.001)
    thresholds = certify_groups(confidence, [promise_of(wrong)], group, 4, RISK)
    assert np.all(thresholds[1:] == -np.inf)
    rows = group == 0
    alone = make_chain(confidence[rows], [promise_of(wrong[rows])], RISK / 4)
    assert thresholds[0] == alone.lowest_certified(RISK)[0]
    assert thresholds[0] <= alone.lowest_certified(RISK / 4)[0]


def test_groups_that_are_too_small_cost_nothing(rng):
    confidence, wrong = rng.random(500), np.zeros(500, dtype=bool)
    group = np.where(np.arange(500) < 470, 0, 1 + np.arange(500) % 3)
    thresholds = certify_groups(confidence, [promise_of(wrong, 0.02)], group, 4, RISK)
    assert thresholds.tolist() == [-np.inf, np.inf, np.inf, np.inf]
    rows = group == 0
    alone = make_chain(confidence[rows], [promise_of(wrong[rows], 0.02)], RISK)
    assert alone.lowest_certified(RISK)[0] == thresholds[0]


def test_nothing_can_be_promised():
    found = certify_groups(np.ones(5), [promise_of(np.zeros(5))], np.zeros(5, int), 2, RISK)
    assert found.tolist() == [np.inf, np.inf]


def test_groups_are_answers_or_values_of_a_column():
    answers = np.array(["a", "b", "a"])
    table = pd.DataFrame({"x": [1, 2, 2], "place": ["n", None, "s"], "y": [0.5, np.nan, 1]})
    assert group_values("prediction", table, answers) is answers
    assert group_values("place", table, answers).tolist() == ["n", MISSING, "s"]
    assert group_values("x", table, answers).tolist() == [1, 2, 2]
    assert group_values(1, table, answers).tolist() == ["n", MISSING, "s"]
    matrix = np.array([[1.0, 2], [3, 4], [5, 6]])
    assert group_values(-1, matrix, answers).tolist() == [2, 4, 6]
    assert group_values(1, sparse.csr_matrix(matrix), answers).tolist() == [2, 4, 6]


def test_columns_that_are_not_there():
    answers, table = np.zeros(2), pd.DataFrame({"x": [1, 2]})
    with pytest.raises(ValueError, match="'prediction' or a column of X, but X has the columns"):
        group_values("z", table, answers)
    with pytest.raises(TypeError, match="without column names"):
        group_values("x", np.ones((2, 1)), answers)
    with pytest.raises(ValueError, match="X has 1 columns"):
        group_values(1, table, answers)
    twice = pd.DataFrame([[1, 2], [3, 4]], columns=["x", "x"])
    with pytest.raises(ValueError, match="several columns with the name 'x'"):
        group_values("x", twice, answers)


SOUTH = np.array([True, False, True])
COLUMNS = {
    "categories": (pd.Categorical(np.where(SOUTH, "s", "n")), ["s", "n", "s"]),
    "categories of numbers": (pd.Categorical(np.where(SOUTH, 1, 2)), [1.0, 2.0, 1.0]),
    "pandas texts": (pd.array(["s", pd.NA, "s"], dtype="string"), ["s", MISSING, "s"]),
    "bools": (SOUTH, [1.0, 0.0, 1.0]),
    "bools with gaps": (pd.array([True, pd.NA, True], dtype="boolean"), ["1", MISSING, "1"]),
    "all sorts": (pd.Series([1.0, None, "s"], dtype=object), ["1", MISSING, "s"]),
    "lists": (pd.Series([[1], [2], [1]]), ["[1]", "[2]", "[1]"]),
    "empty texts": (["", "s", ""], ["", "s", ""]),
    "dates": (pd.to_datetime(["2024-05-01", None, "2024-05-01"]), ["d", MISSING, "d"]),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_columns_of_all_types(name):
    column, expected = COLUMNS[name]
    values = group_values("g", pd.DataFrame({"g": column}), np.zeros(3))
    if name == "dates":
        assert values[0].startswith("2024-05-01")
        values = np.where(values == values[0], "d", values)
    assert values.tolist() == expected
    known = known_groups(values)
    assert known[group_codes(known, values)].tolist() == values.tolist()


@pytest.mark.parametrize(
    ("trained", "new"),
    [
        ([2.0, 10.0, np.nan], pd.Series(["2", "10", None])),
        (["2", "10", MISSING], pd.Series([2, 10, None])),
        (["2", "10", MISSING], pd.array([2, 10, pd.NA], dtype="Int64")),
        (["1", "0", MISSING], pd.array([True, False, pd.NA], dtype="boolean")),
    ],
)
def test_the_same_groups_in_another_type(trained, new):
    """A file may hold the numbers of regions as texts, and the next one as numbers."""
    known = known_groups(as_groups(np.array(trained)))
    codes = group_codes(known, as_groups(new))
    assert as_groups(known[codes]).tolist() == pytest.approx(as_groups(trained).tolist(), nan_ok=1)


def test_numbers_that_cannot_be_told_apart_and_texts_that_are_no_names():
    with pytest.raises(ValueError, match=r"2\*\*53 or more"):
        known_groups(as_groups(np.array([2**60, 2**60 + 1])))
    assert known_groups(as_groups(np.array([1.0, np.inf]))).tolist() == [1.0, np.inf]
    with pytest.raises(ValueError, match="more than 200 characters"):
        known_groups(as_groups(["x" * 201, "y"]))
    # A huge text among new rows takes no room, and is no known group.
    values = as_groups(["x" * 10**6, "x" * 200])
    assert values.itemsize < 1000
    assert group_codes(np.array(["x" * 200]), values).tolist() == [UNKNOWN, 0]


@pytest.mark.parametrize(
    ("known", "values", "codes"),
    [
        ([1.0, 2.0, np.nan], [2, np.nan, 3, 0], [1, 2, UNKNOWN, UNKNOWN]),
        ([1.0, 2.0], [np.nan], [UNKNOWN]),
        (["a", "c"], ["c", "b", "d", "a"], [1, UNKNOWN, UNKNOWN, 0]),
        ([1.0], ["x"], [UNKNOWN]),
        ([1, 5], [5, 1], [1, 0]),
    ],
)
def test_places_among_known_values(known, values, codes):
    assert group_codes(np.array(known), np.array(values)).tolist() == codes
