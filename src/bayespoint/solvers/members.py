"""The state of each perceptron of an ensemble while it learns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..geometry.gram import IndefiniteKernelError
from ..geometry.row_store import NOT_STORED, RowStore
from .posterior import Posterior

# Bytes that a member needs for each training point.
MEMBER_BYTES_PER_POINT = 16
# The info about agreement if no member is consistent.
UNKNOWN_AGREEMENT = {
    "angle": np.inf,
    "ess": 0.0,
    "resultant": np.nan,
    "margin": np.nan,
    "novikoff": np.inf,
}
# Rounding error of a squared length, relative to the largest possible squared length.
SQUARED_LENGTH_ROUNDING = 1e-9
# Columns of a member's `walk`; the compiled loop uses the same order.
POSITION, RIGHT_STREAK, MISTAKES, IN_USE = 0, 1, 2, 3
NEGATIVE_LENGTH_MESSAGE = (
    "A hypothesis has a negative squared length: the kernel is not positive semi-definite. "
    "Choose another kernel, other kernel parameters or a larger softness."
)


@dataclass
class Members:
    """Perceptrons while they learn; the first axes of arrays are outputs and members.

    `who` is the pair of output and member.
    """

    signs: np.ndarray  # labels of the training points for each output
    others: np.ndarray  # training points that are used from the beginning
    held_out: np.ndarray  # training points that come into use at the end
    seed: int
    softness: np.ndarray  # of each training point
    step: np.ndarray  # length of each training point: a mistake adds so much of the unit point
    order: np.ndarray  # permutation of the training points
    output: np.ndarray  # at the training points
    count: np.ndarray  # mistakes on each training point
    walk: np.ndarray  # position in the order, consecutive right points, mistakes, points in use
    best: np.ndarray  # errors and squared length at the end of the best pass
    best_count: np.ndarray
    trial: np.ndarray  # normalized outputs at held-out points before these came into use

    @classmethod
    def at_start(
        cls,
        signs: np.ndarray,
        held_out: np.ndarray,
        seed: int,
        softness: float | np.ndarray,
        n_members: int,
        first: int = 0,
        others: np.ndarray | None = None,
        step: float | np.ndarray = 1.0,
    ) -> Members:
        """Return n_members new members for each output, numbered from `first`.

        Their random orders depend on the order of `held_out` and of the other points, which are in
        increasing order by default.
        """
        n_outputs, m = signs.shape
        others = np.setdiff1d(np.arange(m), held_out) if others is None else others
        shape = (n_outputs, n_members, m)
        order = np.empty(shape, dtype=np.int32)
        for c, k in np.ndindex(n_outputs, n_members):
            rng = np.random.default_rng([seed, c, first + k])
            order[c, k] = np.concatenate([rng.permutation(others), rng.permutation(held_out)])
        walk = np.zeros((n_outputs, n_members, 4), dtype=np.int64)
        walk[..., IN_USE] = len(others)
        return cls(
            signs=signs,
            others=others,
            held_out=held_out,
            seed=seed,
            softness=np.broadcast_to(softness, m).astype(float),
            step=np.broadcast_to(step, m).astype(float),
            order=order,
            output=np.zeros(shape, dtype=np.float32),
            count=np.zeros(shape, dtype=np.int32),
            walk=walk,
            best=np.full((n_outputs, n_members, 2), np.inf),
            best_count=np.zeros(shape, dtype=np.int32),
            trial=np.full((n_outputs, n_members, len(held_out)), np.nan),
        )

    def with_more(self, n_members: int) -> Members:
        """Return these members and new ones, n_members in total for each output."""
        have = self.order.shape[1]
        if n_members < have:
            raise ValueError(
                f"n_members={n_members} should be at least the {have} members of the last fit "
                "when warm_start=True. Pass warm_start=False to start again."
            )
        given = self.signs, self.held_out, self.seed, self.softness
        new = vars(Members.at_start(*given, n_members - have, have, self.others, self.step))
        joined = {
            name: np.concatenate([value, new[name]], axis=1) for name, value in self._own().items()
        }
        return Members(**{**new, **joined})

    def some(self, numbers: np.ndarray) -> Members:
        """Return copies of the members with these numbers, for every output."""
        own = {name: value[:, numbers] for name, value in self._own().items()}
        return Members(**{**vars(self), **own})

    def put(self, numbers: np.ndarray, others: Members) -> None:
        """Replace the members with these numbers by others."""
        for name, value in self._own().items():
            value[:, numbers] = getattr(others, name)

    def _own(self) -> dict[str, np.ndarray]:
        """Return the arrays that have an entry for each member."""
        return {
            name: value
            for name, value in vars(self).items()
            if isinstance(value, np.ndarray) and value.ndim == 3
        }

    def arrays(self, who: tuple[int, int]) -> tuple[np.ndarray, ...]:
        """Return the arrays of one member for the compiled loop."""
        arrays = (self.order, self.output, self.count, self.walk, self.best, self.best_count)
        return tuple(array[who] for array in arrays)

    def use_all(self, who: tuple[int, int]) -> bool:
        """Use the held-out points too once all other points are learned; tell if this happened."""
        walk, m = self.walk[who], self.signs.shape[1]
        if walk[RIGHT_STREAK] < walk[IN_USE] or walk[IN_USE] == m:
            return False
        self.note_trial(who)
        walk[POSITION] = walk[IN_USE]
        walk[IN_USE] = m
        self.best[who] = np.inf
        return True

    def note_trial(self, who: tuple[int, int]) -> None:
        """Keep the outputs of a member at held-out points, if it has not seen them yet."""
        if self.walk[who][IN_USE] < self.signs.shape[1]:
            square = (self.count[who] * self.step) @ (self.signs[who[0]] * self.output[who])
            if square > 0:
                self.trial[who] = self.output[who][self.held_out] / np.sqrt(square)

    def consistent(self) -> np.ndarray:
        """Tell which members classify all training points correctly."""
        return self.walk[..., RIGHT_STREAK] == self.signs.shape[1]

    def active(self, max_mistakes: int) -> list[tuple[int, int]]:
        """Return the members that have not finished."""
        going = ~self.consistent() & (self.walk[..., MISTAKES] < max_mistakes)
        return [(int(c), int(k)) for c, k in np.argwhere(going)]

    def waiting(self, active: list[tuple[int, int]], store: RowStore) -> np.ndarray:
        """Return the Gram rows that members wait for, members without a hypothesis first."""
        points = set()
        for who in active:
            i = int(self.order[who][self.walk[who][POSITION]])
            if store.slot[i] == NOT_STORED and self.signs[who[0], i] * self.output[who][i] <= 0:
                points.add((bool(self.walk[who][MISTAKES]), i))
        # Sorting by number favors no member.
        return np.array(list(dict.fromkeys(i for _, i in sorted(points))), dtype=np.int64)

    def report(self, store: RowStore) -> dict[str, Any]:
        """Return the progress of the members, to report it."""
        consistent = self.consistent()
        return {
            "n_members": consistent.size,
            "n_consistent": int(consistent.sum()),
            "n_mistakes": int(self.walk[..., MISTAKES].sum()),
            "n_rows": store.n_computed,
            "stop": "",
        }

    def left_out(self, copies: float | np.ndarray = 1.0) -> np.ndarray:
        """Return an estimate of the output at each training point if it were left out.

        Taking away the point's whole contribution is too much (Jaakkola and Haussler's
        bound): other points would partly replace it. So half of it is taken away: that is as
        if the others left a variance of one half. If a point stands for several copies, one of
        them is left out, and the noise of the remaining ones leaves less.
        """
        copies = np.maximum(copies, 1.0)
        noise = np.maximum(copies * self.softness, np.finfo(float).tiny)
        variance = 1 / (2 + (copies - 1) / noise)
        own = self.count * self.step * self.signs[:, None]
        square = np.einsum("cki,cki->ck", own, self.output)
        without = self.output - (variance / copies + self.softness) * own
        return np.mean(without / np.sqrt(np.maximum(square, 1))[..., None], axis=1)

    def all_have_hypotheses(self) -> bool:
        """Tell whether every member has made a mistake: before that it is zero everywhere."""
        return bool(self.walk[..., MISTAKES].min() > 0)

    def posterior(self, number: int) -> Posterior:
        """Return the mean of the consistent members of an output, or of all its members if none is.

        A member that is not consistent is represented by its best hypothesis: the current
        one, or the one at the end of its best pass.
        """
        consistent = self.consistent()[number]
        chosen = np.flatnonzero(consistent) if consistent.any() else np.arange(len(consistent))
        margins = self.output[number, chosen] * self.signs[number]
        count, square = self._best_hypotheses(number, chosen, margins)
        draws = count * self.step * np.sqrt(1 + self.softness) / np.sqrt(square)[:, None]
        info = {
            "n_mistakes": self.walk[number, :, MISTAKES],
            "n_consistent": int(consistent.sum()),
            "hits": self.count[number].sum(axis=0),
            "mixed": bool(consistent.sum() > 1),
            "trial": self.trial[number, chosen].mean(axis=0),
            **UNKNOWN_AGREEMENT,
        }
        if consistent.any():
            unit = margins / np.sqrt((1 + self.softness) * square[:, None])
            lengths = self.step * np.sqrt(1 + self.softness)
            info.update(_agreement(draws @ unit.T, unit, lengths / lengths.max()))
        return Posterior(draws.mean(axis=0), draws, draws, info)

    def _best_hypotheses(self, number: int, chosen: np.ndarray, margins: np.ndarray):
        """Return coefficients and squared lengths of the best hypotheses of chosen members."""
        count, best = self.count[number, chosen], self.best[number, chosen]
        in_use = [self.order[number, k, : self.walk[number, k, IN_USE]] for k in chosen]
        errors = [np.sum(m[points] <= 0) for m, points in zip(margins, in_use, strict=True)]
        square = np.einsum("ki,ki->k", count * self.step, margins)
        earlier = best[:, 0] < errors
        count = np.where(earlier[:, None], self.best_count[number, chosen], count)
        square = np.where(earlier, best[:, 1], square)
        rounding = SQUARED_LENGTH_ROUNDING * (count @ self.step) ** 2
        if np.any(square < -rounding):
            raise IndefiniteKernelError(NEGATIVE_LENGTH_MESSAGE)
        # If the mistakes canceled each other, the first one alone is a hypothesis.
        vanished = square <= rounding
        first = self.order[number, chosen[vanished], 0]
        count[vanished] = 0
        count[vanished, first] = 1
        square[vanished] = self.step[first] ** 2 * (1 + self.softness[first])
        return count, square


def _agreement(cosines: np.ndarray, margins: np.ndarray, lengths: np.ndarray) -> dict[str, float]:
    """Estimate the error of the mean from the agreement of consistent members.

    Two members have the expected cosine r^2, where r is the length of the mean of all
    possible members. So the mean of n members has the variance (1 - r^2) / n. A member makes
    at most 1 / margin^2 mistakes, for the margin of any hypothesis (Novikoff); for this bound the
    margin of a point is multiplied by its length, at most 1.
    """
    n = len(cosines)
    mean = (cosines.sum() - n) / (n * (n - 1)) if n > 1 else np.nan
    center = margins.mean(axis=0) / np.sqrt(cosines.mean())
    every = np.vstack([margins, center])
    margin, long = every.min(axis=1).max(), (lengths * every).min(axis=1).max()
    return {
        "angle": float(np.sqrt(max(1 - mean, 0) / (n * mean))) if mean > 0 else np.inf,
        "ess": float(n),
        "resultant": float(np.sqrt(cosines.mean())),
        "margin": float(margin),
        "novikoff": float(long**-2),
    }
