import numpy as np
import pandas as pd
from scipy import sparse

from bayespoint.classifiers._learned_rows import LearnedRows, stack_tables
from bayespoint.geometry.points import stack_points


def rows(weight=None, used=None):
    points = np.arange(4.0 if used is None else len(used))[:, None]
    return LearnedRows(np.array(["a", "b", "a", "b"]), weight, used, points)


def test_without_some_rows():
    left, removed = rows(np.array([1.0, 0, 2, 3]), np.array([0, 2, 3])).without(np.array([1, 2]))
    assert list(left.y) == ["a", "b"]
    assert list(left.used) == [0, 1]
    assert list(left.weight) == [1, 3]
    assert list(left.points[:, 0]) == [0, 2]
    assert list(removed) == [1]


def test_weights_that_come_later():
    more = rows().with_labels(np.array(["a", "a"]), [0.0, 2.0])
    assert list(more.weight) == [1, 1, 1, 1, 0, 2]
    assert list(more.weigh(None).used) == [0, 1, 2, 3, 5]
    assert rows().with_labels(np.array(["a"]), None).weight is None


def test_points_keep_their_kind():
    assert isinstance(stack_points(np.eye(2), sparse.csr_matrix(np.eye(2))), np.ndarray)
    assert sparse.issparse(stack_points(sparse.csr_matrix(np.eye(2)), np.eye(2)))


def test_categoricals_keep_all_categories():
    first = pd.DataFrame({"a": pd.Categorical([1, 2]), "b": [0.5, None]})
    second = pd.DataFrame({"a": pd.Categorical([3, 1]), "b": [1.0, 2.0]})
    whole = stack_tables([first, second])
    assert isinstance(whole.dtypes["a"], pd.CategoricalDtype)
    assert list(whole.a) == [1, 2, 3, 1]
    assert list(whole.a.cat.categories) == [1, 2, 3]


def test_tables_have_the_kind_of_the_first():
    frame = pd.DataFrame({"a": [1.0], "b": [2.0]})
    assert list(stack_tables([frame, np.array([[3.0, 4.0]])]).a) == [1, 3]
    assert isinstance(stack_tables([np.eye(2), sparse.csr_matrix(np.eye(2))]), np.ndarray)
    assert sparse.issparse(stack_tables([sparse.csr_matrix(np.eye(2)), np.eye(2)]))
