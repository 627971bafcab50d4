"""DecisionConfidenceDisplay: predicted classes in the plane, confidence and reject band."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_consistent_length, column_or_1d

from .answers import collect_answers
from .colors import BLACK, color
from .display import Display

# Margin around the data, as a share of their range.
BORDER_SHARE = 0.08
# Probabilities at which a contour line is drawn.
CONTOUR_LEVELS = (0.6, 0.75, 0.9, 0.99)
# Share of the class color where the prediction is certain; the rest is white.
MAX_COLOR_STRENGTH = 0.7
MARKERS = "osD^vP*"
# Rounding may put the largest probability this far below one over the number of classes.
ROUNDING_TOLERANCE = 1e-9


class DecisionConfidenceDisplay(Display):
    """Predicted classes in the plane, their confidence, and the reject band.

    The color of a class is stronger where the prediction is more certain. Create it with
    `from_estimator`.

    Parameters
    ----------
    grid : tuple of two ndarrays of shape (n_rows, n_columns)
        Coordinates of points, as `numpy.meshgrid` returns them.
    winner : ndarray of shape (n_rows, n_columns)
        Index of the predicted class at each point.
    confidence : ndarray of shape (n_rows, n_columns)
        Confidence of the prediction at each point.
    classes : ndarray of shape (n_classes,)
        The class labels.
    threshold : float, default=None
        Points with less confidence are rejected.
    points : ndarray of shape (n_samples, 2), default=None
        Points to draw.
    labels : ndarray of shape (n_samples,), default=None
        Classes of these points.
    names : sequence of two str, default=("x1", "x2")
        Names of the axes.

    Attributes
    ----------
    ax_, figure_ : matplotlib objects
        Where the display was drawn.
    surface_ : matplotlib AxesImage
        The colored regions.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from bayespoint import DecisionConfidenceDisplay, LinearBayesPointClassifier
    >>> X, y = make_moons(100, noise=0.3, random_state=0)
    >>> model = LinearBayesPointClassifier().fit(X, y)
    >>> display = DecisionConfidenceDisplay.from_estimator(model, X, y)
    >>> display.figure_.savefig("moons.png")  # doctest: +SKIP
    """

    def __init__(
        self,
        grid,
        winner,
        confidence,
        classes,
        *,
        threshold=None,
        points=None,
        labels=None,
        names=("x1", "x2"),
    ):
        self.grid = grid
        self.winner = winner
        self.confidence = confidence
        self.classes = classes
        self.threshold = threshold
        self.points = points
        self.labels = labels
        self.names = names

    @classmethod
    def from_estimator(
        cls, estimator, X, y=None, *, threshold=None, grid_resolution=200, ax=None, **kwargs
    ):
        """Draw a classifier that was fitted on two features.

        Parameters
        ----------
        estimator : classifier
            With `predict_proba` or `decision_function`.
        X : array-like or DataFrame of shape (n_samples, 2)
            Points that set the range of both axes.
        y : array-like of shape (n_samples,), default=None
            Their classes; without them the points are not drawn.
        threshold : float, default=None
            Points with less confidence are in the reject band; by default the threshold of
            a `RejectOptionClassifier`.
        grid_resolution : int, default=200
            Grid points in each direction. The time grows with its square.
        ax : matplotlib Axes, default=None
            Where to draw.
        **kwargs : dict
            For matplotlib's `imshow`; `legend=False` draws no legend.

        Returns
        -------
        DecisionConfidenceDisplay
        """
        points = _check_points(X)
        if y is not None:
            check_consistent_length(X, y)
        grid = _grid(points, grid_resolution)
        table = np.column_stack([part.ravel() for part in grid])
        names = tuple(getattr(X, "columns", ("x1", "x2")))
        table = type(X)(table, columns=X.columns) if hasattr(X, "columns") else table
        answers = collect_answers(estimator, table)
        classes = answers.classifier.classes_
        display = cls(
            grid,
            np.searchsorted(classes, answers.labels).reshape(grid[0].shape),
            answers.confidence.reshape(grid[0].shape),
            classes,
            threshold=answers.threshold if threshold is None else threshold,
            points=None if y is None else points,
            labels=None if y is None else column_or_1d(y),
            names=names,
        )
        return display.plot(ax, **kwargs)

    def _draw(self, ax, **kwargs) -> None:
        x, y = self.grid
        extent = (x.min(), x.max(), y.min(), y.max())
        shown = {"extent": extent, "origin": "lower", "aspect": "auto", **kwargs}
        self.surface_ = ax.imshow(self._shades(), **shown)
        self._draw_contours(ax)
        handles = self._draw_band(ax) + self._draw_points(ax)
        ax.legend(handles=handles, loc="upper right", frameon=True, framealpha=0.9)
        ax.grid(False)
        ax.set(xlabel=self.names[0], ylabel=self.names[1], xlim=extent[:2], ylim=extent[2:])

    def _shades(self) -> np.ndarray:
        """Return the color of the winning class, mixed with white where it is uncertain."""
        from matplotlib.colors import to_rgb

        lowest = 1 / len(self.classes) if self._has_probabilities else 0.0
        highest = 1.0 if self._has_probabilities else self.confidence.max() or 1.0
        strength = np.clip((self.confidence - lowest) / (highest - lowest), 0, 1)[..., None]
        colors = np.array([to_rgb(color(i)) for i in range(len(self.classes))])
        return 1 - MAX_COLOR_STRENGTH * strength * (1 - colors[self.winner])

    @property
    def _has_probabilities(self) -> bool:
        """Tell whether the confidences look like probabilities."""
        lowest = 1 / len(self.classes) - ROUNDING_TOLERANCE
        return bool(lowest <= self.confidence.min() and self.confidence.max() <= 1)

    def _draw_contours(self, ax) -> None:
        inside = [v for v in CONTOUR_LEVELS if self.confidence.min() < v < self.confidence.max()]
        if self._has_probabilities and inside:
            lines = ax.contour(
                *self.grid, self.confidence, inside, colors=BLACK, linewidths=0.5, alpha=0.5
            )
            ax.clabel(lines, fmt=lambda v: f"{v:.0%}", fontsize="x-small")

    def _draw_band(self, ax) -> list:
        """Hatch the reject band, if there is one."""
        from matplotlib.patches import Patch

        if self.threshold is None or not (self.confidence < self.threshold).any():
            return []
        rejected = (self.confidence < self.threshold).astype(float)
        with _thin_hatches():
            ax.contourf(*self.grid, rejected, [0.5, 1.5], colors="none", hatches=["////"])
            if self.confidence.max() >= self.threshold:
                ax.contour(
                    *self.grid, self.confidence, [self.threshold], colors=BLACK, linewidths=1.5
                )
            return [Patch(fc="none", ec=BLACK, hatch="////", label="rejected")]

    def _draw_points(self, ax) -> list:
        from matplotlib.lines import Line2D

        handles = []
        for i, label in enumerate(self.classes):
            look: dict[str, Any] = {"color": color(i), "mec": BLACK, "mew": 0.6, "ms": 6, "ls": ""}
            look["marker"] = MARKERS[i % len(MARKERS)]
            handles.append(Line2D([], [], label=str(label), **look))
            if self.points is not None:
                ax.plot(*self.points[self.labels == label].T, **look)
        return handles


def _check_points(X) -> np.ndarray:
    """Return points in the plane as an array."""
    points = np.asarray(X, dtype=float)
    if points.ndim != 2 or points.shape[1] != 2 or not len(points):
        raise ValueError(
            "DecisionConfidenceDisplay draws classifiers of two features, so X should have "
            f"shape (n_samples, 2), but it has {points.shape}."
        )
    if not np.isfinite(points).all():
        raise ValueError("X should hold finite numbers, but some are NaN or infinite.")
    return points


def _grid(points: np.ndarray, resolution: int) -> tuple[np.ndarray, ...]:
    """Return a grid that covers the points and a border around them."""
    if resolution < 2:
        raise ValueError(f"grid_resolution should be at least 2, but is {resolution}.")
    low, high = points.min(axis=0), points.max(axis=0)
    border = BORDER_SHARE * (high - low)
    border[border == 0] = 1.0
    return tuple(np.meshgrid(*np.linspace(low - border, high + border, resolution).T))


def _thin_hatches():
    from matplotlib import rc_context

    return rc_context({"hatch.linewidth": 0.4})
