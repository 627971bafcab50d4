"""Table 2.1 of Advances in Large Margin Classifiers: the leave-one-out machine.

Its only parameter, the width of the kernel exp(-|x - x'|^2 / (2 sigma^2)), is chosen as in
the paper: the median of the best ones on the first five training sets, by cross-validation.
The paper gives no standard errors.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import stats

from .raetsch import Benchmark, choose_sigma, count_errors, load_benchmark, machine

PUBLISHED = {
    "banana": 10.6,
    "breast-cancer": 26.3,
    "diabetes": 23.4,
    "heart": 16.1,
    "thyroid": 5.0,
    "titanic": 22.7,
}

HEAD = (
    "                           test error, percent\n"
    "data set          sigma    ours            paper   difference     splits"
    "   published   support vectors\n"
)
FOOT = (
    "Means over the splits and their standard errors; difference: in standard errors of ours. "
    "published:\nsplits that are the paper's own, and the error on them alone. support vectors: "
    "mean share of the\ntraining points.\n"
)


class Row(NamedTuple):
    """A line of our table, with a figure a split."""

    sigma: float
    errors: np.ndarray  # in percent
    n_published: int
    support: np.ndarray  # in percent
    n_imprecise: int


def run(data: Benchmark) -> Row:
    """Choose the width, and classify the test points of every split."""
    sigma = choose_sigma(data)
    errors, support, n_imprecise = [], [], 0
    for train, test in data.splits:
        model = machine(sigma)
        wrong, imprecise = count_errors(model, data.X, data.y, train, test)
        errors.append(100 * wrong / len(test))
        support.append(100 * len(model.support_) / len(train))
        n_imprecise += imprecise
    return Row(sigma, np.array(errors), data.n_published, np.array(support), n_imprecise)


def format_row(name: str, row: Row) -> str:
    """Write a line of our table, the published figure beside ours."""
    mean, error = np.mean(row.errors), stats.sem(row.errors)
    own = f"{row.n_published:3}"
    if row.n_published:
        own += f" ({np.mean(row.errors[: row.n_published]):4.1f})"
    note = f"   {row.n_imprecise} fits imprecise" if row.n_imprecise else ""
    far = (mean - PUBLISHED[name]) / error if error else 0.0
    support = np.mean(row.support)
    return (
        f"{name:<15} {row.sigma:7.3g}    {mean:4.1f} ± {error:4.2f}     {PUBLISHED[name]:4.1f}"
        f"    {far:+5.1f}          {len(row.errors):4}   {own:<12} {support:4.1f} %{note}\n"
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the experiment from the command line."""
    options = _parse(arguments)
    rows = {}
    for name in options.names:
        rows[name] = run(load_benchmark(name, options.data, options.splits))
        sys.stderr.write(f"{name}: done\n")
    if options.csv:
        with open(options.csv, "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(["name", "split", "sigma", "error"])
            for name, row in rows.items():
                writer.writerows([name, i, row.sigma, e] for i, e in enumerate(row.errors))
    sys.stdout.write(HEAD + "".join(format_row(*item) for item in rows.items()) + FOOT)


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m bayespoint.papers.table_2_1", description=__doc__)
    parser.add_argument("--data", metavar="FOLDER", help="default: $BAYESPOINT_DATA")
    parser.add_argument("--splits", type=int, default=100, help="at least 5; default: 100")
    parser.add_argument("--names", nargs="+", choices=PUBLISHED, default=list(PUBLISHED))
    parser.add_argument("--csv", metavar="FILE", help="write the error of every split")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main()
