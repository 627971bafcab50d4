"""What `arena.py` measures on one split: how rows are split, and how good and fast a fit is."""

from __future__ import annotations

import ctypes
import gc
import re
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import StratifiedShuffleSplit

TRAIN_SHARE = 0.6
MAX_TEST_ROWS = 2000
MIN_PROBABILITY = 1e-15
N_BINS = 15
REJECTED_SHARE = 0.1

# Columns in the order of the tables, with their titles.
QUALITIES = {
    "error": "error, %",
    "log_loss": "log loss",
    "brier": "Brier score",
    "calibration": "calibration",
    "error_rejecting": "error, rejecting, %",
}
COSTS = {
    "fit_cpu": "fit, CPU s",
    "predict_cpu": "predict, CPU s",
    "memory": "fit, peak MB",
}


class Split(NamedTuple):
    """Training and test rows."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


def split_rows(y: np.ndarray, number: int, max_train: int) -> tuple[np.ndarray, np.ndarray]:
    """Return training and test rows, stratified; every class is in the training part."""
    n_train = min(max_train, round(TRAIN_SHARE * len(y)))
    _, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    single = np.flatnonzero(counts[codes] == 1)
    rest = np.flatnonzero(counts[codes] > 1)
    n_drawn = n_train - len(single)
    try:
        shuffle = StratifiedShuffleSplit(1, train_size=n_drawn, random_state=number)
        train, test = next(shuffle.split(rest, codes[rest]))
    except ValueError:  # one of the two parts has fewer rows than there are classes
        train, test = np.split(np.random.default_rng(number).permutation(len(rest)), [n_drawn])
    train, test = rest[train], rest[test]
    missing = np.setdiff1d(codes[rest], codes[train])
    if len(missing):  # trade rows of the largest class for one row of each missing class
        gained = np.array([test[codes[test] == code][0] for code in missing])
        large = train[codes[train] == np.bincount(codes[train]).argmax()]
        lost = large[1 : 1 + len(missing)]
        train = np.concatenate([np.setdiff1d(train, lost, assume_unique=True), gained])
        test = np.concatenate([np.setdiff1d(test, gained, assume_unique=True), lost])
    return np.concatenate([train, single]), test[:MAX_TEST_ROWS]


def load_split(file: Path, number: int, max_train: int) -> Split:
    """Read a set (X, y) and split it."""
    with np.load(file, allow_pickle=False) as data:
        if not {"X", "y"} <= set(data):
            raise ValueError(f"{file} must have arrays X and y; it has {', '.join(data)}.")
        X, y = data["X"].astype(float), data["y"]
    train, test = split_rows(y, number, max_train)
    return Split(X[train], y[train], X[test], y[test])


def calibration_error(confidence: np.ndarray, correct: np.ndarray) -> float:
    """Return the expected calibration error, with bins of equal width."""
    number = np.minimum((confidence * N_BINS).astype(int), N_BINS - 1)
    gaps = np.bincount(number, correct - confidence, minlength=N_BINS)
    return float(np.abs(gaps).sum() / len(confidence))


def judge(predicted, probability, classes, y_test) -> dict[str, float]:
    """Return all qualities of an answer; NaN where they need probabilities and there are none."""
    wrong = predicted != y_test
    found = dict.fromkeys(QUALITIES, np.nan) | {"error": float(wrong.mean())}
    if probability is None:
        return found
    # Columns for all classes: a classifier gives none to a class that it never saw.
    every = np.union1d(classes, y_test)
    full = np.zeros((len(y_test), len(every)))
    full[:, np.searchsorted(every, classes)] = probability
    truth = y_test[:, None] == every
    confidence = full.max(axis=1)
    n_kept = len(y_test) - round(REJECTED_SHARE * len(y_test))
    kept = np.argsort(-confidence, kind="stable")[:n_kept]
    return found | {
        "log_loss": float(-np.log(np.clip(full[truth], MIN_PROBABILITY, 1.0)).mean()),
        "brier": float(((full - truth) ** 2).sum(axis=1).mean()),
        "calibration": calibration_error(confidence, truth[np.arange(len(truth)), full.argmax(1)]),
        "error_rejecting": float(wrong[kept].mean()),
    }


def memory_now(key: str) -> float:
    """Return a number of /proc/self/status (VmRSS, VmHWM) in MB; NaN on other systems."""
    try:
        text = Path("/proc/self/status").read_text("ascii")
    except OSError:
        return np.nan
    return int(re.search(rf"{key}:\s+(\d+)", text)[1]) / 1024


def forget_peak() -> bool:
    """Set the peak of memory back to what is used now; return whether the system can."""
    gc.collect()
    try:
        ctypes.CDLL(None).malloc_trim(0)  # else a fit takes what the one before it freed
        Path("/proc/self/clear_refs").write_text("5", "ascii")
    except (AttributeError, OSError, TypeError):
        return False
    return True


def fit_and_judge(model: Any, split: Split) -> dict[str, float]:
    """Fit a classifier, and return its qualities and costs."""
    can_measure = forget_peak()
    used = memory_now("VmRSS")
    cpu, clock = time.process_time(), time.perf_counter()
    model.fit(split.X, split.y)
    fit_cpu, fit_clock = time.process_time() - cpu, time.perf_counter() - clock
    memory = memory_now("VmHWM") - used if can_measure else np.nan

    has_probabilities = hasattr(model, "predict_proba")
    cpu = time.process_time()
    predicted = np.ravel(model.predict(split.X_test))  # CatBoost returns a column
    probability = model.predict_proba(split.X_test) if has_probabilities else None
    predict_cpu = time.process_time() - cpu
    return judge(predicted, probability, model.classes_, split.y_test) | {
        "fit_cpu": fit_cpu,
        "predict_cpu": predict_cpu,
        "memory": memory,
        "fit_clock": fit_clock,
    }
