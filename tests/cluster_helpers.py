"""Data on a Dask cluster, and classifiers fitted to them."""

import os
import pickle
import signal

import numpy as np
import pytest

from bayespoint import LinearBayesPointClassifier

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")

COVARIANCES = ["full", "factorized"]


def exact(**parameters):
    """Return a classifier with a fixed prior that iterates until it converges."""
    given = {"prior_variance": 1.0, "tol": 1e-10, "max_iter": 10_000}
    return LinearBayesPointClassifier(**{**given, **parameters})


def chunks(X, y, n=4):
    size = -(-len(y) // n)
    return da.from_array(X, chunks=(size, X.shape[1])), da.from_array(y, chunks=size)


def delayed_parts(parts):
    """Return partitions that Dask can recompute."""
    return [dask.delayed(part) for part in parts]


def assert_same(model, other, limit=1e-8):
    deviation = np.sqrt(other.coef_variance_)
    np.testing.assert_allclose(model.coef_ / deviation, other.coef_ / deviation, atol=limit)
    np.testing.assert_allclose(model.intercept_, other.intercept_, atol=limit)
    np.testing.assert_allclose(model._precision, other._precision, rtol=limit, atol=limit)
    assert model.log_evidence_ == pytest.approx(other.log_evidence_, abs=1e3 * limit)
    assert model.n_samples_seen_ == pytest.approx(other.n_samples_seen_)


def kill_a_worker(client, number=0):
    pid = list(client.run(os.getpid).values())[number]
    os.kill(pid, signal.SIGKILL)


class OneProcess:
    """A cluster in this process, whose workers can be lost at any time.

    It has the methods of `distributed.Client` that fits of kernel machines need. Like Dask, it
    runs a task again if its result is lost.
    """

    asynchronous = False

    def __init__(self, n_threads=3, memory_limit=0):
        self.n_threads, self.memory_limit = n_threads, memory_limit
        self.results, self.n_bytes_gathered, self.before_task = [], 0, None

    def nthreads(self):
        return {"one": self.n_threads - 1, "two": 1}

    def scheduler_info(self, n_workers):
        assert n_workers == -1  # all of them
        return {"workers": {"one": {"memory_limit": self.memory_limit}}}

    def submit(self, task, *arguments, pure=True, workers=None, allow_other_workers=False):
        assert allow_other_workers or workers is None  # a worker may be lost
        if self.before_task is not None:
            self.before_task(task)
        return Result(self, task, arguments)

    def compute(self, values):
        return [Result(self, lambda v: v.compute(scheduler="synchronous"), (v,)) for v in values]

    def scatter(self, data, broadcast=False, hash=True):
        if isinstance(data, list):
            return [self.scatter(value) for value in data]
        return Result(self, lambda: data, ())

    def gather(self, results):
        values = _resolved(results)
        self.n_bytes_gathered = max(self.n_bytes_gathered, len(pickle.dumps(values)))
        return values

    def lose(self):
        """Forget all results, as if all workers had been killed."""
        for result in self.results:
            result.value = None


class Result:
    """A future of this cluster."""

    def __init__(self, client, task, arguments):
        self.task, self.arguments, self.value = task, arguments, None
        client.results.append(self)
        self.result()

    status = "finished"

    def done(self):
        return True

    def result(self):
        if self.value is None:
            self.value = (self.task(*_resolved(self.arguments)),)
        return self.value[0]


def _resolved(value):
    if isinstance(value, Result):
        return value.result()
    if type(value) in (list, tuple):
        return type(value)(_resolved(v) for v in value)
    return value


def assert_same_machine(model, other, limit=1e-9):
    """Compare kernel machines. Only the order of sums differs, so 1e-9 leaves room for rounding."""
    for name in ("dual_coef_", "draw_coef_", "gamma_", "softness_", "constant_", "probit_scale_"):
        found, expected = getattr(model, name), getattr(other, name)
        np.testing.assert_allclose(found, expected, rtol=limit, atol=limit, err_msg=name)
    names = ["support_", "classes_", "n_features_in_"]
    for name in [*names, "n_iter_"] if hasattr(other, "n_iter_") else names:
        np.testing.assert_array_equal(getattr(model, name), getattr(other, name), err_msg=name)
    points = [m.support_vectors_ for m in (model, other)]
    points = [p.toarray() if hasattr(p, "toarray") else p for p in points]
    np.testing.assert_allclose(*points, rtol=limit, atol=limit)
    assert model.log_evidence_ == pytest.approx(other.log_evidence_, rel=limit)
    for name, values in other.candidates_.items():
        np.testing.assert_allclose(model.candidates_[name].astype(float), values.astype(float))
