"""VersionSpaceDisplay: a three-dimensional version space and what is in it."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
from scipy.optimize import nnls
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from ...classifiers.bayes_point import BayesPointClassifier
from ...geometry.gram import unit_gram
from ...geometry.version_space import VersionSpace
from ...solvers.billiard import advance, new_ball
from ._axes import BLACK, GRAY, color, open_axes

# A corner may be behind a wall by rounding.
ROUNDING = 1e-9
# Points of a curve for each piece of a great circle.
FINE = 40


class VersionSpaceDisplay:
    """Version space on the sphere, with the path of the ball, the Bayes point and the SVM.

    Make it with `from_estimator`. The part of the sphere is shown in Lambert's projection
    around the Bayes point, in which areas are true: a point in the middle of the area is in
    the middle of version space. Walls are great circles.

    Parameters
    ----------
    walls : ndarray of shape (n_samples, 3)
        Signed unit constraints: a hypothesis w is inside where `walls @ w > 0`.
    bayes_point : ndarray of shape (3,)
        The answer of the classifier.
    svm_center : ndarray of shape (3,)
        Center of the largest ball in version space: the support vector machine.
    path : ndarray of shape (n_bounces + 1, 3)
        Where the ball started and where it bounced.

    Attributes
    ----------
    corners_ : ndarray of shape (n_corners, 3)
        Corners of version space, in order.
    ax_, figure_ : matplotlib objects
        Where it was drawn.

    References
    ----------
    Herbrich, Graepel, Campbell (2001), Bayes Point Machines, JMLR 1, figure 6.

    Examples
    --------
    >>> from bayespoint import BayesPointClassifier, VersionSpaceDisplay
    >>> from bayespoint.datasets import make_teacher
    >>> X, y, _ = make_teacher(10, 3, random_state=0)
    >>> model = BayesPointClassifier("linear", fit_intercept=False, softness=0.0).fit(X, y)
    >>> VersionSpaceDisplay.from_estimator(model, X, y)  # doctest: +SKIP
    """

    def __init__(self, walls, bayes_point, svm_center, path):
        self.walls = walls
        self.bayes_point = bayes_point
        self.svm_center = svm_center
        self.path = path

    @classmethod
    def from_estimator(
        cls, estimator, X, y, *, n_bounces=100, random_state=None, ax=None, **kwargs
    ):
        """Draw the version space of a classifier's training points.

        Parameters
        ----------
        estimator : BayesPointClassifier
            Fitted on two classes, with a kernel that maps X into three dimensions: linear
            with three features and fit_intercept=False, or with two and True. Version
            space is that of a hard boundary, whatever its softness.
        X, y : array-like
            Its training data.
        n_bounces : int, default=100
            Bounces of the ball whose path is drawn; 0 draws none.
        random_state : int, RandomState instance or None, default=None
            Seed of the path.
        ax : matplotlib Axes, default=None
            Where to draw.
        **kwargs : dict
            For the path: keywords of matplotlib's `plot`.

        Returns
        -------
        VersionSpaceDisplay
        """
        if not isinstance(estimator, BayesPointClassifier) or estimator.kernel == "precomputed":
            raise ValueError(
                "VersionSpaceDisplay needs a BayesPointClassifier with a kernel that is not "
                f"precomputed, but got {estimator!r}."
            )
        check_is_fitted(estimator)
        if len(estimator.classes_) != 2:
            raise ValueError(
                "VersionSpaceDisplay draws one version space, so two classes are needed, but "
                f"there are {len(estimator.classes_)}."
            )
        space = _hard_version_space(estimator, X, y)
        rng = np.random.default_rng(check_random_state(random_state).randint(2**31))
        path = _follow_ball(space, space.enter(rng), n_bounces, rng)
        # Outputs are those at points of unit length.
        outputs = estimator.decision_function(X)
        center = np.linalg.lstsq(space.gram.factor, outputs)[0]
        display = cls(space.walls, _unit(center), largest_ball(space.walls), path)
        return display.plot(ax, **kwargs)

    def plot(self, ax=None, **kwargs):
        """Draw it.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw.
        **kwargs : dict
            For the path: keywords of matplotlib's `plot`.

        Returns
        -------
        self : VersionSpaceDisplay
        """
        ax = open_axes(self, ax)
        self.corners_ = corners(self.walls, self.svm_center)
        flat = _Lambert(self.bayes_point, self.corners_)
        outline = flat(_along(np.vstack([self.corners_, self.corners_[:1]])))
        ax.fill(*outline.T, fc=color(5), alpha=0.25)
        self._draw_walls(ax, flat)
        ax.plot(*outline.T, color=BLACK, lw=1.5, label="version space")
        if len(self.path) > 1:
            look = {"color": GRAY, "lw": 0.6, "alpha": 0.8, "label": "path of the ball", **kwargs}
            ax.plot(*flat(_along(self.path)).T, **look)
        for point, marker, number, label in (
            (self.bayes_point, "D", 3, "Bayes point"),
            (self.svm_center, "X", 0, "support vector machine"),
        ):
            ax.plot(
                *flat(point[None]).T, marker, ms=9, color=color(number), mec="white", label=label
            )
        _frame(ax, outline)
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.02), ncols=2, frameon=False)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _draw_walls(self, ax, flat) -> None:
        """Draw all walls faintly, also beyond version space."""
        turn = np.linspace(0, 2 * np.pi, 8 * FINE)
        for wall in self.walls:
            basis = np.linalg.svd(wall[None])[2][1:]
            circle = np.column_stack([np.cos(turn), np.sin(turn)]) @ basis
            # The far half of the sphere is all around in this projection.
            circle[circle @ self.bayes_point < 0] = np.nan
            ax.plot(*flat(circle).T, color=GRAY, lw=0.6, alpha=0.35)


def corners(walls: np.ndarray, inside: np.ndarray) -> np.ndarray:
    """Return the corners of a cone, as unit vectors in order around a point inside."""
    pairs = np.array(list(combinations(range(len(walls)), 2)))
    crossing = np.cross(walls[pairs[:, 0]], walls[pairs[:, 1]])
    length = np.linalg.norm(crossing, axis=1, keepdims=True)
    crossing = (crossing / np.maximum(length, ROUNDING))[length[:, 0] > ROUNDING]
    crossing = np.vstack([crossing, -crossing])
    crossing = crossing[(crossing @ walls.T).min(axis=1) > -ROUNDING]
    basis = np.linalg.svd(inside[None])[2][1:]
    around = np.arctan2(*(crossing @ basis.T).T)
    order = np.argsort(around)
    # Walls of equal points meet others in one corner.
    new = np.diff(around[order], prepend=-np.inf) > ROUNDING
    return crossing[order][new]


def largest_ball(walls: np.ndarray) -> np.ndarray:
    """Return the unit vector with the largest smallest margin.

    The shortest w with margins of at least one, by Lawson and Hanson's least distance
    programming.
    """
    matrix = np.vstack([walls.T, np.ones(len(walls))])
    target = np.append(np.zeros(walls.shape[1]), 1.0)
    residual = matrix @ nnls(matrix, target)[0] - target
    return _unit(-residual[:-1] / residual[-1])


def _hard_version_space(estimator, X, y) -> VersionSpace:
    X = validate_data(estimator, X, dtype=float, reset=False)
    y = column_or_1d(y)
    if len(y) != len(X) or not np.isin(y, estimator.classes_).all():
        raise ValueError(
            f"y should hold a class of {estimator.classes_} for each of {len(X)} rows of X."
        )
    gram = unit_gram(estimator._fitted_kernel()(X, X), 0.0)
    if gram.rank != 3:
        raise ValueError(
            "VersionSpaceDisplay draws version spaces in three dimensions, but this one has "
            f"{gram.rank}. Use the linear kernel on three features with fit_intercept=False, or "
            "on two features with fit_intercept=True."
        )
    return VersionSpace(gram, np.where(y == estimator.classes_[1], 1.0, -1.0))


def _follow_ball(space: VersionSpace, start, n_bounces: int, rng) -> np.ndarray:
    """Return where a ball starts and bounces."""
    ball, path = new_ball(space, start, rng), [start]
    for _ in range(n_bounces):
        ball, _ = advance(space, ball, rng, 1)
        path.append(ball.b)
    return np.array(path)


def _along(stations: np.ndarray) -> np.ndarray:
    """Return points on the great circles from each station to the next."""
    share = np.linspace(0, 1, FINE)[:, None]
    legs = []
    for one, other in pairwise(stations):
        angle = 2 * np.arctan2(np.linalg.norm(one - other), np.linalg.norm(one + other))
        tangent = other - (other @ one) * one
        tangent = tangent / max(np.linalg.norm(tangent), np.finfo(float).tiny)
        legs.append(np.cos(share * angle) * one + np.sin(share * angle) * tangent)
    return np.concatenate(legs)


class _Lambert:
    """The projection of the sphere around a center that keeps areas."""

    def __init__(self, center: np.ndarray, spread: np.ndarray):
        self.center = center
        tangent = np.linalg.svd(center[None])[2][1:]
        # What is long lies down.
        self.basis = np.linalg.svd((spread - spread.mean(axis=0)) @ tangent.T)[2] @ tangent

    def __call__(self, points: np.ndarray) -> np.ndarray:
        scale = np.sqrt(2 / np.maximum(1 + points @ self.center, ROUNDING))
        return scale[:, None] * (points @ self.basis.T)


def _frame(ax, outline: np.ndarray) -> None:
    """Show version space and a little around it."""
    low, high = outline.min(axis=0), outline.max(axis=0)
    border = 0.12 * (high - low).max()
    ax.set(xlim=(low[0] - border, high[0] + border), ylim=(low[1] - border, high[1] + border))
    ax.set(aspect="equal", xticks=[], yticks=[])


def _unit(vector: np.ndarray) -> np.ndarray:
    return vector / np.linalg.norm(vector)
