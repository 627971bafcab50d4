"""The middle of benchmarks/: sets, splits, a small run, and reports of made-up results."""

import contextlib
import gzip
import io
import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))

import middle
from arena_report import SHAPE
from middle_data import MAX_TEST_ROWS, READERS, choose_sets, load_split, read_numbers, split_rows
from middle_machines import (
    EVERY,
    FRONT,
    MACHINES,
    OURS,
    SampleTunedSVC,
    encoder,
    enters,
    tunable_svc,
)
from middle_picture import front, overlap, place, relative
from middle_report import COLUMNS, average, read_results, recovered

from bayespoint.datasets import digits

CENSUS = {
    "train": "39, State-gov, 7, <=50K\n50, ?, 8, >50K\n38, Private, 9, <=50K\n",
    "test": "25, Private, 7, <=50K.\n28, Federal-gov, 8, >50K.\n",
}


def save(folder, name, **arrays):
    file = folder / name
    file.parent.mkdir(exist_ok=True)
    np.savez(file, **arrays)


def save_classes(folder, name, n_rows, n_classes=2):
    """Write a set whose classes are easy to tell apart."""
    y = np.arange(n_rows) % n_classes
    X = np.random.default_rng(0).standard_normal((n_rows, 2)) + 4 * y[:, None]
    save(folder, name, X=X, y=y)


def save_census(folder, repeats=1):
    (folder / "large").mkdir(exist_ok=True)
    for part, text in CENSUS.items():
        with gzip.open(folder / "large" / f"adult_{part}.csv.gz", "wt") as file:
            file.write(text * repeats)


def save_reviews(folder, n_rows):
    """Write counts of three words, and return them."""
    rng = np.random.default_rng(0)
    arrays, counts = {}, []
    for part in ("train", "test"):
        y = np.where(np.arange(n_rows) % 2, 1, -1)
        X = sparse.csr_matrix(rng.poisson(1 + (y > 0)[:, None] * [2, 0, 1]).astype(np.uint16))
        keys = ("data", "indices", "indptr", "shape")
        arrays |= {f"{part}_{key}": getattr(X, key) for key in keys} | {f"y_{part}": y}
        counts.append(X.toarray())
    save(folder, "large/imdb_counts.npz", **arrays)
    return np.vstack(counts)


def save_idx(file, values):
    file.parent.mkdir(exist_ok=True)
    head = bytes([0, 0, 8, values.ndim]) + np.array(values.shape, ">i4").tobytes()
    file.write_bytes(gzip.compress(head + values.tobytes()))


def test_training_and_test_parts_are_pooled(tmp_path):
    X, y = np.arange(10, dtype=np.uint8).reshape(5, 2), np.arange(5)
    save(tmp_path, "large/letter.npz", X=X, y=y, n_train=3)
    save(tmp_path, "usps.npz", X_train=X[:3], y_train=y[:3], X_test=X[3:], y_test=y[3:])
    for name in ("letter", "usps"):
        found, classes = read_numbers(tmp_path, name)
        assert found.dtype == float
        np.testing.assert_array_equal(found, X)
        np.testing.assert_array_equal(classes, y)


def test_the_census_has_categories_missing_values_and_clean_labels(tmp_path):
    save_census(tmp_path)
    X, y = READERS["adult"](tmp_path, "adult")
    assert [str(t) for t in X.dtypes] == ["int64", "category", "int64"]
    assert X["column_1"].isna().tolist() == [False, True, False, False, False]
    assert list(X["column_1"].cat.categories) == ["Federal-gov", "Private", "State-gov"]
    assert y.tolist() == ["<=50K", ">50K", "<=50K", "<=50K", ">50K"]


def test_covtype_has_54_columns(tmp_path):
    numbers = np.arange(30, dtype=np.int16).reshape(3, 10)
    codes = {"wilderness": np.uint8([0, 3, 1]), "soil": np.uint8([39, 0, 5])}
    save(tmp_path, "large/covtype.npz", X_num=numbers, y=np.uint8([1, 2, 7]), **codes)
    X, y = READERS["covtype"](tmp_path, "covtype")
    assert X.shape == (3, 54)
    np.testing.assert_array_equal(X[:, :10], numbers)
    np.testing.assert_array_equal(X[:, 10:14].argmax(axis=1), codes["wilderness"])
    np.testing.assert_array_equal(X[:, 14:].argmax(axis=1), codes["soil"])
    np.testing.assert_array_equal(X[:, 10:].sum(axis=1), 2)
    assert y.tolist() == [1, 2, 7]


