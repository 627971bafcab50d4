"""Reports to look at: four generated files, the CPU time of their reports, and pictures.

    python benchmarks/report_pages.py FOLDER [--pictures]

Writes CSV files, models and reports into FOLDER: 5,822 rows of 85 columns with 6 % positive ones,
683 rows of 19 classes with 35 columns of categories, 61 columns with long names, and iris. With
--pictures also a PNG at 1280 and at 375 pixels and a PDF of each, by Chromium on the path.
"""

# ruff: noqa: T201

import argparse
import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_iris

# File: its target, and the number of training rows.
FILES = {"rare": ("bought", 4000), "many": ("disease", 455), "wide": ("grade", 1000)}
FILES |= {"iris": ("species", 100)}
CATEGORIES = np.array(["absent", "present", "normal", "upper-surface", "lower-surface"], object)


def rare(rng: np.random.Generator, n_rows: int = 5822) -> pd.DataFrame:
    """Return a table with 85 columns of numbers and categories, and few positive rows."""
    columns = {}
    for j in range(85):
        if j % 7 == 0:
            columns[f"region_{j:02}"] = rng.choice(["north", "south", "east", "west"], n_rows)
        elif j % 3 == 0:
            columns[f"count_{j:02}"] = rng.poisson(1.2, n_rows)
        else:
            columns[f"level_{j:02}"] = rng.integers(0, 10, n_rows)
    table = pd.DataFrame(columns)
    score = 0.22 * (table["level_01"] - 4.5) + 0.16 * (table["level_02"] - 4.5)
    score += 0.5 * (table["count_03"] - 1.2) + 0.8 * (table["region_07"] == "north")
    chance = 1 / (1 + np.exp(3.3 - score))
    return table.assign(bought=np.where(rng.random(n_rows) < chance, "yes", "no"))


def many(rng: np.random.Generator, n_rows: int = 683) -> pd.DataFrame:
    """Return a table of 19 classes, from frequent to rare, and 35 columns of categories."""
    frequency = 1 / np.arange(2, 21)
    y = rng.choice(19, n_rows, p=frequency / frequency.sum())
    columns = {}
    for j in range(35):
        n = 2 + j % 4
        law = 0.45 * rng.dirichlet(np.full(n, 0.35), 19) + 0.55 / n
        values = CATEGORIES[[rng.choice(n, p=law[k]) for k in y]]
        values[rng.random(n_rows) < (0.15 if j % 3 == 0 else 0.01)] = None
        columns[f"sign-{j + 1}"] = values
    return pd.DataFrame(columns).assign(disease=[f"brown-leaf-spot-{k + 1}" for k in y])


def wide(rng: np.random.Generator, n_rows: int = 1500) -> pd.DataFrame:
    """Return 61 columns with long names; the target of one region is noise."""
    Z = rng.normal(size=(n_rows, 60))
    region = rng.choice(["A", "B", "C"], n_rows)
    signal = np.where(region == "B", 1.5 * rng.normal(size=n_rows), Z[:, 0] + Z[:, 1] * Z[:, 2])
    table = pd.DataFrame(Z, columns=[f"a_rather_long_sensor_name_{j:02}" for j in range(60)])
    grade = np.select([signal < -0.6, signal < 0.6], ["low", "middle"], "high")
    return table.assign(region=region, grade=grade)


def iris(rng: np.random.Generator) -> pd.DataFrame:
    """Return iris with the names of its species, shuffled."""
    X, y = load_iris(return_X_y=True, as_frame=True)
    table = X.assign(species=load_iris().target_names[y])
    return table.iloc[rng.permutation(len(table))]


def command(*arguments: object) -> tuple[str, float]:
    """Run `bayespoint`; return what it says, and its CPU seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    line = [sys.executable, "-m", "bayespoint", *map(str, arguments)]
    said = subprocess.run(line, check=True, capture_output=True, text=True).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return said, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def take_pictures(page: Path) -> None:
    """Save a page as PNG at two widths, and as it is printed."""
    chromium = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
    for width, height in ((1280, 10_000), (375, 15_000)):
        png = page.with_name(f"{page.stem}_{width}.png").resolve()
        size = [f"--window-size={width},{height}", f"--screenshot={png}"]
        subprocess.run([*chromium, *size, page.resolve().as_uri()], check=True, capture_output=True)
    pdf = f"--print-to-pdf={page.with_suffix('.pdf').resolve()}"
    subprocess.run([*chromium, pdf, page.resolve().as_uri()], check=True, capture_output=True)


def main() -> None:
    """Make the files, models and reports."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pictures", action="store_true")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    for make in (rare, many, wide, iris):
        name, (target, n_training) = make.__name__, FILES[make.__name__]
        table = make(np.random.default_rng(0))
        train, test, model, page = (
            options.folder / f"{name}{end}" for end in ("_train.csv", "_test.csv", ".bpm", ".html")
        )
        table[:n_training].to_csv(train, index=False)
        table[n_training:].to_csv(test, index=False)
        command("train", train, "--target", target, "--model", model)
        said, seconds = command("report", model, test, "--output", page)
        print(
            f"{name:5} {len(table):5,} rows, {table.shape[1] - 1} columns: {seconds:.1f} s of CPU"
        )
        print(f"      {said.splitlines()[0]}")
        if options.pictures:
            take_pictures(page)


if __name__ == "__main__":
    main()
