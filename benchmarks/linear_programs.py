"""The linear program of the leave-one-out machine, compared with SciPy's interior point method.

Both solve the same program in one thread. `linprog` gets the program of the paper as a dense
matrix that is made beforehand; our time starts from the kernel matrix. Moons have few support
vectors; the noisy exclusive-or in ten dimensions has many.
"""
# ruff: noqa: T201

from __future__ import annotations

import argparse
import resource
import time

import numpy as np
from scipy.optimize import linprog
from sklearn.datasets import make_moons
from sklearn.metrics.pairwise import rbf_kernel
from threadpoolctl import threadpool_limits

from bayespoint import AdaptiveMarginSVC

PROBLEMS = ("moons", "exclusive-or")


def problem(name: str, n_points: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a kernel matrix and labels."""
    if name == "moons":
        X, code = make_moons(n_points, noise=0.3, random_state=0)
        return rbf_kernel(X, gamma=1.0), 2.0 * code - 1
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_points, 10))
    noise = 0.5 * rng.standard_normal(n_points)
    return rbf_kernel(X, gamma=0.1), np.where(X[:, 0] * X[:, 1] + X[:, 2] + noise > 0, 1.0, -1.0)


def ours(K, y, adaptivity: float = 1.0) -> AdaptiveMarginSVC:
    """Return the fitted machine."""
    return AdaptiveMarginSVC("precomputed", adaptivity=adaptivity).fit(K, y)


def plain(K, y):
    """Return the constraints on coefficients and slacks."""
    own = np.diag(np.diagonal(K))
    return -np.hstack([np.outer(y, y) * K - own, np.eye(len(y))])


def clocked(function) -> tuple[object, float, float]:
    """Return a result, seconds by the clock, and CPU seconds."""
    began, worked = time.perf_counter(), time.process_time()
    result = function()
    return result, time.perf_counter() - began, time.process_time() - worked


def compare(sizes: tuple[int, ...]) -> None:
    """Print times of both for the same programs."""
    for name in PROBLEMS:
        for m in sizes:
            K, y = problem(name, m)
            rows = plain(K, y)
            cost = np.concatenate([np.zeros(m), np.ones(m)])
            model, taken, worked = clocked(lambda K=K, y=y: ours(K, y))
            theirs, slow, slow_worked = clocked(
                lambda rows=rows, cost=cost, m=m: linprog(
                    cost, A_ub=rows, b_ub=-np.ones(m), method="highs-ipm"
                )
            )
            print(
                f"{name:12s} m = {m:5d}  ours {taken:7.2f} s ({worked:6.2f} s of a core), linprog "
                f"{slow:7.2f} ({slow_worked:6.2f}): {slow / taken:5.1f} "
                f"({slow_worked / worked:.1f}) times; {len(model.support_)} support vectors, "
                f"objectives differ by {abs(model.objective_[0] - theirs.fun):.1e}"
            )


def growth(sizes: tuple[int, ...]) -> None:
    """Print times for growing numbers of points, and the memory of the largest."""
    for name in PROBLEMS:
        times = []
        for m in sizes:
            K, y = problem(name, m)
            model, taken, worked = clocked(lambda K=K, y=y: ours(K, y))
            times.append(worked)
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
            print(
                f"{name:12s} m = {m:5d}  {taken:7.2f} s ({worked:6.2f} of a core), "
                f"{len(model.support_)} support vectors, {model.n_iter_} iterations, gap "
                f"{model.dual_gap_[0]:.1e}, at most {peak:.2f} GB so far"
            )
        print(f"{name:12s} log-log slope {np.polyfit(np.log(sizes), np.log(times), 1)[0]:.2f}")


def path(n_points: int) -> None:
    """Print the time of eleven adaptivities as a path and one by one."""
    adaptivities = np.geomspace(0.1, 10, 11)
    for name in PROBLEMS:
        K, y = problem(name, n_points)
        machine = AdaptiveMarginSVC("precomputed")
        _, _, together = clocked(lambda K=K, y=y, a=machine: a.fit_path(K, y, adaptivities))
        single = [clocked(lambda K=K, y=y, a=a: ours(K, y, a))[2] for a in adaptivities]
        print(
            f"{name:12s} m = {n_points}, path of 11: {together:.2f} s of a core, one by one "
            f"{sum(single):.2f}, the slowest {max(single):.2f}"
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", default=["compare", "path", "growth"])
    parts = parser.parse_args().parts
    with threadpool_limits(1):
        if "compare" in parts:
            compare((1000, 2000))
        if "path" in parts:
            path(1000)
        if "growth" in parts:
            growth((500, 1000, 2000, 5000))
