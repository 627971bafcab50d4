import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.preprocessing import FunctionTransformer

from bayespoint.evaluation.fingerprints import FINGERPRINT_DTYPE, fingerprint
from bayespoint.io.tables.columns import Columns
from bayespoint.io.tables.dataset import open_dataset
from bayespoint.io.tables.partition import Partition, Preparation, prepare, survey
from bayespoint.io.tables.read_options import ReadOptions

N_ROWS = 200


@pytest.fixture
def partition(tmp_path):
    rng = np.random.default_rng(0)
    kind = rng.choice(["1", "2", "3"], N_ROWS, p=[0.6, 0.3, 0.1])
    table = pd.DataFrame({"a": rng.normal(size=N_ROWS).round(3), "kind": kind})
    table.loc[:9, "kind"] = None
    table["a"] = table["a"].astype(str)
    table.loc[50, "a"] = "broken"
    for i, part in enumerate(np.array_split(np.arange(N_ROWS), 2)):
        table.iloc[part].to_csv(tmp_path / f"{i}.csv", index=False)
    found = open_dataset(str(tmp_path), ReadOptions())
    (pieces,) = found.partitions(1, lambda task, given: [task(*one) for one in given])
    return Partition(3, pieces, ["a", "kind"], frozenset(["a", "kind"]), "kind", 0), table


def test_a_survey_counts_everything_and_samples(partition):
    partition, table = partition
    found = survey(partition, 0.25, 100)
    assert (found.n_rows, found.n_unlabeled, found.integers) == (N_ROWS, 10, True)
    assert found.counts == table["kind"].value_counts().to_dict()
    chosen = np.flatnonzero((partition.lots(N_ROWS) < 0.25) & table["kind"].notna())
    assert found.sample["a"].to_pylist() == table["a"].iloc[chosen].tolist()
    np.testing.assert_array_equal(found.lots, partition.lots(N_ROWS)[chosen])
    assert len(survey(partition, 0.25, 2).counts) == 2
    other = partition._replace(number=4)
    assert not np.array_equal(partition.lots(5), other.lots(5))


def make(is_sparse=False, **given):
    columns = Columns(["a"], [], "kind", True)
    convert = FunctionTransformer(lambda X: sparse.csr_array(X) if is_sparse else X.to_numpy())
    defaults = {
        "columns": columns,
        "rare": np.array([3]),
        "held_out": {1: 0.2, 2: 0.4},
        "transformer": convert,
        "n_features": 1,
        "is_sparse": is_sparse,
        "salt": bytes(16),
        "limit": 2**31,
    }
    return Preparation(**{**defaults, **given})


@pytest.mark.parametrize("is_sparse", [False, True])
def test_training_points_are_those_that_are_left(partition, is_sparse):
    partition, table = partition
    found = prepare(partition, make(is_sparse))
    lots = partition.lots(N_ROWS)
    kind = table["kind"].to_numpy()
    used = ((kind == "1") & (lots >= 0.2)) | ((kind == "2") & (lots >= 0.4))
    assert found.y.tolist() == [int(label) for label in kind[used]]
    X = found.X.toarray() if is_sparse else found.X
    values = pd.to_numeric(table["a"], errors="coerce").to_numpy()[used]
    np.testing.assert_array_equal(X[:, 0], values)
    assert found.odd == [("a", 1, "broken")]
    marks = np.frombuffer(found.fingerprints, FINGERPRINT_DTYPE)
    expected = np.unique(fingerprint(pd.DataFrame({"a": values}), bytes(16)))
    assert marks.tolist() == expected[expected < 2**31].tolist()
    assert 0 < len(marks) < len(expected)


@pytest.mark.parametrize("is_sparse", [False, True])
def test_a_partition_without_training_rows(partition, is_sparse):
    found = prepare(partition[0], make(is_sparse, rare=np.array([1, 2, 3])))
    assert found.X.shape == (0, 1)
    assert sparse.issparse(found.X) == is_sparse
    assert len(found.y) == 0


def test_values_that_cannot_be_read_name_the_file(partition):
    columns = Columns([], [], "kind", True, dates={"a": {"format": "%Y", "parts": ["days"]}})
    with pytest.raises(ValueError, match=r"0.csv: Column 'a' should hold dates"):
        prepare(partition[0], make(columns=columns))
