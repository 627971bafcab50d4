"""How many training points an SVM can get wrong when each is left out."""

from __future__ import annotations

import numpy as np
from sklearn.svm import SVC

from ._checks import count, not_negative, positive, vector
from .hyperplane import as_kernel_machine, hyperplane, smallest_value

# Solvers find y f(x) = 1 at support vectors up to their tolerance (1e-3 in SVC). Points this
# close to an error count as errors.
MARGIN_TOLERANCE = 1e-3


def support_vector_bound(n_support: int, n_samples: int) -> float:
    """Return Vapnik's bound on the leave-one-out error: the share of support vectors.

    Parameters
    ----------
    n_support : int
        Number of support vectors of an SVM, with or without intercept.
    n_samples : int
        Number of training points.

    Returns
    -------
    float
        Upper limit of the leave-one-out error: without a point that is not a support vector
        the solution is the same, and such points are classified correctly. On average over
        training sets, the leave-one-out error is the error after training with one point
        less. For a single training set it is not a bound on the error.

    References
    ----------
    Vapnik (1995), The Nature of Statistical Learning Theory; 004, sec. 1.3.4.

    Examples
    --------
    >>> from bayespoint.bounds import support_vector_bound
    >>> support_vector_bound(n_support=12, n_samples=200)
    0.06
    """
    count("n_samples", n_samples)
    count("n_support", n_support, 0)
    if n_support > n_samples:
        raise ValueError(
            f"n_support should be at most n_samples = {n_samples}, but is {n_support}."
        )
    return n_support / n_samples


def leave_one_out_bound(
    margins, alphas, diagonal, *, kernel_range: float | None = None, tol: float = MARGIN_TOLERANCE
) -> float:
    """Return a bound on the leave-one-out error of an SVM, from a single fit.

    Parameters
    ----------
    margins : array-like of shape (n_samples,)
        y f(x) of the training points.
    alphas : array-like of shape (n_samples,)
        Their coefficients, not negative: f(x) = sum of alpha_i y_i k(x_i, x).
    diagonal : array-like of shape (n_samples,)
        k(x, x) of the training points.
    kernel_range : float, default=None
        For an SVM with an intercept, an upper limit of k(x, x) - k(x', x'') for all points;
        None if it has no intercept.
    tol : float, default=1e-3
        Error of the solver: points this close to an error count as errors.

    Returns
    -------
    float
        Share of the training points that can be leave-one-out errors; at most the share of
        support vectors. This is not a bound on the error, see `support_vector_bound`.

    Notes
    -----
    Without an intercept, a point that is left out gets at least the output that the other
    points give it in the common solution, y f(x) - alpha k(x, x). So it can only be an error
    if this is not positive. (004 prints the wrong sign in eq. 1.84 and the right one in eq.
    2.2.) With an intercept this is not true, although 1.84 has one. Then points with
    2 alpha kernel_range + slack >= 1 count, where slack = max(0, 1 - y f(x)). This is right if
    the solution with all points, and each solution without one of them, has a support vector
    with a coefficient below C. The bound is only for SVMs: it does not hold for
    `AdaptiveMarginSVC`, which it inspired.

    References
    ----------
    Jaakkola, Haussler (1999), Probabilistic kernel regression models, AISTATS; 004, eq. 2.2.
    Joachims (2000), Estimating the generalization performance of an SVM efficiently, ICML.

    Examples
    --------
    >>> from bayespoint.bounds import leave_one_out_bound
    >>> leave_one_out_bound([1.0, 1.0, 1.2, 1.5], [0.5, 2.0, 0.0, 0.0], [1, 1, 1, 1])
    0.25
    """
    margins = vector("margins", margins)
    alphas = not_negative("alphas", vector("alphas", alphas, len(margins)))
    diagonal = not_negative("diagonal", vector("diagonal", diagonal, len(margins)))
    if kernel_range is None:
        possible = margins - alphas * diagonal <= tol
    else:
        positive("kernel_range", kernel_range)
        possible = 2 * alphas * kernel_range + np.maximum(0, 1 - margins) >= 1 - tol
    return float(np.mean(possible))


def svm_leave_one_out_bound(model: SVC, X, y) -> float:
    """Return a bound on the leave-one-out error of scikit-learn's `SVC`.

    Parameters
    ----------
    model : SVC
        Fitted to two classes without `sample_weight`, not with a precomputed or callable
        kernel.
    X, y : array-like
        The points and classes that it was fitted to, all of them.

    Returns
    -------
    float
        Upper limit of the leave-one-out error: the share of support vectors, or
        `leave_one_out_bound` with an intercept if it is smaller and valid. It is valid if all
        training points have a margin, and `C` is so large that they also have one if any of
        them is left out.

    Notes
    -----
    If a point is left out, the coefficients add up to the squared length of the weights, which
    can only become smaller, and each class has half of this sum. So no coefficient reaches C if C
    is more than half the squared length. With a smaller C the second bound can be wrong (a test
    shows it): all support vectors may be at C, and the intercept is then arbitrary.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from sklearn.svm import SVC
    >>> from bayespoint.bounds import svm_leave_one_out_bound
    >>> X, y = make_moons(200, noise=0.1, random_state=0)
    >>> model = SVC(gamma=1.0, C=1000).fit(X, y)
    >>> round(svm_leave_one_out_bound(model, X, y), 3)
    0.04
    """
    if not isinstance(model, SVC):
        raise TypeError(
            f"model should be a fitted SVC, but is {type(model).__name__}: the bound is for "
            "support vector machines. Use leave_one_out_bound for SVMs of other libraries."
        )
    plane = hyperplane(model, X, y)
    kernel, _, dual, _ = as_kernel_machine(model)
    m = len(plane.outputs)
    if model.shape_fit_[0] != m:
        raise ValueError(
            f"X should hold the {model.shape_fit_[0]} points that the model was fitted to, but "
            f"has {m} rows."
        )
    alphas, largest = np.zeros(m), model.C * model.class_weight_
    alphas[model.support_] = np.abs(dual)
    of_class = np.where(dual > 0, largest[1], largest[0])
    if np.all(np.abs(dual) >= of_class * (1 - MARGIN_TOLERANCE)):
        raise ValueError(
            "Some support vector should have a coefficient below C, but all have C: the "
            "intercept is not determined, and nothing follows. Raise C."
        )
    bound = support_vector_bound(len(dual), m)
    if plane.outputs.min() < 1 - MARGIN_TOLERANCE or plane.norm**2 / 2 >= largest.min():
        return bound
    squared = plane.lengths**2
    width = max(float(squared.max()) - smallest_value(kernel, X), np.finfo(float).tiny)
    return min(bound, leave_one_out_bound(plane.outputs, alphas, squared, kernel_range=width))
