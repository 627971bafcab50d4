"""The arena of benchmarks/: splits, measures and ranks against slow twins, and a small run."""

import contextlib
import io
import json
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import log_loss

sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))

from arena import main
from arena_machines import CalibratedSVC, enters
from arena_measures import MAX_TEST_ROWS, calibration_error, judge, split_rows
from arena_picture import cliques
from arena_report import compare, critical_difference, difference, rank

# Demšar (JMLR 7, 2006), table 5 (a): critical values of Nemenyi's test at 0.05, 2 to 10 machines.
DEMSAR = [1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164]


def labels(*counts):
    y = np.repeat(np.arange(len(counts)), counts)
    return np.random.default_rng(0).permutation(y)


@pytest.mark.parametrize(
    "counts",
    [
        (60, 40),
        (30, 8, 2, 1),  # a single row
        (5000, 3, 2, 2, 1),  # classes that stratifying leaves out of the training part
        (2,) * 30,  # more classes than test rows
    ],
)
def test_every_class_is_in_the_training_part(counts):
    y = labels(*counts)
    train, test = split_rows(y, 0, 1000)
    assert set(y[train]) == set(y)
    assert not set(train) & set(test)
    assert len(np.unique(train)) == len(train)
    assert len(np.unique(test)) == len(test)
    assert len(test) == min(len(y) - len(train), MAX_TEST_ROWS)
    if len(counts) < 30:
        assert len(train) == min(1000, round(0.6 * len(y)))


