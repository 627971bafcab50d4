import numpy as np
import pandas as pd
from scipy import sparse

from bayespoint.io.tables.columns import Columns
from bayespoint.io.tables.preprocessing import make_preprocessor, make_sparse_preprocessor


def test_numbers_and_text():
    """Numbers are filled with the median, marked and scaled; each category has a column."""
    texts = ["a", "b", None] * 10 + ["rare"]
    X = pd.DataFrame({"x": [1.0, np.nan, 3.0] * 10 + [2.0], "t": pd.Series(texts, dtype=object)})
    preprocessor = make_preprocessor(Columns(["x"], ["t"], "kind", False)).fit(X)
    assert list(preprocessor.get_feature_names_out()) == [
        *("x", "missingindicator_x", "t_a", "t_b", "t_None", "t_infrequent_sklearn"),
    ]
    new = pd.DataFrame({"t": pd.Series(["b", None, "new"], dtype=object), "x": [2.0, np.nan, 1.0]})
    Z = preprocessor.transform(new)
    Z = Z.toarray() if hasattr(Z, "toarray") else Z
    filled = np.array([1.0, 2.0, 3.0] * 10 + [2.0])
    np.testing.assert_allclose(Z[:, 0], (np.array([2, 2, 1]) - 2) / filled.std(), atol=1e-12)
    assert Z[1, 1] > Z[0, 1] == Z[2, 1]
    np.testing.assert_array_equal(Z[:, 2:], [[0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])


def test_sparse_columns_keep_their_zeros():
    X = sparse.csr_matrix([[0.0, -4.0], [2.0, 0.0]])
    Z = make_sparse_preprocessor().fit_transform(X)
    np.testing.assert_array_equal(Z.toarray(), [[0, -1], [1, 0]])
