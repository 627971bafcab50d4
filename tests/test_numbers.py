"""Numbers in the README and in pages are those of kept results in benchmarks/results."""

import math
import re
import sys
from argparse import Namespace
from pathlib import Path

import numpy as np
import pytest

sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))

import labels
import novelty
from arena_machines import LIMITED, MACHINES
from arena_report import compare, difference, rank, show
from arena_report import read_results as read_arena
from middle_report import average
from middle_report import read_results as read_middle

from bayespoint.active.promise import EXPECTED_SHARES, FIRST_ORDER_SHARE
from bayespoint.classifiers.reject.anytime import log_evidence
from bayespoint.classifiers.reject.thresholds import fewest_rows

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"
# Names of machines in the README, and in the kept results.
NAMES = {
    "**`BayesPointClassifier()`**": "bayespoint",
    "`CatBoostClassifier()`": "catboost",
    "`RandomForestClassifier(300)`": "forest",
    "`SVC()`, grid search of 30": "svc-tuned",
    "`LGBMClassifier()`": "lightgbm",
    "`SVC()`, calibrated": "svc-calibrated",
    "`LogisticRegression()`": "logistic",
}
MEASURES = ("error", "log_loss", "error_rejecting")


def text_of(page):
    """Return a page with each paragraph in one line."""
    return re.sub(r"(?<=[^\n|])\n(?=[^\n|])", " ", (ROOT / page).read_text("utf-8"))


def table_after(page, words):
    """Return the first table after some words: the cells of its rows, without its head."""
    rest = text_of(page).partition(words)[2]
    assert rest, f"{words!r} is no longer in {page}"
    rows = re.search(r"(?:^\|.*\n)+", rest, re.MULTILINE)[0].splitlines()[2:]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]


@pytest.fixture(scope="module")
def arena():
    machines = [name for name in MACHINES if name not in LIMITED]
    return compare(read_arena([RESULTS / "arena_uci121.csv"]), machines)


@pytest.fixture(scope="module")
def middle():
    results = read_middle([RESULTS / "middle.csv"])
    return results[results["rows"] == 10_000]


def test_table_of_the_readme(arena):
    rows = table_after("README.md", "## How good is it?")
    assert len(rows) == len(NAMES)
    for name, *cells in rows:
        column = arena.machines.index(NAMES[name])
        for cell, measure in zip(cells, (*MEASURES, "fit_cpu"), strict=True):
            mean = arena.values[measure][:, column].mean()
            shown = f"{mean:.2f}" if measure == "fit_cpu" else show(measure, mean)
            assert cell.replace("*", "") == shown, (name, measure)


def test_sentences_of_the_readme(arena, middle):
    text = text_of("README.md")
    n_sets = re.search(r"Means over (\d+) tables of the UCI collection with up to 1,000", text)[1]
    assert int(n_sets) == len(arena.sets)
    ours, theirs = (arena.machines.index(name) for name in ("bayespoint", "catboost"))
    wins = re.search(r"CatBoost makes fewer errors on (\d+) of them", text)[1]
    error = arena.values["error"]
    assert int(wins) == difference(error[:, ours], error[:, theirs])[-1]
    found = re.search(
        r"(\w+) times as long as a forest \(([\d.]+) against ([\d.]+) seconds, mean of (\d+)", text
    )
    means = average(middle, ["bayespoint", "forest", "boosting", "svc-tuned"])
    seconds = means["fit_cpu"].mean()
    assert found[1] == "five"
    assert round(seconds["bayespoint"] / seconds["forest"]) == 5
    assert found.groups()[1:3] == (f"{seconds['bayespoint']:.1f}", f"{seconds['forest']:.1f}")
    assert int(found[4]) == len(means["error"])
    found = re.search(r"boosting makes fewer errors: ([\d.]+) % against ([\d.]+) %", text)
    adult = 100 * means["error"].loc["adult"]
    assert found.groups() == (f"{adult['boosting']:.1f}", f"{adult['bayespoint']:.1f}")


def test_sentence_of_the_front_page(arena):
    def mean(machine, measure):
        return arena.values[measure][:, arena.machines.index(machine)].mean()

    error = {name: f"{100 * mean(name, 'error'):.1f} %" for name in arena.machines}
    loss = {name: f"{mean(name, 'log_loss'):.3f}" for name in ("bayespoint", "forest")}
    sentence = (
        f"On {len(arena.sets)} tables of the UCI collection, with nothing tuned, this makes "
        f"{error['bayespoint']} errors with log loss {loss['bayespoint']}; a forest makes "
        f"{error['forest']} with {loss['forest']}, a grid-searched `SVC` {error['svc-tuned']}."
    )
    assert sentence in text_of("docs/index.md")


def test_table_of_the_arena(arena):
    ranks = {m: rank(arena, m) for m in ("error", "log_loss")}
    columns = ("error", "log_loss", "brier", "calibration", "error_rejecting", "fit_cpu")
    rows = table_after("benchmarks/README.md", "Means over all 30 sets and both splits.")
    assert {row[0].strip("`") for row in rows} == set(arena.machines)
    for name, *cells in rows:
        name = name.strip("`")
        column = arena.machines.index(name)
        for cell, measure in zip(cells, columns, strict=False):
            mean = arena.values[measure][:, column].mean()
            shown = f"{mean:.2f}" if measure == "fit_cpu" else show(measure, mean)
            assert cell.replace("*", "") == (shown if shown != "–" else ""), (name, measure)
        for cell, found in zip(cells[len(columns) :], ranks.values(), strict=True):
            mean = dict(zip(found.machines, found.mean, strict=True)).get(name)
            assert cell.replace("*", "") == ("" if mean is None else f"{mean:.2f}"), name


