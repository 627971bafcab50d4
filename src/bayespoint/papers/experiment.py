"""What an experiment is asked, and what it answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, TypeVar

import numpy as np
from joblib import Parallel, delayed, parallel_config

T = TypeVar("T")


class Measured(NamedTuple):
    """A figure of ours: mean, its standard error, and number of repetitions.

    The error is NaN where there is nothing to compare with, as the paper does not
    publish the data of its example.
    """

    mean: float
    error: float = float("nan")
    n: int = 1


class Outcome(NamedTuple):
    """What an experiment found.

    `figures` are those that the paper prints too, and others; `runs` the lines of a CSV
    file, a dictionary each; `draw` makes the picture.
    """

    figures: dict[str, Measured]
    runs: list[dict[str, Any]]
    draw: Callable[[], Any]
    notes: tuple[str, ...] = ()


class Plan(NamedTuple):
    """How an experiment is to be run."""

    quick: bool = False
    jobs: int = 1
    seed: int = 0
    data: str | None = None
    progress: Callable[[int, int, str], Any] = lambda done, total, text: None

    def choose(self, quick: T, full: T) -> T:
        """Return what goes with the reduced version, or with the full one."""
        return quick if self.quick else full

    def repeat(self, function: Callable[..., T], items: Iterable[tuple], text="") -> list[T]:
        """Call a function with the arguments of each item, in as many processes as allowed.

        Results do not depend on their number: what is random gets its seed as an argument.
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
    """Return mean and standard error of repetitions."""
    values = np.asarray(values, dtype=float)
    error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return Measured(float(values.mean()), float(error), len(values))


def single_runs(values) -> Measured:
    """Return the mean, with the error of its difference from one run of somebody else's."""
    mean, error, n = average(values)
    return Measured(mean, float(error * np.sqrt(n + 1)), n)


def counted(errors: int, total: int) -> Measured:
    """Return a share in percent, with its binomial standard error.

    A count of none (or all) has the error of a count of one half.
    """
    share = np.clip(errors, 0.5, total - 0.5) / total
    return Measured(100 * errors / total, float(100 * np.sqrt(share * (1 - share) / total)), total)
