"""Figures 18.11 and 18.12 of 002: learning curves of students of a random perceptron.

In 100 dimensions, averaged over 10 teachers: the Bayes point compared with the theory of
Opper and Haussler, and with the largest margin.
"""

from __future__ import annotations

import numpy as np

from ..classifiers.bayes_point import BayesPointClassifier
from ..datasets.known_answers import make_teacher
from ..geometry.largest_ball import largest_ball
from ..solvers import Billiard
from .experiment import Measured, Outcome, Plan, average
from .perceptron_theory import bayes_error, largest_margin_error
from .picture import canvas, color, curve

N_FEATURES = 100
ALPHAS = (0.5, 1, 2, 3, 4, 5, 6, 8, 10)
QUICK_ALPHAS = (1, 3)
# From this many examples per dimension on the largest margin was worse in every run.
MANY_EXAMPLES = 4
THEORIES = {"Bayes point": bayes_error, "largest margin": largest_margin_error}
SOLVER = Billiard(n_bounces=1_000_000, n_chains=4, tol=0.03)


def run(plan: Plan) -> Outcome:
    """Train both machines with the labels of random teachers."""
    alphas = plan.choose(QUICK_ALPHAS, ALPHAS)
    n_features, n_teachers = plan.choose(20, N_FEATURES), plan.choose(4, 10)
    items = [
        (round(alpha * n_features), n_features, plan.seed + i)
        for alpha in alphas
        for i in range(n_teachers)
    ]
    errors = np.reshape(plan.repeat(learn, items), (len(alphas), n_teachers, 2))
    numbers = {}
    for alpha, runs in zip(alphas, errors, strict=True):
        numbers[f"generalization % at {alpha:g}, Bayes point"] = average(100 - 100 * runs[:, 0])
        numbers[f"generalization % at {alpha:g}, largest margin"] = average(100 - 100 * runs[:, 1])
    for k, (name, theory) in enumerate(THEORIES.items()):
        known = np.array([theory(alpha) for alpha in alphas])[:, None]
        # Average each teacher over all alphas first, because these share a seed.
        above = average(100 * (known - errors[..., k]).mean(axis=0))
        numbers[f"{name}: generalization % above theory, mean over all"] = above
    numbers["share of runs in which the largest margin is worse, %"] = average(
        100 * (errors[..., 1] > errors[..., 0]).ravel()
    )
    enough = plan.choose(1, MANY_EXAMPLES)
    many = np.array(alphas) >= enough
    numbers[f"the same from {enough} examples per dimension on, %"] = average(
        100 * (errors[many, :, 1] > errors[many, :, 0]).ravel()
    )
    # Where theory sees a difference of many standard deviations, chance cannot reverse it.
    numbers["smallest gap of theory in deviations of a run, from there on"] = Measured(
        float(np.min(gaps(alphas, errors)[many]))
    )
    numbers["smallest gap of theory in deviations of a run, below"] = Measured(
        float(np.min(gaps(alphas, errors)))
    )
    lines = [
        {"alpha": item[0] / n_features, "seed": item[2], "bayes_point": a, "largest_margin": b}
        for item, (a, b) in zip(items, errors.reshape(-1, 2), strict=True)
    ]
    note = f"{n_features} dimensions, {n_teachers} teachers for each alpha."
    return Outcome(numbers, lines, lambda: _draw(np.array(alphas), errors), (note,))


def gaps(alphas, errors: np.ndarray) -> np.ndarray:
    """Return the theories' difference in deviations of the difference of one run, per alpha."""
    known = np.array([largest_margin_error(a) - bayes_error(a) for a in alphas])
    return known / (errors[..., 1] - errors[..., 0]).std(axis=1, ddof=1)


def learn(n_samples: int, n_features: int, seed: int) -> tuple[float, float]:
    """Return the errors of the Bayes point and of the largest margin on random points."""
    X, y, teacher = make_teacher(n_samples, n_features, seed)
    model = BayesPointClassifier(
        "linear", fit_intercept=False, softness=0.0, solver=SOLVER, random_state=seed, n_jobs=1
    )
    model.fit(X, y)
    bayes_point = model.decision_function(np.eye(n_features))
    svm = largest_ball(X * y[:, None]).center
    return angle(bayes_point, teacher) / np.pi, angle(svm, teacher) / np.pi


def angle(w: np.ndarray, v: np.ndarray) -> float:
    """Return the angle between two directions."""
    w, v = w / np.linalg.norm(w), v / np.linalg.norm(v)
    return float(2 * np.arctan2(np.linalg.norm(w - v), np.linalg.norm(w + v)))


def _draw(alphas: np.ndarray, errors: np.ndarray):
    figure, axes = canvas(1, 2, sharey=True)
    fine = np.linspace(0.2, alphas.max(), 40)
    means = 1 - errors.mean(axis=1)
    bars = [[average(column).error for column in runs.T] for runs in errors]
    bayes = [1 - bayes_error(a) for a in fine]
    axes[0].plot(fine, bayes, color=color(0), label="theory, Bayes")
    curve(axes[0], alphas, means[:, 0], 0, "Bayes point", error=np.array(bars)[:, 0], ls="")
    axes[1].plot(fine, bayes, color=color(0), lw=1)
    margin = [1 - largest_margin_error(a) for a in fine]
    axes[1].plot(fine, margin, color=color(3), ls="--", label="theory, largest margin")
    curve(axes[1], alphas, means[:, 0], 0, "Bayes point", error=np.array(bars)[:, 0], ls="")
    curve(axes[1], alphas, means[:, 1], 3, "largest margin", error=np.array(bars)[:, 1], ls="")
    for ax, title in zip(axes, ("18.11", "18.12"), strict=True):
        ax.set(title=f"figure {title}", xlabel="examples per dimension")
        ax.legend(loc="lower right")
    axes[0].set_ylabel("correct on new examples")
    return figure
