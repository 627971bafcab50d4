import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_classification

from bayespoint import BayesPointClassifier
from bayespoint.classifiers._training_data import label_rows, require_all_classes
from weights_helpers import classifier


@pytest.fixture
def data():
    return make_classification(150, 6, n_informative=3, flip_y=0.1, random_state=0)


@pytest.mark.parametrize(
    ("array", "place", "value"),
    [("indices", 0, -1), ("indices", 2, 10**9), ("indices", 5, 6), ("indptr", 5, 10**8)],
)
@pytest.mark.parametrize("sorted_", [True, False])
def test_entries_outside_of_a_sparse_matrix_are_an_error(data, array, place, value, sorted_):
    # Such entries would be written to arbitrary memory.
    X, y = data
    X = sparse.csr_matrix(X)
    good = X.copy()
    getattr(X, array)[place] = value
    X.has_sorted_indices = X.has_canonical_format = sorted_
    for model in classifier(), BayesPointClassifier():
        with pytest.raises(ValueError, match="not a valid sparse matrix"):
            model.fit(X, y)
        with pytest.raises(ValueError, match="not a valid sparse matrix"):
            model.fit(good, y).predict(X)


def test_labels_are_coded_and_rows_without_weight_dropped():
    X, classes = np.arange(4.0)[:, None], np.array(["a", "b", "c"])
    table = label_rows(X, np.array(["a", "b", "b", "c"]), [1, 0, 2, 3], classes, {"c": 2})
    np.testing.assert_array_equal(table.labels, [0, 1, 2])
    np.testing.assert_array_equal(table.weight, [1, 2, 6])
    np.testing.assert_array_equal(table.X[:, 0], [0, 2, 3])
    two = label_rows(X, np.array(["a", "b", "b", "a"]), None, classes[:2], None)
    np.testing.assert_array_equal(two.labels, [-1, 1, 1, -1])
    assert two.X is X


def test_every_class_needs_a_row():
    require_all_classes(np.array([0, 2, 1, 1]), np.array(["a", "b", "c"]))
    with pytest.raises(ValueError, match="no row of positive weight"):
        require_all_classes(np.array([0, 2, 2]), np.array(["a", "b", "c"]))
