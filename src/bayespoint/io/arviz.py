"""Draws of a fitted classifier as data of ArviZ."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

if TYPE_CHECKING:
    from ..classifiers.bayes_point import BayesPointClassifier


def to_arviz(model: BayesPointClassifier, X=None) -> Any:
    """Return the draws of a classifier as data of ArviZ.

    Parameters
    ----------
    model : BayesPointClassifier
        A fitted classifier.
    X : {array-like, sparse matrix} of shape (n_samples, n_features), default=None
        Points whose outputs are returned, too; with a precomputed kernel, their kernel
        values with the training points.

    Returns
    -------
    arviz.InferenceData or xarray.DataTree
        The first with ArviZ 0.x, the second with ArviZ 1.x. The group `posterior` holds
        `coef` (chain, draw, output, support), the coefficients of unit hypotheses on the
        support vectors, and with X also `decision` (chain, draw, output, point), their
        outputs. The coordinates of `output` are class labels (for two classes only the
        second label), the coordinates of `support` are indices of training points.

    Notes
    -----
    The chains are the sampler's chains if it kept the same number of draws of each: if
    `n_draws` is a multiple of `n_chains`. Otherwise all draws are one chain. Draws of "ep",
    "corners" and "perceptron" are independent and form one chain. `coef` has the dimensions
    output and support; with "mosaic" output and landmark, as differences from the mean.

    Examples
    --------
    >>> from bayespoint import BayesPointClassifier, to_arviz
    >>> from bayespoint.datasets import make_teacher
    >>> X, y, _ = make_teacher(20, 3, random_state=0)
    >>> model = BayesPointClassifier("linear", softness=0.0, solver="billiard", random_state=0)
    >>> data = to_arviz(model.fit(X, y), X)  # for arviz.summary, arviz.plot_trace, ...
    >>> data["posterior"]["decision"].dims
    ('chain', 'draw', 'output', 'point')
    """
    check_is_fitted(model)
    arviz = _import_arviz()
    classes = model.classes_
    points = "landmark" if hasattr(model, "landmark_coef_") else "support"
    numbers = model.landmarks_ if points == "landmark" else model.support_
    coords = {"output": classes[1:] if len(classes) == 2 else classes, points: numbers}
    dims = {"coef": ["output", points]}

    def by_chain(values):  # (draw, ...) -> (chain, draw, ...)
        return values.reshape(model.draw_chains_, -1, *values.shape[1:])

    draws = {"coef": by_chain(model.draw_coef_.swapaxes(0, 1))}
    if X is not None:
        decisions = model.sample_decision(X)  # (draw, point) or (draw, point, output)
        if decisions.ndim == 2:
            decisions = decisions[:, :, None]
        draws["decision"] = by_chain(decisions.swapaxes(1, 2))
        dims["decision"] = ["output", "point"]
        coords["point"] = np.arange(decisions.shape[1])
    if int(arviz.__version__.split(".")[0]) < 1:
        return arviz.from_dict(posterior=draws, coords=coords, dims=dims)
    return arviz.from_dict({"posterior": draws}, coords=coords, dims=dims)


def _import_arviz():
    """Return the module, or say how to install it."""
    try:
        with warnings.catch_warnings():
            # ArviZ 0.23 announces ArviZ 1 when it is imported.
            warnings.simplefilter("ignore", FutureWarning)
            import arviz
    except ImportError as error:
        raise ImportError(
            "to_arviz needs the package arviz, which is not installed: "
            "pip install 'bayespoint[arviz]'."
        ) from error
    return arviz
