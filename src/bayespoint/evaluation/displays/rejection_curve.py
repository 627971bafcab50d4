"""RejectionCurveDisplay: how the error falls as uncertain predictions are rejected."""

from __future__ import annotations

import numpy as np
from sklearn.frozen import FrozenEstimator

from ...classifiers.reject.curve import RejectionCurve, rejection_curve
from .answers import collect_answers
from .colors import BLACK, RULE
from .display import Display


class RejectionCurveDisplay(Display):
    """Error of accepted predictions against the share of rejected ones.

    Create it with `from_estimator` or `from_predictions`.

    Parameters
    ----------
    curve : RejectionCurve
        The curve to draw.
    name : str, default=None
        Name of the classifier in the legend.
    threshold : float, default=None
        Threshold of confidence to mark on the curve.
    max_error : float, default=None
        The error that is promised, drawn as a line.

    Attributes
    ----------
    ax_, figure_ : matplotlib objects
        Where the display was drawn.
    line_ : matplotlib Line2D
        The curve.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from bayespoint import LinearBayesPointClassifier, RejectionCurveDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LinearBayesPointClassifier().fit(X[::2], y[::2])
    >>> display = RejectionCurveDisplay.from_estimator(model, X[1::2], y[1::2])
    >>> display.ax_.get_xlabel()
    'Share of rejected predictions'
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
            With `predict_proba` or `decision_function`. The threshold of a
            `RejectOptionClassifier` is marked.
        X, y : array-like
            Points that it was not trained on, and their classes.
        name : str, default=None
            Name in the legend; the name of the estimator's class by default.
        ax : matplotlib Axes, default=None
            Where to draw.
        **kwargs : dict
            For matplotlib's `plot`; `legend=False` draws no legend.

        Returns
        -------
        RejectionCurveDisplay
        """
        answers = collect_answers(estimator, X)
        model = answers.classifier
        model = model.estimator if isinstance(model, FrozenEstimator) else model
        display = cls(
            rejection_curve(y, answers.labels, answers.confidence),
            name=type(model).__name__ if name is None else name,
            threshold=answers.threshold,
            max_error=answers.max_error,
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
        ax, **kwargs
            As in `from_estimator`.

        Returns
        -------
        RejectionCurveDisplay
        """
        curve = rejection_curve(y_true, y_pred, confidence)
        return cls(curve, name=name, threshold=threshold).plot(ax, **kwargs)

    def _draw(self, ax, **kwargs) -> None:
        area = f"mean error {self.curve.area:.2g}"
        label = f"{self.name} ({area})" if self.name else area
        (self.line_,) = ax.plot(
            self.curve.reject_rate, self.curve.error, **{"label": label, **kwargs}
        )
        if self.max_error is not None and np.isfinite(self.max_error):
            ax.axhline(
                self.max_error, color=BLACK, ls="--", lw=1.2, label=f"promised: {self.max_error:g}"
            )
        self._mark_threshold(ax)
        ax.set(xlabel="Share of rejected predictions", ylabel="Error of accepted predictions")
        ax.set_xlim(0, 1)
        ax.set_ylim(bottom=0)
        ax.grid(color=RULE)
        ax.legend()

    def _mark_threshold(self, ax) -> None:
        """Mark the threshold on the curve if it accepts anything."""
        if self.threshold is None or self.threshold > self.curve.threshold[-1]:
            return
        at = np.searchsorted(self.curve.threshold, self.threshold)
        rate, error = self.curve.reject_rate[at], self.curve.error[at]
        label = f"threshold: {rate:.1%} rejected, error {error:.2%}"
        color = self.line_.get_color()
        ax.plot(rate, error, "o", color=color, mec=BLACK, label=label, clip_on=False, zorder=3)
