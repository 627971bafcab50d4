"""A fitted classifier of two classes as a hyperplane in feature space."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_array
from sklearn.utils.extmath import row_norms, safe_sparse_dot
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d

from ..geometry.kernels import Kernel
from ._checks import positive

# Hold this many rows of the kernel matrix at once.
_BLOCK_ROWS = 2048


class Hyperplane(NamedTuple):
    """A classifier sign(<w, phi(x)> + intercept), and its outputs at labeled points."""

    outputs: np.ndarray  # y (<w, phi(x)> + intercept): positive where it is right
    lengths: np.ndarray  # |phi(x)|
    norm: float  # |w|
    intercept: float
    has_intercept: bool


def normalized_margins(model, X, y, *, intercept_scaling: float = 1.0) -> np.ndarray:
    """Return the cosine between the classifier and each labeled point.

    Parameters
    ----------
    model : classifier
        Fitted to two classes: with `coef_` and `intercept_` (`LinearBayesPointClassifier`,
        `LinearSVC`, `LogisticRegression`), or with a kernel, `support_vectors_` and
        `dual_coef_` (`BayesPointClassifier`, `SVC`).
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Points, as the classifier gets them.
    y : array-like of shape (n_samples,)
        Their classes.
    intercept_scaling : float, default=1.0
        An intercept is the weight of one more feature, which has this constant value. It is
        ignored without an intercept. Choose it without looking at the data, about as large as
        the length of a point in feature space.

    Returns
    -------
    ndarray of shape (n_samples,)
        y <w, phi(x)> / (|w| |phi(x)|): between -1 and 1, positive for points that are
        classified correctly. Points at the origin of feature space have 0.

    Examples
    --------
    >>> from sklearn.svm import LinearSVC
    >>> from bayespoint.bounds import normalized_margins
    >>> X, y = [[3.0, 4.0], [-1.0, 0.0]], [1, 0]
    >>> model = LinearSVC(fit_intercept=False).fit(X, y)
    >>> bool(normalized_margins(model, X, y).min() > 0)
    True
    """
    positive("intercept_scaling", intercept_scaling)
    plane = hyperplane(model, X, y)
    extra = intercept_scaling if plane.has_intercept else 0.0
    norm = np.hypot(plane.norm, plane.intercept / extra if extra else 0.0)
    if not norm > 0:
        raise ValueError("All weights of the classifier are zero: it has no direction.")
    lengths = np.hypot(plane.lengths, extra)
    cosines = plane.outputs / (norm * np.where(lengths > 0, lengths, 1.0))
    return np.clip(cosines, -1.0, 1.0)  # rounding


def hyperplane(model, X, y) -> Hyperplane:
    """Return a classifier with weights or with a kernel as a hyperplane."""
    check_is_fitted(model)
    read = getattr(model, "_read_points", None)  # a BayesPointClassifier takes any table
    X = check_array(X if read is None else read(X), accept_sparse="csr", dtype=np.float64)
    signs = signs_of(model, y)
    check_consistent_length(X, signs)
    linear = _as_linear(model)
    if linear is not None:
        coef, intercept = linear
        outputs, lengths, norm = safe_sparse_dot(X, coef), row_norms(X), float(np.linalg.norm(coef))
    else:
        kernel, support, dual, intercept = as_kernel_machine(model)
        outputs = np.concatenate(
            [
                kernel(X[i : i + _BLOCK_ROWS], support) @ dual
                for i in range(0, X.shape[0], _BLOCK_ROWS)
            ]
        )
        lengths, norm = kernel.lengths(X), _norm(kernel, support, dual)
    has_intercept = bool(getattr(model, "fit_intercept", hasattr(model, "intercept_")))
    return Hyperplane(signs * (outputs + intercept), lengths, norm, intercept, has_intercept)


def as_kernel_machine(model) -> tuple[Kernel, Any, np.ndarray, float]:
    """Return kernel, support vectors, their coefficients, and the intercept.

    The constant that `BayesPointClassifier` adds to the kernel depends on the training
    points. It is not in this kernel but in the intercept.
    """
    name = getattr(model, "kernel", None)
    missing = [a for a in ("dual_coef_", "support_vectors_") if not hasattr(model, a)]
    if missing or name is None:
        raise TypeError(
            "model should be a fitted classifier with coef_, or with a kernel, dual_coef_ and "
            f"support_vectors_, but {type(model).__name__} has no {(missing or ['kernel'])[0]}. "
            "For a pipeline, pass its last step and transformed points."
        )
    if getattr(model, "mixture_", None) is not None:
        raise ValueError(
            'kernel="auto" chose a mixture of kernels by the training labels, but a bound holds '
            'for a kernel that was fixed before. Fit with kernel="rbf" and a number for gamma.'
        )
    if hasattr(model, "cell_centers_"):
        raise ValueError(
            "A machine in cells has another kernel than its name says, so that this bound does not "
            'hold. Fit with solver="ep", "billiard" or "perceptron".'
        )
    support = model.support_vectors_
    if name == "precomputed" or not support.shape[1]:
        raise TypeError(
            "With a precomputed kernel, or a callable one in SVC, the kernel of new points is "
            "not known. Compute y <w, phi(x)> / (|w| |phi(x)|) and pass these numbers to "
            "gaussian_bound or margin_distribution_bound."
        )
    kernel = Kernel(
        getattr(model, "kernel_", name),
        gamma=getattr(model, "gamma_", getattr(model, "_gamma", 1.0)),
        degree=getattr(model, "degree", 3.0),
        coef0=getattr(model, "coef0", 1.0),
        normalize=getattr(model, "normalize", False),
        origin=getattr(model, "origin_", 0.0),
    )
    dual = model.dual_coef_
    dual = dual.toarray() if hasattr(dual, "toarray") else np.asarray(dual)
    return kernel, support, dual.ravel(), _intercept(model)


def smallest_value(kernel: Kernel, X) -> float:
    """Return the smallest kernel value of two points, from blocks of the matrix."""
    X = check_array(X, accept_sparse="csr", dtype=np.float64)
    return min(
        float(kernel(X[i : i + _BLOCK_ROWS], X).min()) for i in range(0, X.shape[0], _BLOCK_ROWS)
    )


def _as_linear(model) -> tuple[np.ndarray, float] | None:
    """Return weights and intercept in input space, None if there are none."""
    if getattr(model, "kernel", "linear") != "linear" or getattr(model, "normalize", False):
        return None
    if hasattr(model, "coef_"):
        coef = model.coef_
        coef = coef.toarray() if hasattr(coef, "toarray") else np.asarray(coef)
        return coef.ravel(), _intercept(model)
    kernel, support, dual, intercept = as_kernel_machine(model)
    origin = np.broadcast_to(kernel.origin, support.shape[1])
    coef = np.asarray(support.T @ dual).ravel() - dual.sum() * origin
    return coef, intercept - float(coef @ origin)


def _intercept(model) -> float:
    return float(np.ravel(getattr(model, "intercept_", 0.0))[0])


def _norm(kernel: Kernel, support, dual: np.ndarray) -> float:
    """Return |w|, from rows of the kernel matrix of the support vectors."""
    rows = range(0, support.shape[0], _BLOCK_ROWS)
    squared = sum(
        dual[i : i + _BLOCK_ROWS] @ (kernel(support[i : i + _BLOCK_ROWS], support) @ dual)
        for i in rows
    )
    if squared < 0:
        raise ValueError(
            f"The squared length of the classifier is {squared:.3g}: the kernel is not positive "
            "semi-definite, and has no feature space. Choose another kernel."
        )
    return float(np.sqrt(squared))


def signs_of(model, y) -> np.ndarray:
    """Return +1 for the second class and -1 for the first."""
    classes = np.asarray(getattr(model, "classes_", []))
    if len(classes) != 2:
        raise ValueError(
            f"The bounds are for classifiers of two classes, but this one has {len(classes)}. "
            "Fit and pass one class against the rest."
        )
    y = column_or_1d(y)
    if (unknown := np.setdiff1d(y, classes)).size:
        raise ValueError(
            f"y should hold the classes {classes.tolist()}, but holds {unknown.tolist()}."
        )
    return np.where(y == classes[1], 1.0, -1.0)
