"""Expectation propagation, compared with scikit-learn's Gaussian process and GPy's EP.

All fit the same model in one thread: an RBF kernel, probit noise of unit variance (which is
softness=1), parameters fixed. scikit-learn has a logistic likelihood and Laplace's
approximation. GPy has the same likelihood and the same approximation, so its log evidence must
equal ours. The time is that of the whole fit, from points to a classifier.
"""
# ruff: noqa: T201

from __future__ import annotations

import argparse
import warnings

import numpy as np
from problems import seconds
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF
from threadpoolctl import threadpool_limits

from bayespoint import BayesPointClassifier

GAMMA = 0.1


def data(n_points: int) -> tuple[np.ndarray, np.ndarray]:
    """Noisy exclusive-or and a slope in ten dimensions."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_points, 10))
    y = X[:, 0] * X[:, 1] + X[:, 2] + 0.5 * rng.standard_normal(n_points) > 0
    return X, y.astype(int)


def ours(X, y) -> BayesPointClassifier:
    """Return the classifier of the same model."""
    model = BayesPointClassifier(
        gamma=GAMMA, softness=1.0, fit_intercept=False, solver="ep", random_state=0
    )
    return model.fit(X, y)


def laplace(X, y) -> GaussianProcessClassifier:
    """Return scikit-learn's classifier with a fixed kernel."""
    kernel = RBF(np.sqrt(1 / (2 * GAMMA)))
    return GaussianProcessClassifier(kernel, optimizer=None).fit(X, y)


def gpy(X, y):
    """Return GPy's model."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import GPy

        kernel = GPy.kern.RBF(X.shape[1], variance=1.0, lengthscale=np.sqrt(1 / (2 * GAMMA)))
        return GPy.core.GP(
            X,
            y[:, None].astype(float),
            kernel=kernel,
            likelihood=GPy.likelihoods.Bernoulli(),
            inference_method=GPy.inference.latent_function_inference.EP(),
        )


def compare(n_points: int) -> None:
    """Print times of all three, and whether they agree."""
    X, y = data(n_points)
    with threadpool_limits(1):
        model, peer = ours(X, y), gpy(X, y)
        mine, theirs = seconds(lambda: ours(X, y), lambda: laplace(X, y))
        mine_again, slow = seconds(lambda: ours(X, y), lambda: gpy(X, y), repeats=3)
    print(f"m = {n_points}, one thread, medians")
    print(f"  bayespoint EP              {mine:7.3f} s   {model.n_iter_} passes")
    print(f"  GaussianProcessClassifier  {theirs:7.3f} s   {theirs / mine:.2f} times ours")
    print(f"  GPy's EP                   {slow:7.3f} s   {slow / mine_again:.1f} times ours")
    print(f"  log evidence: ours {model.log_evidence_:.4f}, GPy's {peer.log_likelihood():.4f}")


def growth(sizes: tuple[int, ...]) -> None:
    """Print times for growing numbers of points."""
    times = []
    with threadpool_limits(1):
        for n_points in sizes:
            X, y = data(n_points)
            (taken,) = seconds(lambda X=X, y=y: ours(X, y), repeats=3)
            passes = ours(X, y).n_iter_
            # A pass is a Cholesky factor and the inverse of a triangle: 2 m^3 / 3 operations.
            rate = passes * 2 / 3 * n_points**3 / taken / 1e9
            times.append(taken)
            print(f"  m = {n_points:5d}  {taken:7.2f} s, {passes} passes, {rate:.0f} GFlop/s")
    slope = np.polyfit(np.log(sizes), np.log(times), 1)[0]
    print(f"  log-log slope {slope:.2f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", default=["compare", "growth"])
    parts = parser.parse_args().parts
    if "compare" in parts:
        compare(1000)
    if "growth" in parts:
        growth((500, 1000, 2000, 4000))
