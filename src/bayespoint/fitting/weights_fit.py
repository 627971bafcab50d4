"""From labeled rows to the posterior of a linear classifier's weights."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, Protocol

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from .._runtime.threads import one_blas_thread
from .._runtime.warn import warn
from ..solvers.weights.belief import Belief, ImproperBeliefError
from ..solvers.weights.column_sums import ColumnSums, column_sums
from ..solvers.weights.iterate import iterate
from ..solvers.weights.model import LinearModel
from ..solvers.weights.prior_scale import PriorScale
from ..solvers.weights.row_order import chosen_rows
from ..solvers.weights.rows import Fit, Rows

# covariance="auto" is "full" up to this many weights. In a stream the limit is lower, because
# the time for each batch grows with the cube of their number.
MAX_FULL_WEIGHTS = 500
MAX_FULL_WEIGHTS_IN_STREAM = 100
# Prior variance of the intercept, in units of noise plus prior output variance (of features of
# unit length if the user gives the prior).
INTERCEPT_VARIANCE = 100.0
# A full covariance of many rows starts from a pilot fit to this many rows, or this many times the
# number of weights if that is more, with this tolerance.
PILOT_ROWS = 2000
PILOT_ROWS_PER_WEIGHT = 20
PILOT_TOL = 0.1
# Mean weights shorter than this, in prior standard deviations, have collapsed.
MIN_MEAN_LENGTH = 1e-3
INSEPARABLE = (
    "noise_variance=0 asks for weights that classify all training points as labeled, but there "
    "seem to be none. Raise noise_variance; 1.0 is the default."
)


class Settings(NamedTuple):
    """The parameters of a linear classifier that a fit depends on."""

    n_classes: int
    prior_variance: Any  # a number or "auto"
    noise_variance: float
    covariance: str  # "auto", "full" or "factorized"
    fit_intercept: bool
    max_iter: int
    tol: float
    batch_sweeps: int


class TrainingRows(Protocol):
    """Labeled training rows, in memory or on a cluster."""

    @property
    def n_rows(self) -> int:
        """Number of rows."""

    @property
    def n_features(self) -> int:
        """Number of features."""

    @property
    def total_weight(self) -> float:
        """Sum of the weights of the rows."""

    def column_sums(self) -> ColumnSums:
        """Return the sums of the columns."""

    def with_sites(self, model: LinearModel, n: int) -> Rows:
        """Return n of the rows with their sites."""


class Table(NamedTuple):
    """Training rows in memory."""

    X: Any  # array or CSR
    labels: np.ndarray  # +1 and -1 for two classes, otherwise class numbers
    weight: np.ndarray  # how often each row counts

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.labels)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.X.shape[1]

    @property
    def total_weight(self) -> float:
        """Sum of the weights of the rows."""
        return float(self.weight.sum())

    def column_sums(self) -> ColumnSums:
        """Return the sums of the columns."""
        return column_sums(self.X, self.weight)

    def with_sites(self, model: LinearModel, n: int) -> Rows:
        """Return n of the rows with their sites."""
        some = self if n == self.n_rows else self.take(chosen_rows(self.n_rows, n))
        return model.rows(*some)

    def take(self, mask: np.ndarray) -> Table:
        """Return the rows where a mask is true."""
        return Table(self.X[mask], self.labels[mask], self.weight[mask])


class Learned(NamedTuple):
    """A posterior, and the model with the prior that it comes from."""

    model: LinearModel
    fit: Fit


def learn_all(settings: Settings, rows: TrainingRows) -> Learned:
    """Learn from all rows, and choose the prior between sweeps."""
    with _linear_algebra(settings):
        model, scale = _choose_model(settings, rows, MAX_FULL_WEIGHTS)
        start = None
        n_pilot = max(PILOT_ROWS, PILOT_ROWS_PER_WEIGHT * model.n_weights)
        if model.full and rows.n_rows > 2 * n_pilot:
            pilot = rows.with_sites(model, n_pilot)
            fit = iterate(pilot, model.prior(), settings.max_iter, PILOT_TOL, scale=scale)
            model, start = model.with_prior(fit.prior), fit.belief
        everything = rows.with_sites(model, rows.n_rows)
        limits = settings.max_iter, settings.tol
        fit = iterate(everything, model.prior(), *limits, scale=scale, start=start)
        model = model.with_prior(fit.prior)
    if fit.change > settings.tol:
        warn(
            f"The weights still moved by {fit.change:.2g} standard deviations after "
            f"{fit.n_iter} sweeps. Raise max_iter or tol.",
            ConvergenceWarning,
        )
    return Learned(model, fit)


def learn_first(settings: Settings, table: Table) -> Learned:
    """Learn from the first batch of a stream. A pilot sample of it chooses the prior."""
    with _linear_algebra(settings):
        model, scale = _choose_model(settings, table, MAX_FULL_WEIGHTS_IN_STREAM)
        if scale is None:
            return Learned(model, _learn_batch(settings, model, model.prior(), 0.0, table))
        n = min(PILOT_ROWS, table.n_rows)
        limits = settings.max_iter, settings.tol
        fit = iterate(table.with_sites(model, n), model.prior(), *limits, scale=scale)
        model = model.with_prior(fit.prior)
        if n == table.n_rows:
            return Learned(model, fit)
        pilot = chosen_rows(table.n_rows, n)
        n_known = float(table.weight[pilot].sum())
        more = _learn_batch(settings, model, fit.belief, n_known, table.take(~pilot))
    evidence = fit.log_evidence + more.log_evidence
    return Learned(model, fit._replace(belief=more.belief, log_evidence=evidence))


def learn_more(
    settings: Settings, model: LinearModel, belief: Belief, n_known: float, table: Table
) -> Learned:
    """Learn from the next batch of a stream, given a belief from rows of total weight n_known."""
    with _linear_algebra(settings):
        return Learned(model, _learn_batch(settings, model, belief, n_known, table))


def require_separation(model: LinearModel, fit: Fit) -> None:
    """Raise an error if there is no noise and the weights have collapsed.

    However small version space is, its weights have the length that the prior gives them.
    """
    if model.noise == 0 and not (np.isfinite(fit.log_evidence) and _has_length(model, fit.belief)):
        raise ValueError(INSEPARABLE)


def _has_length(model: LinearModel, belief: Belief) -> bool:
    with np.errstate(all="ignore"):
        length = np.linalg.norm(belief.mean() / np.sqrt(model.prior().variances()))
    return bool(MIN_MEAN_LENGTH < length < np.inf)


def _learn_batch(
    settings: Settings, model: LinearModel, belief: Belief, n_known: float, table: Table
) -> Fit:
    rows = model.rows_to_learn_once(*table, n_known)
    if settings.batch_sweeps == 1:
        return rows.learn_once(belief)
    return iterate(rows, belief, settings.batch_sweeps, settings.tol)


def _choose_model(
    settings: Settings, rows: TrainingRows, max_full_weights: int
) -> tuple[LinearModel, PriorScale | None]:
    """Choose the kind of covariance and the prior, with its scale if the evidence sets it."""
    n_classes, prior_variance, noise, covariance, fit_intercept, *_ = settings
    n_weights, n_outputs = rows.n_features + fit_intercept, n_classes - 1
    small = n_weights * n_outputs <= max_full_weights
    full = covariance == "full" or (covariance == "auto" and small)
    intercept = INTERCEPT_VARIANCE if fit_intercept else 0.0
    scale = None
    if prior_variance == "auto":
        scale = PriorScale(rows.column_sums().unit_variances(), noise, intercept, n_outputs)
        variances = scale.variances()
    else:
        variances = np.full(n_weights, float(prior_variance))
        if fit_intercept:  # independent of the data, so that classifiers can be merged
            variances[-1] = intercept * (noise + prior_variance)
    return LinearModel(n_classes, noise, full, fit_intercept, variances), scale


@contextmanager
def _linear_algebra(settings: Settings) -> Iterator[None]:
    """Use one BLAS thread; explain the error if a fit without noise fails."""
    with one_blas_thread():
        if settings.noise_variance > 0:
            yield
            return
        try:
            with np.errstate(all="ignore"):
                yield
        except ImproperBeliefError:
            raise ValueError(INSEPARABLE) from None
