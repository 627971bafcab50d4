"""Promises for each group and their watch: how often broken, how much answered, how soon noticed.

    python benchmarks/group_promises.py [groups] [watch] [--draws 1000]

groups: each row has a group and a rank u, uniform in (0, 1), which set its confidence and its
probability of an error, so the true error of each group's accepted rows is known. Measured over
draws of calibration rows: how often the promise (5 % errors, with probability 0.95) is broken in
any group, and the mean share of accepted rows, for our rule, for groups that share the risk
equally (Bonferroni), for groups that each use all of it (too much), for one threshold, and for
MAPIE (if installed; it controls precision) in each group with an equal share.
watch: how often the certificate raises a false alarm within 10,000 answers whose error is just
the promised one, and after how many answers it notices that the error has doubled.
"""
# ruff: noqa: T201

import argparse
import importlib.util

import numpy as np
from rejecting import mapie

from bayespoint.classifiers.reject.certificate import Certificate
from bayespoint.classifiers.reject.chain import make_chain
from bayespoint.classifiers.reject.groups import certify_groups
from bayespoint.classifiers.reject.promise import Promise

MAX_ERROR, RISK, N_GROUPS = 0.05, 0.05, 4
N_ROWS = (1000, 4000, 16_000)
RANKS = np.linspace(0, 1, 20_001)


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

    def in_mapie(confidence, promise, group):
        level = 1 - RISK / N_GROUPS
        parts = [np.flatnonzero(group == g) for g in range(N_GROUPS)]
        return np.array(
            [
                mapie(confidence[r], ~promise.loss[r], MAX_ERROR, level, "fixed_sequence")
                for r in parts
            ]
        )

    found = {
        "ours": lambda c, p, g: certify_groups(c, [p], g, N_GROUPS, RISK),
        "Bonferroni": each(RISK / N_GROUPS),
        "each all": each(RISK),
        "one threshold": one,
    }
    return found | ({"MAPIE": in_mapie} if importlib.util.find_spec("mapie") else {})


def true_errors(thresholds, error_of):
    """Return the true error of each group's accepted rows, and the share of accepted rows."""
    errors, shares = np.zeros(N_GROUPS), np.zeros(N_GROUPS)
    for g, threshold in enumerate(thresholds):
        kept = RANKS[threshold <= RANKS]
        if len(kept):
            errors[g], shares[g] = np.mean(error_of(kept, g)), len(kept) / len(RANKS)
    return errors, shares.mean()


def measure_groups(n_draws):
    rng = np.random.default_rng(0)
    names = list(rules())
    print(f"{'broken % / answered %':18}{'rows':>7}" + "".join(f"{name:>17}" for name in names))
    for case, error_of in cases().items():
        for n_rows in N_ROWS:
            broken, shares = np.zeros(len(names)), np.zeros(len(names))
            for _ in range(n_draws):
                rank, group = rng.random(n_rows), rng.integers(N_GROUPS, size=n_rows)
                wrong = rng.random(n_rows) < error_of(rank, group)
                promise = Promise("error", MAX_ERROR, wrong, np.ones(n_rows, dtype=bool))
                for i, rule in enumerate(rules().values()):
                    errors, share = true_errors(rule(rank, promise, group), error_of)
                    broken[i] += np.any(errors > MAX_ERROR)
                    shares[i] += share
            cells = [
                f"{100 * b / n_draws:8.1f} /{100 * s / n_draws:6.1f}"
                for b, s in zip(broken, shares, strict=True)
            ]
            print(f"{case:18}{n_rows:7,}" + "".join(f"{cell:>17}" for cell in cells), flush=True)


def first_alarm(wrong, max_error):
    """Return after how many answers a certificate gives up; none if it does not."""
    certificate = Certificate(max_error)
    for start in range(0, len(wrong), 50):
        part = wrong[start : start + 50]
        if not certificate.update(np.zeros(len(part)), part.astype(float)).holds:
            return start + len(part)
    return None


def measure_watch(n_draws):
    rng = np.random.default_rng(1)
    for max_error in (0.02, 0.05, 0.1):
        alarms = [first_alarm(rng.random(10_000) < max_error, max_error) for _ in range(n_draws)]
        false = np.mean([alarm is not None for alarm in alarms])
        print(
            f"max_error {max_error}: false alarms {100 * false:.1f} % of {n_draws} runs of 10,000"
        )
        for before in (0, 2000, 10_000):
            for usual in (0.5, 1.0):
                delays = []
                for _ in range(max(n_draws // 10, 20)):
                    good = rng.random(before) < usual * max_error
                    bad = rng.random(20_000) < 2 * max_error
                    alarm = first_alarm(np.append(good, bad), max_error)
                    delays.append(np.inf if alarm is None else alarm - before)
                low, middle, high = np.quantile(delays, [0.1, 0.5, 0.9])
                print(
                    f"  doubled after {before:,} answers at {usual} of it: noticed after "
                    f"{middle:,.0f} ({low:,.0f} to {high:,.0f})",
                    flush=True,
                )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("parts", nargs="*", default=["groups", "watch"])
    parser.add_argument("--draws", type=int, default=1000)
    arguments = parser.parse_args()
    if "groups" in arguments.parts:
        measure_groups(arguments.draws)
    if "watch" in arguments.parts:
        measure_watch(arguments.draws)
