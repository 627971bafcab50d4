"""Fit any classifier that can learn on a Dask cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..classifiers.bayes_point import BayesPointClassifier
from ..classifiers.linear import LinearBayesPointClassifier
from .calls import connected
from .kernel_machine import fit_kernel_machine
from .linear import fit_linear

if TYPE_CHECKING:
    from distributed import Client


def fit(model, X, y, sample_weight=None, *, client: Client | None = None):
    """Fit a classifier to data on a Dask cluster; the answer is that of one machine.

    Parameters
    ----------
    model : LinearBayesPointClassifier or BayesPointClassifier
        Fitted in place. Afterwards everything works without Dask. A `BayesPointClassifier` needs
        solver="nystroem", "cells" or "perceptron". Its `cache_size` is for each worker. `max_time`
        is looked at between sweeps and while parameters are chosen; all rows are used.
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
    Linear: the posterior is the same as after `model.fit` on all rows, within `tol`. It is a
    product of factors, one for each thread of the cluster. In a sweep, each worker refines its
    factor row by row, given the product of the other factors. Only factors travel: 8 d^2 bytes
    for d weights with a full covariance, 16 d if it is factorized. With more threads,
    independent weights need smaller steps and so more sweeps.

    "nystroem" and "cells": rows are sorted by their content on the workers, so that landmarks,
    cells and the rows on which parameters are chosen are those of one machine. Probabilities
    agree to 1e-6, mostly to the last bits. Rows travel between workers; only samples come to the
    client, at most 2000 rows for "nystroem" and 100,000 to find cells. With r landmarks a sweep
    sends 8 r^2 bytes to and from each worker. The model of "cells" has all training points, so
    the client needs memory for it; pass `solvers.Cells(n_draws=2)` to make it smaller. Results
    of single rows are not kept: there is no `loo_proba_`, and no `hardest_examples`.

    "perceptron": every member needs all rows, which are brought to the client and to each worker.
    Members learn on workers, and are the same in every bit. It is an error if the rows do not fit.

    If a worker is lost, Dask loads its partitions again. Sites of a linear classifier are
    recovered from the posterior (two classes, full covariance), or learned again in a few
    sweeps; landmarks repeat the sweeps of the lost rows, cells and members begin anew. Dask
    must be able to load partitions again: read them from files or compute them, do not scatter
    them.

    On one machine, `Client(n_workers=1, memory_limit="2GB")` learns from more rows than memory
    holds: Dask moves parts of them to disk.

    Examples
    --------
    >>> from dask.distributed import Client  # doctest: +SKIP
    >>> client = Client()  # or the address of a cluster  # doctest: +SKIP
    >>> model = BayesPointClassifier(solver="nystroem")
    >>> distributed.fit(model, X, y)  # X, y: dask arrays  # doctest: +SKIP
    >>> distributed.predict(model, X)  # doctest: +SKIP
    """
    client = connected(client)
    if isinstance(model, LinearBayesPointClassifier):
        return fit_linear(model, client, X, y, sample_weight)
    if isinstance(model, BayesPointClassifier):
        return fit_kernel_machine(model, client, X, y, sample_weight)
    raise TypeError(
        "model should be a LinearBayesPointClassifier or a BayesPointClassifier, but is of type "
        f"{type(model).__name__}. Fit it on one machine with its method fit."
    )
