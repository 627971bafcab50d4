"""The linear classifier on a Dask cluster: each worker holds a factor of the posterior."""

from __future__ import annotations

from collections import Counter
from functools import partial, reduce
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import clone

from .._runtime.sample_weight import check_sample_weight
from .._runtime.threads import one_blas_thread
from ..classifiers.linear import LinearBayesPointClassifier, chosen
from ..solvers.weights.linear import Belief, FullRows, Rows, mixed

if TYPE_CHECKING:
    from distributed import Client, Future

# Sweeps, if they are needed, of rows whose sites were lost: with the others soon to follow, and
# where there is nothing else to come.
CATCH_UP = 3
CATCH_UP_LATE = 100


def fit(
    model: LinearBayesPointClassifier, X, y, sample_weight=None, *, client: Client | None = None
) -> LinearBayesPointClassifier:
    """Fit a linear classifier to data on a Dask cluster, without gathering them.

    Parameters
    ----------
    model : LinearBayesPointClassifier
        Is fitted in place. Everything afterwards works without Dask.
    X : dask array, dask dataframe, or list of delayed partitions
        Training points. A partition is an array, a data frame or a CSR matrix.
    y : dask array, dask series, or list of delayed partitions
        Their classes, in as many partitions; or an array.
    sample_weight : like y, default=None
        How often each point counts.
    client : distributed.Client, default=None
        Which cluster; the one that was connected to last by default.

    Returns
    -------
    LinearBayesPointClassifier
        The model.

    Notes
    -----
    The posterior is that of `model.fit` on all rows, as exact as `tol` says. It is a product of
    factors, one for each thread of the cluster. In a sweep a worker refines its factor, row by
    row, given the product of the others, and only factors travel: 8 d^2 bytes for d weights
    with a full covariance, 16 d if they are factorized. Independent weights need smaller
    steps the more threads there are, hence more sweeps.

    If a worker is lost, Dask loads its partitions anew. What it knew of their rows is found
    again from the posterior (two classes, full covariance), or learned in a few sweeps from
    what all others know. Partitions must be such that Dask can do so: read from files or
    computed, not scattered.

    Examples
    --------
    >>> from dask.distributed import Client  # doctest: +SKIP
    >>> client = Client()  # or the address of a cluster  # doctest: +SKIP
    >>> model = LinearBayesPointClassifier()
    >>> distributed.fit(model, X, y)  # X, y: dask arrays  # doctest: +SKIP
    >>> X.map_blocks(model.predict, drop_axis=1, dtype=int)  # doctest: +SKIP
    """
    model._validate_params()
    client = _connected(client)
    checked = _checked(client, model, _partitions(X, y, sample_weight))
    settled = _settled(model, checked, client)
    labeled = [client.submit(_label, settled, part, pure=False) for part in checked]
    del checked
    n_rows, sums = _add_up(
        client.gather(client.map(partial(_sums, settled), labeled, pure=False)), settled
    )
    with one_blas_thread(), model._separable():
        found = model._learn(
            n_rows, sums, partial(_Cluster, client, model, settled, labeled, n_rows)
        )
    model._store(found, sums[2])
    return model


class _Portion:
    """The rows of some partitions, on a worker.

    Its sites change in place. The stamp tells which update was the last: where it is not
    the one that the others know of, the portion was made anew after the loss of a worker.
    """

    def __init__(self, rows: Rows):
        self.rows = rows
        self.stamp = 0


class _Handle:
    """What is known here of a portion."""

    def __init__(self, portion: Future, address: str):
        self.portion = portion
        self.address = address  # where it was last
        self.stamp = 0
        self.product: Any = None  # of its sites
        self.past: list[Belief] = []  # products after latest sweeps

    def mix(self, weights: np.ndarray) -> None:
        """Take note that the portion will mix its sites."""
        self.past = [*self.past, self.product][-len(weights) :]
        self.product = mixed(weights, self.past)

    def move(self, client: Client, address: str) -> None:
        """Have the portion moved; a second copy would grow old."""
        self.portion = _submit(client, address, _moved, self.portion)
        self.address = address


def _submit(client: Client, address: str, task, *arguments) -> Future:
    """Have a task done by a worker, or by another one if it is lost."""
    place = {"workers": [address], "allow_other_workers": True, "pure": False}
    return client.submit(task, *arguments, **place)


class _Answer(NamedTuple):
    """What a worker says of a portion; the value is missing if its sites were lost."""

    value: Any
    address: str
    remembers: int


