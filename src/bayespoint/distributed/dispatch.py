"""Fit any classifier that can learn on a Dask cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..classifiers.bayes_point import BayesPointClassifier
from ..classifiers.linear import LinearBayesPointClassifier
from .calls import connected, lost_scheduler_told
from .kernel_machine import fit_kernel_machine
from .linear import fit_linear

if TYPE_CHECKING:
    from distributed import Client


def fit(model, X, y, sample_weight=None, *, client: Client | None = None):
    """Fit a classifier to data on a Dask cluster; the answer is that of one machine.

    Parameters
    ----------
    model : LinearBayesPointClassifier or BayesPointClassifier
        Fitted in place. Afterwards everything works without Dask. A `BayesPointClassifier` with
        default arguments is a mosaic; it needs more than 10,000 distinct dense rows. For others
        pass solver="mosaic", "nystroem", "cells" or "perceptron". Its `cache_size` is for each
        worker. `max_time` is looked at between sweeps, in cells and while parameters are chosen;
        all rows are used. Ctrl-C ends the fit with the answer so far; only the members of
        "perceptron" are awaited.
    X : dask array, dask dataframe, or list of delayed partitions
        Training points. A partition is an array, a data frame or a CSR matrix.
    y : dask array, dask series, or list of delayed partitions
        Their classes, in the same number of partitions; or an array.
    sample_weight : like y, default=None
        How often each point counts.
    client : distributed.Client, default=None
        The cluster to use; by default the one connected to last.

    Returns
    -------
    LinearBayesPointClassifier or BayesPointClassifier
        The model.

    Notes
    -----
    The answer is that of `model.fit` on all rows: within `tol` for a linear classifier, to 1e-6
    for "mosaic", "nystroem" and "cells", and in every bit for "perceptron". Except for
    "perceptron", rows stay on the workers, and only samples, factors and sums travel. The model
    of "mosaic" and "cells" has all training points, so the client needs memory for it; for more
    rows than that, pass solver="nystroem". "perceptron": every member needs all rows, which are
    brought to the client and to each worker; it is an error if they do not fit. Results of
    single rows are kept by "perceptron" alone: otherwise there is no `loo_proba_`.

    If a worker is lost, Dask loads its partitions again, and what was lost is learned again. So
    read partitions from files or compute them, do not scatter them. On one machine,
    `Client(n_workers=1, memory_limit="2GB")` learns from more rows than memory holds.

    Examples
    --------
    >>> import dask.array as da
    >>> from bayespoint import LinearBayesPointClassifier, distributed
    >>> from bayespoint.datasets import make_teacher
    >>> from dask.distributed import Client
    >>> X, y, _ = make_teacher(1000, 3, random_state=0)
    >>> X, y = da.from_array(X, chunks=500), da.from_array(y, chunks=500)
    >>> with Client(processes=False, dashboard_address=":0"):  # or the address of a cluster
    ...     model = distributed.fit(LinearBayesPointClassifier(), X, y)
    ...     right = (distributed.predict(model, X) == y).mean().compute()
    >>> bool(right > 0.95)
    True
    """
    client = connected(client)
    with lost_scheduler_told(client):
        if isinstance(model, LinearBayesPointClassifier):
            return fit_linear(model, client, X, y, sample_weight)
        if isinstance(model, BayesPointClassifier):
            return fit_kernel_machine(model, client, X, y, sample_weight)
    raise TypeError(
        "model should be a LinearBayesPointClassifier or a BayesPointClassifier, but is of type "
        f"{type(model).__name__}. Fit it on one machine with its method fit."
    )
