"""Permuted perceptrons: version space sampled by learning in random orders."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import Interval

from .._runtime.interrupt import Interrupted, interrupts
from ..geometry.gram import IndefiniteKernelError
from ..geometry.row_store import NOT_STORED, RowStore
from .posterior import Posterior

# Mistakes of one perceptron in one compiled call, some tens of milliseconds: time limits
# and interrupts are seen to between calls.
CALL_MISTAKES = 1000
SECONDS_BETWEEN_REPORTS = 0.5
# Of each member so many mistakes that it will probably make next are expected, within so
# many points of its order.
N_AHEAD = 100
WINDOW = 4096
# Groups of members that threads work on.
N_GROUPS = 16
# Bytes that a member takes for each training point.
BYTES_PER_POINT = 20
# What only consistent members tell.
UNKNOWN = {"angle": np.inf, "ess": 0.0, "resultant": np.nan, "margin": np.nan, "novikoff": np.inf}
# Rounding of a squared length, relative to the largest possible.
ROUNDING = 1e-9
# Columns of a member's `walk`.
POSITION, RIGHT, MISTAKES, IN_USE = 0, 1, 2, 3
NEGATIVE_LENGTH = (
    "A hypothesis has a negative squared length: the kernel is not positive semi-definite. "
    "Choose another kernel or other parameters of it, or a larger softness."
)


class Perceptron(BaseEstimator):
    """Sample version space with perceptrons that learn in different orders.

    Each member of the ensemble is a kernel perceptron (000, algorithm 1) that goes
    through a permutation of the training points of its own until it gets all of them
    right. Members of unit length are averaged. The sample is not exactly uniform, but
    rows of the Gram matrix are needed only of points that some member gets wrong, so
    that this is the solver for large training sets.

    Parameters
    ----------
    n_members : int, default=10
        Perceptrons for each output.
    max_mistakes : int, default=100_000
        A member gives up after so many mistakes, and the best hypothesis it had at the
        end of a pass through the training set stands for it. By Novikoff's theorem
        there is no hypothesis of a margin above 1 / sqrt(max_mistakes) then.

    Notes
    -----
    All members of all outputs advance together. Who needs a row of the Gram matrix that
    is not there waits, until all wait; then the missing rows are computed in one matrix
    product, together with rows that members will probably need next: of points further
    on in their order that they get wrong at the time.
    Which rows are there when changes nothing but the time it takes.

    A few training points, the same for all members, come into use when a member has
    learned all the others. What members say of them before is what they would say of new
    points: from that `predict_proba` is calibrated. Which points these are is drawn once
    for all members, and the errors `angle` and `decision_std_error` do not include it:
    fits with other seeds differ by more than they say, the more so the more members.

    References
    ----------
    Herbrich, Graepel, Campbell (2001), Bayes Point Machines, JMLR 1, sec. 3.2.
    Herbrich, Graepel (2001), Large Scale Bayes Point Machines, NIPS 13.
    """

    needs = "rows"  # what a fit prepares for it
    supports_label_noise = False
    _parameter_constraints = {
        "n_members": [Interval(Integral, 1, None, closed="left")],
        "max_mistakes": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(self, n_members=10, *, max_mistakes=100_000):
        self.n_members = n_members
        self.max_mistakes = max_mistakes

    def solve(
        self,
        store: RowStore,
        members: Members,
        *,
        thread_map: Callable = map,
        deadline: float = np.inf,
        on_round: Callable[[dict[str, Any]], bool] | None = None,
        interrupted: Interrupted | None = None,
    ) -> str:
        """Let members learn until they are consistent, or have to stop.

        Parameters
        ----------
        store : RowStore
            Rows of the Gram matrix of the unit training points.
        members : Members
            Where they are; changed in place.
        thread_map : callable, default=map
            A `map` that may use threads.
        deadline : float, default=inf
            Value of `time.perf_counter()` at which to stop.
        on_round : callable, default=None
            Called now and then with a dict of what is known; a true answer stops.
        interrupted : Interrupted, default=None
            True when Ctrl-C was pressed, if the caller looks after that.

        Returns
        -------
        str
            Why it ended: "consistent", "max_mistakes", "max_time", "interrupted" or
            "callback".
        """
        self._validate_params()
        with interrupts() if interrupted is None else nullcontext(interrupted) as stopped:
            stop = self._run(store, members, thread_map, deadline, on_round, stopped)
        for who in members.active(self.max_mistakes):
            members.note_trial(who)
        if on_round is not None:
            on_round({**members.report(store), "stop": stop})
        return stop

    def _run(self, store, members: Members, thread_map, deadline, on_round, interrupted) -> str:
        told, stopped = time.perf_counter(), False
        while active := members.active(self.max_mistakes):
            groups = [active[i::N_GROUPS] for i in range(min(N_GROUPS, len(active)))]
            score = sum(thread_map(lambda group: self._step(store, members, group), groups))
            now = time.perf_counter()
            if on_round is not None and now - told > SECONDS_BETWEEN_REPORTS:
                told = now
                stopped = on_round(members.report(store)) or stopped
            # Whoever has made no mistake yet has no hypothesis.
            if members.walk[..., MISTAKES].min() > 0:
                if interrupted:
                    return "interrupted"
                if now > deadline:
                    return "max_time"
                if stopped:
                    return "callback"
            needed = members.waiting(active, store)
            if needed.size:
                store.fetch(needed, score)
        return "consistent" if members.consistent().all() else "max_mistakes"

    def _step(self, store: RowStore, members: Members, group) -> np.ndarray:
        """Let members learn as far as they can; return how likely rows are needed next."""
        from .._jit.perceptron import advance, expect_mistakes

        score = np.zeros(members.signs.shape[1], dtype=np.int64)
        for who in group:
            y = members.signs[who[0]]
            most = min(members.walk[who][MISTAKES] + CALL_MISTAKES, self.max_mistakes)
            work = (store.rows, store.slot, members.softness, y, *members.arrays(who), most)
            while advance(*work) or members.use_all(who):
                members.note_trial(who)
            walk = members.order[who], members.output[who], members.walk[who]
            expect_mistakes(y, *walk, WINDOW, N_AHEAD, score)
        return score


@dataclass
class Members:
    """Perceptrons on their way; arrays have a row for each output and each member."""

    signs: np.ndarray  # labels of the training points, a row an output
    held_out: np.ndarray  # training points that come into use at the end
    seed: int
    softness: float
    order: np.ndarray  # of the training points
    output: np.ndarray  # at the training points
    count: np.ndarray  # mistakes on each training point
    walk: np.ndarray  # position in the order, points right in a row, mistakes, points in use
    best: np.ndarray  # errors and squared length at the end of the best pass
    best_count: np.ndarray
    trial: np.ndarray  # normalised outputs at held-out points before they came into use

    @classmethod
    def at_start(
        cls,
        signs: np.ndarray,
        held_out: np.ndarray,
        seed: int,
        softness: float,
        n_members: int,
        first: int = 0,
    ) -> Members:
        """Return n_members new members for each output, beginning with number `first`."""
        n_outputs, m = signs.shape
        shape = (n_outputs, n_members, m)
        others = np.setdiff1d(np.arange(m), held_out)
        order = np.empty(shape, dtype=np.int32)
        for c, k in np.ndindex(n_outputs, n_members):
            rng = np.random.default_rng([seed, c, first + k])
            order[c, k] = np.concatenate([rng.permutation(others), rng.permutation(held_out)])
        walk = np.zeros((n_outputs, n_members, 4), dtype=np.int64)
        walk[..., IN_USE] = len(others)
        return cls(
            signs=signs,
            held_out=held_out,
            seed=seed,
            softness=softness,
            order=order,
            output=np.zeros(shape),
            count=np.zeros(shape, dtype=np.int32),
            walk=walk,
            best=np.full((n_outputs, n_members, 2), np.inf),
            best_count=np.zeros(shape, dtype=np.int32),
            trial=np.full((n_outputs, n_members, len(held_out)), np.nan),
        )

    def with_more(self, n_members: int) -> Members:
        """Return these members and further ones, n_members for each output in all."""
        have = self.order.shape[1]
        if n_members < have:
            raise ValueError(
                f"n_members={n_members} should be at least the {have} members of the last fit "
                "when warm_start=True. Pass warm_start=False to start anew."
            )
        new = vars(
            Members.at_start(
                self.signs, self.held_out, self.seed, self.softness, n_members - have, have
            )
        )
        joined = {
            name: np.concatenate([value, new[name]], axis=1) for name, value in self._own().items()
        }
        return Members(**{**new, **joined})

    def some(self, numbers: np.ndarray) -> Members:
        """Return copies of members with some numbers, for every output."""
        own = {name: value[:, numbers] for name, value in self._own().items()}
        return Members(**{**vars(self), **own})

    def put(self, numbers: np.ndarray, others: Members) -> None:
        """Put others in the place of members with some numbers."""
        for name, value in self._own().items():
            value[:, numbers] = getattr(others, name)

    def _own(self) -> dict[str, np.ndarray]:
        """Return what belongs to single members."""
        return {
            name: value
            for name, value in vars(self).items()
            if isinstance(value, np.ndarray) and value.ndim == 3
        }

    def arrays(self, who: tuple[int, int]) -> tuple[np.ndarray, ...]:
        """Return what the compiled loop needs of a member."""
        arrays = (self.order, self.output, self.count, self.walk, self.best, self.best_count)
        return tuple(array[who] for array in arrays)

    def use_all(self, who: tuple[int, int]) -> bool:
        """Bring the held-out points into use if all others are learned, and say so."""
        walk, m = self.walk[who], self.signs.shape[1]
        if walk[RIGHT] < walk[IN_USE] or walk[IN_USE] == m:
            return False
        self.note_trial(who)
        walk[POSITION] = walk[IN_USE]
        walk[IN_USE] = m
        self.best[who] = np.inf
        return True

    def note_trial(self, who: tuple[int, int]) -> None:
        """Note what a member says of held-out points, as long as it has not seen them."""
        if self.walk[who][IN_USE] < self.signs.shape[1]:
            square = self.count[who] @ (self.signs[who[0]] * self.output[who])
            if square > 0:
                self.trial[who] = self.output[who][self.held_out] / np.sqrt(square)

    def consistent(self) -> np.ndarray:
        """Tell which members get all training points right."""
        return self.walk[..., RIGHT] == self.signs.shape[1]

    def active(self, max_mistakes: int) -> list[tuple[int, int]]:
        """Return the members that have not finished."""
        going = ~self.consistent() & (self.walk[..., MISTAKES] < max_mistakes)
        return [(int(c), int(k)) for c, k in np.argwhere(going)]

    def waiting(self, active: list[tuple[int, int]], store: RowStore) -> np.ndarray:
        """Return the missing rows that members wait for; of those without a hypothesis first."""
        points = set()
        for who in active:
            i = int(self.order[who][self.walk[who][POSITION]])
            if store.slot[i] == NOT_STORED and self.signs[who[0], i] * self.output[who][i] <= 0:
                points.add((bool(self.walk[who][MISTAKES]), i))
        # By number, which favors nobody.
        return np.array(list(dict.fromkeys(i for _, i in sorted(points))), dtype=np.int64)

    def report(self, store: RowStore) -> dict[str, Any]:
        """Return how far they are, for people."""
        consistent = self.consistent()
        return {
            "n_members": consistent.size,
            "n_consistent": int(consistent.sum()),
            "n_mistakes": int(self.walk[..., MISTAKES].sum()),
            "n_rows": store.n_computed,
            "stop": "",
        }

    def left_out(self) -> np.ndarray:
        """Return about what members would say of each training point without that point.

        Taking away its own contribution is too much (Jaakkola and Haussler's bound), as
        others would partly stand in for it; half of it is between.
        """
        own = self.count * self.signs[:, None]
        square = np.einsum("cki,cki->ck", own, self.output)
        without = self.output - (0.5 + self.softness) * own
        return np.mean(without / np.sqrt(np.maximum(square, 1))[..., None], axis=1)

    def posterior(self, number: int) -> Posterior:
        """Return the mean of the members of an output, of those that are consistent if any.

        A member that is not is represented by its best hypothesis: the current one, or
        that at the end of its best pass.
        """
        consistent = self.consistent()[number]
        chosen = np.flatnonzero(consistent) if consistent.any() else np.arange(len(consistent))
        margins = self.output[number, chosen] * self.signs[number]
        count, best = self.count[number, chosen], self.best[number, chosen]
        in_use = [self.order[number, k, : self.walk[number, k, IN_USE]] for k in chosen]
        errors = [np.sum(m[points] <= 0) for m, points in zip(margins, in_use, strict=True)]
        square = np.einsum("ki,ki->k", count, margins)
        earlier = best[:, 0] < errors
        count = np.where(earlier[:, None], self.best_count[number, chosen], count)
        square = np.where(earlier, best[:, 1], square)
        rounding = ROUNDING * count.sum(axis=1) ** 2
        if np.any(square < -rounding):
            raise IndefiniteKernelError(NEGATIVE_LENGTH)
        # Mistakes may have canceled each other. The first one alone is a hypothesis.
        vanished = square <= rounding
        count[vanished] = 0
        count[vanished, self.order[number, chosen[vanished], 0]] = 1
        square[vanished] = 1 + self.softness
        draws = count * np.sqrt((1 + self.softness) / square)[:, None]
        info = {
            "n_mistakes": self.walk[number, :, MISTAKES],
            "n_consistent": int(consistent.sum()),
            "hits": self.count[number].sum(axis=0),
            "mixed": bool(consistent.sum() > 1),
            "trial": self.trial[number, chosen].mean(axis=0),
            **UNKNOWN,
        }
        if consistent.any():
            unit = margins / np.sqrt((1 + self.softness) * square)[:, None]
            info.update(_agreement(draws @ unit.T, unit))
        return Posterior(draws.mean(axis=0), draws, draws, info)


def _agreement(cosines: np.ndarray, margins: np.ndarray) -> dict[str, float]:
    """Return what consistent members tell about each other.

    Two of them have the expected cosine r^2, where r is the length of the mean of all
    possible members, so the mean of n has the variance (1 - r^2) / n. A member makes at
    most 1 / margin^2 mistakes, for the margin of whichever hypothesis (Novikoff).
    """
    n = len(cosines)
    mean = (cosines.sum() - n) / (n * (n - 1)) if n > 1 else np.nan
    center = margins.mean(axis=0) / np.sqrt(cosines.mean())
    margin = max(margins.min(axis=1).max(), center.min())
    return {
        "angle": float(np.sqrt(max(1 - mean, 0) / (n * mean))) if mean > 0 else np.inf,
        "ess": float(n),
        "resultant": float(np.sqrt(cosines.mean())),
        "margin": float(margin),
        "novikoff": float(margin**-2),
    }
