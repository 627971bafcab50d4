"""Labels of all kinds become positions in the list of classes, or a clear error."""

import numpy as np
import pytest

from bayespoint.evaluation.measure import evaluate_probabilities
from bayespoint.evaluation.targets import class_positions, is_missing


def test_positions_with_new_classes_at_the_end():
    known = np.array(["b", "a"])
    target, classes = class_positions(["a", "new", "b", "new"], known)
    assert target.tolist() == [1, 2, 0, 2]
    assert classes.tolist() == ["b", "a", "new"]
    assert class_positions(["a"], known)[1] is known


def test_pandas_columns():
    pd = pytest.importorskip("pandas")
    for y in (
        pd.Series(["a", "b"], index=[7, 3]),
        pd.Series(["a", "b"], dtype="category"),
        pd.Series(["a", "b"], dtype="string"),
    ):
        assert evaluate_probabilities(y, np.eye(2), ["a", "b"]).error.number == 0
    with pytest.raises(ValueError, match="missing in 1 of 2 rows"):
        evaluate_probabilities(pd.Series(["a", None], dtype="string"), np.eye(2), ["a", "b"])


def test_missing_values():
    pd = pytest.importorskip("pandas")
    assert all(map(is_missing, [None, np.nan, float("nan"), pd.NA, pd.NaT, np.datetime64("NaT")]))
    assert not any(map(is_missing, ["", 0, False, "nan", np.inf]))


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([], "at least one row"),
        ([["a"], ["b"]], "a column"),
        (["a", None], "missing in 1 of 2 rows .the first is row 1"),
        (["a", np.nan], "missing in 1 of 2 rows"),
        (["0", "1"], "'0', '1'.*right column"),
        (list("cdefgh"), "'c', 'd', 'e', 'f', 'g', ...."),
    ],
)
def test_clear_errors(y, message):
    probability = np.eye(2)[np.zeros(len(y), dtype=int)]
    with pytest.raises(ValueError, match=message):
        evaluate_probabilities(np.array(y, dtype=object), probability, ["a", "b"])