def test_table_of_the_middle():
    """Errors of all machines, and log losses of those that never fail."""
    results = read_middle([RESULTS / "middle.csv"])
    means = results.groupby(["set", "rows", "machine"])[["error", "log_loss", "n_train"]].mean()
    machines = ["bayespoint", "bayespoint-rbf", "forest", "boosting", "svc-tuned"]
    rows = table_after("benchmarks/README.md", "error in percent / log loss / CPU seconds")
    assert len(rows) == 14
    for head, *cells in rows:
        name, size = re.match(r"(\w+), ([\d,]+);", head).groups()
        n_train = int(size.replace(",", ""))
        limit = 10_000 if n_train <= 10_000 else 50_000 if n_train <= 50_000 else 100_000
        for machine, cell in zip(machines, cells, strict=True):
            parts = cell.replace("*", "").split(" / ")
            if not parts[0]:
                continue
            mean = means.loc[name, limit, machine]
            assert parts[0] == f"{100 * mean['error']:.2f}", (head, machine)
            if machine in {"bayespoint", "forest"}:
                assert parts[1] == f"{mean['log_loss']:.3f}", (head, machine)


@pytest.mark.parametrize(
    ("page", "report", "n_lines"),
    [
        ("docs/notes/novelty.md", lambda: novelty.report(RESULTS / "novelty.csv"), 35),
        (
            "docs/notes/labeling.md",
            lambda: labels.report(Namespace(results=RESULTS / "labels.csv.gz", picture=None)),
            15,
        ),
    ],
)
def test_tables_of_notes_are_those_that_their_commands_print(page, report, n_lines, capsys):
    report()
    printed = [line for line in capsys.readouterr().out.splitlines() if line.startswith("|")]
    assert len(printed) >= n_lines
    kept = (ROOT / page).read_text("utf-8").splitlines()
    missing = [line for line in printed if line not in kept and "---" not in line]
    assert not missing


def test_ratio_of_labels(capsys):
    table = labels.summarize(labels.curves_of(RESULTS / "labels.csv.gz"))
    ratio = np.median([labels.ratio_to_random(row, labels.MARGIN) for row in table.values()])
    found = re.search(r"needs ([\d.]+) times the labels", text_of("docs/notes/labeling.md"))[1]
    assert found == f"{ratio:.2f}"
    assert f"{found} of the labels of random choice" in text_of("benchmarks/README.md")


def test_losses_on_the_page_of_benchmarks_are_those_of_its_tables(arena):
    page = text_of("docs/benchmarks.md").partition("## Where others are better")[2]
    error = {name: arena.values["error"][:, i] for i, name in enumerate(arena.machines)}
    ours = error["bayespoint"]
    wins = [difference(ours, error[name])[-1] for name in ("catboost", "forest")]
    losses = "CatBoost makes fewer errors on {}, a random forest on {}.".format(*wins)
    assert losses in page
    table = text_of("benchmarks/README.md")
    for number in re.findall(r"\d+\.\d+", page):
        assert re.search(rf"(?<![\d.]){re.escape(number)}(?!\d)", table), number


def test_compilation_takes_eight_seconds():
    """The page of benchmarks says so for `python benchmarks/startup.py`."""
    found = re.search(
        r"first fit of a process \| ([\d.]+) s compiling", text_of("benchmarks/README.md")
    )
    assert round(float(found[1])) == 8
    assert "takes eight seconds longer, because it compiles" in text_of("README.md")


def test_log_loss_of_gaussian_processes():
    rows = table_after("benchmarks/README.md", "## Without tuning")
    start = [row[0] for row in rows].index("log loss: `BayesPointClassifier()`")
    ours = float(rows[start][8].strip("*"))
    theirs = next(float(row[8]) for row in rows[start:] if "optimized" in row[0])
    more = theirs - ours
    assert f"has {more:.3f} more log loss" in text_of("docs/coming_from_gp.md")


def test_seconds_of_100_000_rows():
    results = read_middle([RESULTS / "middle.csv"])
    ours = results[(results["machine"] == "bayespoint") & (results["n_train"] == 100_000)]
    assert len(ours)
    assert 20 <= ours["fit_cpu"].mean() <= 40
    assert "half a minute for 100,000" in text_of("docs/which_machine.md")


def test_rows_that_a_promise_needs():
    rows = [fewest_rows(max_error, 0.95) for max_error in (0.05, 0.01)]
    words = (
        f"{rows[0]} held-out rows for an error of 5 % even if none of them is wrong, {rows[1]} for"
    )
    assert words in text_of("docs/abstaining.md")


def test_questions_that_a_promise_of_labels_needs():
    """The first checkpoint has half of the risk of the first order, and its sets share it."""
    risk, size, n = 0.05 * FIRST_ORDER_SHARE / 2 / len(EXPECTED_SHARES), 5000, np.arange(200)
    needed = []
    for max_error in (0.05, 0.1):
        evidence = log_evidence(0 * n, n, size, math.floor(max_error * size) + 1, max_error)
        needed.append(int(np.argmax(evidence >= -math.log(risk))))
    assert np.round(needed, -1).tolist() == [100, 50]
    page = " ".join(text_of("docs/labeling.md").split())
    assert "about 100 blind questions are needed for 5 % and 50 for 10 %" in page


def test_sizes_and_speed_of_compact_models():
    table = table_after("docs/notes/compact.md", "## What the data")
    rows = {(row[0], row[1]): row for row in table}
    adult, banana = rows["adult, default (mosaic)", "0.001"], rows["banana, default", "0.005"]
    page = text_of("docs/compact.md")
    assert adult[4] == banana[4] == "0"
    assert "no label of 10,000 rows changed" in page
    assert f"the file shrank from {adult[6]} MB" in page
    assert f"{banana[3]} times on banana" in page
