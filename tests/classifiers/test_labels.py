import numpy as np
import pytest

from bayespoint import (
    AdaptiveMarginSVC,
    BayesPointClassifier,
    LinearBayesPointClassifier,
    LinearMarginSVC,
    OnionClassifier,
    RejectOptionClassifier,
)
from bayespoint.classifiers._labels import (
    drop_single_output,
    number_classes,
    one_against_rest,
    require_labels,
    require_two_classes,
    winning_class,
)


def test_classes_are_numbered_in_sorted_order():
    classes, target = number_classes(np.array(["pear", "apple", "pear", "fig"]))
    assert classes.tolist() == ["apple", "fig", "pear"]
    assert target.tolist() == [2, 0, 2, 1]


def test_one_class_is_not_enough():
    with pytest.raises(ValueError, match=r"at least two classes.*holds one class: .*'a'"):
        number_classes(np.array(["a", "a"]))
    with pytest.raises(ValueError, match="holds no class"):
        require_two_classes(np.array([]))


def test_numbers_on_a_continuous_scale_are_no_classes():
    with pytest.raises(ValueError, match="Unknown label type"):
        number_classes(np.array([0.5, 1.5, 2.25]))


def test_two_classes_have_one_output_and_more_have_one_each():
    assert one_against_rest(np.array([0, 1, 1]), 2).tolist() == [[-1, 1, 1]]
    assert one_against_rest(np.array([0, 2, 1]), 3).tolist() == [
        [1, -1, -1],
        [-1, -1, 1],
        [-1, 1, -1],
    ]
    assert one_against_rest(np.array([0, 1]), 2, dtype=float).dtype == float


@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_the_coded_labels_win(n_classes, rng):
    target = rng.integers(n_classes, size=50)
    assert winning_class(one_against_rest(target, n_classes).T).tolist() == target.tolist()


def test_a_zero_output_means_the_first_class():
    assert winning_class(np.array([[0.0], [1e-300]])).tolist() == [0, 1]


def test_single_outputs_lose_their_axis():
    assert drop_single_output(np.zeros((4, 5, 1))).shape == (4, 5)
    assert drop_single_output(np.zeros((4, 5, 3))).shape == (4, 5, 3)


ESTIMATORS = [
    BayesPointClassifier(),
    LinearBayesPointClassifier(),
    OnionClassifier(),
    AdaptiveMarginSVC(),
    LinearMarginSVC(),
    RejectOptionClassifier(LinearBayesPointClassifier()),
]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda estimator: type(estimator).__name__)
def test_missing_texts_are_named(estimator):
    """Pandas' NA ended in "boolean value of NA is ambiguous"."""
    pd = pytest.importorskip("pandas")
    X, labels = np.arange(12.0).reshape(6, 2), ["a", "b", None, "a", "b", None]
    for y in (pd.Series(labels, dtype="string"), pd.Series(labels, dtype=object), labels):
        with pytest.raises(ValueError, match=r"missing in 2 of 6 rows \(the first is row 2,"):
            estimator.fit(X, y)


def test_labels_without_gaps_pass():
    require_labels(None)
    require_labels([1.0, np.nan])  # scikit-learn refuses it
    require_labels(np.array(["a", "b"], dtype=object))
    require_labels(np.array([[None], ["a"]], dtype=object))
    with pytest.raises(ValueError, match="missing in 1 of 2 rows"):
        require_labels(np.array(["a", np.nan], dtype=object))
