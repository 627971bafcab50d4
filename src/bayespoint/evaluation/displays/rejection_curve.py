"""RejectionCurveDisplay: what rejecting the least certain predictions buys."""

from __future__ import annotations

import numpy as np

from ...classifiers.reject.curve import RejectionCurve, rejection_curve
from ._answers import ask
from ._axes import BLACK, GRAY, open_axes


class RejectionCurveDisplay:
    """Error of accepted predictions against the share of rejected ones.

    Make it with `from_estimator` or `from_predictions`.

    Parameters
    ----------
    curve : RejectionCurve
        What is drawn.
    name : str, default=None
        Name of the classifier, for the legend.
    threshold : float, default=None
        Predictions with less confidence are rejected; marked on the curve.
    max_error : float, default=None
        A promised limit of the error, drawn as a line.

    Attributes
    ----------
    ax_, figure_ : matplotlib objects
        Where it was drawn.
    line_ : matplotlib Line2D
        The curve.

    Examples
    --------
    >>> from bayespoint import RejectionCurveDisplay
    >>> RejectionCurveDisplay.from_estimator(model, X_test, y_test)  # doctest: +SKIP
    """

    def __init__(
        self,
        curve: RejectionCurve,
        *,
        name: str | None = None,
        threshold: float | None = None,
        max_error: float | None = None,
    ):
        self.curve = curve
        self.name = name
        self.threshold = threshold
        self.max_error = max_error

    @classmethod
    def from_estimator(cls, estimator, X, y, *, name=None, ax=None, **kwargs):
        """Draw the curve of a fitted classifier.

        Parameters
        ----------
        estimator : classifier
            Any with `predict_proba` or `decision_function`. The threshold of a
            `RejectOptionClassifier` is marked.
        X, y : array-like
            Points that it was not trained with, and their classes.
        name : str, default=None
            For the legend; the name of the class by default.
        ax : matplotlib Axes, default=None
            Where to draw.
        **kwargs : dict
            For matplotlib's `plot`.

        Returns
        -------
        RejectionCurveDisplay
        """
        said = ask(estimator, X)
        name = type(said.classifier).__name__ if name is None else name
        display = cls(
            rejection_curve(y, said.labels, said.confidence),
            name=name,
            threshold=said.threshold,
            max_error=said.max_error,
        )
        return display.plot(ax, **kwargs)

    @classmethod
    def from_predictions(
        cls, y_true, y_pred, confidence, *, name=None, threshold=None, ax=None, **kwargs
    ):
        """Draw the curve of predictions.

        Parameters
        ----------
        y_true, y_pred, confidence : array-like of shape (n_samples,)
            As in `rejection_curve`.
        name, threshold
            As in the class.
        ax : matplotlib Axes, default=None
            Where to draw.
        **kwargs : dict
            For matplotlib's `plot`.

        Returns
        -------
        RejectionCurveDisplay
        """
        curve = rejection_curve(y_true, y_pred, confidence)
        return cls(curve, name=name, threshold=threshold).plot(ax, **kwargs)

    def plot(self, ax=None, **kwargs):
        """Draw it.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; several curves may share axes.
        **kwargs : dict
            For matplotlib's `plot`.

        Returns
        -------
        self : RejectionCurveDisplay
        """
        ax = open_axes(self, ax)
        area = f"mean error {self.curve.area:.2g}"
        label = f"{self.name} ({area})" if self.name else area
        (self.line_,) = ax.plot(
            self.curve.reject_rate, self.curve.error, **{"label": label, **kwargs}
        )
        if self.max_error is not None and np.isfinite(self.max_error):
            ax.axhline(
                self.max_error, color=BLACK, ls="--", lw=1, label=f"promised: {self.max_error:g}"
            )
        self._mark(ax)
        ax.set(xlabel="Share of rejected predictions", ylabel="Error of accepted predictions")
        ax.set_xlim(0, 1)
        ax.set_ylim(bottom=0)
        ax.grid(color=GRAY, alpha=0.2)
        ax.legend()
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _mark(self, ax) -> None:
        """Show where the threshold is on the curve, if it accepts anything."""
        if self.threshold is None or self.threshold > self.curve.threshold[-1]:
            return
        at = np.searchsorted(self.curve.threshold, self.threshold)
        rate, error = self.curve.reject_rate[at], self.curve.error[at]
        label = f"threshold: {rate:.1%} rejected, error {error:.2%}"
        color = self.line_.get_color()
        ax.plot(rate, error, "o", color=color, mec=BLACK, label=label, clip_on=False, zorder=3)
