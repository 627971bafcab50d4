import numpy as np
import pandas as pd
import pytest

from bayespoint.cli import cluster_source
from bayespoint.cli.cluster_source import limits_of_lots, read_on_workers
from bayespoint.cli.source import Plan
from bayespoint.io.tables import dataset
from bayespoint.io.tables.labels import ClassCounts
from cli_helpers import fails, mixed_table, run


@pytest.fixture
def folder(tmp_path):
    """Return a folder of four files of CSV."""
    table = mixed_table(400)
    for i, rows in enumerate(np.array_split(np.arange(400), 4)):
        table.iloc[rows].to_csv(tmp_path / f"{i}.csv", index=False)
    return tmp_path


@pytest.fixture
def broken(folder, scheduler):
    """Return a function that trains with the folder, which should fail with one line."""

    def train(*options, code=1):
        given = "--target", "kind", "--model", folder / "m.bpm", "--scheduler", scheduler
        return fails("train", folder, *given, *options, code=code)

    return train


def test_rows_are_trained_with_or_held_out(folder, client, monkeypatch):
    monkeypatch.setattr(dataset, "MIN_PARTITION_BYTES", 1000)
    monkeypatch.setattr(cluster_source, "MAX_SAMPLE_ROWS", 200)
    found = read_on_workers(client, str(folder), "kind", Plan(), 0.2)
    assert len(found.partitions) > 4
    assert sum(found.n_rows) == found.classes.n_rows == 400
    assert found.n_train == 400 - len(found.held_out[1])
    n_sample = len(found.sample[1])
    # Half of the rows are sampled, and a fifth are held out: four standard deviations.
    assert abs(n_sample + len(found.held_out[1]) - 200) < 4 * np.sqrt(400 * 0.5 * 0.5)
    assert abs(len(found.held_out[1]) - 80) < 4 * np.sqrt(400 * 0.2 * 0.8)
    assert found.columns.numbers == ["age", "width"]
    assert set(found.columns.categories) == {"job", "town"}


def test_a_class_is_never_held_out_as_a_whole():
    y, lots = np.array(list("aaab")), np.array([0.1, 0.3, 0.9, 0.15])
    found = ClassCounts(np.array(["a", "b"]), np.array([3, 1]))
    assert limits_of_lots(y, lots, found, 0.2) == {"a": 0.2, "b": 0.15}


N_IN_TIME = 5  # of eight


class Late:
    """A task that is not done in time."""

    def done(self):
        return False


class SlowCluster:
    """A client whose later tasks are never done."""

    def __init__(self, client):
        self._client, self._n_tasks = client, 0

    def __getattr__(self, name):
        return getattr(self._client, name)

    def submit(self, task, *given, **more):
        self._n_tasks += task is cluster_source.survey
        return self._client.submit(task, *given, **more) if self._n_tasks <= N_IN_TIME else Late()

    def cancel(self, futures):
        assert all(isinstance(future, Late) for future in futures)


def await_some(futures, *_):
    for future in futures:
        if not isinstance(future, Late):
            future.result(timeout=60)


def test_time_for_some_parts_only(folder, client, monkeypatch, capsys):
    monkeypatch.setattr(dataset, "MIN_PARTITION_BYTES", 500)
    monkeypatch.setattr(cluster_source, "await_all", await_some)
    slow = SlowCluster(client)
    found = read_on_workers(slow, str(folder), "kind", Plan(max_time=100.0), 0.2)
    assert len(found.partitions) == N_IN_TIME
    assert "parts of" in capsys.readouterr().err
    assert found.classes.n_rows == sum(found.n_rows) < 400


def test_an_empty_folder(tmp_path, scheduler):
    given = "--target", "kind", "--model", tmp_path / "m.bpm", "--scheduler", scheduler
    assert "has no files of CSV or Parquet" in fails("train", tmp_path, *given)


def test_files_that_do_not_fit_together(folder, broken):
    (folder / "4.csv").write_text("age,width,job,town\n1,2,baker,Ulm\n")
    assert "4.csv has no column 'kind', which 0.csv has" in broken()
    (folder / "4.csv").write_text("width,job,town,kind\n2,baker,Ulm,yes\n")
    assert "4.csv has no column 'age', which 0.csv has" in broken()
    (folder / "4.csv").unlink()
    pd.DataFrame({"age": [1]}).to_parquet(folder / "4.parquet")
    assert "should have one format" in broken()


def test_classes_that_cannot_be_learned(folder, broken):
    assert "should have two classes or more, but has 1, 'no'" in _with_kind(folder, broken, "no")
    assert "has 400 different values" in _with_kind(folder, broken, range(400))
    assert "but has 0" in _with_kind(folder, broken, None)


def _with_kind(folder, broken, kind):
    table = mixed_table(400).assign(kind=kind)
    for i, rows in enumerate(np.array_split(np.arange(400), 4)):
        table.iloc[rows].to_csv(folder / f"{i}.csv", index=False)
    return broken()


def test_no_rows_or_too_few(folder, broken):
    for path in folder.glob("*.csv"):
        path.write_text("age,width,job,town,kind\n")
    assert "has no rows" in broken()
    (folder / "0.csv").write_text("age,width,job,town,kind\n" + "1,2,x,y,a\n2,1,x,y,b\n" * 2)
    assert "has too few rows, 4, to train" in broken()


def test_bytes_that_are_no_text(folder, broken):
    (folder / "3.csv").write_bytes(b"age,width,job,town,kind\n1,2,K\xc3\xb6ln\xff,Ulm,yes\n" * 2)
    message = broken()
    assert "3.csv" in message
    assert "--encoding" in message


def test_a_file_that_changes(folder, broken, monkeypatch):
    """Another program writes a file after it was divided."""
    divide = cluster_source._divide

    def divided(*given):
        found = divide(*given)
        with (folder / "2.csv").open("a") as file:
            file.write("1,2,x,y,yes\n")
        return found

    monkeypatch.setattr(cluster_source, "_divide", divided)
    assert "2.csv was changed while it was read" in broken()


def test_the_target_has_to_be_named(folder, scheduler):
    given = "--model", folder / "m.bpm", "--scheduler", scheduler
    assert "--target" in fails("train", folder, *given, code=2)


def test_a_folder_needs_workers(folder):
    result = run("train", folder, "--target", "kind", "--model", folder / "m.bpm")
    assert result.exit_code == 2
    assert "--workers 2" in result.output
