"""Report the progress of long fits: scikit-learn's callbacks, and lines on standard error.

The callback interface is new and experimental in scikit-learn 1.9. Only this module uses it;
`no_callbacks` takes its place in older versions.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from .share_done import advance, share_of_way

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:
    from .no_callbacks import CallbackSupportMixin, with_callbacks

__all__ = ["CallbackSupportMixin", "Progress", "describe", "say", "with_callbacks"]


class Progress:
    """Report the rounds of each output's solver to callbacks and to the user."""

    def __init__(self, estimator: CallbackSupportMixin, n_outputs: int, verbose: int):
        self._estimator = estimator
        self._n_outputs = n_outputs
        self._verbose = verbose
        self._context = estimator._init_callback_context(max_subtasks=n_outputs)
        self._context.call_on_fit_task_begin(estimator=estimator)

    @contextmanager
    def output(self, number: int) -> Iterator[Callable[[dict[str, Any]], bool]]:
        """Provide a function that the solver calls after each round; it returns True to stop."""
        context = self._context.subcontext(task_name="output", max_subtasks=None)
        context.call_on_fit_task_begin(estimator=self._estimator)
        advance(number / self._n_outputs, "fitting")
        furthest = 0.0  # errors may rise now and then

        def on_round(info: dict[str, Any]) -> bool:
            nonlocal furthest
            round_ = context.subcontext(task_name="round")
            round_.call_on_fit_task_begin(estimator=self._estimator)
            share = self._share(number, info)
            if share is not None:
                furthest = max(furthest, share)
                advance(furthest, "fitting")
            if self._verbose:
                self._say(number, info)
            return bool(round_.call_on_fit_task_end(estimator=self._estimator))

        yield on_round
        context.call_on_fit_task_end(estimator=self._estimator)

    def end(self) -> None:
        """Tell the callbacks that the fit is over."""
        self._context.call_on_fit_task_end(estimator=self._estimator)

    def _share(self, number: int, info: dict[str, Any]) -> float | None:
        """Return the share of the whole fit that is done; None if the solver cannot know it."""
        share = share_of(info)
        return None if share is None else (number + share) / self._n_outputs

    def _say(self, number: int, info: dict[str, Any]) -> None:
        output = f" {number + 1}/{self._n_outputs}" if self._n_outputs > 1 else ""
        end = f", stopped by {info['stop']}" if info["stop"] else ""
        say(describe(info) + end, output)


def say(line: str, output: str = "") -> None:
    """Write a line for the user to standard error; `output` says which output it is about."""
    sys.stderr.write(f"[bayespoint{output}] {line}\n")


def share_of(info: dict[str, Any]) -> float | None:
    """Return the share of an output's work that is done; None if the solver cannot know it."""
    if "n_members" in info:
        return info["n_consistent"] / max(info["n_members"], 1)
    if "n_done" in info:
        return info["n_done"] / max(info["n_cells" if "n_cells" in info else "n_points"], 1)
    if "tol" in info:
        return share_of_way(info["residual"], 1.0, info["tol"])
    return None


def describe(info: dict[str, Any]) -> str:
    """Return how far a solver got, as text for the user."""
    if "n_members" in info:
        return (
            f"{info['n_consistent']} of {info['n_members']} perceptrons are consistent, "
            f"{info['n_mistakes']:,} mistakes, {info['n_rows']:,} rows of the kernel matrix"
        )
    if "n_done" in info:
        what = "cells" if "n_cells" in info else "points"
        return f"{info['n_done']:,} of {info[f'n_{what}']:,} {what}"
    if "residual" in info:
        return f"pass {info['n_iter']:>3}, moments match to {info['residual']:.1e}" + (
            f", log evidence {info['log_evidence']:.2f}" if info["mixed"] else ""
        )
    if info["stop"] == "done":
        return "done, the error is unknown"
    done = (
        f"{info['n_bounces']:,} bounces"
        if "n_bounces" in info
        else f"{info['n_samples']:,} samples"
    )
    angle = f"{info['angle']:.3f}" if info["mixed"] else "unknown"
    return f"{done:>18}, angle to the Bayes point {angle}, R-hat {info['r_hat']:.3f}"
