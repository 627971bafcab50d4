"""Promises for each group and their watch: how often broken, how much answered, how soon noticed.

    python benchmarks/group_promises.py [groups] [watch] [--draws 1000] [--rows 1000 4000]
        [--cases easy waves] [--runs 10000] [--out FILE]

groups: each row has a group and a rank u, uniform in (0, 1), which set its confidence and its
probability of an error, so the true error of each group's accepted rows is known. Measured over
draws of calibration rows: how often the promise (5 % errors, with probability 0.95) is broken in
any group, and the mean share of accepted rows, for our rule, for groups that share the risk
equally (Bonferroni), for groups that each use all of it (too much), for one threshold, and for
MAPIE (if installed; `group_peers.py`) in each group with an equal share.
watch: how often the certificate raises a false alarm within 10,000 answers whose error is the
promised one, or a part of it, and after how many answers it notices that the error has doubled.
"""
# ruff: noqa: T201

import argparse
import csv
import importlib.util
from pathlib import Path

import numpy as np
from group_peers import mapie_rules

from bayespoint.classifiers.reject.certificate import Certificate
from bayespoint.classifiers.reject.chain import make_chain
from bayespoint.classifiers.reject.groups import certify_groups
from bayespoint.classifiers.reject.promise import Promise

MAX_ERROR, RISK, N_GROUPS = 0.05, 0.05, 4
N_ROWS = (1000, 4000, 16_000)
RANKS = np.linspace(0, 1, 20_001)
# Answers in a run without a change; answers between two looks, which is how exact a delay is.
N_WATCHED, ROWS_AT_ONCE = 10_000, 50


def cases():
    """Return functions from rank and group to the probability of an error."""
    return {
        "easy": lambda u, g: 0.3 * (1 - u) ** 3,
        "one hard group": lambda u, g: np.where(g == 0, 0.5 - 0.48 * u, 0.02 * (1 - u)),
        "each just above": lambda u, g: np.full(np.shape(u), 1.005 * MAX_ERROR),
        "waves": lambda u, g: MAX_ERROR * (1 + 0.9 * np.cos(9 * u + 2 * g)),
        "surest is worst": lambda u, g: np.where(u > 0.8, 2 * MAX_ERROR, 0.01) + 0 * g,
    }


def alone(confidence, promise, rows, risk):
    return make_chain(confidence[rows], [promise.of(rows)], risk).lowest_certified(risk)[0]


def rules():
    """Return rules: confidence, promise, group of each row -> a threshold for each group."""

    def each(share):
        def rule(confidence, promise, group):
            parts = [np.flatnonzero(group == g) for g in range(N_GROUPS)]
            return np.array([alone(confidence, promise, rows, share) for rows in parts])

        return rule

    def one(confidence, promise, group):
        return np.full(N_GROUPS, alone(confidence, promise, np.arange(len(group)), RISK))

    found = {
        "ours": lambda c, p, g: certify_groups(c, [p], g, N_GROUPS, RISK),
        "Bonferroni": each(RISK / N_GROUPS),
        "each all": each(RISK),
        "one threshold": one,
    }
    if importlib.util.find_spec("mapie"):
        found |= mapie_rules(MAX_ERROR, RISK, N_GROUPS)
    return found


def true_errors(thresholds, error_of):
    """Return the true error of each group's accepted rows, and the share of accepted rows."""
    errors, shares = np.zeros(N_GROUPS), np.zeros(N_GROUPS)
    for g, threshold in enumerate(thresholds):
        kept = RANKS[threshold <= RANKS]
        if len(kept):
            errors[g], shares[g] = np.mean(error_of(kept, g)), len(kept) / len(RANKS)
    return errors, shares.mean()