def test_reviews_stay_sparse(tmp_path):
    counts = save_reviews(tmp_path, 4)
    X, y = READERS["imdb"](tmp_path, "imdb")
    assert sparse.issparse(X)
    np.testing.assert_array_equal(X.toarray(), counts)
    assert y.tolist() == [-1, 1] * 4


def test_digits_are_gray_values(tmp_path, monkeypatch):
    monkeypatch.setitem(digits.SHAPES, "mnist", (3, 2, 4))
    pixels = np.linspace(0, 255, 20).astype(np.uint8).reshape(5, 2, 2)
    labels = np.arange(5, dtype=np.uint8)
    for part, rows in (("train", slice(3)), ("test", slice(3, 5))):
        save_idx(tmp_path / "mnist" / digits.MNIST_FILES[f"X_{part}"], pixels[rows])
        save_idx(tmp_path / "mnist" / digits.MNIST_FILES[f"y_{part}"], labels[rows])
    X, y = READERS["mnist"](tmp_path, "mnist")
    np.testing.assert_allclose(X, pixels.reshape(5, 4) / 255, rtol=1e-6)  # single precision
    assert y.tolist() == list(range(5))


def test_sets_are_those_of_the_folder_or_the_missing_file_is_named(tmp_path):
    with pytest.raises(SystemExit, match="at least one set"):
        choose_sets(tmp_path, None)
    save_classes(tmp_path, "raetsch/banana.npz", 20)
    save_census(tmp_path)
    assert choose_sets(tmp_path, None) == ["adult", "banana"]
    with pytest.raises(SystemExit, match=r"Expected large/letter.npz in"):
        choose_sets(tmp_path, ["banana", "letter"])


@pytest.mark.parametrize(("n_rows", "rows", "n_train"), [(1000, 300, 300), (1000, 900, 700)])
def test_a_split_has_the_rows_asked_for_but_at_most_70_percent(n_rows, rows, n_train):
    y = np.arange(n_rows) % 3
    train, test = split_rows(y, 0, rows)
    assert len(np.unique(train)) == len(train) == n_train
    assert len(np.unique(test)) == len(test) == n_rows - n_train
    assert not set(train) & set(test)


def test_the_test_part_is_bounded_and_splits_have_their_own_seeds():
    y = np.zeros(20_000, int)
    first, again, other = (split_rows(y, number, 2000) for number in (0, 0, 1))
    np.testing.assert_array_equal(first[0], again[0])
    np.testing.assert_array_equal(first[1], again[1])
    assert set(first[0]) != set(other[0])
    assert len(first[1]) == MAX_TEST_ROWS
    # More rows are the same rows and others.
    assert set(first[0]) < set(split_rows(y, 0, 4000)[0])


def test_classes_that_training_lacks_are_not_tested():
    y = np.arange(100)
    y[:80] = 0
    train, test = split_rows(y, 0, 70)
    assert set(y[test]) == {0}
    assert len(test) == np.sum(np.isin(y[np.setdiff1d(np.arange(100), train)], y[train]))


def test_columns_are_encoded_by_their_kind(tmp_path):
    save_census(tmp_path)
    X, _ = READERS["adult"](tmp_path, "adult")
    points = encoder(X).fit(X.iloc[:4]).transform(X)
    codes, numbers = points[:, :3], points[:, 3:]  # State-gov, Private and missing
    np.testing.assert_array_equal(codes.sum(axis=1), [1, 1, 1, 1, 0])
    np.testing.assert_allclose(numbers[:4].mean(axis=0), 0, atol=1e-15)
    np.testing.assert_allclose(numbers[:4].std(axis=0), 1, rtol=1e-12)
    counts = sparse.csr_matrix([[0.0, 4.0], [2.0, 1.0]])
    scaled = encoder(counts).fit_transform(counts)
    np.testing.assert_array_equal(scaled.toarray(), [[0, 1], [1, 0.25]])


