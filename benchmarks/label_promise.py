"""Does the promise of a labeling session hold if a person stops at the first certificate?

    python benchmarks/label_promise.py sessions [--sessions 1000] [--jobs 2]
    python benchmarks/label_promise.py rules [--sessions 1000]
    python benchmarks/label_promise.py audits

sessions: whole sessions (`active.Session`) on made-up pools of 1,000 rows. A person looks after
every answer and stops at the first certificate of at most 10 % wrong answers with 95 % confidence.
The promise is broken if more of the answered rows are wrong. Cases: an easy one; labels of which
12 % are flipped; a model that is confidently wrong about a hidden group of rows; one that always
says 0.999; answers "don't know" and corrections. In the last two columns the certificate is
replaced by a one-shot bound (binomial), in the same sessions: each test has the risk of all tests
in the first order of audits, 4 %.

rules: one model that answers 1,000 rows, a little more than 5 % of them wrong, which is the hardest
case. Rows are audited at random until a rule says that at most 5 % of the rest are wrong, looking
after every one, 500 at most: how often the rule says so, and how many audits it takes it if fewer
rows are wrong.

audits: the audits that each rule takes for models of several errors, medians, at 95 % confidence.
Rules: our mixture of guesses; betting (each bet by the errors so far); a one-shot bound at each
look; and a one-shot bound at 20, 40, 80, ... audits that share the risk (union).
"""
# ruff: noqa: T201

from __future__ import annotations

import argparse
import math
from contextlib import nullcontext
from unittest.mock import patch

import numpy as np
from joblib import Parallel, delayed
from scipy import special
from scipy.stats import beta, hypergeom
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from threadpoolctl import threadpool_limits

from bayespoint import active
from bayespoint.active import promise as promises
from bayespoint.classifiers.reject.anytime import log_evidence

N_ROWS, MAX_QUESTIONS = 1000, 300
MAX_ERROR, RISK = 0.1, 0.05
# One model, audited by several rules.
SIZE, LIMIT, MOST_AUDITS = 1000, 0.05, 500
SHARES = (0.0, 0.005, 0.01, 0.02, 0.03)


class SaysYes(ClassifierMixin, BaseEstimator):
    """A model that is always sure of the most frequent class."""

    def fit(self, X, y):
        self.classes_, counts = np.unique(y, return_counts=True)
        self.best_ = int(counts.argmax())
        return self

    def predict_proba(self, X):
        wide = np.full((len(X), len(self.classes_)), 0.001 / max(1, len(self.classes_) - 1))
        wide[:, self.best_] = 0.999
        return wide

    def predict(self, X):
        return np.full(len(X), self.classes_[self.best_])


def two_clouds(rng, distance: float):
    y = rng.integers(0, 2, N_ROWS)
    return rng.normal(size=(N_ROWS, 2)) + distance * y[:, None], y


def easy(rng):
    return *two_clouds(rng, 3.0), LogisticRegression()


def noisy(rng):
    X, y = two_clouds(rng, 4.0)
    return X, np.where(rng.uniform(size=N_ROWS) < 0.12, 1 - y, y), LogisticRegression()


def hidden_group(rng):
    """Return a model that cannot see the group of rows about which it is wrong and sure."""
    X, y = two_clouds(rng, 6.0)
    hidden = rng.permutation(N_ROWS)[: int(0.11 * N_ROWS)]
    y[hidden] = 1 - y[hidden]
    return X, y, GaussianNB()


def always_sure(rng):
    X, _ = two_clouds(rng, 0.0)
    return X, (rng.permutation(N_ROWS) < 1.08 * MAX_ERROR * N_ROWS).astype(int), SaysYes()


CASES = {
    "easy": easy,
    "noisy labels": noisy,
    "confidently wrong": hidden_group,
    "always sure": always_sure,
    "unknown, corrected": hidden_group,
}


def one_shot(n_wrong, n_drawn, size, n_tested, max_error):
    """Return a binomial test at each look, each with the risk of all tests in the first order."""
    # A sample of a first checkpoint has a quarter of that risk.
    return -np.log(special.bdtr(n_wrong, n_drawn, n_tested / size)) + math.log(4)


def play(case: str, seed: int, with_one_shot: bool) -> tuple[int, int, float] | None:
    """Return answers and audits at the first certificate, and the true error; None without one."""
    rng = np.random.default_rng(seed)
    X, y, model = CASES[case](rng)
    is_careless = case == "unknown, corrected"
    broken = patch.object(promises, "log_evidence", one_shot) if with_one_shot else nullcontext()
    with threadpool_limits(1), broken:
        session = active.Session(model, X, max_error=MAX_ERROR, random_state=seed)
        for n in range(1, MAX_QUESTIONS + 1):
            row = session.ask()
            if is_careless and rng.uniform() < 0.02:
                session.tell(row, active.UNKNOWN)
            elif is_careless and rng.uniform() < 0.05:
                session.tell(row, int(1 - y[row]))
                session.tell(row, int(y[row]))
            else:
                session.tell(row, int(y[row]))
            certificate = session.certificate()
            if certificate.holds:
                found = session.predict()
                wrong = found.label[found.answered] != y[found.answered]
                return n, certificate.n_audited, float(np.mean(wrong))
    return None