def test_splits_are_stratified_and_have_their_own_seeds():
    y = labels(600, 300)
    first, again, other = (split_rows(y, number, 100)[0] for number in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert set(first) != set(other)
    assert np.mean(y[first]) == pytest.approx(1 / 3, abs=0.01)  # one row of 100


@pytest.fixture
def answer():
    """Predictions for classes 0 to 3, where training had only 0, 1 and 3."""
    rng = np.random.default_rng(0)
    probability = rng.dirichlet([0.5] * 3, size=200)
    probability[0] = [1, 0, 0]
    classes = np.array([0, 1, 3])
    y = rng.integers(4, size=200)
    y[0] = 1  # the answer was certain and wrong
    return classes[probability.argmax(axis=1)], probability, classes, y


def test_measures_agree_with_a_slow_twin(answer):
    predicted, probability, classes, y = answer
    found = judge(predicted, probability, classes, y)
    losses, scores, order = [], [], []
    for guess, row, truth in zip(predicted, probability, y, strict=True):
        by_class = dict.fromkeys(range(4), 0.0) | dict(zip(classes.tolist(), row, strict=True))
        losses.append(-np.log(max(by_class[truth], 1e-15)))
        scores.append(sum((p - (c == truth)) ** 2 for c, p in by_class.items()))
        order.append((max(row), guess != truth))
    kept = sorted(order, key=lambda pair: -pair[0])[:180]
    assert found["error"] == np.mean(predicted != y)
    assert found["log_loss"] == pytest.approx(np.mean(losses), rel=1e-12)
    assert found["brier"] == pytest.approx(np.mean(scores), rel=1e-12)
    assert found["error_rejecting"] == pytest.approx(np.mean([wrong for _, wrong in kept]))


def test_log_loss_is_that_of_scikit_learn(answer):
    _, probability, _, _ = answer
    y = np.random.default_rng(1).integers(3, size=200)
    found = judge(y, np.clip(probability, 1e-9, 1), np.arange(3), y)
    clipped = np.clip(probability, 1e-9, 1)
    expected = log_loss(y, clipped / clipped.sum(axis=1, keepdims=True), labels=[0, 1, 2])
    assert found["log_loss"] == pytest.approx(expected, abs=1e-8)


def test_calibration_error_agrees_with_a_slow_twin():
    rng = np.random.default_rng(0)
    confidence = np.append(rng.uniform(0.3, 1, 500), 1.0)
    correct = rng.random(501) < 0.6
    total = 0.0
    for k in range(15):
        upper = confidence < (k + 1) / 15 if k < 14 else np.ones(501, bool)
        rows = (confidence >= k / 15) & upper
        if rows.any():
            total += rows.mean() * abs(correct[rows].mean() - confidence[rows].mean())
    assert calibration_error(confidence, correct) == pytest.approx(total, rel=1e-9)


def test_without_probabilities_there_is_only_an_error():
    found = judge(np.array([0, 1]), None, np.array([0, 1]), np.array([0, 0]))
    assert found.pop("error") == 0.5
    assert np.isnan(list(found.values())).all()


@pytest.mark.parametrize("k", range(2, 11))
def test_critical_differences_are_the_published_ones(k):
    n_sets = 30
    published = DEMSAR[k - 2] * np.sqrt(k * (k + 1) / (6 * n_sets))
    # Three digits are published, and the last one is rounded or cut.
    assert critical_difference(k, n_sets) == pytest.approx(published, rel=1e-3 / DEMSAR[k - 2])


def results(table):
    """Return results with the given errors: machine -> set -> one error per split."""
    columns = ("log_loss", "brier", "calibration", "error_rejecting")
    costs = dict.fromkeys(("fit_cpu", "predict_cpu", "memory"), 1.0)
    return {
        (name, split, machine): dict.fromkeys(columns, np.nan) | costs | {"error": error}
        for machine, sets in table.items()
        for name, errors in sets.items()
        for split, error in enumerate(errors)
    }


def test_sets_that_a_machine_lacks_or_failed_on_are_left_out():
    found = results(
        {
            "svc": {"a": [0.1, 0.3], "b": [0.2], "c": [0.1]},
            "gp": {"a": [0.5], "b": [0.3], "d": [0.1]},
        }
    )
    found["b", 0, "gp"]["failed"] = "ValueError"
    comparison = compare(found, ["svc", "forest", "gp"])
    assert comparison.machines == ["svc", "gp"]
    assert comparison.sets == ["a"]
    assert comparison.n_splits == [1]  # the second split of svc has no partner
    np.testing.assert_array_equal(comparison.values["error"], [[0.1, 0.5]])


def test_ranks_and_differences_by_hand():
    table = {
        "svc": {"a": [0.1], "b": [0.2], "c": [0.4]},
        "gp": {"a": [0.2], "b": [0.2], "c": [0.1]},
        "forest": {"a": [0.3], "b": [0.5], "c": [0.5]},
    }
    comparison = compare(results(table), list(table))
    found = rank(comparison, "error")
    np.testing.assert_allclose(found.mean, [(1 + 1.5 + 2) / 3, (2 + 1.5 + 1) / 3, 3])
    assert rank(comparison, "brier").machines == []
    svc, gp, _ = comparison.values["error"].T
    mean, error, *games = difference(svc, gp)
    assert mean == pytest.approx((0.1 + 0 - 0.3) / 3)
    assert error == pytest.approx(np.std([0.1, 0, -0.3], ddof=1) / np.sqrt(3))
    assert games == [1, 1, 1]


def test_cliques_are_the_largest_groups_within_the_difference():
    assert cliques(np.array([4.0, 1.0, 2.0, 2.5, 7.0]), 1.6) == [(1.0, 2.5), (2.5, 4.0)]
    assert cliques(np.array([1.0, 3.0]), 1.6) == []


@pytest.mark.parametrize("counts", [(20, 20), (20, 20, 3), (20, 20, 2, 1)])
def test_rare_classes_can_be_calibrated(counts):
    y = labels(*counts)
    X = np.random.default_rng(1).standard_normal((len(y), 2)) + 3 * y[:, None]
    probability = CalibratedSVC().fit(X, y).predict_proba(X)
    assert probability.shape == (len(y), len(counts))
    np.testing.assert_allclose(probability.sum(axis=1), 1)


def test_only_the_gaussian_process_is_limited():
    assert enters("gp", 1000, 4)
    assert not enters("gp", 1001, 4)
    assert not enters("gp", 1000, 5)
    assert enters("forest", 10**6, 100)


def command(*words):
    """Run the command, and return what it prints."""
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        main([str(word) for word in words])
    return printed.getvalue()


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A run on two sets, and one with missing values on which logistic regression fails."""
    folder = tmp_path_factory.mktemp("arena")
    rng = np.random.default_rng(0)
    for name, n_classes in (("two", 2), ("three", 3), ("holes", 2)):
        y = np.arange(60) % n_classes
        X = rng.standard_normal((60, 2)) + 2 * y[:, None]
        X[0] = np.nan if name == "holes" else X[0]
        np.savez(folder / f"{name}.npz", X=X.astype(np.float32), y=y)
    out = folder / "results.jsonl"
    machines = ["svc", "logistic", "bayespoint-rbf", "catboost"]
    words = ["run", "--data", folder, "--out", out, "--machines", *machines]
    return words, out, command(*words)


@pytest.mark.slow
def test_a_run_writes_one_line_per_set_split_and_machine(finished):
    _, out, printed = finished
    lines = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    keys = [(line["set"], line["split"], line["machine"]) for line in lines]
    assert len(set(keys)) == len(keys)
    expected = {
        (name, split, machine)
        for name in ("two", "three", "holes")
        for split in (0, 1)
        for machine in ("svc", "logistic", "bayespoint-rbf")
    }
    installed = find_spec("catboost") is not None
    assert set(keys) == expected | {k for k in keys if installed and k[2] == "catboost"}
    assert ("pip install catboost" in printed) != installed
    for line in lines:
        if line["machine"] == "logistic":
            assert ("NaN" in line.get("failed", "")) == (line["set"] == "holes")
        if line["set"] == "three":
            assert line["n_train"] == 36
            assert line["n_test"] == 24
            assert line["error"] < 0.5
            assert np.isnan(line["log_loss"]) == (line["machine"] == "svc")


@pytest.mark.slow
def test_a_killed_run_goes_on_where_it_stopped(finished):
    words, out, _ = finished
    before = out.read_text("utf-8")
    lines = before.splitlines(keepends=True)
    out.write_text("".join(lines[:-2]) + lines[-2][:30], "utf-8")
    printed = command(*words)
    after = out.read_text("utf-8").splitlines(keepends=True)
    assert after[:-2] == lines[:-2]
    assert len(after) == len(lines)
    assert len([line for line in printed.splitlines() if "left out" not in line]) == 2


@pytest.mark.slow
def test_the_report_has_tables_picture_and_kept_results(finished, tmp_path):
    _, out, _ = finished
    kept, picture = tmp_path / "results" / "kept.csv", tmp_path / "ranks.png"
    options = ["--machines", "svc", "logistic", "bayespoint-rbf", "--against", "bayespoint-rbf"]
    printed = command("report", out, "--keep", kept, "--picture", picture, *options)
    assert "Means over the 2 sets that all machines have, splits of each: 2" in printed
    assert "logistic failed on holes, split 0" in printed
    assert "Difference to bayespoint-rbf" in printed
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert len(kept.read_text("utf-8").splitlines()) == len(out.read_text("utf-8").splitlines()) + 1
    assert command("report", kept, *options).count("\n") == printed.count("\n")


@pytest.mark.slow
def test_an_unknown_set_is_explained(finished):
    words, *_ = finished
    with pytest.raises(SystemExit, match="Expected four in"):
        command(*words, "--sets", "four")