def test_the_tuned_svc_is_fitted_on_all_rows(monkeypatch):
    monkeypatch.setattr("middle_machines.MAX_TUNING_ROWS", 40)
    y = np.arange(100) % 2
    X = np.random.default_rng(0).standard_normal((100, 2)) + 4 * y[:, None]
    model = SampleTunedSVC().fit(X, y)
    assert model.svc_.shape_fit_ == (100, 2)
    assert np.mean(model.predict(X) == y) > 0.95
    assert not hasattr(model, "predict_proba")
    counts = sparse.csr_matrix(np.abs(X))
    model.fit(counts, y)
    assert np.mean(model.predict(counts) == y) > 0.9
    assert set(tunable_svc(counts)[1]) == {"C"}


def test_only_boosting_takes_no_sparse_data():
    counts = sparse.csr_matrix((2, 2))
    assert [name for name in EVERY if not enters(name, counts)] == ["boosting"]
    assert all(enters(name, counts.toarray()) for name in EVERY)


def test_ours_are_warmed_up_with_all_that_the_default_can_choose(monkeypatch):
    played = []
    monkeypatch.setattr(middle, "play", lambda name, split, n_jobs: played.append(name))
    middle.warm_up(["forest", "svc"], 1)
    assert not played
    middle.warm_up(["forest", "exact", "cells"], 1)
    assert set(played) == {"exact", "perceptron", "nystroem", "cells"}
    assert set(OURS) == set(EVERY) - {"forest", "boosting", "svc-tuned", "logistic", "svc"}


@pytest.mark.parametrize("name", ["bayespoint", "bayespoint-rbf", "exact", "perceptron"])
def test_ours_get_their_number_of_threads(name):
    model = EVERY[name](np.zeros((3, 2)), 2)
    assert getattr(model, "steps", [(name, model)])[-1][1].n_jobs == 2


