"""Training points in parts on the workers of a cluster."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse

from .._runtime.threads import one_blas_thread
from .calls import gather

if TYPE_CHECKING:
    from distributed import Client, Future


class Part(NamedTuple):
    """Training points with positive weights, on a worker or here."""

    X: Any
    target: np.ndarray  # class numbers
    weight: np.ndarray  # of samples
    likelihood: np.ndarray  # weight of samples times weight of classes
    number: np.ndarray  # of the row in the user's table

    @property
    def n_rows(self) -> int:
        """Return the number of points."""
        return len(self.target)

    def take(self, rows) -> Part:
        """Return some of the points."""
        return Part(*(values[rows] for values in self))


def join(parts: list[Part]) -> Part:
    """Return the points of several parts, one after another."""
    points, *others = zip(*parts, strict=True)
    X = sparse.vstack(points, "csr") if sparse.issparse(points[0]) else np.concatenate(points)
    return Part(X, *map(np.concatenate, others))


class RowParts:
    """Points in parts on workers, one part after another.

    Parts are functions of the user's partitions, so Dask makes them again if they are lost.
    """

    def __init__(self, client: Client, parts: list[Future], step: str = "preparing"):
        self.client, self.parts = client, parts
        self.sizes = np.array(gather(client, self._submit(_size), step))
        self.starts = np.cumsum(self.sizes) - self.sizes

    @property
    def n_rows(self) -> int:
        """Return the number of points in all parts."""
        return int(self.sizes.sum())

    def ask(self, task, *arguments) -> list[Any]:
        """Run a task on each part, where it is; return the values."""
        return self.client.gather(self._submit(task, *arguments))

    def change(self, task, *arguments) -> RowParts:
        """Return new parts, made from these by a task."""
        return RowParts(self.client, self._submit(task, *arguments))

    def _submit(self, task, *arguments) -> list[Future]:
        run = self.client.submit
        return [run(_alone, task, part, *arguments, pure=False) for part in self.parts]

    def take(self, positions: np.ndarray) -> Part:
        """Bring points here, by their positions in all parts."""
        order = np.argsort(positions, kind="stable")
        futures = [
            self.client.submit(Part.take, self.parts[i], inside, pure=False)
            for i, inside in self._inside(positions[order])
        ]
        return join(self.client.gather(futures)).take(np.argsort(order))

    def classes_at(self, positions: np.ndarray) -> np.ndarray:
        """Return the class numbers of some points."""
        order = np.argsort(positions, kind="stable")
        futures = [
            self.client.submit(_classes_of, self.parts[i], inside, pure=False)
            for i, inside in self._inside(positions[order])
        ]
        return np.concatenate(self.client.gather(futures))[np.argsort(order)]

    def _inside(self, positions: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
        """Yield parts, and which of their rows have the given increasing positions."""
        which = np.searchsorted(self.starts + self.sizes, positions, side="right")
        for i in np.unique(which):
            yield int(i), positions[which == i] - self.starts[i]

    def sample_each_class(self, n: int, n_classes: int, rng: np.random.Generator) -> np.ndarray:
        """Return the same positions as `fitting.sampling.sample_each_class`."""
        order = rng.permutation(self.n_rows)
        n = found = min(n, self.n_rows)
        chosen, known = [order[:n]], set(self.classes_at(order[:n]).tolist())
        while len(known) < n_classes and found < self.n_rows:
            more = order[found : 2 * found]
            classes, first = np.unique(self.classes_at(more), return_index=True)
            new = [i for c, i in zip(classes.tolist(), first, strict=True) if c not in known]
            chosen.append(more[new])
            known.update(classes.tolist())
            found += len(more)
        return np.sort(np.concatenate(chosen))

    def regroup(self, ends: np.ndarray) -> list[list[Future]]:
        """Return the pieces of new parts that end at the given positions.

        The rows are then released, because the new parts need no other copy of them.
        """
        groups = []
        for start, stop in zip(np.r_[0, ends[:-1]], ends, strict=True):
            first, last = self.starts, self.starts + self.sizes
            groups.append(
                [
                    self.client.submit(
                        Part.take,
                        self.parts[i],
                        slice(max(start - first[i], 0), stop - first[i]),
                        pure=False,
                    )
                    for i in np.flatnonzero((first < stop) & (last > start))
                ]
            )
        self.parts.clear()
        return groups


# Tasks


def _alone(task, *arguments) -> Any:
    """Run a task with one thread for matrix algebra, as everywhere."""
    with one_blas_thread():
        return task(*arguments)


def _size(part: Part) -> int:
    return part.n_rows


def _classes_of(part: Part, rows: np.ndarray) -> np.ndarray:
    return part.target[rows]
