"""From labeled rows to the posterior of a linear classifier's weights."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from .._runtime.threads import one_blas_thread
from .._runtime.warn import warn
from ..solvers.watch import Watch
from ..solvers.weights.belief import Belief, ImproperBeliefError
from ..solvers.weights.column_sums import ColumnSums, Votes, column_sums, column_votes
from ..solvers.weights.iterate import iterate
from ..solvers.weights.model import LinearModel
from ..solvers.weights.points import places_in_columns
from ..solvers.weights.prior_scale import PriorScale
from ..solvers.weights.row_order import chosen_rows
from ..solvers.weights.rows import Fit, Rows
from ..solvers.weights.units import Units, find_units, require_near
from .sweep_time import SweepTimer
from .time_budget import ADVICE

# covariance="auto" is "full" up to this many weights. With few rows the limit is higher: many
# classes have many weights, and independent ones are bad at telling them apart. In a stream it is
# lower, because the time for each batch grows with the cube of their number.
MAX_FULL_WEIGHTS = 500
MAX_FULL_WEIGHTS_OF_FEW_ROWS = 1300
FEW_ROWS = 2000
MAX_FULL_WEIGHTS_IN_STREAM = 100
# Prior variance of the intercept, in units of noise plus prior output variance (of features of
# unit length if the user gives the prior).
INTERCEPT_VARIANCE = 100.0
# A full covariance of many rows starts from a pilot fit to this many rows, or this many times the
# number of weights if that is more, with this tolerance.
PILOT_ROWS = 2000
PILOT_ROWS_PER_WEIGHT = 20
PILOT_TOL = 0.1
# Sweeps that a fit usually takes after a pilot, to estimate its time.
SWEEPS_AFTER_PILOT = 4
# Rows that are learned only once, for lack of time, have at most this many sites at once (16 bytes
# each).
MAX_SITES_AT_ONCE = 5_000_000
# Mean weights shorter than this, in prior standard deviations, have collapsed.
MIN_MEAN_LENGTH = 1e-3
INSEPARABLE = (
    "noise_variance=0 asks for weights that classify all training points as labeled, but there "
    "seem to be none. Raise noise_variance; 1.0 is the default."
)
TOO_EXTREME = (
    "The posterior of the weights should have numbers that double precision can hold, but has "
    "not. Use more moderate values of noise_variance (1.0 is the default), prior_variance or "
    "sample_weight."
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
    standardize: Any  # True, False or "auto"


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

    def column_votes(self) -> Votes:
        """Return the most common value of each column."""

    def column_sums(self, reference: np.ndarray) -> ColumnSums:
        """Return the sums of the differences of columns from a reference."""

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

    def column_votes(self) -> Votes:
        """Return the most common value of each column."""
        return column_votes(self.X, self.weight)

    def column_sums(self, reference: np.ndarray) -> ColumnSums:
        """Return the sums of the differences of columns from a reference."""
        return column_sums(self.X, self.weight, reference)

    def with_sites(self, model: LinearModel, n: int) -> Rows:
        """Return n of the rows with their sites."""
        some = self if n == self.n_rows else self.take(chosen_rows(self.n_rows, n))
        return model.rows(*some)

    def take(self, mask: np.ndarray | slice) -> Table:
        """Return the rows of a slice, or where a mask is true."""
        return Table(self.X[mask], self.labels[mask], self.weight[mask])


class Learned(NamedTuple):
    """A posterior, and the model with the prior that it comes from."""

    model: LinearModel
    fit: Fit
    n_rows: int = 0  # rows that it learned from
    stop: str = ""  # why it stopped early: "max_time" or "interrupted"


def learn_all(settings: Settings, rows: TrainingRows, watch: Watch) -> Learned:
    """Learn from all rows, and choose the prior between sweeps.

    If there is no time for that, rows in memory are learned once, as many as possible.
    """
    with _linear_algebra(settings):
        few = rows.n_rows <= FEW_ROWS and settings.n_classes > 2
        limit = MAX_FULL_WEIGHTS_OF_FEW_ROWS if few else MAX_FULL_WEIGHTS
        model, scale = _choose_model(settings, rows, limit)
        start = None
        n_pilot = max(PILOT_ROWS, PILOT_ROWS_PER_WEIGHT * model.n_weights)
        timed = watch.has_deadline and isinstance(rows, Table)
        if (model.full or timed) and rows.n_rows > 2 * n_pilot:
            n_pilot = n_pilot if model.full else PILOT_ROWS
            scale_of_pilot, timer = copy(scale), SweepTimer(watch)
            pilot = _ready(rows.with_sites(model, n_pilot), timer)
            limits = settings.max_iter, PILOT_TOL
            fit = iterate(pilot, model.prior(), *limits, scale=scale_of_pilot)
            n_sweeps = min(fit.n_iter, SWEEPS_AFTER_PILOT) if model.full else fit.n_iter
            if isinstance(rows, Table) and not timer.has_time(n_sweeps, rows.n_rows / n_pilot):
                return _learn_rest_once(settings, model, fit, pilot, rows, watch)
            if model.full:
                model, start, scale = model.with_prior(fit.prior), fit.belief, scale_of_pilot
        everything = _ready(rows.with_sites(model, rows.n_rows), watch)
        limits = settings.max_iter, settings.tol
        fit = iterate(everything, model.prior(), *limits, scale=scale, start=start)
        model = model.with_prior(fit.prior)
    if not watch.stop and fit.change > settings.tol:
        warn(
            f"The weights still moved by {fit.change:.2g} standard deviations after "
            f"{fit.n_iter} sweeps. Raise max_iter or tol.",
            ConvergenceWarning,
        )
    return Learned(model, fit, everything.n_learned or rows.n_rows, watch.stop)


def learn_first(settings: Settings, table: Table, watch: Watch) -> Learned:
    """Learn from the first batch of a stream. A pilot sample of it chooses the prior."""
    with _linear_algebra(settings):
        model, scale = _choose_model(settings, table, MAX_FULL_WEIGHTS_IN_STREAM)
        if scale is None:
            return _learn_batch(settings, model, model.prior(), 0.0, table, watch)
        n = min(PILOT_ROWS, table.n_rows)
        limits = settings.max_iter, settings.tol
        pilot = _ready(table.with_sites(model, n), watch)
        fit = iterate(pilot, model.prior(), *limits, scale=scale)
        model = model.with_prior(fit.prior)
        first = Learned(model, fit, pilot.n_learned, watch.stop)
        if n == table.n_rows or watch.stop:
            return first
        used = chosen_rows(table.n_rows, n)
        n_known = float(table.weight[used].sum())
        more = _learn_batch(settings, model, fit.belief, n_known, table.take(~used), watch)
    return _joined(first, more)


def learn_more(
    settings: Settings,
    model: LinearModel,
    belief: Belief,
    n_known: float,
    table: Table,
    watch: Watch,
) -> Learned:
    """Learn from the next batch of a stream, given a belief from rows of total weight n_known."""
    require_near(table.X, model.center, model.prior_variances[: table.n_features])
    model, belief = _find_late_units(model, belief, table)
    with _linear_algebra(settings):
        return _learn_batch(settings, model, belief, n_known, table, watch)


def warn_if_stopped(learned: Learned, n_rows: int) -> None:
    """Warn if a fit was stopped, and say how far it got."""
    if not learned.stop:
        return
    moved = learned.fit.change
    reached = f"it learned from {learned.n_rows:,} of {n_rows:,} rows"
    if np.isfinite(moved):
        reached += f", and the last of {learned.fit.n_iter} sweeps moved the weights by "
        reached += f"{moved:.2g} standard deviations"
    elif learned.n_rows == n_rows:
        reached += ", from most of them only once"
    warn(
        f"The fit stopped early ({learned.stop}): {reached}. The answer so far is kept. "
        f"{ADVICE[learned.stop]}.",
        ConvergenceWarning,
    )


def require_separation(learned: Learned) -> None:
    """Raise an error if there is no noise and the weights have collapsed.

    However small version space is, its weights have the length that the prior gives them.
    """
    model, fit, _, stop = learned
    explained = bool(stop) or np.isfinite(fit.log_evidence)  # a fit that was stopped has none
    if model.noise == 0 and not (explained and _has_length(model, fit.belief)):
        raise ValueError(INSEPARABLE)


def _has_length(model: LinearModel, belief: Belief) -> bool:
    with np.errstate(all="ignore"):
        length = np.linalg.norm(belief.mean() / np.sqrt(model.prior().variances()))
    return bool(MIN_MEAN_LENGTH < length < np.inf)


def _learn_batch(
    settings: Settings,
    model: LinearModel,
    belief: Belief,
    n_known: float,
    table: Table,
    watch: Watch,
) -> Learned:
    rows = _ready(model.rows_to_learn_once(*table, n_known), watch)
    if settings.batch_sweeps == 1:
        fit = rows.learn_once(belief)
    else:
        fit = iterate(rows, belief, settings.batch_sweeps, settings.tol)
    return Learned(model, fit, rows.n_learned, watch.stop)


def _learn_rest_once(
    settings: Settings, model: LinearModel, fit: Fit, pilot: Rows, table: Table, watch: Watch
) -> Learned:
    """Learn the rows that were not in the pilot once, part by part, until the time is over."""
    learned = Learned(model.with_prior(fit.prior), fit, pilot.n_learned, watch.stop)
    if watch.is_over():
        return learned
    learned = learned._replace(fit=fit._replace(change=np.inf))
    rest = table.take(~chosen_rows(table.n_rows, pilot.n_learned))
    n_entries = rest.X.nnz if sparse.issparse(rest.X) else rest.X.size
    n_parts = -(-n_entries * (settings.n_classes - 1) // MAX_SITES_AT_ONCE)
    once = settings._replace(batch_sweeps=1)
    for number in range(n_parts):
        if watch.is_over():
            break
        part = rest.take(slice(number, None, n_parts))  # a table may be sorted
        belief, n_known = learned.fit.belief, float(learned.n_rows)
        more = _learn_batch(once, learned.model, belief, n_known, part, watch)
        learned = _joined(learned, more)
    return learned._replace(stop=watch.stop or "max_time")


def _joined(first: Learned, more: Learned) -> Learned:
    """Return what was learned from more rows, after a first fit."""
    evidence = first.fit.log_evidence + more.fit.log_evidence
    fit = first.fit._replace(belief=more.fit.belief, log_evidence=evidence)
    return Learned(more.model, fit, first.n_rows + more.n_rows, more.stop)


def _ready(rows: Rows, watch: Watch | SweepTimer) -> Rows:
    """Return rows whose sweeps look at the clock."""
    rows.is_over = watch.is_over
    return rows


def _choose_model(
    settings: Settings, rows: TrainingRows, max_full_weights: int
) -> tuple[LinearModel, PriorScale | None]:
    """Choose the kind of covariance and the prior, with its scale if the evidence sets it."""
    n_classes, prior_variance, noise, covariance, fit_intercept, *_ = settings
    units = _find_units(settings, rows)
    n_weights, n_outputs = rows.n_features + fit_intercept, n_classes - 1
    small = n_weights * n_outputs <= max_full_weights
    full = covariance == "full" or (covariance == "auto" and small)
    intercept = INTERCEPT_VARIANCE if fit_intercept else 0.0
    scale = None
    if prior_variance == "auto":
        # A factor of one gives outputs a variance of one.
        unit = units.variances(1 / (units.n_active or rows.n_features))
        scale = PriorScale(unit, noise, intercept, n_outputs)
        variances = scale.variances()
    else:
        variances = units.variances(prior_variance)
        if fit_intercept:  # independent of the data, so that classifiers can be merged
            variances = np.append(variances, intercept * (noise + prior_variance))
    model = LinearModel(n_classes, noise, full, fit_intercept, variances, *units[:2])
    return model, scale


def _find_units(settings: Settings, rows: TrainingRows) -> Units:
    """Choose the center and the scale of each feature."""
    standardize, d = settings.standardize, rows.n_features
    movable = bool(standardize) and settings.fit_intercept
    reference = rows.column_votes().value if movable else np.zeros(d)
    units = find_units(reference, rows.column_sums(reference), movable)
    if standardize is not True and settings.prior_variance != "auto":
        return units._replace(scale=np.ones(d))  # the prior is about features as they come
    if not standardize:
        return units._replace(scale=np.nan_to_num(units.scale, nan=1.0))
    return units


def _find_late_units(
    model: LinearModel, belief: Belief, table: Table
) -> tuple[LinearModel, Belief]:
    """Give features that vary for the first time their scale, and their weights a prior."""
    new = np.isnan(model.scale)
    columns, X = _late_columns(table.X, new, model.center)
    if not len(columns) or not table.n_rows:
        return model, belief
    center, (d, n_outputs) = model.center[columns], (len(new), model.n_classes - 1)
    sums = column_sums(X, table.weight, center)
    found = find_units(center, sums, movable=False).scale
    columns, found = columns[np.isfinite(found)], found[np.isfinite(found)]
    known = np.flatnonzero(np.isfinite(model.scale))[:1]
    unit = np.append(model.prior_variances[known] * model.scale[known] ** 2, model.noise / d)[0]
    variances, scale = model.prior_variances.copy(), model.scale.copy()
    variances[columns], scale[columns] = unit / found**2, found
    # No row has said anything about these weights yet.
    precision = belief.precision.copy()
    at = (np.arange(n_outputs)[:, None] * len(variances) + columns).ravel()
    precision[(at, at) if belief.is_full else at] = np.tile(1 / variances[columns], n_outputs)
    model = model._replace(prior_variances=variances, scale=scale)
    return model, Belief(precision, belief.shift)


def _late_columns(X, new: np.ndarray, center: np.ndarray) -> tuple[np.ndarray, Any]:
    """Return the new columns that may vary, and their part of the rows."""
    if not sparse.issparse(X):
        columns = np.flatnonzero(new)
        return columns, X[:, columns] if len(columns) else X
    # Most new columns have no entry in a batch, and most entries are not new: look only at those.
    places = places_in_columns(X, new)
    indices = X.indices[places]
    columns = np.union1d(indices, np.flatnonzero(new & (center != 0)))
    part = X.data[places], np.searchsorted(columns, indices), np.searchsorted(places, X.indptr)
    return columns, sparse.csr_array(part, shape=(X.shape[0], len(columns)))


@contextmanager
def _linear_algebra(settings: Settings) -> Iterator[None]:
    """Use one BLAS thread; explain the error if the posterior is lost in rounding errors."""
    try:
        with one_blas_thread(), np.errstate(all="ignore"):
            yield
    except ImproperBeliefError:
        raise ValueError(TOO_EXTREME if settings.noise_variance > 0 else INSEPARABLE) from None
