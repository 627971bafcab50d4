"""Figure 4 of 000 and figure 1 of 001: errors of single hypotheses from two samplers.

188 training and 453 test points of the classes 1 and 2 of MNIST; 1000 hypotheses drawn by a
Gibbs sampler, and 1000 perceptrons trained with permuted training sets: as printed, with the
lengths that the points have, and as ours, with points of unit length. The paper does not say which
points it used; ours are drawn at random, and gray values range from 0 to 255.
"""

from __future__ import annotations

import warnings

import numpy as np
from scipy import stats
from sklearn.exceptions import ConvergenceWarning

from ..classifiers.bayes_point import BayesPointClassifier
from ..datasets import digits
from ..solvers import Gibbs, Perceptron
from .experiment import Lines, Measured, Outcome, Plan, average
from .figure_9 import AS_PRINTED, PAPER_KERNEL, VARIANTS
from .picture import canvas, color

N_TRAIN, N_TEST = 188, 453
# Means are also compared on this many draws of points; the picture shows the first.
N_DRAWS = 6
GRAY = VARIANTS[AS_PRINTED].gray


def run(plan: Plan) -> Outcome:
    """Draw hypotheses with all samplers, and test each hypothesis."""
    draws = [sample(plan._replace(seed=plan.seed + i)) for i in range(plan.choose(1, N_DRAWS))]
    errors = draws[0]
    numbers = {}
    for name, values in errors.items():
        numbers[f"{name}, mean error %"] = Measured(float(values.mean()))
        numbers[f"{name}, deviation of errors %"] = Measured(float(values.std(ddof=1)))
    gibbs, *others = errors.items()
    for name, values in others:
        quantiles = np.sort(gibbs[1]), np.sort(values)
        numbers[f"{name}, correlation of the quantiles with Gibbs"] = Measured(
            float(np.corrcoef(quantiles)[0, 1])
        )
        p = stats.ks_2samp(gibbs[1], values).pvalue
        numbers[f"{name}, p that both have one distribution"] = Measured(float(p))
        above = [draw[name].mean() - draw[gibbs[0]].mean() for draw in draws]
        numbers[f"{name}, mean error % above Gibbs, {len(draws)} draws of points"] = average(above)
    lines = [
        {"sampler": name, "draw": i, "error": error}
        for name, values in errors.items()
        for i, error in enumerate(values)
    ]
    return Outcome(numbers, lines, lambda: _draw(errors))


def sample(plan: Plan) -> dict[str, np.ndarray]:
    """Return the test errors in percent of the hypotheses of each sampler."""
    X, y, X_test, y_test = ones_and_twos(plan)
    n = plan.choose(100, 1000)
    n_samples = plan.choose(800, 40_000)
    solvers = {
        "Gibbs sampler": Gibbs(n_samples=n_samples, n_chains=4, n_draws=n, tol=0.0),
        "perceptrons as printed": Perceptron(n_members=n, unit_length=False, held_out=0),
        "our perceptrons": Perceptron(n_members=n),
    }
    errors = {}
    for done, (name, solver) in enumerate(solvers.items()):
        plan.progress(done, len(solvers), name)
        model = BayesPointClassifier(
            **PAPER_KERNEL, fit_intercept=False, softness=0.0, solver=solver, random_state=plan.seed
        )
        with warnings.catch_warnings():
            # The experiment sets the number of samples, not their precision.
            warnings.simplefilter("ignore", ConvergenceWarning)
            errors[name] = 100 * model.fit(GRAY(X), y).draw_errors(GRAY(X_test), y_test)
    return errors


def ones_and_twos(plan: Plan) -> tuple[np.ndarray, ...]:
    """Return random training and test points of two classes."""
    data = digits.load_handwritten("mnist", plan.data)
    rng = np.random.default_rng(plan.seed)
    chosen = np.flatnonzero(np.isin(data.y_train, (1, 2)))
    train = rng.permutation(chosen)[:N_TRAIN]
    chosen = np.flatnonzero(np.isin(data.y_test, (1, 2)))
    test = rng.permutation(chosen)[:N_TEST]
    return data.X_train[train], data.y_train[train], data.X_test[test], data.y_test[test]


def redraw(numbers: dict[str, Measured], runs: Lines):
    """Draw kept results."""
    errors: dict[str, list[float]] = {}
    for line in runs:
        errors.setdefault(line["sampler"], []).append(float(line["error"]))
    return _draw({name: np.array(values) for name, values in errors.items()})


def _draw(errors: dict[str, np.ndarray]):
    figure, axes = canvas(1, 4, height=2.4)
    values = list(errors.values())
    # One bar per number of errors.
    most = round(max(map(np.max, values)) * N_TEST / 100)
    bins = 100 * (np.arange(most + 2) - 0.5) / N_TEST
    for number, ax, (name, sample) in zip((0, 2, 3), axes, errors.items(), strict=False):
        ax.hist(sample, bins, color=color(number))
        ax.set_title(name, fontsize=11)
        ax.set_xlabel("test error, %")
    axes[0].set_ylabel("hypotheses")
    shares = np.linspace(0.5, 99.5, 100)
    gibbs, *others = (np.percentile(sample, shares) for sample in values)
    ends = np.array([gibbs.min(), gibbs.max()])
    axes[3].plot(ends, ends, color="0.4", lw=1)
    for number, marker, quantiles in zip((2, 3), "^o", others, strict=True):
        axes[3].plot(gibbs, quantiles, marker, ms=4, color=color(number))
    axes[3].set_title("quantiles", fontsize=11)
    axes[3].set(xlabel="Gibbs sampler", ylabel="perceptrons")
    return figure
