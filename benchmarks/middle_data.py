"""The tables of `middle.py`, and how their rows are split.

Folders are laid out as follows; sets whose files are missing are left out.

  large/       letter.npz, shuttle.npz (X, y); pendigits.npz (X_train, y_train, X_test, y_test);
               covtype.npz (X_num, wilderness, soil, y); imdb_counts.npz (rows of word counts);
               adult_train.csv.gz and adult_test.csv.gz, as UCI has them
  uci121/      statlog-landsat.npz (X, y)
  raetsch/     waveform.npz, banana.npz (X, y)
  usps.npz     X_train, y_train, X_test, y_test
  mnist/       the four original files
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from arena_measures import Split
from scipy import sparse

from bayespoint.datasets.digits import MNIST_FILES, load_handwritten

TRAIN_SHARE = 0.7
MAX_TEST_ROWS = 5000
N_WILDERNESS, N_SOIL = 4, 40
PARTS = ("train", "test")

FILES: dict[str, tuple[str, ...]] = {
    "letter": ("large/letter.npz",),
    "pendigits": ("large/pendigits.npz",),
    "shuttle": ("large/shuttle.npz",),
    "usps": ("usps.npz",),
    "landsat": ("uci121/statlog-landsat.npz",),
    "adult": tuple(f"large/adult_{part}.csv.gz" for part in PARTS),
    "covtype": ("large/covtype.npz",),
    "waveform": ("raetsch/waveform.npz",),
    "banana": ("raetsch/banana.npz",),
    "imdb": ("large/imdb_counts.npz",),
    "mnist": tuple(f"mnist/{file}" for file in MNIST_FILES.values()),
}
# Numbers, a table with categories, or sparse counts.
Table = np.ndarray | pd.DataFrame | sparse.csr_matrix


def read_numbers(folder: Path, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Read numbers; a training and a test part are pooled."""
    with np.load(folder / FILES[name][0]) as file:
        ends = ("",) if "X" in file else tuple(f"_{part}" for part in PARTS)
        X, y = (np.concatenate([file[key + end] for end in ends]) for key in "Xy")
    return X.astype(float), y


def read_adult(folder: Path, name: str) -> tuple[pd.DataFrame, np.ndarray]:
    """Read the census table, with text as categories. Labels of the test part end with a dot."""
    options: dict[str, Any] = {"header": None, "skipinitialspace": True, "na_values": "?"}
    parts = [pd.read_csv(folder / file, **options) for file in FILES[name]]
    table = pd.concat(parts, ignore_index=True)
    table.columns = [f"column_{i}" for i in table.columns]
    X, y = table.iloc[:, :-1], table.iloc[:, -1]
    text = X.select_dtypes(exclude="number").columns
    return X.astype(dict.fromkeys(text, "category")), y.str.rstrip(".").to_numpy(str)


def read_covtype(folder: Path, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Read ten numbers, and wilderness and soil as 44 columns of zeros and ones."""
    with np.load(folder / FILES[name][0]) as file:
        codes = {"wilderness": N_WILDERNESS, "soil": N_SOIL}
        columns = [np.eye(n, dtype=np.float32)[file[key]] for key, n in codes.items()]
        return np.hstack([file["X_num"].astype(np.float32), *columns]), file["y"]


def read_imdb(folder: Path, name: str) -> tuple[sparse.csr_matrix, np.ndarray]:
    """Read sparse word counts and whether a review is good."""
    parts = []
    with np.load(folder / FILES[name][0]) as file:
        y = np.concatenate([file[f"y_{part}"] for part in PARTS])
        for part in PARTS:
            data, *places = (file[f"{part}_{key}"] for key in ("data", "indices", "indptr"))
            counts = (data.astype(float), *places)
            parts.append(sparse.csr_matrix(counts, shape=file[f"{part}_shape"]))
    return sparse.vstack(parts, format="csr"), y


def read_mnist(folder: Path, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Read gray values between 0 and 1 of handwritten digits."""
    data = load_handwritten(name, folder)
    X, y = (np.concatenate([data[f"{key}_{part}"] for part in PARTS]) for key in "Xy")
    return X.astype(np.float32), y


READERS: dict[str, Callable[[Path, str], tuple[Table, np.ndarray]]] = {
    "adult": read_adult,
    "covtype": read_covtype,
    "imdb": read_imdb,
    "mnist": read_mnist,
}


def choose_sets(folder: Path, names: Sequence[str] | None) -> list[str]:
    """Return the named sets, by default all that the folder has."""
    missing = {
        name: [file for file in files if not (folder / file).exists()]
        for name, files in FILES.items()
    }
    chosen = [name for name in FILES if not missing[name]] if names is None else list(names)
    wanted = [file for name in chosen for file in missing[name]]
    if wanted or not chosen:
        some = ", ".join(wanted) or "the files of at least one set"
        raise SystemExit(f"Expected {some} in {folder}; benchmarks/middle_data.py lists all files.")
    return chosen


def split_rows(y: np.ndarray, number: int, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return training and test rows; every class of the test part is in the training part."""
    n_train = min(rows, int(TRAIN_SHARE * len(y)))
    order = np.random.default_rng(number).permutation(len(y))
    train, test = order[:n_train], order[n_train : n_train + MAX_TEST_ROWS]
    return train, test[np.isin(y[test], y[train])]


def load_split(folder: Path, name: str, number: int, rows: int) -> Split:
    """Read a set and split it."""
    X, y = READERS.get(name, read_numbers)(folder, name)
    take = getattr(X, "iloc", X)
    train, test = split_rows(y, number, rows)
    return Split(take[train], y[train], take[test], y[test])
