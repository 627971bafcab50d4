"""Learn and unlearn rows one by one, with the parameters that were chosen last."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d

from .._runtime.interrupt import interrupts
from .._runtime.progress import Progress, with_callbacks
from .._runtime.sample_weight import check_sample_weight
from .._runtime.threads import one_blas_thread
from ..fitting.choice_rule import Quality, is_due, quality_of
from ..fitting.dispatch import solve_task
from ..fitting.growing_fit import solve_changed
from ..fitting.sampling import MAX_SEED, new_generator
from ..fitting.task import Task
from ..geometry.points import canonical, stack_points
from ..solvers import Billiard
from ._compact import DROPPED_DRAWS
from ._fit_steps import FitMixin
from ._labels import one_against_rest, require_known, require_labels
from ._learned_rows import (
    MAX_LEARNED_ROWS,
    LearnedRows,
    copy_table,
    stack_tables,
    take_rows,
)
from ._novelty import remember_points
from ._results import store_answer
from ._tables import as_table, read_table
from ._training_rows import UsedRows

GROWING_SOLVERS = ("auto", "regression", "ep")
NO_ROWS = np.empty(0, dtype=np.intp)


def _can_learn_more(model) -> bool:
    """Tell whether parameters allow to add rows; the error names the parameter."""
    solver = model.solver
    by_name = isinstance(solver, str)
    grows = solver in GROWING_SOLVERS if by_name else getattr(solver, "grows", False)
    if not grows or model.kernel == "precomputed":
        what = f"solver={solver!r}" if not grows else 'kernel="precomputed"'
        raise AttributeError(
            f"Rows can be added and removed with solver={', '.join(map(repr, GROWING_SOLVERS))} "
            f"and a kernel of points, but this classifier has {what}. Call fit with all rows."
        )
    return True


class IncrementalMixin(FitMixin):
    """Learn more rows, and forget some, in O(m^2) each."""

    _learned: LearnedRows | None
    _solver: Any
    _choice: Any  # the fields of a Quality: a model file holds tuples

    @available_if(_can_learn_more)
    def partial_fit(self, X, y, classes=None, sample_weight=None, *, choose=True):
        """Learn more rows, in milliseconds.

        The result is that of a fit on all rows so far with the columns, kernel and parameters
        that were chosen last. They are chosen anew when this is due (see Notes). The first call
        is a fit on its rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            More training points.
        y : array-like of shape (n_samples,)
            Their classes.
        classes : array-like, default=None
            Classes that may come. The first call needs at least two classes, here or in y. Later
            calls may name more; a class in y that was never named is an error.
        sample_weight : array-like of shape (n_samples,), default=None
            As in `fit`.
        choose : bool, default=True
            Whether to choose parameters anew if this is due, which takes as long as a fit. With
            False, `choice_due_` says so, and `choose_again` does it whenever you like.

        Returns
        -------
        self : BayesPointClassifier
            The classifier. If this fails or is interrupted, it is as before.

        Notes
        -----
        A choice is due when there are 1.5 times the rows of the last choice, or two thirds of
        them; when a class has its first row; or when left-out labels have become clearly less
        probable (docs/notes/incremental.md). A row takes O(m^2) operations for up to 2000 rows,
        and a fit with the same parameters beyond. Draws are made when they are needed.
        """
        with unless_it_fails(self):
            if not hasattr(self, "dual_coef_"):
                return self._fit(X, y, sample_weight, () if classes is None else classes)
            self._add(X, y, classes, sample_weight)
            return self._choose_if_due(choose)

    @available_if(_can_learn_more)
    def forget(self, rows, *, choose=True):
        """Forget rows, as if they had never been given.

        Parameters
        ----------
        rows : int or array-like of int
            Numbers of rows, counted from 0 in the order in which they were given. The other rows
            move up, as in a list.
        choose : bool, default=True
            As in `partial_fit`.

        Returns
        -------
        self : BayesPointClassifier
            The classifier. If this fails or is interrupted, it is as before.
        """
        check_is_fitted(self)
        with unless_it_fails(self):
            learned = self._require_rows()
            rows = _row_numbers(rows, learned.n_given)
            self._learned, removed = learned.without(rows)
            if not len(self._learned.used_rows):
                raise ValueError("forget should leave at least one row. Make a new classifier.")
            if (tables := self.__dict__.pop("_session_tables", None)) is not None:
                kept = np.delete(np.arange(learned.n_given), rows)
                self._session_tables = [take_rows(stack_tables(tables), kept)]
            self._solve_learned(removed)
            return self._choose_if_due(choose)

    @available_if(_can_learn_more)
    def choose_again(self):
        """Choose columns, kernel and parameters anew, from all rows learned so far.

        This is a fit on these rows. A model from a file keeps its columns (their categories and
        units): the file has only the points. To choose in the background, work on a copy:
        `copy.deepcopy(model).choose_again()`, and then give it the rows that came meanwhile.

        Returns
        -------
        self : BayesPointClassifier
            The classifier. If this fails or is interrupted, it is as before.
        """
        check_is_fitted(self)
        with unless_it_fails(self):
            learned = self._require_rows()
            if (tables := self.__dict__.get("_session_tables")) is not None:
                table = stack_tables(tables)
                return self._fit(table, learned.y, learned.weight, self.classes_)
            given = learned.points, learned.y, learned.weight, self.classes_
            return self._fit(*given, columns=self.columns_)

    def _choose_if_due(self, choose: bool):
        return self.choose_again() if choose and self.choice_due_ else self

    def _require_rows(self) -> LearnedRows:
        learned = self.__dict__.get("_learned")
        if learned is None:
            solver = type(getattr(self, "_solver", None)).__name__
            raise ValueError(
                f"Only label regression and EP with up to {MAX_LEARNED_ROWS} rows can learn more, "
                f"but this model has no rows to continue from (solver {solver}). Call fit with all "
                "rows; LinearBayesPointClassifier.partial_fit has no limit."
            )
        return learned

    def _add(self, X, y, classes, sample_weight) -> None:
        """Learn rows with the parameters that were chosen last."""
        learned = self._require_rows()
        require_labels(y)
        y = column_or_1d(y, warn=True)
        check_classification_targets(y)
        X = as_table(X)
        check_consistent_length(X, y)
        n_before, n_points = learned.n_given, learned.points.shape[0]
        learned = learned.with_labels(y, sample_weight)
        learned = replace(learned, used=learned.weigh(self.class_weight).used)
        new = learned.used_rows[n_points:] - n_before
        self._know_classes(y[new], classes)
        points = learned.points
        # Rows are checked even if they have no weight; the points of those are not kept.
        more = canonical(read_table(self, X))
        if len(new):
            points = stack_points(points, more[new])
        if points.shape[0] > MAX_LEARNED_ROWS:
            raise ValueError(
                f"partial_fit learns up to {MAX_LEARNED_ROWS} rows, but these are "
                f"{points.shape[0]}. Call fit with all rows, or use LinearBayesPointClassifier."
            )
        self._learned = replace(learned, points=points)
        if "_session_tables" in self.__dict__:
            self._session_tables = [*self._session_tables, copy_table(X)]
        self._solve_learned()

    def _know_classes(self, y: np.ndarray, classes) -> None:
        """Add classes that are announced; others must be known."""
        known = extended_classes(self.classes_, classes)
        require_known(y, known)
        if len(known) > len(self.classes_):
            self.classes_ = known
            self.__dict__.pop("_session_learner", None)

    def _solve_learned(self, removed: np.ndarray = NO_ROWS) -> None:
        """Find the answer for the learned rows, from the last one if it is known."""
        # In case of an error the learner is lost, and the next call begins without it.
        learner = self.__dict__.pop("_session_learner", None)
        weight = self.__dict__.pop("_session_weight", None)
        rows = self._used_rows()
        n = self._require_rows().points.shape[0]
        now = np.ones(n) if rows.of_likelihood is None else rows.of_likelihood
        if learner is not None:
            before = np.delete(weight, removed)
            learner = learner if np.array_equal(before, now[: len(before)]) else None
        with interrupts():
            answer, learner = self._solve(rows, learner, removed)
            task = self._learned_task(rows)
            store_answer(self, task, answer, rows)
            remember_points(self, task, answer)
        if answer.draws is None:
            self._draw_seed = int(new_generator(self.random_state).integers(MAX_SEED))
        self._session_learner, self._session_weight = learner, now
        self._judge_choice()

    @with_callbacks
    def _solve(self, rows: UsedRows, learner, removed: np.ndarray):
        start_progress = partial(Progress, self, verbose=self.verbose)
        return solve_changed(self._learned_task(rows), learner, removed, start_progress)

    def _used_rows(self) -> UsedRows:
        """Return the weights of the learned rows."""
        return self._require_rows().weigh(self.class_weight)

    def _learned_task(self, rows: UsedRows, seed=None) -> Task:
        """Return the fit of the learned rows with the parameters that were chosen last.

        This defines what `partial_fit` and `forget` find: the answer of `solve_task`.
        """
        learned = self._require_rows()
        target = np.searchsorted(self.classes_, learned.y[learned.used_rows])
        weight = rows.of_likelihood
        return Task(
            X=learned.points,
            signs=one_against_rest(target, len(self.classes_)),
            target=target,
            kernel=self._fitted_kernel(),
            solver=self._solver,
            softness=self.softness_,
            label_noise=self.label_noise_,
            rng=new_generator(self.random_state) if seed is None else np.random.default_rng(seed),
            weight=weight,
            weights_differ=weight is not None and bool(np.ptp(weight) > 0),
            fallback=Billiard() if self.solver == "auto" else None,
            cache_size=self.cache_size,
            n_jobs=self.n_jobs,
        )

    def _keep_rows(self, task: Task, X, y, rows: UsedRows, sample_weight, solver, known) -> None:
        """Keep what `partial_fit` needs after a fit: the rows, and how good the choice was."""
        for name in ("_session_learner", "_session_weight", "_session_tables"):
            self.__dict__.pop(name, None)
        self._learned, self._solver, self.choice_due_ = None, solver, False
        if not self._can_keep_rows(solver, len(task.target)) or not hasattr(self, "loo_proba_"):
            return
        everything = len(self.support_) == len(task.target)
        points = self.support_vectors_ if everything else task.X.copy()
        y = np.array(column_or_1d(y))
        weight = None if sample_weight is None else check_sample_weight(sample_weight, y).copy()
        self._learned = LearnedRows(y, weight, rows.used, points)
        if not known:
            self._session_tables = [copy_table(as_table(X))]
        self._choice = tuple(quality_of(self.loo_proba_[self._learned.used_rows], task.target))

    def _can_keep_rows(self, solver, n_rows: int) -> bool:
        """Tell whether the rows of a fit can be kept: unless a solver of last resort is needed."""
        grows = getattr(solver, "grows", False) and self.kernel != "precomputed"
        return grows and n_rows <= MAX_LEARNED_ROWS

    def _judge_choice(self) -> None:
        """Say whether parameters should be chosen anew."""
        if "loo_proba_" not in self.__dict__:  # a solver of last resort found the answer
            self.choice_due_ = True
            return
        learned = self._require_rows()
        used = learned.used_rows
        target = np.searchsorted(self.classes_, learned.y[used])
        self.choice_due_ = is_due(Quality(*self._choice), quality_of(self.loo_proba_[used], target))

    def __getattr__(self, name: str):
        """Draw hypotheses when somebody asks for them: few do, and they take time."""
        if name in DROPPED_DRAWS and "compaction_" in self.__dict__:
            raise AttributeError(
                f"A compact model has the mean hypothesis alone, and no {name}: draws, votes and "
                "standard errors are those of the model that compact was called on."
            )
        if name != "draw_coef_" or self.__dict__.get("_learned") is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        task = self._learned_task(self._used_rows(), self._draw_seed)
        with one_blas_thread():  # as in a fit, so that the bits are the same
            answer = solve_task(task, lambda n_outputs: Progress(FitMixin(), n_outputs, 0))
        assert answer.draws is not None
        self.draw_coef_ = answer.draws
        return answer.draws

    def __getstate__(self):
        """Leave out what can be computed again: it takes O(m^2) memory."""
        skipped = ("_session_learner", "_session_weight")
        return {k: v for k, v in super().__getstate__().items() if k not in skipped}


@contextmanager
def unless_it_fails(model) -> Iterator[None]:
    """Give the model back its attributes if the block raises an exception."""
    before = dict(vars(model))
    try:
        yield
    except BaseException:
        vars(model).clear()
        vars(model).update(before)
        vars(model).pop("_session_learner", None)  # it may have changed
        raise


def extended_classes(known: np.ndarray, classes) -> np.ndarray:
    """Return the known classes and those that are announced."""
    if classes is None or not len(classes):
        return known
    classes = column_or_1d(classes)
    if (classes.dtype.kind in "OU") != (known.dtype.kind in "OU"):
        raise ValueError(
            f"classes should have the type of the known classes {known}, but are {classes}."
        )
    return np.union1d(known, classes)


def _row_numbers(rows, n_given: int) -> np.ndarray:
    """Return the numbers of rows, sorted."""
    found = np.atleast_1d(np.asarray(rows))
    if found.size == 0:
        return NO_ROWS
    if found.ndim != 1 or found.dtype.kind not in "iu":
        raise ValueError(f"rows should be whole numbers, but are {rows!r}.")
    if found.min() < 0 or found.max() >= n_given or len(np.unique(found)) < len(found):
        raise ValueError(
            f"rows should be different numbers from 0 to {n_given - 1}, one for each row that was "
            f"given, but are {rows!r}."
        )
    return np.sort(found).astype(np.intp)
