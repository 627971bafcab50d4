"""Permuted perceptrons: version space sampled by learning in random orders."""

from __future__ import annotations

import time
from collections.abc import Callable
from numbers import Integral, Real

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from .._runtime.interrupt import Interrupted
from ..geometry.row_store import UNIT, RowStore
from .members import MISTAKES, Members
from .solver import OnRound, Solver
from .watch import Watch, watching

# Mistakes of one perceptron in one compiled call: as many as change this many outputs, which takes
# a few tens of milliseconds, up to a limit. Time limits and interrupts are checked between calls.
MAX_OUTPUTS_PER_CALL = 2e7
MAX_MISTAKES_PER_CALL = 1000
SECONDS_BETWEEN_REPORTS = 0.5
# Predict up to this many next mistakes of each member, within this many points of its order.
MISTAKES_AHEAD = 100
POINTS_AHEAD = 4096
# If so many members get a point wrong, one of them will surely need its Gram row.
SURE_MEMBERS = 12
# Threads share the members in this many groups.
N_GROUPS = 16


class Perceptron(Solver):
    """Sample version space with perceptrons that learn in different orders.

    Each member of the ensemble is a kernel perceptron (000, algorithm 1). It goes through
    its own permutation of the training points until it classifies all of them correctly.
    Members are scaled to unit length and averaged. The sample is not exactly uniform, but
    Gram rows are needed only for points that some member gets wrong. This makes it the
    solver for large training sets.

    Parameters
    ----------
    n_members : int, default=10
        Perceptrons for each output.
    max_mistakes : int, default=100_000
        A member gives up after this many mistakes and is represented by the best hypothesis
        it had at the end of a pass through the training set. By Novikoff's theorem no
        hypothesis then has a margin above 1 / sqrt(max_mistakes).
    unit_length : bool, default=True
        Whether training points have unit length in feature space. If False, they have the
        lengths that the kernel gives them, as printed in 000.
    held_out : "auto" or float, default="auto"
        Share of the training points that a member learns last, to calibrate `predict_proba`.
        "auto" is a twentieth, or more of a small training set. With 0 all orders are
        uniformly random, as printed in 000, and probabilities come from an estimate of what
        each point's output would be without it; so they do if there are five or more copies
        of each row on average.

    Notes
    -----
    All members of all outputs advance together. A member that needs a Gram row that is not
    stored waits until all members wait. Then the missing Gram rows are computed in one
    matrix product, together with Gram rows that members will probably need next: of points
    further on in their order that they currently get wrong. Which Gram rows are stored
    affects the time, but not the answer.

    A few training points, the same for all members, are held out until a member has learned
    all the others. To the member these points are new, so its outputs there calibrate
    `predict_proba`. The held-out points are drawn once for all members, and the errors
    `angle` and `decision_std_error` do not include this choice. So fits with other seeds
    differ by more than these errors, especially with many members.

    On a soft boundary a point of weight w has the softness of the boundary divided by w. A hard
    boundary has no softness, and asks only whether a weight is positive.

    `Perceptron(unit_length=False, held_out=0)` is the published machine (000, algorithm 1). On
    digits it makes more errors than the default (experiment figure_9 in docs/papers.md).

    References
    ----------
    Herbrich, Graepel, Campbell (2001), Bayes Point Machines, JMLR 1, sec. 3.2.
    Herbrich, Graepel (2001), Large Scale Bayes Point Machines, NIPS 13.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from bayespoint import BayesPointClassifier
    >>> from bayespoint.solvers import Perceptron
    >>> X, y = make_moons(100, noise=0.1, random_state=0)
    >>> model = BayesPointClassifier(
    ...     "rbf", gamma=1.0, softness=0, solver=Perceptron(30), random_state=0
    ... ).fit(X, y)
    >>> model.diagnostics_.n_consistent
    array([30])
    """

    needs = "rows"
    supports_weights = True
    _parameter_constraints = {
        "n_members": [Interval(Integral, 1, None, closed="left")],
        "max_mistakes": [Interval(Integral, 1, None, closed="left")],
        "unit_length": ["boolean"],
        "held_out": [StrOptions({"auto"}), Interval(Real, 0, 0.5, closed="both")],
    }

    def __init__(self, n_members=10, *, max_mistakes=100_000, unit_length=True, held_out="auto"):
        self.n_members = n_members
        self.max_mistakes = max_mistakes
        self.unit_length = unit_length
        self.held_out = held_out

    def solve(
        self,
        store: RowStore,
        members: Members,
        *,
        thread_map: Callable = map,
        deadline: float = np.inf,
        on_round: OnRound | None = None,
        interrupted: Interrupted | None = None,
    ) -> str:
        """Let members learn until they are consistent, or have to stop.

        Parameters
        ----------
        store : RowStore
            Gram rows of the unit training points.
        members : Members
            The state of the members, which changes in place.
        thread_map : callable, default=map
            A `map` that may use threads.
        deadline, on_round
            As in `EP.solve`; a round takes about half a second.
        interrupted : Interrupted, default=None
            True once Ctrl-C was pressed, if the caller handles it.

        Returns
        -------
        str
            Why it ended: "consistent", "max_mistakes", "max_time", "interrupted" or
            "callback".
        """
        self._validate_params()
        with watching(deadline, on_round, interrupted) as watch:
            stop = self._run(store, members, thread_map, watch)
        for who in members.active(self.max_mistakes):
            members.note_trial(who)
        if on_round is not None:
            on_round({**members.report(store), "stop": stop})
        return stop

    def _run(self, store: RowStore, members: Members, thread_map, watch: Watch) -> str:
        """Let members learn and compute Gram rows in turns; return why it ended."""
        from .._jit.perceptron import NEXT_MISTAKE_SCORE

        reported = time.perf_counter()
        while active := members.active(self.max_mistakes):
            groups = [active[i::N_GROUPS] for i in range(min(N_GROUPS, len(active)))]
            score = sum(thread_map(lambda group: self._step(store, members, group), groups))
            if time.perf_counter() - reported > SECONDS_BETWEEN_REPORTS:
                reported = time.perf_counter()
                watch.report(members.report(store))
            if members.all_have_hypotheses() and watch.is_over():
                return watch.stop
            needed = members.waiting(active, store)
            if needed.size:
                sure = np.flatnonzero(score % NEXT_MISTAKE_SCORE >= SURE_MEMBERS)
                store.fetch(needed, score, sure)
        return "consistent" if members.consistent().all() else "max_mistakes"

    def _step(self, store: RowStore, members: Members, group) -> np.ndarray:
        """Let members learn as far as they can; score Gram rows by how soon they are needed."""
        from .._jit.perceptron import advance, expect_mistakes

        score = np.zeros(members.signs.shape[1], dtype=np.int64)
        per_call = int(np.clip(MAX_OUTPUTS_PER_CALL / len(score), 1, MAX_MISTAKES_PER_CALL))
        for who in group:
            y = members.signs[who[0]]
            most = min(members.walk[who][MISTAKES] + per_call, self.max_mistakes)
            gram = store.rows, UNIT, store.slot, members.softness, members.step
            work = (*gram, y, *members.arrays(who), most)
            while advance(*work) or members.use_all(who):
                members.note_trial(who)
            walk = members.order[who], members.output[who], members.walk[who]
            expect_mistakes(y, *walk, POINTS_AHEAD, MISTAKES_AHEAD, score)
        return score
