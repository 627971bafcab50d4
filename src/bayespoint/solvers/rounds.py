"""Chains that run in rounds of growing length, until their mean is precise enough."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from .._runtime.interrupt import Interrupted, interrupts
from .._runtime.threads import one_blas_thread
from ..geometry.version_space import VersionSpace
from .posterior import Posterior, gather
from .precision import Precision, precision

# Chains grow by this factor until the error is estimated again.
ROUND_GROWTH = 1.5
# The answer leaves out this share at the beginning of the chains.
BURN_IN_SHARE = 0.1
# The error estimate is trusted up to this R-hat.
MAX_R_HAT = 1.05


class Step:
    """A function that advances a chain, with arguments that can be sent to other processes.

    Parameters
    ----------
    advance : callable
        Takes `data`, a chain, its generator and the distance to go; returns the moved chain
        and its leg.
    *data, **pace
        Further arguments: tuples of arrays, and keywords.
    """

    def __init__(self, advance: Callable, *data, **pace):
        self.advance, self.data, self.pace = advance, data, pace

    def __call__(self, chain, rng: np.random.Generator, n: int, should_stop: Stop):
        """Return the chain, its leg, and the generator, which may be a copy."""
        with one_blas_thread():
            moved = self.advance(*self.data, chain, rng, n, should_stop=should_stop, **self.pace)
        return *moved, rng

    def __sizeof__(self) -> int:
        """Return its size, so that joblib sends it to a cluster once, not for every chain."""
        return _n_bytes((self.data, *self.pace.values()))


def _n_bytes(value) -> int:
    if isinstance(value, tuple):
        return sum(_n_bytes(part) for part in value)
    return getattr(value, "nbytes", 0)


def _go_on(step: Step, *chain):
    return step(*chain)


class Stop:
    """True when time is up, in any process, or when somebody presses Ctrl-C in this one."""

    def __init__(self, interrupted: Interrupted, deadline: float):
        self.interrupted, self.deadline = interrupted, deadline

    def __call__(self) -> bool:
        return bool(self.interrupted) or time.perf_counter() > self.deadline

    def __reduce__(self):
        return _stop_after, (self.deadline - time.perf_counter(),)  # clocks differ


def _stop_after(seconds: float) -> Stop:
    return Stop(Interrupted(), time.perf_counter() + seconds)


class Rounds:
    """Chains, and the results of their rounds so far.

    A subclass defines how to advance a chain (`_step`), how much of the allowed length a round
    took (`_size`), what a leg of a chain contributes to the mean (`_share`), and the `info` for
    users.
    """

    length_parameter: str  # of the solver: limits the length of all chains together
    chains: list[Any]  # their current states

    def __init__(self, solver, space: VersionSpace, rng: np.random.Generator, first: int):
        self.solver = solver
        self.space = space
        self.rngs = rng.spawn(solver.n_chains)
        self.first = first  # length of the first round
        self.rounds: list[list[Any]] = []
        self.sizes: list[int] = []  # length of a chain in each round
        # Draws of the last two rounds: the last round may have ended before it had enough.
        self.draws: list[list[np.ndarray]] = [[np.empty((0, 0))] * solver.n_chains]
        self.n_draws = -(-solver.n_draws // solver.n_chains)  # of a chain in a round

    def run(self, n_jobs, deadline: float, on_round) -> Posterior:
        """Run rounds until the answer is precise enough, or the solver has to stop."""
        longest = max(getattr(self.solver, self.length_parameter) // self.solver.n_chains, 1)
        stop = ""
        with (
            interrupts() as self.interrupted,
            Parallel(n_jobs, prefer="threads") as parallel,
        ):
            while not stop:
                done = sum(self.sizes)
                n = min(max(int((ROUND_GROWTH - 1) * done), self.first), longest - done)
                stop = self._round(parallel, n, deadline)
                if not self.rounds:
                    raise KeyboardInterrupt
                stop = stop or self._verdict(longest)
                if on_round is not None and on_round(self.info(stop)):
                    stop = stop or "callback"
        return self.posterior(stop)

    def _round(self, parallel, n: int, deadline: float) -> str:
        """Advance all chains by n, or by less if time is up."""
        step, should_stop = self._step(), Stop(self.interrupted, deadline)
        try:
            results = parallel(
                delayed(_go_on)(step, chain, rng, n, should_stop)
                for chain, rng in zip(self.chains, self.rngs, strict=True)
            )
        except KeyboardInterrupt:
            return "interrupted"
        self.chains, legs, self.rngs = map(list, zip(*results, strict=True))
        self.rounds.append([leg._replace(draws=None) for leg in legs])
        self.sizes.append(self._size(legs))
        self.draws = [self.draws[-1], [leg.draws for leg in legs]]
        self._adapt(legs)
        if self.interrupted:
            return "interrupted"
        return "max_time" if time.perf_counter() > deadline else ""

    def _adapt(self, legs: list[Any]) -> None:
        """Learn from a round for the next one."""

    def _verdict(self, longest: int) -> str:
        if self.precision().angle <= self.solver.tol and self._is_trusted():
            return "tol"
        return self.length_parameter if sum(self.sizes) >= longest else ""

    def _is_trusted(self) -> bool:
        """Return whether chains have moved enough to trust the error estimate."""
        return len(self.rounds) > 1 and self.precision().r_hat <= MAX_R_HAT

    def _kept(self) -> slice:
        """Return the rounds after the burn-in."""
        ends = np.cumsum(self.sizes)
        first = int(np.searchsorted(ends, BURN_IN_SHARE * ends[-1])) + 1
        return slice(min(first, len(self.sizes) - 1), None)

    def _shares(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the contribution of each chain in each round, and its length."""
        kept = [[self._share(leg) for leg in legs] for legs in self.rounds[self._kept()]]
        totals = np.array([[total for total, _ in legs] for legs in kept])
        times = np.array([[length for _, length in legs] for legs in kept])
        return totals.swapaxes(0, 1), times.T

    def precision(self) -> Precision:
        return precision(*self._shares())

    def means(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the mean of all chains and the mean of each chain."""
        totals, times = self._shares()
        mean = totals.sum(axis=(0, 1)) / times.sum()
        return mean, totals.sum(axis=1) / times.sum(axis=1)[:, None]

    def posterior(self, stop: str) -> Posterior:
        mean, chains = self.means()
        dual = self.space.dual
        draws, n_chains = self.drawn()
        return Posterior(dual(mean), dual(draws), dual(chains), self.info(stop), n_chains)

    def drawn(self) -> tuple[np.ndarray, int]:
        """Return n_draws hypotheses from the ends of the chains, and the number of chains."""
        of_chains = [
            np.vstack([older, latest]) if len(older) else latest
            for older, latest in zip(*self.draws, strict=True)
        ]
        return gather(of_chains, self.solver.n_draws)

    def _step(self) -> Step:
        raise NotImplementedError

    def _size(self, legs: list[Any]) -> int:
        raise NotImplementedError

    def _share(self, leg) -> tuple[np.ndarray, float]:
        raise NotImplementedError

    def info(self, stop: str) -> dict[str, Any]:
        raise NotImplementedError
