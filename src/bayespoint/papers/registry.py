"""All experiments. The module of an experiment is imported when it runs."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any, NamedTuple

from .experiment import Lines, Measured, Outcome, Plan


class Experiment(NamedTuple):
    """A table or figure: its name, paper and contents, and the module:function that runs it."""

    name: str
    paper: str
    shows: str
    where: str = ""

    def load(self) -> Callable[[Plan], Outcome]:
        """Return the function that runs it."""
        module, function = self._place()
        return getattr(module, function or "run")

    def load_redraw(self) -> Callable[[dict[str, Measured], Lines], Any] | None:
        """Return the function that draws kept results; None if the picture needs more."""
        return getattr(self._place()[0], "redraw", None)

    def _place(self) -> tuple[ModuleType, str]:
        module, _, function = (self.where or self.name).partition(":")
        return import_module(f"{__package__}.{module}"), function


_ALL = (
    Experiment("table_1", "000", "Bayes point and largest margin on seven data sets"),
    Experiment("algorithm_2", "000", "table 1 with the paper's own billiard, by number of bounces"),
    Experiment("waveform", "000", "why waveform is harder here than in table 1"),
    Experiment(
        "learning_rates", "000", "errors of center of mass and largest margin with many examples"
    ),
    Experiment(
        "figure_4", "000", "errors of Gibbs samples and of permuted perceptrons (001, figure 1)"
    ),
    Experiment("figure_5", "000", "the parameter space as softness grows"),
    Experiment("figure_6", "000", "version spaces of toys, with Bayes point and largest ball"),
    Experiment("figure_7", "000", "decision functions of both machines with their margins"),
    Experiment("figure_8", "000", "error against softness, for Bayes point and soft margin"),
    Experiment("figure_9", "000", "error against rejection on MNIST and USPS (001, figure 2)"),
    Experiment("digits_svm", "000", "hard-margin support vector machines on MNIST and USPS"),
    Experiment("figure_10", "000", "the 25 hardest digits of USPS"),
    Experiment("figure_12", "000", "the angle between hypotheses and its linear approximation"),
    Experiment("figure_18_1", "002", "figures 18.1 and 18.2: lines that halve a polygon"),
    Experiment("figure_18_3", "002", "figures 18.3 and 18.4: circle, center of mass and a ball"),
    Experiment("figure_18_11", "002", "figures 18.11 and 18.12: learning curves against theory"),
    Experiment("figure_18_13", "002", "sonar errors against sigma, and where the billiard closes"),
    Experiment("table_18_1", "002", "sonar errors of the onion's layers"),
    Experiment("wisconsin", "002", "breast cancer, ten points left out at a time"),
    Experiment("flipper", "002", "the paper's own billiard on sonar and on breast cancer"),
    Experiment("correlation_length", "002", "bounces until close balls part (sec. 18.5.1)"),
    Experiment("table_2_1", "004", "the leave-one-out machine on six data sets"),
    Experiment(
        "figure_2_2",
        "004",
        "figures 2.2 and 2.3: an outlier and an overlap",
        "toys_with_outliers:run_2_2",
    ),
    Experiment(
        "figure_2_4",
        "004",
        "figures 2.4 to 2.6: adaptivity and nu on a toy",
        "toys_with_outliers:run_2_4",
    ),
    Experiment("figure_2_7", "004", "support vectors and errors against the kernel's width"),
    Experiment("figure_2_8", "004", "test error against adaptivity"),
    Experiment("comparison", "ours", "today's classifiers on the same splits, ranked"),
)
EXPERIMENTS = {experiment.name: experiment for experiment in _ALL}


def find(name: str) -> Experiment:
    """Return the experiment with this name."""
    if name not in EXPERIMENTS:
        raise ValueError(f"There is no experiment {name!r}. There are {', '.join(EXPERIMENTS)}.")
    return EXPERIMENTS[name]
