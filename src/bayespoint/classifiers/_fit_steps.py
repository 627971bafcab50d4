"""The steps of a fit of the Bayes point machine: check, choose, solve, store."""

from __future__ import annotations

import time
from functools import partial

import numpy as np
from sklearn.utils import Bunch

from .._runtime.interrupt import interrupts
from .._runtime.progress import CallbackSupportMixin, Progress, say, with_callbacks
from .._runtime.threads import one_blas_thread, threads
from ..fitting.automatic_kernel import OTHERWISE, choose_with_mixture
from ..fitting.dispatch import solve_task
from ..fitting.equal_points import merge_points, weigh_points
from ..fitting.parameters import Choice, Settings
from ..fitting.sampling import new_seed
from ..fitting.solver_choice import Request, choose_solver
from ..fitting.task import Task, TrainingSet
from ..solvers import Billiard
from ._labels import number_classes, one_against_rest
from ._novelty import remember_points
from ._predictions import PredictionMixin
from ._results import store_answer
from ._tables import bytes_of_copy, read_training_table
from ._training_rows import UsedRows, weigh_rows

# The share of max_time that may go into choosing the solver and its parameters.
CHOICE_SHARE = 0.5


class FitMixin(CallbackSupportMixin, PredictionMixin):
    """From a table to a fitted machine."""

    @with_callbacks
    def _fit(self, X, y, sample_weight=None, classes=(), *, columns=None, elsewhere=None):
        """Choose parameters and find the Bayes points.

        `classes` are announced: y need not have them. With `columns`, X has points as these
        columns map them, for rows of positive weight. `elsewhere` as in `Task`.
        """
        began = time.perf_counter()
        self._check_parameters()
        rows = weigh_rows(X if columns is None else y, y, sample_weight, self.class_weight)
        data = self._check_training_data(X, y, rows, classes, columns)
        # The rounding of matrix algebra would depend on the number of its threads.
        with one_blas_thread(), interrupts() as interrupted:
            seed = new_seed(self.random_state)
            rng = np.random.default_rng(seed)
            deadline = began + (np.inf if self.max_time is None else self.max_time)
            data, solver, choice = self._choose(data, deadline, interrupted)
            task = self._task(data, solver, choice.best, rng, deadline, bytes_of_copy(data.X, X))
            task = weigh_points(task, rows.of_likelihood)._replace(elsewhere=elsewhere)
            answer = solve_task(task, partial(Progress, self, verbose=self.verbose))
            store_answer(self, task, answer, rows)
            remember_points(self, task, answer)
            self._keep_rows(task, X, y, rows, sample_weight, solver, columns is not None)
            if answer.draws is None:
                self._draw_seed = seed
        return self

    def _keep_rows(self, task: Task, X, y, rows, sample_weight, solver, known: bool) -> None:
        """Keep what is needed to learn more rows, and to draw hypotheses later."""
        raise NotImplementedError

    def _can_keep_rows(self, solver, n_rows: int) -> bool:
        """Tell whether `_keep_rows` keeps the rows of a fit."""
        raise NotImplementedError

    def _check_parameters(self) -> None:
        self._validate_params()
        if isinstance(self.solver, type):
            raise TypeError(
                f"solver should be an instance, but is a class: pass {self.solver.__name__}()."
            )

    def _check_training_data(self, X, y, rows: UsedRows, classes, columns) -> TrainingSet:
        """Validate points and labels, and set `classes_`."""
        if self.kernel == "precomputed":
            # New points have kernel values with all rows of the user: check the whole matrix.
            X, y = read_training_table(self, X, y)
            X, y = rows.take_square(self._check_points(X)), rows.take(y)
        elif columns is not None:
            self.columns_, y = columns, rows.take(y)
        else:
            X, y = read_training_table(self, rows.take(X), rows.take(y), rows.weight)
            X = self._check_points(X)
        self.classes_, target = number_classes(y, classes)
        signs = one_against_rest(target, len(self.classes_))
        kernel_for = partial(self._settle_kernel, X, weight=rows.weight)
        self.kernel_ = OTHERWISE if self.kernel == "auto" else self.kernel
        data = TrainingSet(X, target, signs, self.kernel_, kernel_for, rows.weight)
        return data if self.columns_ is None else data.of_columns(self.columns_)

    def _choose(self, data: TrainingSet, deadline: float, interrupted):
        """Return the data with its kernel, a solver, and parameters, given or chosen."""
        given = Settings(self._given_gamma(), self.fit_intercept, self.softness, self.label_noise)
        now = time.perf_counter()
        end = now + (deadline - now) * CHOICE_SHARE

        def should_stop(seconds: float) -> bool:
            return bool(interrupted) or time.perf_counter() + seconds > end

        request = Request(self.solver, given, self.cache_size)
        data = merge_points(data, request)
        choose = choose_with_mixture if self.kernel == "auto" else choose_solver
        with threads(self.n_jobs) as thread_map:
            data = data._replace(thread_map=thread_map)
            data, solver, choice = choose(data, request, should_stop)
        chosen = "auto" in given
        self.candidates_ = Bunch(**(choice if chosen else Choice(choice.best, {})).columns())
        if self.verbose and self.solver == "auto":
            say(f"solver {solver}")
        if self.verbose and chosen and choice.score:
            say(f"{choice}")
        return data, solver, choice

    def _task(self, data: TrainingSet, solver, best: Settings, rng, deadline: float, copied: int):
        """Put everything together that the fit needs."""
        return Task(
            X=data.X,
            signs=data.signs,
            target=data.target,
            sets=data.sets,
            kernel=data.kernel_for(best.gamma, best.fit_intercept),
            solver=solver,
            softness=best.softness,
            rng=rng,
            label_noise=best.label_noise,
            fallback=Billiard() if self.solver == "auto" else None,
            may_soften=self.softness == "auto",
            cache_size=self.cache_size,
            copied=copied,
            max_time=self.max_time,
            deadline=deadline,
            n_jobs=self.n_jobs,
            previous=getattr(self, "_state", None) if self.warm_start else None,
            keep_state=self.warm_start,
            may_draw_later=self._can_keep_rows(solver, len(data.target)),
        )