class _Cluster(Rows):
    """Rows that are elsewhere.

    Parameters
    ----------
    client : distributed.Client
        Connection to the cluster.
    model, settled : LinearBayesPointClassifier
        That which learns, which knows the kind of covariance; and what workers get of it.
    labeled : list of futures
        Partitions: points, labels and weights.
    n_rows, n : int
        How many rows there are, and how many are wanted.
    """

    def __init__(self, client, model, settled, labeled: list[Future], n_rows: int, n: int):
        self.client, self.settled = client, settled
        self.prepared: dict[str, Future] = {}  # workers with idle threads, mostly new ones
        self.stamps = count(1)
        settled.covariance_, settled.prior_variance_ = model.covariance_, model.prior_variance_
        self.threads = client.nthreads()
        if n < n_rows:  # a small task, which one worker does without waiting for others
            some = [client.submit(_some, part, n / n_rows, pure=False) for part in labeled]
            groups = [(min(self.threads), some)]
        else:
            groups = _groups(client, labeled)
        self.handles = [
            _Handle(_submit(client, address, _portion, settled, parts), address)
            for address, parts in groups
        ]
        if n == n_rows:
            from distributed import wait

            # Portions hold all that is needed now, and Dask could make partitions again.
            wait([handle.portion for handle in self.handles])
            labeled.clear()
        # If all overdo it together, by as many times as there are, this is still right. With
        # a full covariance this is mended by mixing.
        full = model.covariance_ == "full"
        self.damping = FullRows.damping if full else 2 / (1 + len(groups))
        self.weights = np.empty(0)  # of a mixture that portions are still to be told of
        self.n_remembered = 0  # sweeps since sites were lost

    @property
    def remembers(self) -> int:
        """How many of the latest sweeps they can mix."""
        return self.n_remembered

    def mix(self, weights: np.ndarray) -> None:
        """Mix the sites after the latest sweeps when the next begins."""
        self.weights = weights
        for handle in self.handles:
            handle.mix(weights)

    def sweep(self, belief: Belief, share: float) -> Belief:
        """Let all portions make a share of their updates, and return the product of all."""
        self._spread()
        stamps = [next(self.stamps) for _ in self.handles]
        request = belief, min(share, self.damping), self.weights
        self.n_remembered += 1
        products = self._ask(_sweep, self.handles, [(stamp, *request) for stamp in stamps])
        self.weights = np.empty(0)
        lost = []
        for handle, stamp, product in zip(self.handles, stamps, products, strict=True):
            if product is None:
                lost.append(handle)
            else:
                belief = belief.over(handle.product or belief.nothing()).times(product)
                handle.stamp, handle.product = stamp, product
        if lost:
            self._recover(lost, belief, CATCH_UP)
            self.n_remembered = min(self.n_remembered, 1)
        return reduce(Belief.times, (handle.product for handle in self.handles))

    def log_constant(self, belief: Belief) -> float:
        """Return their part of the log evidence."""
        requests = [(belief,)] * len(self.handles)
        while None in (parts := self._ask(_log_constant, self.handles, requests)):
            lost = [h for h, part in zip(self.handles, parts, strict=True) if part is None]
            self._recover(lost, belief, CATCH_UP_LATE)
        return sum(parts)

    def _spread(self) -> None:
        """Move portions from workers that took over those of a lost one to idle workers."""
        held = Counter(handle.address for handle in self.handles)
        if all(n <= self.threads.get(address, 0) for address, n in held.items()):
            return
        self.threads = self.client.nthreads()
        idle = Counter(self.threads) - held
        for address in set(idle) - set(self.prepared):
            self.prepared[address] = _submit(self.client, address, _prepare, self.settled)
        # Others need not wait for a worker that has just begun.
        idle = Counter({a: n for a, n in idle.items() if self.prepared[a].done()})
        for handle in self.handles:
            if held[handle.address] > self.threads.get(handle.address, 0) and idle:
                held[handle.address] -= 1
                handle.move(self.client, next(idle.elements()))
                idle[handle.address] -= 1
                idle = +idle

    def _recover(self, handles: list[_Handle], belief: Belief, n_sweeps: int) -> None:
        """Have portions find their sites again."""
        for handle in handles:
            handle.stamp = next(self.stamps)
        requests = [(belief, h.product or belief.nothing(), n_sweeps) for h in handles]
        for handle, product in zip(handles, self._ask(_recover, handles, requests), strict=True):
            handle.product = product

    def _ask(self, task, handles: list[_Handle], requests: list[tuple]) -> list[Any]:
        """Return what a task says of portions, done where they were last if possible."""
        futures = [
            _submit(self.client, handle.address, task, handle.portion, handle.stamp, *request)
            for handle, request in zip(handles, requests, strict=True)
        ]
        answers = self.client.gather(futures)
        for handle, answer in zip(handles, answers, strict=True):
            handle.address = answer.address
            self.n_remembered = min(self.n_remembered, answer.remembers)
        return [answer.value for answer in answers]


