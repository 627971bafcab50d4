"""Small files and models shared by the tests of all verbs."""

import pytest
from sklearn.datasets import dump_svmlight_file

from cli_helpers import mixed_table, ok, sparse_rows


@pytest.fixture(scope="session")
def world(tmp_path_factory):
    """Return a folder with tables and models trained on them."""
    folder = tmp_path_factory.mktemp("world")
    table, test = mixed_table(), mixed_table(150, seed=1)
    table.to_csv(folder / "train.csv", index=False)
    test.to_csv(folder / "test.csv", index=False)
    test.to_csv(folder / "test.tsv.gz", index=False, sep="\t")
    test.to_parquet(folder / "test.parquet")
    three = mixed_table(240, n_classes=3)
    three["kind"] = three["kind"].map({"no": 10, "yes": 20, "maybe": 30})
    three.to_csv(folder / "three.csv", index=False)
    for name, seed in (("rows.svm", 0), ("more.svm", 1)):
        X, y = sparse_rows(seed=seed)
        dump_svmlight_file(X, y, str(folder / name), zero_based=False)
    train = ["train", folder / "train.csv", "--target", "kind", "--model"]
    ok(*train, folder / "linear.bpm", "--classifier", "linear")
    ok(*train, folder / "kernel.bpm")
    ok("train", folder / "three.csv", "--target", "kind", "--model", folder / "three.bpm")
    mixed_table(150, seed=3).to_csv(folder / "earlier.csv", index=False)
    watch = "--watch", folder / "watch.json", "--max-error", "0.4"
    ok("evaluate", folder / "linear.bpm", folder / "earlier.csv", *watch)
    ok("train", folder / "rows.svm", "--model", folder / "sparse.bpm", "--classifier", "linear")
    return folder


@pytest.fixture(scope="session")
def scheduler():
    """Return the address of a Dask cluster of two workers in this process."""
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": False}
    with distributed.LocalCluster(dashboard_address=":0", **options) as cluster:
        yield cluster.scheduler_address


@pytest.fixture
def client(scheduler):
    """Return a client of this cluster."""
    from distributed import Client

    with Client(scheduler, set_as_default=False) as client:
        yield client