def command(*words):
    """Run the command, and return what it prints."""
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        middle.main([str(word) for word in words])
    return printed.getvalue()


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A run on four sets; one has missing values, on which logistic regression fails."""
    folder = tmp_path_factory.mktemp("middle")
    save_classes(folder, "raetsch/banana.npz", 100)
    save_census(folder, 20)
    save_reviews(folder, 40)
    X = np.where(np.arange(200).reshape(100, 2) == 0, np.nan, 1.0)
    save(folder, "raetsch/waveform.npz", X=X, y=np.arange(100) % 2)
    out = folder / "results.jsonl"
    machines = ["logistic", "boosting", "svc"]
    words = ["run", "--data", folder, "--out", out, "--rows", 60, 80, "--machines", *machines]
    return words, out, command(*words)


@pytest.mark.slow
def test_a_run_writes_one_line_per_set_rows_split_and_machine(finished):
    _, out, printed = finished
    lines = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    keys = [(line["set"], line["rows"], line["split"], line["machine"]) for line in lines]
    expected = {
        (name, rows, split, machine)
        for name in ("adult", "banana", "waveform", "imdb")
        for rows in (60, 80)
        for split in (0, 1)
        for machine in ("logistic", "boosting", "svc")
        if (name, machine) != ("imdb", "boosting")
    }
    assert len(keys) == len(expected)
    assert set(keys) == expected
    assert "boosting does not enter imdb: it takes no sparse data." in printed
    for line in lines:
        fails = line["set"] == "waveform" and line["machine"] != "boosting"
        assert ("NaN" in line.get("failed", "")) == fails
        assert line["jobs"] == 1
        if line["set"] == "banana":
            assert line["n_train"] == min(line["rows"], 70)
            assert line["n_test"] == 100 - line["n_train"]
            assert line["error"] < 0.5  # better than guessing
            assert np.isnan(line["log_loss"]) == (line["machine"] == "svc")
            assert min(line["fit_clock"], line["fit_cpu"], line["predict_cpu"]) > 0


@pytest.mark.slow
def test_rows_that_are_the_same_are_fitted_once(finished):
    _, out, _ = finished
    lines = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    reviews = [line for line in lines if line["set"] == "imdb"]
    assert {line["n_train"] for line in reviews} == {56}  # of 80
    assert len(reviews) == 8  # two numbers of rows, two splits, two machines
    assert len({line["fit_clock"] for line in reviews}) == 4


@pytest.mark.slow
def test_a_killed_run_goes_on_where_it_stopped(finished):
    words, out, _ = finished
    lines = out.read_text("utf-8").splitlines(keepends=True)
    out.write_text("".join(lines[:-2]) + lines[-2][:30], "utf-8")
    printed = command(*words)
    after = out.read_text("utf-8").splitlines(keepends=True)
    assert after[:-2] == lines[:-2]
    assert len(after) == len(lines)
    assert len([line for line in printed.splitlines() if "does not enter" not in line]) == 2


@pytest.mark.slow
def test_a_report_of_a_run_says_what_failed_and_what_is_missing(finished, tmp_path):
    _, out, _ = finished
    printed = command("report", out)
    assert "## At most 80 training rows" in printed
    assert "- logistic failed on waveform, split 0: ValueError: Input X contains NaN." in printed
    assert "- boosting has no results for imdb." in printed
    assert "Means over the sets that all machines have (adult, banana)" in printed
    with pytest.raises(SystemExit, match="needs results of exact"):
        command("report", out, "--picture", tmp_path / "front.png")


# Machine -> errors of set a (two splits) and of set b; the log loss is twice as large.
MADE_UP = {
    "bayespoint": ([0.11, 0.13], [0.21]),
    "bayespoint-rbf": ([0.20, 0.20], [0.20]),
    "exact": ([0.10, 0.10], [0.21]),
    "boosting": ([0.16, 0.18], [0.20]),
    "forest": ([0.12, 0.12, 0.9], [0.22]),
    "svc-tuned": ([0.10, 0.10], [0.30]),
    "landmarks-1000": ([0.13, 0.13], [0.23]),
    "svc": ([0.15, 0.15], [0.24]),
}


def made_up_results():
    """Return results with the errors above at 5,000 rows; exact failed on another set."""
    lines = []
    for number, (machine, sets) in enumerate(MADE_UP.items()):
        for name, errors in zip("ab", sets, strict=True):
            for split, error in enumerate(errors):
                line = dict.fromkeys(COLUMNS[4:-1], 1) | {"error": error, "log_loss": 2 * error}
                line |= {"set": name, "rows": 5000, "split": split, "machine": machine}
                line |= {"fit_clock": 2.0**number}
                if machine.startswith("svc"):
                    line["log_loss"] = np.nan
                lines.append(line)
    failed = {"set": "c", "machine": "exact", "failed": "ValueError: too large"}
    lines.append({key: line[key] for key in ("rows", "split", *SHAPE)} | failed)
    return lines


@pytest.fixture
def made_up(tmp_path):
    file = tmp_path / "made_up.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in made_up_results()), "utf-8")
    return file


def cells(printed, title, machine):
    """Return the cells of the first line of a machine or set after a title."""
    _, _, rest = printed.partition(title)
    line = next(line for line in rest.splitlines() if line.startswith(f"| {machine} "))
    return [cell.strip() for cell in line.split("|")[2:-1]]


def test_means_are_over_the_splits_and_sets_that_all_have(made_up):
    means = average(read_results([made_up]), ["exact", "forest", "logistic"])
    assert list(means["error"].columns) == ["exact", "forest"]
    np.testing.assert_allclose(means["error"], [[0.10, 0.12], [0.21, 0.22]])  # not split 2, set c


def test_tables_by_hand(made_up):
    printed = command("report", made_up)
    line = cells(printed, "At most 5,000", "a (1; 1)")
    # Columns are in the order of the machines; all splits count here.
    assert line[0] == "12.00 / 0.240 / 1.0"
    assert line[3] == "38.00 / 0.760 / 16"
    assert line[5] == "10.00 / – / 32"
    assert cells(printed, "At most 5,000", "c (1; 1)")[2] == "failed"
    assert "- exact failed on c, split 0: ValueError: too large" in printed
    assert cells(printed, "Means over the sets that all machines have (a, b)", "exact")[:2] == [
        "15.50", "0.310",
    ]  # fmt: skip
    # Differences to boosting: 17 - 12 and 20 - 21 percent; mean 2, standard error 3.
    found = cells(printed, "Difference to bayespoint", "boosting")
    assert found == ["2", "+2.00 ± 3.00", "1-0-1", "+0.040 ± 0.060", "1-0-1"]
    assert cells(printed, "Difference to bayespoint", "svc-tuned")[3:] == ["–", "–"]


def test_the_recovered_share_by_hand(made_up):
    assert recovered(0.20, 0.10, 0.12) == pytest.approx(0.8)
    assert recovered(0.20, 0.10, 0.25) == pytest.approx(-0.5)
    assert np.isnan(recovered(0.20, 0.21, 0.21))  # exact is not better
    printed = command("report", made_up)
    title = "Share of the difference between bayespoint-rbf and exact"
    assert cells(printed, title, "a")[:4] == ["20.00", "10.00", "12.00", "80 %"]
    assert cells(printed, title, "a")[4:] == ["0.400", "0.200", "0.240", "80 %"]
    assert cells(printed, title, "b")[3] == "–"
    # Means 20, 15.5 and 16.5.
    assert cells(printed, title, "mean")[3] == "78 %"


def test_kept_results_give_the_same_report(made_up, tmp_path):
    kept = tmp_path / "results" / "kept.csv"
    printed = command("report", made_up, "--keep", kept)
    assert len(kept.read_text("utf-8").splitlines()) == len(made_up_results()) + 1
    assert command("report", kept) == printed
    # A later file replaces what an earlier one has.
    newer = tmp_path / "newer.jsonl"
    newer.write_text(json.dumps(made_up_results()[0] | {"error": 0.5}) + "\n{unfinished", "utf-8")
    both = read_results([kept, newer])
    assert len(both) == len(made_up_results())
    assert both["error"].max() == 0.9
    assert (both["error"] == 0.5).sum() == 1


def test_the_picture_has_one_label_per_approximation(made_up, tmp_path):
    file = tmp_path / "pictures" / "front.svg"
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(__import__("matplotlib").rcParams, "svg.fonttype", "none")
        command("report", made_up, "--picture", file)
    text = file.read_text("utf-8")
    for name in ("bayespoint", "bayespoint-rbf", "exact", "1000"):
        assert text.count(f">{name}<") == 2, name
    assert text.count(">svc<") == 1  # no log loss
    assert "forest" not in text


def test_losses_are_relative_to_the_exact_machine():
    means = pd.DataFrame({"exact": [0.1, 0.3], "cells": [0.2, 0.4], "svc": [0.1, np.nan]})
    found = relative(means)
    assert found.to_dict() == pytest.approx({"exact": 1.0, "cells": 1.5})


def test_the_front_agrees_with_a_slow_twin():
    rng = np.random.default_rng(0)
    seconds, loss = rng.integers(1, 9, size=(2, 40)).astype(float)
    found = front(seconds, loss)
    pairs = list(zip(seconds, loss, strict=True))

    def is_beaten(s, e):
        return any(a <= s and b <= e and (a, b) != (s, e) for a, b in pairs)

    expected = {pair for pair in pairs if not is_beaten(*pair)}
    assert [pairs[i] for i in found] == sorted(expected)


def test_labels_know_what_they_cover():
    boxes = [(0, 0, 2, 2), (10, 10, 11, 11)]
    assert overlap((1, 1, 5, 5), boxes) == 1
    assert overlap((2, 0, 5, 5), boxes) == 0
    size = np.array([4.0, 2.0])
    assert place(np.zeros(2), size, (7, 0)) == (7, -1, 11, 1)
    assert place(np.zeros(2), size, (-7, 0)) == (-11, -1, -7, 1)
    assert place(np.zeros(2), size, (0, 10)) == (-2, 9, 2, 11)


def test_the_command_knows_all_machines_and_sets(tmp_path):
    arguments = middle.parse(["run", "--data", str(tmp_path)])
    assert arguments.machines == list(MACHINES)
    assert arguments.rows == [10_000]
    assert not set(MACHINES) & set(FRONT)
    save_classes(tmp_path, "raetsch/banana.npz", 30)
    split = load_split(tmp_path, "banana", 0, 10)
    assert split.X.shape == (10, 2)
