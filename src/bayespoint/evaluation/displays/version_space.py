"""VersionSpaceDisplay: a three-dimensional version space on the sphere."""

from __future__ import annotations

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, column_or_1d

from ...classifiers.bayes_point import BayesPointClassifier
from ...geometry.gram import unit_gram
from ...geometry.largest_ball import largest_ball
from ...geometry.version_space import VersionSpace
from ...solvers.ball import advance, new_ball
from .colors import BLACK, GRAY, color
from .display import Display
from .sphere import LambertProjection, arcs, corners, great_circle, unit

# Margin around version space, as a share of its longer side.
BORDER_SHARE = 0.12


class VersionSpaceDisplay(Display):
    """Version space on the sphere, with a ball's path, the Bayes point and the SVM.

    Create it with `from_estimator`. The sphere is shown in Lambert's projection around the
    Bayes point. It preserves areas, so a point in the middle of the drawn area is in the
    middle of version space. Walls are great circles.

    Parameters
    ----------
    walls : ndarray of shape (n_samples, 3)
        Signed unit constraints: a hypothesis w is inside where `walls @ w > 0`.
    bayes_point : ndarray of shape (3,)
        The fitted Bayes point.
    svm_center : ndarray of shape (3,)
        Center of the largest ball in version space: the support vector machine.
    path : ndarray of shape (n_bounces + 1, 3)
        The start of the ball, then its bounces.

    Attributes
    ----------
    corners_ : ndarray of shape (n_corners, 3)
        Corners of version space, in order around it.
    ax_, figure_ : matplotlib objects
        Where the display was drawn.

    References
    ----------
    Herbrich, Graepel, Campbell (2001), Bayes Point Machines, JMLR 1, figure 6.

    Examples
    --------
    >>> from bayespoint import BayesPointClassifier, VersionSpaceDisplay
    >>> from bayespoint.datasets import make_teacher
    >>> X, y, _ = make_teacher(10, 3, random_state=0)
    >>> model = BayesPointClassifier("linear", fit_intercept=False, softness=0.0).fit(X, y)
    >>> display = VersionSpaceDisplay.from_estimator(model, X, y)
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
            with three features and fit_intercept=False, or with two features and
            fit_intercept=True. The boundary is drawn as if softness were 0.
        X, y : array-like
            Its training data.
        n_bounces : int, default=100
            Length of the path that is drawn; 0 draws none.
        random_state : int, RandomState instance or None, default=None
            Seed of the ball's path.
        ax : matplotlib Axes, default=None
            Where to draw.
        **kwargs : dict
            For matplotlib's `plot`, which draws the path; `legend=False` draws no legend.

        Returns
        -------
        VersionSpaceDisplay
        """
        _check_classifier(estimator)
        space = _hard_version_space(estimator, X, y)
        rng = np.random.default_rng(check_random_state(random_state).randint(2**31))
        path = _follow_ball(space, space.enter(rng), n_bounces, rng)
        # decision_function returns outputs at points of unit length, like the Gram factor.
        outputs = estimator.decision_function(X)
        center = np.linalg.lstsq(space.gram.factor, outputs)[0]
        display = cls(space.walls, unit(center), largest_ball(space.walls).center, path)
        return display.plot(ax, **kwargs)

    def _draw(self, ax, **kwargs) -> None:
        self.corners_ = corners(self.walls, self.svm_center)
        flat = LambertProjection(self.bayes_point, self.corners_)
        outline = flat(arcs(np.vstack([self.corners_, self.corners_[:1]])))
        ax.fill(*outline.T, fc=color(5), alpha=0.25)
        self._draw_walls(ax, flat)
        ax.plot(*outline.T, color=BLACK, lw=1.5, label="version space")
        if len(self.path) > 1:
            look = {"color": GRAY, "lw": 0.6, "alpha": 0.8, "label": "path of the ball", **kwargs}
            ax.plot(*flat(arcs(self.path)).T, **look)
        for point, marker, number, label in (
            (self.bayes_point, "D", 3, "Bayes point"),
            (self.svm_center, "X", 0, "support vector machine"),
        ):
            ax.plot(
                *flat(point[None]).T, marker, ms=11, color=color(number), mec="white", label=label
            )
        _frame(ax, outline)
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.02), ncols=2, frameon=False)

    def _draw_walls(self, ax, flat) -> None:
        """Draw all walls faintly, also outside version space."""
        for wall in self.walls:
            circle = great_circle(wall)
            # The projection spreads the far half of the sphere around the near half.
            circle[circle @ self.bayes_point < 0] = np.nan
            ax.plot(*flat(circle).T, color=GRAY, lw=0.6, alpha=0.35)


def _check_classifier(estimator) -> None:
    """Raise unless this is a fitted classifier with one version space."""
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


def _hard_version_space(estimator, X, y) -> VersionSpace:
    """Return the version space of a hard boundary between the training points."""
    X = estimator._read_points(X)
    y = column_or_1d(y)
    if len(y) != X.shape[0] or not np.isin(y, estimator.classes_).all():
        raise ValueError(
            f"y should hold a class of {estimator.classes_} for each of {X.shape[0]} rows of X."
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
    """Return the start of a ball and its bounces."""
    ball, path = new_ball(space, start, rng), [start]
    for _ in range(n_bounces):
        ball, _ = advance(space, ball, rng, 1)
        path.append(ball.b)
    return np.array(path)


def _frame(ax, outline: np.ndarray) -> None:
    """Show version space and a small margin around it."""
    low, high = outline.min(axis=0), outline.max(axis=0)
    border = BORDER_SHARE * (high - low).max()
    ax.set(xlim=(low[0] - border, high[0] + border), ylim=(low[1] - border, high[1] + border))
    ax.set(aspect="equal", xticks=[], yticks=[])
    ax.spines[:].set_visible(False)
