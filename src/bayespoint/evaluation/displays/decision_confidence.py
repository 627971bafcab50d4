"""DecisionConfidenceDisplay: who wins where, how surely, and where nobody answers."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_consistent_length, column_or_1d

from ._answers import ask
from ._axes import BLACK, color, open_axes

# The share of the range of the data that is shown around them.
BORDER = 0.08
# Confidences with a line of their own, where they are probabilities.
LEVELS = (0.6, 0.75, 0.9, 0.99)


class DecisionConfidenceDisplay:
    """Regions of classes in the plane, the stronger the more certain, and the reject band.

    Make it with `from_estimator`.

    Parameters
    ----------
    grid : tuple of two ndarrays of shape (n_rows, n_columns)
        Coordinates of points, as of `numpy.meshgrid`.
    winner : ndarray of shape (n_rows, n_columns)
        Index of the class that is predicted at each.
    confidence : ndarray of shape (n_rows, n_columns)
        How certain this is.
    classes : ndarray of shape (n_classes,)
        The class labels.
    threshold : float, default=None
        Points with less confidence are rejected.
    points : ndarray of shape (n_samples, 2), default=None
        Points to be shown, and
    labels : ndarray of shape (n_samples,), default=None
        their classes.
    names : sequence of two str, default=("x1", "x2")
        Names of the axes.

    Attributes
    ----------
    ax_, figure_ : matplotlib objects
        Where it was drawn.
    surface_ : matplotlib AxesImage
        The regions.

    Examples
    --------
    >>> from bayespoint import DecisionConfidenceDisplay
    >>> DecisionConfidenceDisplay.from_estimator(model, X, y)  # doctest: +SKIP
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
            Any with `predict_proba` or `decision_function`.
        X : array-like or DataFrame of shape (n_samples, 2)
            Points to be shown; the picture is as large as they need.
        y : array-like of shape (n_samples,), default=None
            Their classes; without them points are not drawn.
        threshold : float, default=None
            Where the reject band begins; that of a `RejectOptionClassifier` by default.
        grid_resolution : int, default=200
            The picture has so many points in each direction. The time grows with its
            square.
        ax : matplotlib Axes, default=None
            Where to draw.
        **kwargs : dict
            For matplotlib's `imshow`.

        Returns
        -------
        DecisionConfidenceDisplay
        """
        points = np.asarray(X, dtype=float)
        if points.ndim != 2 or points.shape[1] != 2 or not len(points):
            raise ValueError(
                "DecisionConfidenceDisplay draws classifiers of two features, so X should have "
                f"shape (n_samples, 2), but it has {points.shape}."
            )
        if grid_resolution < 2:
            raise ValueError(f"grid_resolution should be at least 2, but is {grid_resolution}.")
        if y is not None:
            check_consistent_length(X, y)
        axes = [_spread(column, grid_resolution) for column in points.T]
        grid = tuple(np.meshgrid(*axes))
        table = np.column_stack([part.ravel() for part in grid])
        names = tuple(getattr(X, "columns", ("x1", "x2")))
        table = type(X)(table, columns=X.columns) if hasattr(X, "columns") else table
        said = ask(estimator, table)
        classes = said.classifier.classes_
        display = cls(
            grid,
            np.searchsorted(classes, said.labels).reshape(grid[0].shape),
            said.confidence.reshape(grid[0].shape),
            classes,
            threshold=said.threshold if threshold is None else threshold,
            points=None if y is None else points,
            labels=None if y is None else column_or_1d(y),
            names=names,
        )
        return display.plot(ax, **kwargs)

    def plot(self, ax=None, **kwargs):
        """Draw it.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw.
        **kwargs : dict
            For matplotlib's `imshow`.

        Returns
        -------
        self : DecisionConfidenceDisplay
        """
        ax = open_axes(self, ax)
        x, y = self.grid
        extent = (x.min(), x.max(), y.min(), y.max())
        shown = {"extent": extent, "origin": "lower", "aspect": "auto", **kwargs}
        self.surface_ = ax.imshow(self._shades(), **shown)
        self._draw_levels(ax)
        handles = self._draw_band(ax) + self._draw_points(ax)
        ax.legend(handles=handles, loc="upper right", framealpha=0.9)
        ax.set(xlabel=self.names[0], ylabel=self.names[1], xlim=extent[:2], ylim=extent[2:])
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _shades(self) -> np.ndarray:
        """Return the color of the winner, mixed with white where it is not certain."""
        from matplotlib.colors import to_rgb

        least = 1 / len(self.classes) if self._probable else 0.0
        top = 1.0 if self._probable else self.confidence.max() or 1.0
        strength = np.clip((self.confidence - least) / (top - least), 0, 1)[..., None]
        colors = np.array([to_rgb(color(i)) for i in range(len(self.classes))])
        return 1 - 0.7 * strength * (1 - colors[self.winner])

    @property
    def _probable(self) -> bool:
        """Tell whether confidences look like probabilities."""
        return bool(
            1 / len(self.classes) - 1e-9 <= self.confidence.min() <= 1 >= self.confidence.max()
        )

    def _draw_levels(self, ax) -> None:
        inside = [v for v in LEVELS if self.confidence.min() < v < self.confidence.max()]
        if self._probable and inside:
            lines = ax.contour(
                *self.grid, self.confidence, inside, colors=BLACK, linewidths=0.5, alpha=0.5
            )
            ax.clabel(lines, fmt=lambda v: f"{v:.0%}", fontsize="x-small")

    def _draw_band(self, ax) -> list:
        """Hatch what is rejected, if anything is."""
        from matplotlib.patches import Patch

        if self.threshold is None or not (self.confidence < self.threshold).any():
            return []
        rejected = (self.confidence < self.threshold).astype(float)
        with _thin_hatches():
            ax.contourf(*self.grid, rejected, [0.5, 1.5], colors="none", hatches=["////"])
            edge = self.confidence.max() >= self.threshold
            if edge:
                ax.contour(
                    *self.grid, self.confidence, [self.threshold], colors=BLACK, linewidths=1.5
                )
            return [Patch(fc="none", ec=BLACK, hatch="////", label="rejected")]

    def _draw_points(self, ax) -> list:
        from matplotlib.lines import Line2D

        markers = "osD^vP*"
        handles = []
        for i, label in enumerate(self.classes):
            look: dict[str, Any] = {"color": color(i), "mec": BLACK, "mew": 0.6, "ms": 5, "ls": ""}
            look["marker"] = markers[i % len(markers)]
            handles.append(Line2D([], [], label=str(label), **look))
            if self.points is not None:
                ax.plot(*self.points[self.labels == label].T, **look)
        return handles


def _spread(values: np.ndarray, n: int) -> np.ndarray:
    """Return places from below the smallest to above the largest value."""
    if not np.isfinite(values).all():
        raise ValueError("X should hold finite numbers, but some are NaN or infinite.")
    border = BORDER * np.ptp(values) or 1.0
    return np.linspace(values.min() - border, values.max() + border, n)


def _thin_hatches():
    from matplotlib import rc_context

    return rc_context({"hatch.linewidth": 0.4})
