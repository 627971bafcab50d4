"""TrajectoryDisplay: how chains come to agree on the Bayes point."""

from __future__ import annotations

import numpy as np
from sklearn.base import clone

from ...classifiers.bayes_point import BayesPointClassifier
from ...solvers import Billiard, Gibbs
from ._axes import GRAY, color, open_axes

# Solvers with chains, and what these count.
CHAINED = {"billiard": Billiard, "gibbs": Gibbs}
STEPS = {Billiard: "bounces", Gibbs: "samples"}


class TrajectoryDisplay:
    """The estimated error of the Bayes point against the length of the chains.

    Make it with `from_estimator`. Points are filled where the error can be believed, as
    chains agree (R-hat) and have gone far enough. The error of chains that mix
    well falls with the square root of their length, along the gray lines.

    Parameters
    ----------
    n_steps, angle, mixed : list of ndarray, an entry an output
        After each round: bounces or samples of all chains together; the estimated
        angle in radians to the Bayes point; whether that can be believed.
    outputs : list of str
        Names of the outputs.
    steps : str, default="bounces"
        What is counted.
    tol : float, default=0
        The angle that was asked for.

    Attributes
    ----------
    ax_, figure_ : matplotlib objects
        Where it was drawn.
    lines_ : list of matplotlib Line2D
        A line an output.

    Examples
    --------
    >>> from bayespoint import BayesPointClassifier, TrajectoryDisplay
    >>> model = BayesPointClassifier(solver="billiard")
    >>> TrajectoryDisplay.from_estimator(model, X, y)  # doctest: +SKIP
    """

    def __init__(self, n_steps, angle, mixed, outputs, *, steps="bounces", tol=0.0):
        self.n_steps = n_steps
        self.angle = angle
        self.mixed = mixed
        self.outputs = outputs
        self.steps = steps
        self.tol = tol

    @classmethod
    def from_estimator(cls, estimator, X, y, *, ax=None, **kwargs):
        """Fit a clone of a classifier, and draw what its chains say on the way.

        Parameters
        ----------
        estimator : BayesPointClassifier
            With solver "billiard" or "gibbs", or such an object. It is not changed.
        X, y : array-like
            Training data.
        ax : matplotlib Axes, default=None
            Where to draw.
        **kwargs : dict
            For matplotlib's `plot`.

        Returns
        -------
        TrajectoryDisplay
        """
        solver = getattr(estimator, "solver", None)
        solver = CHAINED[solver]() if solver in list(CHAINED) else solver
        if not isinstance(estimator, BayesPointClassifier) or not isinstance(
            solver, Billiard | Gibbs
        ):
            raise ValueError(
                "TrajectoryDisplay needs a BayesPointClassifier whose solver has chains, "
                f'"billiard" or "gibbs", but got {estimator!r}.'
            )
        model = clone(estimator)
        model.solver = clone(solver)
        histories = _listen(model.solver)
        model.fit(X, y)
        classes = model.classes_[1:] if len(model.classes_) == 2 else model.classes_
        count = "n_" + STEPS[type(solver)]

        def column(key):
            return [np.array([info[key] for info in history]) for history in histories]

        display = cls(
            column(count),
            column("angle"),
            column("mixed"),
            [str(label) for label in classes],
            steps=STEPS[type(solver)],
            tol=solver.tol,
        )
        return display.plot(ax, **kwargs)

    def plot(self, ax=None, **kwargs):
        """Draw it.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw.
        **kwargs : dict
            For matplotlib's `plot`.

        Returns
        -------
        self : TrajectoryDisplay
        """
        ax = open_axes(self, ax)
        self.lines_ = []
        for i, (n, angle, mixed) in enumerate(
            zip(self.n_steps, self.angle, self.mixed, strict=True)
        ):
            look = {"color": color(i), "label": f"class {self.outputs[i]}", **kwargs}
            (line,) = ax.plot(n, angle, **look)
            filled = np.where(mixed, line.get_color(), "white")
            ax.scatter(n, angle, s=30, c=list(filled), edgecolors=line.get_color(), zorder=3)
            self.lines_.append(line)
        ax.set(xscale="log", yscale="log")
        self._draw_references(ax)
        ax.set(xlabel=f"{self.steps.capitalize()} of all chains")
        ax.set_ylabel("Estimated angle to the Bayes point (radians)")
        ax.legend()
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _draw_references(self, ax) -> None:
        """Show what was asked for, how errors should fall, and what markers mean."""
        if self.tol > 0:
            ax.axhline(self.tol, color=GRAY, ls="--", lw=1, label=f"tol = {self.tol:g}")
        x, y = np.array(ax.get_xlim()), ax.get_ylim()
        for start in np.geomspace(y[0], y[1] * np.sqrt(x[1] / x[0]), 9):
            ax.plot(x, start * np.sqrt(x[0] / x), color=GRAY, alpha=0.25, lw=0.8, zorder=0)
        ax.set(xlim=x, ylim=y)
        ax.plot([], [], "o", mfc="white", mec=GRAY, label="not to be believed yet")


def _listen(solver) -> list[list[dict]]:
    """Let a solver write down what it knows after each round, a list an output."""
    histories: list[list[dict]] = []
    solve = solver.solve

    def solve_and_tell(*arguments, on_round=None, **keywords):
        history: list[dict] = []
        histories.append(history)

        def note(info):
            history.append(info)
            return bool(on_round and on_round(info))

        return solve(*arguments, on_round=note, **keywords)

    solver.solve = solve_and_tell
    return histories
