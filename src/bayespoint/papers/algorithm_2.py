"""Table 1 of 000 with the billiard of the paper, by number of bounces.

Two balls start at the largest margin, on the splits of table 1. The ball of 000's algorithm 2
takes directions with random coefficients; ours takes uniform directions and is exact. A third
ball, the paper's, starts at a perceptron, which 000 allows too. The paper reports about 1000
bounces at a tolerance of about 1e-4. Both cannot be true: after B bounces another arc, as long as
the longest, may still have the weight 1 / (B + 1).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import ShuffleSplit

from ..datasets.paper_data import load_paper_data
from ..geometry.conflicts import NoVersionSpaceError
from ..geometry.entry import learn_perceptron
from ..geometry.gram import unit_gram
from ..geometry.version_space import VersionSpace
from ..solvers import Billiard
from ..solvers.ball import advance, new_ball
from ..solvers.billiard import PILOT_BOUNCES, SCATTER_LENGTH
from .contest import largest_margin
from .experiment import Lines, Measured, Outcome, Plan, average, significance
from .picture import GRAY, canvas, curve
from .published import published
from .table_1 import QUICK_NAMES, SETTINGS

# Bounces that the paper reports.
PAPER_BOUNCES = 1000
BOUNCES = (100, 300, PAPER_BOUNCES, 3000, 10_000)
EXACT_BOUNCES = (*BOUNCES, 30_000, 100_000, 300_000)
# With this tolerance the published billiard stops after about PAPER_BOUNCES bounces.
TOL = 0.01


class Errors(NamedTuple):
    """Test errors in percent on one split, by the number of bounces."""

    margin: float  # of the largest margin, where the balls start
    paper: dict[int, float]
    exact: dict[int, float]
    stop: int  # bounces of the published billiard until its tolerance is TOL
    perceptron: float  # of the published billiard after PAPER_BOUNCES from a perceptron


def run(plan: Plan) -> Outcome:
    """Play both billiards on the splits of table 1."""
    bounces = plan.choose((BOUNCES[:3], BOUNCES), (BOUNCES, EXACT_BOUNCES))
    results = {}
    for name in plan.choose(QUICK_NAMES, tuple(SETTINGS)):
        data, (sigma, size) = load_paper_data(name, plan.data), SETTINGS[name]
        splits = ShuffleSplit(plan.choose(3, 100), train_size=size, random_state=plan.seed)
        items = [
            (data.X, data.y, *split, 1 / (2 * sigma**2), *bounces, plan.seed + i)
            for i, split in enumerate(splits.split(data.X))
        ]
        results[name] = [e for e in plan.repeat(play_on_split, items, name) if e is not None]
    numbers: dict[str, Measured] = {}
    for name, splits in results.items():
        numbers |= _numbers(name, splits)
    lines = [
        {"name": name, "split": i, "margin": errors.margin, "from_perceptron": errors.perceptron}
        | {
            f"{ball} {n}": e
            for ball in ("paper", "exact")
            for n, e in getattr(errors, ball).items()
        }
        for name, splits in results.items()
        for i, errors in enumerate(splits)
    ]
    notes = tuple(
        f"{name}: {len(splits)} splits; at a tolerance of {TOL:g} the published billiard stops "
        f"after {np.median([errors.stop for errors in splits]):.0f} bounces (median)."
        for name, splits in results.items()
    )
    return Outcome(numbers, lines, lambda: _draw(results), notes)


def play_on_split(
    X, y, train, test, gamma: float, bounces, exact_bounces, seed: int
) -> Errors | None:
    """Play both billiards; None if the training set has no version space."""
    space = VersionSpace(unit_gram(rbf_kernel(X[train], gamma=gamma), 0.0), y[train].astype(float))
    to_test = rbf_kernel(X[test], X[train], gamma=gamma)

    def error(w: np.ndarray) -> float:
        outputs = to_test @ (space.gram.dual(w) / space.gram.lengths)
        return 100 * float(np.mean(np.where(outputs > 0, 1, -1) != y[test]))

    try:
        inside = space.enter(np.random.default_rng(seed))
    except NoVersionSpaceError:
        return None
    start = largest_margin(space)
    paper, stop = play_paper(space, start, bounces, seed)
    exact = play_exact(space, start, exact_bounces, seed)
    last = min(PAPER_BOUNCES, max(bounces))
    perceptron = learn_perceptron(space, np.random.default_rng(seed))
    perceptron = inside if perceptron is None else perceptron
    from_perceptron = play_paper(space, perceptron, (last,), seed)[0][last]
    return Errors(
        error(start),
        {n: error(w) for n, w in paper.items()},
        {n: error(w) for n, w in exact.items()},
        stop,
        error(from_perceptron),
    )


def play_paper(
    space: VersionSpace, start: np.ndarray, bounces, seed: int
) -> tuple[dict[int, np.ndarray], int]:
    """Return the mean of the published ball after each number of bounces, and bounces to TOL.

    Each number is a run of its own; with the same seed a longer run begins like a shorter one.
    """

    def play(n: int, tol: float):
        solver = Billiard(algorithm="herbrich", n_bounces=n, tol=tol, n_draws=2)
        return solver.solve(space, np.random.default_rng(seed), start=start)

    means = {n: space.combine(play(n, 0.0).coef) for n in bounces}
    return means, play(BOUNCES[-1], TOL).info["n_bounces"]


def play_exact(space: VersionSpace, start: np.ndarray, bounces, seed: int) -> dict[int, np.ndarray]:
    """Return the mean of one ball of ours after each number of bounces.

    The ball is scattered as in `Billiard`, but the mean includes its whole path.
    """
    rng = np.random.default_rng(seed)
    ball, integral, done, means = new_ball(space, start, rng), np.zeros_like(start), 0, {}
    _, pilot = advance(space, ball, rng, PILOT_BOUNCES)
    scatter = max(round(SCATTER_LENGTH * PILOT_BOUNCES / pilot.length), 1)
    for n in bounces:
        ball, leg = advance(space, ball, rng, n - done, scatter)
        integral = integral + leg.integral
        means[n], done = integral, n
    return means


def _numbers(name: str, splits: list[Errors]) -> dict[str, Measured]:
    last, last_exact = max(splits[0].paper), max(splits[0].exact)
    return {
        f"{name}, BPM error %": average([e.paper[PAPER_BOUNCES] for e in splits]),
        f"{name}, significance of the BPM's gain": significance(
            [e.paper[PAPER_BOUNCES] for e in splits], [e.margin for e in splits]
        ),
        f"{name}, start: largest margin": average([e.margin for e in splits]),
        f"{name}, from a perceptron": average([e.perceptron for e in splits]),
        f"{name}, after {last}": average([e.paper[last] for e in splits]),
        f"{name}, exact, after {PAPER_BOUNCES}": average([e.exact[PAPER_BOUNCES] for e in splits]),
        f"{name}, exact, after {last_exact}": average([e.exact[last_exact] for e in splits]),
    }


def redraw(numbers: dict[str, Measured], runs: Lines):
    """Draw kept results."""
    results: dict[str, list[Errors]] = {}
    for line in runs:
        by_ball: dict[str, dict[int, float]] = {"paper": {}, "exact": {}}
        for column, error in line.items():
            ball, _, bounces = column.partition(" ")
            if bounces:
                by_ball[ball][int(bounces)] = float(error)
        margin, perceptron = float(line["margin"]), float(line["from_perceptron"])
        results.setdefault(line["name"], []).append(
            Errors(margin=margin, perceptron=perceptron, stop=0, **by_ball)
        )
    return _draw(results)


def _draw(results: dict[str, list[Errors]]):
    n_rows = -(-len(results) // 4)
    figure, axes = canvas(n_rows, 4 if n_rows > 1 else len(results), height=0.6 + 2.5 * n_rows)
    theirs = published("algorithm_2")
    for ax, (name, splits) in zip(axes.flat, results.items(), strict=False):
        value, bar = theirs[f"{name}, BPM error %"][:2]
        ax.axhspan(value - bar, value + bar, color=GRAY, alpha=0.4, lw=0, label="paper")
        ax.axvline(PAPER_BOUNCES, color=GRAY, lw=0.8, ls=":")
        for number, (ball, label) in enumerate((("paper", "its ball"), ("exact", "exact ball"))):
            runs = [getattr(errors, ball) for errors in splits]
            means = [average([run[n] for run in runs]) for n in runs[0]]
            look = {"error": [m.error for m in means], "ms": 4}
            curve(ax, list(runs[0]), [m.mean for m in means], 3 * number, label, **look)
        ax.set(title=name, xscale="log")
    handles = axes.flat[0].get_legend_handles_labels()
    for ax in axes.flat[len(results) :]:
        ax.axis("off")
    # The legend goes into the empty panel after the last data set, if there is one.
    axes.flat[-1].legend(*handles)
    figure.supxlabel("bounces", fontsize="medium")
    figure.supylabel("test error, percent", fontsize="medium")
    return figure
