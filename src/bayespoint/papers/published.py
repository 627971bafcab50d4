"""The numbers that the papers print, and how ours compare with them."""

from __future__ import annotations

import csv
import math
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from scipy.special import ndtr, stdtrit

from .experiment import Measured

# Numbers agree if they differ by at most this many standard errors, given exact standard errors.
AGREEMENT_LIMIT = 2.0
# Entry of published.csv where the paper gives no error but made as many repetitions as we did.
AS_OURS = "as ours"
# Entries of published.csv that the ledger lists apart, and why; all others count.
KINDS = {
    "again": "the same printed number, compared a second time with another machine",
    "part": "parts of one result that share its data: the ledger counts the result once",
    "words": "said in words, not printed as a number",
}
PAPERS = {
    "000": "Herbrich, Graepel, Campbell (2001), Bayes Point Machines",
    "001": "Herbrich, Graepel (2001), Large Scale Bayes Point Machines",
    "002": "Ruján, Marchand (2000), Computing the Bayes Kernel Classifier",
    "004": "Smola, Bartlett, Schölkopf, Schuurmans (2000), Advances in Large Margin Classifiers",
    "ours": "beyond the papers",
}


class Published(NamedTuple):
    """A number in a paper: value, standard error (NaN if none is given), and the place.

    `error_as_ours` means that the paper made as many repetitions as we did, so its error is
    about the same as ours.
    """

    value: float
    error: float
    paper: str
    place: str
    rounding: float  # standard deviation of the rounding error
    error_as_ours: bool = False
    kind: str = ""  # one of KINDS, or empty if the number counts

    @property
    def text(self) -> str:
        """The number as it is printed."""
        digits = max(0, round(-math.log10(self.rounding * math.sqrt(12))))
        value = f"{self.value:.{digits}f}"
        return value if math.isnan(self.error) else f"{value} ± {self.error:.2f}"


class Verdict(NamedTuple):
    """Our number minus the published one, in standard errors, and what this means."""

    distance: float
    text: str


def published(experiment: str) -> dict[str, Published]:
    """Return the published numbers of an experiment by name."""
    return {q: number for (e, q), number in _table().items() if e == experiment}


@cache
def _table() -> dict[tuple[str, str], Published]:
    text = (files(__package__) / "published.csv").read_text(encoding="utf-8")
    return {
        (line["experiment"], line["quantity"]): Published(
            float(line["value"]),
            float("nan" if line["error"] in ("", AS_OURS) else line["error"]),
            line["paper"],
            line["place"],
            _rounding(line["value"]),
            line["error"] == AS_OURS,
            line["kind"],
        )
        for line in csv.DictReader(text.splitlines())
    }


def _rounding(text: str) -> float:
    """Return the standard deviation of the rounding error of a printed number."""
    return 10.0 ** -len(text.partition(".")[2]) / math.sqrt(12)


def judge(ours: Measured, theirs: Published) -> Verdict:
    """Compare one of our numbers with the published one."""
    if math.isnan(ours.error):
        return Verdict(math.nan, "not compared")
    estimated = math.sqrt(1 + theirs.error_as_ours) * ours.error
    stated = 0.0 if math.isnan(theirs.error) else theirs.error
    spread = math.hypot(estimated, theirs.rounding, stated)
    distance = (ours.mean - theirs.value) / spread
    limit = agreement_limit(ours.n, estimated / spread)
    text = "agrees" if abs(distance) <= limit else "is higher" if distance > 0 else "is lower"
    return Verdict(distance, text)


def agreement_limit(n: int, share: float) -> float:
    """Return how many standard errors agreeing numbers may differ: 2, more if n is small.

    Parameters
    ----------
    n : int
        Number of repetitions behind our standard error; 1 if it does not come from
        repetitions. (For counts n is the number of tests, so large that it changes nothing.)
    share : float
        Share of our standard error in the standard error of the difference, at most 1. The
        rest is the paper's error and its rounding, and counts as known.

    Returns
    -------
    float
        Limit that Student's t exceeds as rarely as a normal variable exceeds 2. The degrees
        of freedom are Welch and Satterthwaite's: n - 1 if all of the error is ours.
    """
    if n < 2:
        return AGREEMENT_LIMIT
    # 1e9 degrees of freedom are as good as infinitely many, the normal distribution.
    freedom = (n - 1) / max(share**4, 1e-9)
    return -float(stdtrit(freedom, ndtr(-AGREEMENT_LIMIT)))