def _connected(client: Client | None) -> Client:
    """Return a client of a cluster that has workers."""
    try:
        import distributed
    except ImportError as error:
        raise ImportError(
            "Dask is not installed, which bayespoint.distributed needs: "
            'pip install "bayespoint[distributed]".'
        ) from error
    if client is None:
        try:
            client = distributed.default_client()
        except ValueError:
            raise ValueError(
                "There is no connection to a Dask cluster. Make one first: "
                "client = dask.distributed.Client(address), or Client() for this machine."
            ) from None
    if client.asynchronous:
        raise ValueError("client should not be asynchronous, but is: Client(asynchronous=False).")
    if not client.nthreads():
        raise ValueError(
            "The Dask cluster has no workers. Add some, and client.wait_for_workers(1)."
        )
    return client


def _partitions(X, y, weight) -> list[tuple[Any, Any, Any]]:
    """Return partitions of points with those of their labels and weights."""
    if _is_array(X) and X.numblocks[1] > 1:
        X = X.rechunk({1: -1})
    points = _parts_of(X, "X")
    labels = _parts_of(y, "y", X)
    weights = [None] * len(points) if weight is None else _parts_of(weight, "sample_weight", X)
    for name, parts in ("y", labels), ("sample_weight", weights):
        if len(parts) != len(points):
            raise ValueError(
                f"{name} should have as many partitions as X, {len(points)}, but has "
                f"{len(parts)}. Rechunk or repartition one of them."
            )
    return list(zip(points, labels, weights, strict=True))


def _is_array(X) -> bool:
    return hasattr(X, "numblocks")


def _parts_of(data, name: str, X=None) -> list[Any]:
    """Return the partitions of a collection, at the same rows as those of X if possible."""
    if isinstance(data, (list, tuple)) and (X is None or isinstance(X, (list, tuple))):
        return list(data)
    known = _is_array(X) and not np.isnan(X.chunks[0]).any()
    if known and _is_array(data):
        data = data.rechunk({0: X.chunks[0]}) if data.shape[0] == X.shape[0] else data
    elif known and not hasattr(data, "to_delayed") and len(data) == X.shape[0]:
        return np.split(np.asarray(data), np.cumsum(X.chunks[0])[:-1])
    if hasattr(data, "to_delayed"):
        return list(np.ravel(data.to_delayed()))
    raise TypeError(
        f"{name} should be a dask array, a dask dataframe or a list of delayed partitions, but is "
        f"of type {type(data).__name__}. For data in memory, use the method fit of the model."
    )


def _checked(client: Client, model, partitions) -> list[Future]:
    """Return validated partitions on workers."""
    from dask import delayed

    check = delayed(_check, pure=False)
    model = clone(model)
    parts = [check(model, i, *partition) for i, partition in enumerate(partitions)]
    if not parts:
        raise ValueError("X should have at least one partition, but has none.")
    return client.compute(parts)


def _settled(model, checked: list[Future], client: Client):
    """Learn classes and features; return a bare model that knows them, for workers."""
    described = client.gather(client.map(_description, checked, pure=False))
    filled = [(i, part) for i, part in enumerate(described) if part.n_rows]
    if not filled:
        raise ValueError(
            f"X should have rows, but all of its {len(described)} partitions are empty."
        )
    first, one = filled[0]
    for i, part in filled[1:]:
        if part.n_features != one.n_features:
            raise ValueError(
                f"Partition {i} has {part.n_features} features, but partition {first} has "
                f"{one.n_features}."
            )
        if not np.array_equal(part.names, one.names):
            raise ValueError(
                f"Partition {i} has features named {part.names}, but those of partition {first} "
                f"are {one.names}."
            )
    classes, which = np.unique(
        np.concatenate([part.classes for _, part in filled]), return_inverse=True
    )
    counts = np.bincount(which, np.concatenate([part.counts for _, part in filled]))
    settled = clone(model)
    if model.class_weight == "balanced":
        balanced = counts.sum() / (len(classes) * counts)
        settled.class_weight = dict(zip(classes.tolist(), balanced, strict=True))
    vars(model).pop("feature_names_in_", None)
    for each in model, settled:
        each.classes_, each.n_features_in_ = classes, one.n_features
        if one.names is not None:
            each.feature_names_in_ = one.names
    # Says what is wrong with the classes, if anything is.
    settled._labeled(np.zeros((1, one.n_features)), classes[:1], None)
    return settled


def _add_up(parts, settled) -> tuple[int, tuple]:
    """Return the number of rows that count, and the sums of their columns."""
    labels, n_rows, sums = zip(*parts, strict=True)
    if len(np.unique(np.concatenate(labels))) < len(settled.classes_):
        raise ValueError("A class of y has no row of positive weight.")
    return sum(n_rows), tuple(sum(values) for values in zip(*sums, strict=True))


