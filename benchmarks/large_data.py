"""Generated tables like three large public ones: skin, sleep and the KDD cup of 1999."""

from __future__ import annotations

import colorsys

import numpy as np
import pandas as pd

N_ROWS = {"skin": 245_000, "sleep": 64_000, "kddcup": 370_000}


def make_table(name: str, n_rows: int | None = None, seed: int = 0) -> pd.DataFrame:
    """Return a table with the classes in its last column, `target`."""
    make = {"skin": _skin, "sleep": _sleep, "kddcup": _kddcup}[name]
    return make(n_rows or N_ROWS[name], np.random.default_rng(seed))


def _skin(n: int, rng: np.random.Generator) -> pd.DataFrame:
    """Return colors of pixels; skin has a certain hue and saturation at any brightness.

    Many pixels are equal, as in photographs. The classes hardly overlap, but no plane parts them.
    """
    skin = rng.random(n) < 0.21
    hue = np.where(skin, rng.normal(0.06, 0.02, n), rng.choice([0.06, 0.15, 0.35, 0.6], n))
    hue = np.where(skin, hue, hue + rng.normal(0, 0.03, n)) % 1.0
    saturation = np.where(skin, rng.beta(8, 10, n), rng.beta(1, 2, n))
    value = np.where(skin, rng.beta(5, 2, n), rng.beta(1.5, 1.5, n))
    color = np.vectorize(colorsys.hsv_to_rgb)(hue, saturation, value)
    pixels = np.round(np.column_stack(color) * 63) * 4  # 64 levels of each color
    # Pixels of the background that look like skin are skin: the label follows from the color.
    like_skin = (np.abs(hue - 0.06) < 0.045) & (saturation > 0.22) & (saturation < 0.75)
    like_skin &= value > 0.3
    table = pd.DataFrame(pixels.astype(int), columns=["B", "G", "R"])
    return table.assign(target=np.where(like_skin, "skin", "other"))


def _sleep(n: int, rng: np.random.Generator) -> pd.DataFrame:
    """Return noisy classes whose borders are slightly curved."""
    X = rng.standard_normal((n, 12))
    scores = X @ rng.standard_normal((12, 5)) * 0.5
    curved = np.column_stack(
        [X[:, 0] * X[:, 1], X[:, 2] ** 2 - 1, np.abs(X[:, 3]), X[:, 4] * X[:, 5], np.sin(X[:, 0])]
    )
    scores += 0.7 * curved + rng.gumbel(size=(n, 5)) * 0.6 + np.log([0.3, 0.1, 0.35, 0.1, 0.15])
    table = pd.DataFrame(X.round(4), columns=[f"channel_{i}" for i in range(12)])
    return table.assign(target=scores.argmax(axis=1))


def _kddcup(n: int, rng: np.random.Generator) -> pd.DataFrame:
    """Return connections: 34 numbers, 7 texts, 23 classes of which three have most rows."""
    share = np.array([0.57, 0.22, 0.19, *0.008 * 0.7 ** np.arange(20)])
    label = rng.choice(23, n, p=share / share.sum())
    label[: 23 * 10] = np.repeat(np.arange(23), 10)  # every class has a few rows
    centers = rng.normal(0, 1.2, (23, 34))
    numbers = centers[label] + rng.standard_normal((n, 34))
    counts = np.round(np.expm1(np.maximum(numbers[:, :20], 0) * 1.5))  # skewed, and often zero
    rates = np.round(1 / (1 + np.exp(-2 * numbers[:, 20:])), 2)
    columns = {f"count_{i}": counts[:, i] for i in range(20)}
    columns |= {f"rate_{i}": rates[:, i] for i in range(14)}
    for name, size in {"protocol": 3, "service": 66, "flag": 11}.items():
        typical = rng.integers(size, size=23)
        value = np.where(rng.random(n) < 0.8, typical[label], rng.integers(size, size=n))
        columns[name] = np.char.add(f"{name}_", value.astype(str))
    for i in range(4):
        yes = rng.random(n) < rng.random(23)[label]
        columns[f"is_{i}"] = np.where(yes, "yes", "no")
    columns["target"] = np.char.add("attack_", label.astype(str))
    return pd.DataFrame(columns).sample(frac=1, random_state=0, ignore_index=True)
