"""The figures that the papers print, and how ours compare with them."""

from __future__ import annotations

import csv
import math
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from scipy.special import ndtr, stdtrit

from .experiment import Measured

# Figures agree within so many standard errors, if these are known well.
AGREE = 2.0
# Stands for the error of a figure that as many repetitions as ours have given.
ALIKE = "as ours"
PAPERS = {
    "000": "Herbrich, Graepel, Campbell (2001), Bayes Point Machines",
    "001": "Herbrich, Graepel (2001), Large Scale Bayes Point Machines",
    "002": "Ruján, Marchand (2000), Computing the Bayes Kernel Classifier",
    "004": "Smola, Bartlett, Schölkopf, Schuurmans (2000), Advances in Large Margin Classifiers",
    "ours": "beyond the papers",
}


class Published(NamedTuple):
    """A figure in a paper: value, standard error (NaN if none is given), and the place.

    `alike` tells that as many repetitions as ours gave it, so that its error is about ours.
    """

    value: float
    error: float
    paper: str
    place: str
    rounding: float  # standard deviation of what was cut off
    alike: bool = False

    @property
    def text(self) -> str:
        """The figure as it is printed."""
        digits = max(0, round(-math.log10(self.rounding * math.sqrt(12))))
        value = f"{self.value:.{digits}f}"
        return value if math.isnan(self.error) else f"{value} ± {self.error:.2f}"


class Verdict(NamedTuple):
    """How far ours is from the published figure, in standard errors, and what this means."""

    far: float
    text: str


def published(experiment: str) -> dict[str, Published]:
    """Return the published figures of an experiment by name."""
    return {q: figure for (e, q), figure in _table().items() if e == experiment}


@cache
def _table() -> dict[tuple[str, str], Published]:
    text = (files(__package__) / "published.csv").read_text(encoding="utf-8")
    return {
        (line["experiment"], line["quantity"]): Published(
            float(line["value"]),
            float("nan" if line["error"] in ("", ALIKE) else line["error"]),
            line["paper"],
            line["place"],
            _rounding(line["value"]),
            line["error"] == ALIKE,
        )
        for line in csv.DictReader(text.splitlines())
    }


def _rounding(text: str) -> float:
    """Return the standard deviation of a uniform error in the digits after the last."""
    return 10.0 ** -len(text.partition(".")[2]) / math.sqrt(12)


def judge(ours: Measured, theirs: Published) -> Verdict:
    """Say how one of our figures compares with the published one."""
    if math.isnan(ours.error):
        return Verdict(math.nan, "not compared")
    estimated = math.sqrt(1 + theirs.alike) * ours.error
    stated = 0.0 if math.isnan(theirs.error) else theirs.error
    spread = math.hypot(estimated, theirs.rounding, stated)
    far = (ours.mean - theirs.value) / spread
    limit = agreement_limit(ours.n, estimated / spread)
    text = "agrees" if abs(far) <= limit else "is higher" if far > 0 else "is lower"
    return Verdict(far, text)


def agreement_limit(n: int, share: float) -> float:
    """Return the standard errors within which figures agree: 2, more for few repetitions.

    Parameters
    ----------
    n : int
        Repetitions that gave our standard error; 1 if it was not got by repeating. (For
        counts it is the number of tests, so large that nothing changes.)
    share : float
        What they gave of the standard error of the difference, at most 1. The rest is what
        the paper states or has rounded off, and counts as known.

    Returns
    -------
    float
        What Student's t exceeds as rarely as a normal number exceeds 2. Its degrees of
        freedom are those of Welch and Satterthwaite, n - 1 if all of the error is ours.
    """
    if n < 2:
        return AGREE
    # With 1e9 degrees of freedom it is the normal distribution.
    freedom = (n - 1) / max(share**4, 1e-9)
    return -float(stdtrit(freedom, ndtr(-AGREE)))