def sessions(args) -> None:
    print(f"{args.sessions} sessions, at most {MAX_ERROR} wrong, risk {RISK}\n")
    print("| case | certified | broken | answers | audits | one-shot: certified | broken |")
    print("|---|---|---|---|---|---|---|")
    for case in CASES:
        cells = [case]
        for with_one_shot in (False, True):
            tasks = (delayed(play)(case, seed, with_one_shot) for seed in range(args.sessions))
            found = [r for r in Parallel(args.jobs)(tasks) if r is not None]
            broken = sum(error > MAX_ERROR for _, _, error in found)
            cells += [f"{len(found)}", f"{100 * broken / args.sessions:.1f} %"]
            if not with_one_shot:
                middle = np.median([r[:2] for r in found], axis=0) if found else (0, 0)
                cells += [f"{middle[0]:.0f}", f"{middle[1]:.0f}"]
        print("| " + " | ".join(cells) + " |", flush=True)


def mixture(wrong: np.ndarray) -> int | None:
    """Return after how many audits our rule says that the rest has at most LIMIT wrong rows."""
    n_drawn, n_wrong = np.arange(1, len(wrong) + 1), np.cumsum(wrong)
    evidence = log_evidence(n_wrong, n_drawn, SIZE, tested(n_wrong, n_drawn), LIMIT)
    return first(evidence >= -math.log(RISK))


def betting(wrong: np.ndarray) -> int | None:
    """Return the same for bets on the next row, each by the share of errors before it."""
    n_drawn, n_wrong = np.arange(1, len(wrong) + 1), np.cumsum(wrong)
    before_wrong, before = n_wrong - wrong, n_drawn - 1
    bet = np.minimum((before_wrong + 0.5 * LIMIT * 20) / (before + 20), 0.999 * LIMIT)
    numbers = tested(n_wrong, n_drawn)
    found = np.zeros(len(wrong), dtype=bool)
    for n in range(1, len(wrong) + 1):
        # All bets so far, against the number of wrong rows that is to be excluded now.
        share = (numbers[n - 1] - before_wrong[:n]) / (SIZE - before[:n])
        gain = np.where(wrong[:n], np.log(bet[:n] / share), np.log((1 - bet[:n]) / (1 - share)))
        found[n - 1] = gain.sum() >= -math.log(RISK)
    return first(found)


def each_look(wrong: np.ndarray) -> int | None:
    """Return the same for an exact test with all of the risk at each look, which is not valid."""
    n_drawn, n_wrong = np.arange(1, len(wrong) + 1), np.cumsum(wrong)
    chance = hypergeom.cdf(n_wrong, SIZE, tested(n_wrong, n_drawn), n_drawn)
    return first(chance <= RISK)


def union(wrong: np.ndarray) -> int | None:
    """Return the same for exact tests after 20, 40, 80, ... audits that share the risk."""
    looks = 20 * 2 ** np.arange(int(math.log2(len(wrong) / 20)) + 1)
    n_wrong = np.cumsum(wrong)[looks - 1]
    chance = hypergeom.cdf(n_wrong, SIZE, tested(n_wrong, looks), looks)
    held = np.flatnonzero(chance <= RISK / len(looks))
    return int(looks[held[0]]) if len(held) else None


RULES = {"mixture": mixture, "betting": betting, "one-shot": each_look, "union": union}


def tested(n_wrong, n_drawn):
    """Return the least number of wrong rows that breaks the promise about the rest."""
    return np.floor(LIMIT * (SIZE - n_drawn)).astype(int) + n_wrong + 1


def first(held: np.ndarray) -> int | None:
    return int(np.argmax(held)) + 1 if held.any() else None


def audited(share: float, seed: int) -> np.ndarray:
    """Return whether the rows that are audited are wrong, in order."""
    n_wrong = round(share * SIZE)
    return np.random.default_rng(seed).permutation(SIZE)[:MOST_AUDITS] < n_wrong


def rules(args) -> None:
    """Count broken promises where a bit too many rows are wrong at all times."""
    share = (math.floor(LIMIT * SIZE) + 1) / SIZE
    print(f"{args.sessions} models with {share:.1%} wrong rows\n\n| rule | promised | broken |")
    print("|---|---|---|")
    for name, rule in RULES.items():
        n_promised = n_broken = 0
        for seed in range(args.sessions):
            wrong = audited(share, seed)
            n = rule(wrong)
            if n is not None:
                rest = round(share * SIZE) - wrong[:n].sum()
                n_promised += 1
                n_broken += rest > LIMIT * (SIZE - n)
        low, high = interval(n_broken, args.sessions)
        promised, broken = 100 * n_promised / args.sessions, 100 * n_broken / args.sessions
        print(
            f"| {name} | {promised:.1f} % | {broken:.1f} % ({100 * low:.1f} to {100 * high:.1f}) |"
        )


def interval(k: int, n: int) -> tuple[float, float]:
    """Return the exact 95 % interval of a share."""
    low = beta.ppf(0.025, k, n - k + 1) if k else 0.0
    return float(low), float(beta.ppf(0.975, k + 1, n - k)) if k < n else 1.0


def audits(args) -> None:
    print("| rule | " + " | ".join(f"{100 * s:g} % wrong" for s in SHARES) + " |")
    print("|---" * (len(SHARES) + 1) + "|")
    for name, rule in RULES.items():
        cells = []
        for share in SHARES:
            found = [rule(audited(share, seed)) or math.inf for seed in range(args.sessions)]
            middle = np.median(found)
            cells.append(f"{middle:.0f}" if middle < math.inf else f"over {MOST_AUDITS}")
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    verbs = parser.add_subparsers(required=True)
    for do, n in ((sessions, 1000), (rules, 1000), (audits, 200)):
        verb = verbs.add_parser(do.__name__)
        verb.add_argument("--sessions", type=int, default=n)
        verb.add_argument("--jobs", type=int, default=2)
        verb.set_defaults(do=do)
    args = parser.parse_args()
    args.do(args)


if __name__ == "__main__":
    main()
