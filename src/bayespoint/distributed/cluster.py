"""Rows on the workers of a cluster: sweeps over all of them, and the loss of a worker."""

from __future__ import annotations

from collections import Counter
from functools import reduce
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

from ..solvers.weights.belief import Belief, mixed
from ..solvers.weights.full_rows import FullRows
from ..solvers.weights.model import LinearModel
from ..solvers.weights.rows import Rows
from . import portion as tasks
from .calls import await_all, slots, submit

if TYPE_CHECKING:
    from distributed import Client, Future

# Learn lost sites again in at most this many sweeps: during the fit, when more sweeps over all
# rows follow, and at the end of the fit.
CATCH_UP_SWEEPS = 3
FINAL_CATCH_UP_SWEEPS = 100


class ClusterRows(Rows):
    """Rows in portions on the workers of a cluster.

    Parameters
    ----------
    client : distributed.Client
        Connection to the cluster.
    model : LinearModel
        Prior and noise.
    groups : list of tuples
        For each portion, the address of the worker that should hold it, and the futures of its
        partitions.
    """

    def __init__(self, client: Client, model: LinearModel, groups: list[tuple[str, list[Future]]]):
        self.client, self.model = client, model
        self.stamps = count(1)
        self.threads = client.nthreads()
        self.loaded: dict[str, Future] = {}  # for idle workers, mostly new ones
        self.handles = [
            _Handle(submit(client, address, tasks.make_portion, model, parts), address)
            for address, parts in groups
        ]
        # Even if every portion makes the same correction, this step is stable. With a full
        # covariance, mixing takes care of that.
        self.damping = FullRows.damping if model.full else 2 / (1 + len(groups))
        self.weights = np.empty(0)  # of a mixture that the portions have not made yet
        self.n_since_loss = 0  # sweeps since sites were lost

    @classmethod
    def on_one_worker(
        cls, client: Client, model: LinearModel, parts: list[Future], share: float
    ) -> ClusterRows:
        """Return a share of the rows, on one worker, which need not wait for other workers."""
        some = [client.submit(tasks.take_share, part, share, pure=False) for part in parts]
        return cls(client, model, [(min(client.nthreads()), some)])

    @classmethod
    def on_all_workers(cls, client: Client, model: LinearModel, parts: list[Future]) -> ClusterRows:
        """Return all rows, a portion for each thread of the cluster."""
        rows = cls(client, model, _group_by_worker(client, parts))
        await_all([handle.portion for handle in rows.handles], "preparing")
        return rows

    @property
    def mixable_sweeps(self) -> int:
        """How many of the latest sweeps these rows can mix."""
        return self.n_since_loss

    def mix(self, weights: np.ndarray) -> None:
        """Mix the sites after the latest sweeps, when the next one begins."""
        self.weights = weights
        for handle in self.handles:
            handle.mix(weights)

    def sweep(self, belief: Belief, share: float) -> Belief:
        """Let all portions apply a share of their updates, and return their product."""
        self._spread()
        stamps = [next(self.stamps) for _ in self.handles]
        request = belief, min(share, self.damping), self.weights
        self.n_since_loss += 1
        products = self._ask(tasks.sweep, self.handles, [(stamp, *request) for stamp in stamps])
        self.weights = np.empty(0)
        lost = []
        for handle, stamp, product in zip(self.handles, stamps, products, strict=True):
            if product is None:
                lost.append(handle)
            else:
                belief = belief.over(handle.product or belief.nothing()).times(product)
                handle.stamp, handle.product = stamp, product
        if lost:
            self._recover(lost, belief, CATCH_UP_SWEEPS)
            self.n_since_loss = min(self.n_since_loss, 1)
        return reduce(Belief.times, (handle.product for handle in self.handles))

    def log_constant(self, belief: Belief) -> float:
        """Return the part of the log evidence that comes from these rows."""
        requests = [(belief,)] * len(self.handles)
        while None in (parts := self._ask(tasks.log_constant, self.handles, requests)):
            lost = [h for h, part in zip(self.handles, parts, strict=True) if part is None]
            self._recover(lost, belief, FINAL_CATCH_UP_SWEEPS)
        return sum(parts)

    def _spread(self) -> None:
        """Move portions to idle workers, from workers that took over from a lost one."""
        held = Counter(handle.address for handle in self.handles)
        if all(n <= self.threads.get(address, 0) for address, n in held.items()):
            return
        self.threads = self.client.nthreads()
        idle = Counter(self.threads) - held
        for address in set(idle) - set(self.loaded):
            self.loaded[address] = submit(self.client, address, tasks.load_loops, self.model)
        # Do not wait for a worker that has just begun.
        idle = Counter({a: n for a, n in idle.items() if self.loaded[a].done()})
        for handle in self.handles:
            if held[handle.address] > self.threads.get(handle.address, 0) and idle:
                held[handle.address] -= 1
                handle.move(self.client, next(idle.elements()))
                idle[handle.address] -= 1
                idle = +idle

    def _recover(self, handles: list[_Handle], belief: Belief, max_sweeps: int) -> None:
        """Have portions find their sites again."""
        for handle in handles:
            handle.stamp = next(self.stamps)
        requests = [(belief, h.product or belief.nothing(), max_sweeps) for h in handles]
        products = self._ask(tasks.recover, handles, requests)
        for handle, product in zip(handles, products, strict=True):
            handle.product = product

    def _ask(self, task, handles: list[_Handle], requests: list[tuple]) -> list[Any]:
        """Run a task on portions, if possible where they were last; return its values."""
        futures = [
            submit(self.client, handle.address, task, handle.portion, handle.stamp, *request)
            for handle, request in zip(handles, requests, strict=True)
        ]
        answers = self.client.gather(futures)
        for handle, answer in zip(handles, answers, strict=True):
            handle.address = answer.address
            self.n_since_loss = min(self.n_since_loss, answer.mixable_sweeps)
        return [answer.value for answer in answers]


class _Handle:
    """The client's view of a portion."""

    def __init__(self, portion: Future, address: str):
        self.portion = portion
        self.address = address  # where it was last
        self.stamp = 0
        self.product: Any = None  # of its sites
        self.past: list[Belief] = []  # products after the latest sweeps

    def mix(self, weights: np.ndarray) -> None:
        """Note that the portion will mix its sites."""
        self.past = [*self.past, self.product][-len(weights) :]
        self.product = mixed(weights, self.past)

    def move(self, client: Client, address: str) -> None:
        """Move the portion. It is not copied, because a copy would become outdated."""
        self.portion = submit(client, address, tasks.move, self.portion)
        self.address = address


def _group_by_worker(client: Client, parts: list[Future]) -> list[tuple[str, list[Future]]]:
    """Return a worker for each thread of the cluster, and the partitions it should hold."""
    await_all(parts, "preparing")
    places = slots(client)
    holders = client.who_has(parts)
    where = [min(holders[part.key], default="") for part in parts]
    # In this order, neighbors are on one worker if partitions are spread evenly.
    order = sorted(range(len(parts)), key=where.__getitem__)
    n_groups = min(len(places), len(parts))
    addresses = [places[i * len(places) // n_groups] for i in range(n_groups)]
    groups = [[parts[i] for i in group] for group in np.array_split(order, n_groups)]
    return list(zip(addresses, groups, strict=True))
