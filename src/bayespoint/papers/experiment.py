"""The plan of an experiment, and its outcome."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, TypeVar

import numpy as np
from joblib import Parallel, delayed, parallel_config
from scipy import stats

T = TypeVar("T")
# Lines of a CSV file that were read again.
Lines = list[dict[str, str]]


class Measured(NamedTuple):
    """One of our numbers: mean, its standard error, and the number of repetitions.

    The error is NaN if the number cannot be compared, because the paper does not publish
    the data of its example.
    """

    mean: float
    error: float = float("nan")
    n: int = 1


class Outcome(NamedTuple):
    """The outcome of an experiment.

    `numbers` holds the numbers that the paper prints, and more. `runs` are the lines of
    a CSV file, one dictionary each. `draw` makes the picture.
    """

    numbers: dict[str, Measured]
    runs: list[dict[str, Any]]
    draw: Callable[[], Any]
    notes: tuple[str, ...] = ()


class Plan(NamedTuple):
    """How to run an experiment."""

    quick: bool = False
    jobs: int = 1
    seed: int = 0
    data: str | None = None
    progress: Callable[[int, int, str], Any] = lambda done, total, text: None

    def choose(self, quick: T, full: T) -> T:
        """Return the value for the reduced version, or the value for the full one."""
        return quick if self.quick else full

    def repeat(self, function: Callable[..., T], items: Iterable[tuple], text="") -> list[T]:
        """Call a function with the arguments of each item, in several processes.

        The number of processes does not change the results: random functions get their
        seed as an argument.
        """
        items, results = list(items), []
        self.progress(0, len(items), text)
        with parallel_config("loky", n_jobs=self.jobs, inner_max_num_threads=1):
            calls = (delayed(function)(*item) for item in items)
            for result in Parallel(return_as="generator")(calls):
                results.append(result)
                self.progress(len(results), len(items), text)
        return results


def average(values) -> Measured:
    """Return the mean of repetitions and its standard error."""
    values = np.asarray(values, dtype=float)
    error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return Measured(float(values.mean()), float(error), len(values))


def single_runs(values) -> Measured:
    """Return the mean, with the standard error of its difference from a single other run."""
    mean, error, n = average(values)
    return Measured(mean, float(error * np.sqrt(n + 1)), n)


def significance(errors, others) -> Measured:
    """Return one minus the p-value of a paired t-test: near one if the first are smaller.

    Here 000's table 1 prints its "p-value". The t statistic has a standard error of about
    one, which gives the standard error.
    """
    difference = np.asarray(errors, dtype=float) - np.asarray(others, dtype=float)
    if np.ptp(difference) == 0:
        return Measured(float((1 - np.sign(difference[0])) / 2))
    t = stats.ttest_1samp(difference, 0).statistic
    low, value, high = stats.t(len(difference) - 1).cdf([-t - 1, -t, -t + 1])
    return Measured(float(value), float((high - low) / 2))


def counted(errors: float, total: int) -> Measured:
    """Return a share in percent, with its binomial standard error.

    A count of zero, or of all, gets the standard error of a count of one half, not zero.
    """
    share = np.clip(errors, 0.5, total - 0.5) / total
    return Measured(100 * errors / total, float(100 * np.sqrt(share * (1 - share) / total)), total)