def _groups(client: Client, labeled: list[Future]) -> list[tuple[str, list[Future]]]:
    """Return a worker for each thread of the cluster, and the partitions that it shall hold."""
    from distributed import wait

    wait(labeled)
    threads = client.nthreads()
    slots = [address for address in sorted(threads) for _ in range(threads[address])]
    holders = client.who_has(labeled)
    where = [min(holders[part.key], default="") for part in labeled]
    # Neighbors in this order are on one worker, as far as they are evenly spread.
    order = sorted(range(len(labeled)), key=where.__getitem__)
    n_groups = min(len(slots), len(labeled))
    addresses = [slots[i * len(slots) // n_groups] for i in range(n_groups)]
    groups = [[labeled[i] for i in group] for group in np.array_split(order, n_groups)]
    return list(zip(addresses, groups, strict=True))


# Tasks


def _check(model, number: int, X, y, weight):
    """Return a partition that is fit to learn from, and the names of its features."""
    try:
        if X.shape[0] == 0:
            empty = sparse.csr_array((0, X.shape[1]))
            return empty, np.asarray(y), np.empty(0), None
        X, y = model._check_training_data(X, y, reset=True)
        weight = check_sample_weight(weight, X, allow_all_zero=True)
    except (TypeError, ValueError) as error:
        raise type(error)(f"Partition {number}: {error}") from None
    return X, y, weight, getattr(model, "feature_names_in_", None)


class _Description(NamedTuple):
    n_rows: int
    n_features: int
    names: np.ndarray | None
    classes: np.ndarray
    counts: np.ndarray


def _description(part) -> _Description:
    X, y, _, names = part
    classes, counts = np.unique(y, return_counts=True)
    return _Description(X.shape[0], X.shape[1], names, classes, counts)


def _label(model, part):
    """Return points, labels and weights of the rows that count."""
    X, y, weight, _ = part
    # A partition may be empty, all data may not.
    return model._labeled(X, y, weight) if weight.any() else (X[:0], np.empty(0), weight[:0])


def _sums(model, part):
    """Return which labels there are, how many rows, and the sums of columns."""
    X, signs, weight = part
    return np.unique(signs), len(signs), model._sums(X, weight)


def _some(part, share: float):
    """Return a share of the rows of a partition."""
    n = len(part[1])
    here = chosen(n, round(share * n))
    return tuple(values[here] for values in part)


def _portion(model, partitions: list) -> _Portion:
    """Return the rows of partitions."""
    # Empty ones are sparse, whatever the others are.
    filled = [part for part in partitions if len(part[1])] or partitions[:1]
    points, *others = zip(*filled, strict=True)
    X = sparse.vstack(points, "csr") if sparse.issparse(points[0]) else np.vstack(points)
    return _Portion(model._rows(X, *map(np.concatenate, others)))


def _prepare(model) -> None:
    """Load what a worker needs to learn, by a look at one row for each of the classes."""
    n = len(model.classes_)
    labels = np.arange(n) if n > 2 else np.array([-1.0, 1.0])
    X = sparse.csr_array((n, model.n_features_in_))
    X = X.toarray() if model.covariance_ == "full" else X
    rows = model._rows(X, labels, np.ones(n))
    rows.log_constant(model._prior().times(rows.sweep(model._prior(), 1.0)))


def _moved(portion: _Portion) -> _Portion:
    return portion


def _sweep(
    portion: _Portion,
    known: int,
    stamp: int,
    belief: Belief,
    share: float,
    weights: np.ndarray,
) -> _Answer:
    """Refine sites, mixed by weights if there are any, and return their product."""
    if portion.stamp != known:
        return _answer(None, portion)
    if len(weights):
        portion.rows.mix(weights)
    with one_blas_thread():
        product = portion.rows.sweep(belief, share)
    portion.stamp = stamp
    return _answer(product, portion)


def _recover(portion: _Portion, stamp: int, *request) -> _Answer:
    """Find the sites again, whatever state the portion is in."""
    with one_blas_thread():
        product = portion.rows.recover(*request)
    portion.stamp = stamp
    return _answer(product, portion)


def _log_constant(portion: _Portion, known: int, belief: Belief) -> _Answer:
    with one_blas_thread():
        value = portion.rows.log_constant(belief) if portion.stamp == known else None
    return _answer(value, portion)


def _answer(value, portion: _Portion) -> _Answer:
    return _Answer(value, _here(), portion.rows.remembers)


def _here() -> str:
    from distributed import get_worker

    return get_worker().address
