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
    """Fit a linear classifier to data on a Dask cluster, without gathering them.

    Parameters
    ----------
    model : LinearBayesPointClassifier
        Fitted in place. Afterwards everything works without Dask. Its `max_time` is looked at
        between sweeps.
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
    LinearBayesPointClassifier
        The model.

    Notes
    -----
    The posterior is the same as after `model.fit` on all rows, within `tol`. It is a product of
    factors, one for each thread of the cluster. In a sweep, each worker refines its factor row
    by row, given the product of the other factors. Only factors travel: 8 d^2 bytes for d
    weights with a full covariance, 16 d if it is factorized. With more threads, independent
    weights need smaller steps and so more sweeps.

    If a worker is lost, Dask loads its partitions again. The sites of their rows are recovered
    from the posterior (two classes, full covariance), or learned again in a few sweeps. Dask
    must be able to load partitions again: read them from files or compute them, do not scatter
    them.

    Examples
    --------
    >>> from dask.distributed import Client  # doctest: +SKIP
    >>> client = Client()  # or the address of a cluster  # doctest: +SKIP
    >>> model = LinearBayesPointClassifier()
    >>> distributed.fit(model, X, y)  # X, y: dask arrays  # doctest: +SKIP
    >>> X.map_blocks(model.predict, drop_axis=1, dtype=int)  # doctest: +SKIP
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
