"""TrajectoryDisplay: how the chains converge to the Bayes point."""

from __future__ import annotations

import numpy as np
from sklearn.base import clone

from ...classifiers.bayes_point import BayesPointClassifier
from ...solvers import Billiard, Gibbs
from .colors import GRAY, color
from .display import Display

# Solvers with chains, and what their steps are called.
CHAIN_SOLVERS = {"billiard": Billiard, "gibbs": Gibbs}
STEP_NAMES = {Billiard: "bounces", Gibbs: "samples"}


class TrajectoryDisplay(Display):
    """The estimated error of the Bayes point against the length of the chains.

    Create it with `from_estimator`. Points are filled where the estimate is reliable: the
    chains agree (R-hat) and are long enough. The error of chains that mix well falls with
    the square root of their length, along the gray lines.

    Parameters
    ----------
    n_steps, angle, mixed : list of ndarray, one per output
        After each round: bounces or samples of all chains together; the estimated angle to
        the Bayes point in radians; whether this estimate is reliable.
    outputs : list of str
        Names of the outputs.
    steps : str, default="bounces"
        What the steps are called.
    tol : float, default=0
        The angle that was requested.

    Attributes
    ----------
    ax_, figure_ : matplotlib objects
        Where the display was drawn.
    lines_ : list of matplotlib Line2D
        One line per output.

    Examples
    --------
    >>> from bayespoint import BayesPointClassifier, TrajectoryDisplay
    >>> from bayespoint.datasets import make_teacher
    >>> X, y, _ = make_teacher(20, 3, random_state=0)
    >>> model = BayesPointClassifier("linear", softness=0.0, solver="billiard", random_state=0)
    >>> display = TrajectoryDisplay.from_estimator(model, X, y)
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
        """Fit a clone of a classifier and draw the progress of its chains.

        Parameters
        ----------
        estimator : BayesPointClassifier
            Its solver is "billiard" or "gibbs", or such an object. It is not changed.
        X, y : array-like
            Training data.
        ax : matplotlib Axes, default=None
            Where to draw.
        **kwargs : dict
            For matplotlib's `plot`; `legend=False` draws no legend.

        Returns
        -------
        TrajectoryDisplay
        """
        solver = getattr(estimator, "solver", None)
        solver = CHAIN_SOLVERS[solver]() if solver in list(CHAIN_SOLVERS) else solver
        if not isinstance(estimator, BayesPointClassifier) or not isinstance(
            solver, Billiard | Gibbs
        ):
            raise ValueError(
                "TrajectoryDisplay needs a BayesPointClassifier whose solver has chains, "
                f'"billiard" or "gibbs", but got {estimator!r}.'
            )
        model = clone(estimator)
        model.solver = clone(solver)
        histories = _record_rounds(model.solver)
        model.fit(X, y)
        classes = model.classes_[1:] if len(model.classes_) == 2 else model.classes_
        count = "n_" + STEP_NAMES[type(solver)]

        def column(key):
            return [np.array([info[key] for info in history]) for history in histories]

        display = cls(
            column(count),
            column("angle"),
            column("mixed"),
            [str(label) for label in classes],
            steps=STEP_NAMES[type(solver)],
            tol=solver.tol,
        )
        return display.plot(ax, **kwargs)

    def _draw(self, ax, **kwargs) -> None:
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

    def _draw_references(self, ax) -> None:
        """Draw the requested angle and the square-root lines, and explain the markers."""
        if self.tol > 0:
            ax.axhline(self.tol, color=GRAY, ls="--", lw=1, label=f"tol = {self.tol:g}")
        x, y = np.array(ax.get_xlim()), ax.get_ylim()
        for start in np.geomspace(y[0], y[1] * np.sqrt(x[1] / x[0]), 9):
            ax.plot(x, start * np.sqrt(x[0] / x), color=GRAY, alpha=0.25, lw=0.8, zorder=0)
        ax.set(xlim=x, ylim=y)
        ax.plot([], [], "o", mfc="white", mec=GRAY, label="not reliable yet")


def _record_rounds(solver) -> list[list[dict]]:
    """Make a solver record its info after each round; return one list per output."""
    histories: list[list[dict]] = []
    solve = solver.solve

    def solve_and_record(*arguments, on_round=None, **keywords):
        history: list[dict] = []
        histories.append(history)

        def record(info):
            history.append(info)
            return bool(on_round and on_round(info))

        return solve(*arguments, on_round=record, **keywords)

    solver.solve = solve_and_record
    return histories