def measure_groups(n_draws, sizes, chosen):
    """Print, and return as rows of a table, how often each rule breaks its promise."""
    names, table = list(rules()), []
    print(f"{'broken % / answered %':22}{'rows':>7}" + "".join(f"{name:>17}" for name in names))
    for case, error_of in cases().items():
        rng = np.random.default_rng(0)  # the same draws whichever cases are chosen
        for n_rows in sizes if case in chosen else ():
            broken, shares = np.zeros(len(names)), np.zeros(len(names))
            for _ in range(n_draws):
                rank, group = rng.random(n_rows), rng.integers(N_GROUPS, size=n_rows)
                wrong = rng.random(n_rows) < error_of(rank, group)
                promise = Promise("error", MAX_ERROR, wrong, np.ones(n_rows, dtype=bool))
                for i, rule in enumerate(rules().values()):
                    errors, share = true_errors(rule(rank, promise, group), error_of)
                    broken[i] += np.any(errors > MAX_ERROR)
                    shares[i] += share
            broken, shares = 100 * broken / n_draws, 100 * shares / n_draws
            cells = [f"{b:8.1f} /{s:6.1f}" for b, s in zip(broken, shares, strict=True)]
            print(f"{case:22}{n_rows:7,}" + "".join(f"{cell:>17}" for cell in cells), flush=True)
            table += [
                ("groups", case, n_rows, name, n_draws, f"{b:.2f}", f"{s:.2f}")
                for name, b, s in zip(names, broken, shares, strict=True)
            ]
    return table


def first_alarm(wrong, max_error):
    """Return after how many answers a certificate gives up; none if it does not."""
    certificate = Certificate(max_error)
    for start in range(0, len(wrong), ROWS_AT_ONCE):
        part = wrong[start : start + ROWS_AT_ONCE]
        if not certificate.update(np.zeros(len(part)), part.astype(float)).holds:
            return start + len(part)
    return None


def measure_watch(n_runs):
    """Print, and return as rows of a table, false alarms and delays."""
    rng, table = np.random.default_rng(1), []
    for max_error in (0.02, 0.05, 0.1):
        for usual in (1.0, 0.9, 0.5):
            # In one piece: the evidence is the largest one at any time, and is kept.
            alarms = sum(
                not Certificate(max_error).update(np.zeros(N_WATCHED), wrong.astype(float)).holds
                for wrong in (rng.random(N_WATCHED) < usual * max_error for _ in range(n_runs))
            )
            share = 100 * alarms / n_runs
            error = 100 * np.sqrt(share / 100 * (1 - share / 100) / n_runs)
            print(
                f"promised {max_error}, true error {usual:.0%} of it: false alarms {share:.2f} % "
                f"(standard error {error:.2f}) of {n_runs:,} runs of {N_WATCHED:,}",
                flush=True,
            )
            table.append(("watch", f"{usual} of it", N_WATCHED, max_error, n_runs, f"{share:.2f}"))
        for before in (0, 2000, 10_000):
            for usual in (0.5, 1.0):
                table.append(delay(rng, max_error, before, usual, n_runs // 10))
    return table


def delay(rng, max_error, before, usual, n_runs):
    """Measure after how many answers a doubled error is noticed."""
    delays = []
    for _ in range(n_runs):
        good, bad = rng.random(before) < usual * max_error, rng.random(20_000) < 2 * max_error
        alarm = first_alarm(np.append(good, bad), max_error)
        # An alarm before the change is a false one.
        if alarm is None or alarm > before:
            delays.append(np.inf if alarm is None else alarm - before)
    low, middle, high = np.quantile(delays, [0.1, 0.5, 0.9], method="lower")
    print(
        f"  doubled after {before:,} answers at {usual} of it: noticed after {middle:,.0f} "
        f"({low:,.0f} to {high:,.0f})",
        flush=True,
    )
    case = f"doubled after {before} at {usual}"
    return (
        "watch",
        case,
        20_000,
        max_error,
        n_runs,
        "",
        f"{middle:.0f}",
        f"{low:.0f}",
        f"{high:.0f}",
    )


HEAD = ("part", "case", "rows", "rule or promise", "draws", "broken or alarms %")
HEAD += ("answered % or median delay", "10 % of delays", "90 % of delays")

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("parts", nargs="*", default=["groups", "watch"])
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--rows", type=int, nargs="+", default=N_ROWS, help="calibration rows")
    parser.add_argument("--cases", nargs="+", default=list(cases()), help="default: all")
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--out", type=Path, help="CSV for all numbers")
    options = parser.parse_args()
    lines = (
        measure_groups(options.draws, options.rows, options.cases)
        if "groups" in options.parts
        else []
    )
    lines += measure_watch(options.runs) if "watch" in options.parts else []
    if options.out is not None:
        with options.out.open("w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([HEAD, *lines])
