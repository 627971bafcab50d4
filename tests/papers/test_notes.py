"""Numbers about the papers in the README and in docs/notes match the stored runs."""

import csv
import re
from pathlib import Path

import numpy as np

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "notes" / "onion.md").read_text("utf-8")


def lines_of(name):
    with open(DOCS / "papers" / name, newline="") as file:
        return list(csv.DictReader(file))


def kept_errors():
    """Return our errors on negative and positive test points, by entry."""
    shape = (6, 6)
    negative, positive = np.zeros(shape, dtype=int), np.zeros(shape, dtype=int)
    for line in lines_of("table_18_1_runs.csv"):
        entry = int(line["negative"]), int(line["positive"])
        negative[entry], positive[entry] = line["negative_errors"], line["positive_errors"]
    return negative, positive


def published_errors():
    table = np.zeros((6, 6), dtype=int)
    for line in lines_of("table_18_1.csv"):
        if line["quantity"].startswith("errors, entry"):
            table[tuple(map(int, re.findall(r"\d+", line["quantity"])))] = line["published"]
    return table


def largest_step(table):
    """Return the largest difference between neighboring entries."""
    return max(np.abs(np.diff(table, axis=axis)).max() for axis in (0, 1))


def test_entries():
    negative, positive = kept_errors()
    published = published_errors()
    errors = r"(\d+) \((\d+),(\d+)\)"
    found = re.findall(rf"\| \((\d), (\d)\) \| {errors} \| {errors} \|", PAGE)
    assert len(found) == 4
    for line in found:
        i, j, total, minus, plus, *ours = map(int, line)
        assert total == minus + plus == published[i, j]
        assert ours == [negative[i, j] + positive[i, j], negative[i, j], positive[i, j]]


def test_steps_and_best_entries():
    ours, published = sum(kept_errors()), published_errors()
    steps = re.search(r"by up to (\d+) errors in the published table and by up to (\d+) in", PAGE)
    assert [int(n) for n in steps.groups()] == [largest_step(published), largest_step(ours)]
    best = re.search(r"Our best entry has (\d+) errors, the best published one has (\d+)", PAGE)
    assert [int(n) for n in best.groups()] == [ours.min(), published.min()]


def numbers_of(name):
    return {line["quantity"]: float(line["ours"]) for line in lines_of(name)}


def test_other_features():
    page, ours = " ".join(PAGE.split()), numbers_of("table_18_1.csv")
    for name, text in (
        ("raw features", r"Raw features give (\d+) to (\d+) errors"),
        ("features from -1 to 1", r"on the training set give (\d+) to (\d+)\."),
        ("no threshold", r"without a threshold give (\d+) to (\d+)\."),
    ):
        found = [int(n) for n in re.search(text, page).groups()]
        assert found == [ours[f"{name}, fewest errors"], ours[f"{name}, most errors"]]


def test_flipper():
    page, ours = " ".join(PAGE.split()), numbers_of("flipper.csv")
    text = r"makes ([\d.]+) errors on average over 20 seeds, the exact Bayes point ([\d.]+)"
    found = [float(n) for n in re.search(text, page).groups()]
    keys = ("sonar, errors of the flipper", "sonar, errors of the Bayes point")
    assert found == [round(ours[key], 1) for key in keys]
    text = r"off by ([\d.]+) rad on sonar and by ([\d.]+) on breast cancer"
    published = " ".join((DOCS / "notes" / "published.md").read_text("utf-8").split())
    found = [float(n) for n in re.search(text, published).groups()]
    keys = ("sonar, radians between them", "wisconsin, radians between them")
    assert found == [round(ours[key], 2) for key in keys]
