import gzip
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

from bayespoint import LinearBayesPointClassifier
from bayespoint.io.tables.chunks import read_chunks


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.integers(0, 5, (25, 3)), columns=list("abc"))
    table["kind"] = np.arange(25) % 2
    return table


def write(table, path):
    if ".parquet" in path.name:
        table.to_parquet(path)
    else:
        table.to_csv(path, index=False, sep="\t" if ".tsv" in path.name else ",")
    return path


@pytest.mark.parametrize(
    "name", ["t.csv", "t.CSV", "t.csv.gz", "t.tsv.bz2", "t.xz.csv.xz", "t.parquet"]
)
def test_tables_come_in_pieces(tmp_path, table, name):
    path = write(table, tmp_path / name)
    chunks = list(read_chunks(path, "kind", n_rows=10))
    assert [len(y) for _, y in chunks] == [10, 10, 5]
    X = pd.concat([X for X, _ in chunks], ignore_index=True)
    pd.testing.assert_frame_equal(X, table[list("abc")].astype(float))
    np.testing.assert_array_equal(np.concatenate([y for _, y in chunks]), table.kind)


@pytest.mark.parametrize("compressed", [False, True])
def test_libsvm_comes_in_pieces(tmp_path, table, compressed):
    X = sparse.csr_matrix(table[list("abc")].to_numpy(float))
    X.data[X.indices == 2] *= np.arange((X.indices == 2).sum()) > 5  # absent in the first chunk
    X.eliminate_zeros()
    path = tmp_path / "t.libsvm"
    dump_svmlight_file(X, table.kind, str(path), zero_based=False)
    if compressed:
        path = Path(f"{path}.gz")
        path.write_bytes(gzip.compress(Path(str(path)[:-3]).read_bytes().rstrip(b"\n")))
    for n_features, width in ((None, 3), (4, 4)):
        chunks = list(read_chunks(path, n_rows=10, n_features=n_features))
        assert [part.shape for part, _ in chunks] == [(10, width), (10, width), (5, width)]
        whole = sparse.vstack([part for part, _ in chunks]).toarray()[:, :3]
        np.testing.assert_array_equal(whole, X.toarray())
        np.testing.assert_array_equal(np.concatenate([y for _, y in chunks]), table.kind)


def test_a_file_is_learned_like_an_array(tmp_path, table):
    path = write(table, tmp_path / "t.csv")
    one, two = (LinearBayesPointClassifier(prior_variance=1.0) for _ in range(2))
    for X, y in read_chunks(path, "kind", n_rows=10):
        one.partial_fit(X, y, classes=[0, 1])
    for start in range(0, 25, 10):
        part = table[start : start + 10]
        two.partial_fit(part[list("abc")], part.kind, classes=[0, 1])
    np.testing.assert_array_equal(one.coef_, two.coef_)


@pytest.mark.parametrize(
    ("name", "text", "options", "message"),
    [
        ("t.csv", "a,b\n1,2\n", {"target": "c"}, "no column 'c'. The columns are: a, b"),
        ("t.csv", "a,b\n1,2\n", {}, "target should name the column of t.csv"),
        ("noname", "", {}, "noname is empty"),
        ("t.csv", "a\n1\n", {"target": "a", "n_rows": 0}, "n_rows should be at least 1"),
        ("t.svm", "1 1:2\n1 x:y\n", {"n_features": 2}, "t.svm, rows 1 to 2"),
        ("t.svm", "1 1:2\n1 3:1\n", {"n_features": 2}, "t.svm, rows 1 to 2"),
    ],
)
def test_errors_name_the_problem(tmp_path, name, text, options, message):
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(ValueError, match=re.escape(message)):
        list(read_chunks(path, **options))


def test_no_file(tmp_path):
    with pytest.raises(FileNotFoundError, match="There is no file"):
        read_chunks(tmp_path / "none.csv", "a")


def test_comments_and_empty_lines_are_no_rows(tmp_path):
    path = tmp_path / "t.libsvm"
    path.write_text("# title\n\n1 1:1\n\n-1 2:1 # why\n\n")
    (X, y), *rest = read_chunks(path, n_rows=2)
    assert not rest
    np.testing.assert_array_equal(X.toarray(), np.eye(2))
    np.testing.assert_array_equal(y, [1, -1])


def test_header_and_encoding(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes("x,ä\ny,b\n".encode("latin-1"))
    ((X, y),) = read_chunks(path, "column_2", header=False, encoding="latin-1")
    assert X["column_1"].tolist() == ["x", "y"]
    assert y.tolist() == ["ä", "b"]
