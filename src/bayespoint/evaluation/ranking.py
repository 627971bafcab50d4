"""How well the probabilities of one class put its rows before all others."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy import special
from scipy.stats import rankdata
from sklearn.metrics import average_precision_score, roc_auc_score

from .intervals import Share, exact_interval, share

# The lift is measured in this share of the rows: those where the class is most probable.
TOP_SHARE = 0.1


class Estimate(NamedTuple):
    """A number, and its confidence interval; NaN where the rows do not tell."""

    value: float
    low: float
    high: float


class ClassQuality(NamedTuple):
    """How well one class is found among the rows of an evaluation."""

    position: int  # in `Evaluation.classes`
    n_rows: int
    recall: Share  # of the rows of the class, those that the model finds
    precision: Share  # of the answers with the class, those that are right
    auc: Estimate  # probability that a row of the class gets a larger score than another row
    average_precision: float
    lift: float  # its share in the top rows, in units of its share in all rows
    n_top: int  # number of top rows


NOTHING = Estimate(math.nan, math.nan, math.nan)


def class_quality(position: int, target, predicted, score, level: float) -> ClassQuality:
    """Measure one class; `score` is its probability for each row."""
    positive, answered = target == position, predicted == position
    found = np.count_nonzero(positive & answered)
    n_rows, n_top = int(np.count_nonzero(positive)), math.ceil(TOP_SHARE * len(target))
    one_class = n_rows in (0, len(target))
    return ClassQuality(
        position=position,
        n_rows=n_rows,
        recall=share(found, n_rows, level),
        precision=share(found, np.count_nonzero(answered), level),
        auc=NOTHING if one_class else area_under_curve(positive, score, level),
        average_precision=(
            math.nan if one_class else float(average_precision_score(positive, score))
        ),
        lift=math.nan if one_class else lift(positive, score, n_top),
        n_top=n_top,
    )


def area_under_curve(positive: np.ndarray, score: np.ndarray, level: float) -> Estimate:
    """Return the area under the ROC curve and its interval.

    The interval is by DeLong, DeLong, Clarke-Pearson (1988), Biometrics 44, on the scale of
    log odds, where it cannot leave 0 to 1. A perfect ranking has no variance to estimate. Its
    interval is the exact one of as many independent pairs as the smaller class has rows.
    """
    value = float(roc_auc_score(positive, score))
    own, others = score[positive], score[~positive]
    rank = rankdata(score)
    # Share of the other rows below each row of the class, and of the class above each other row.
    above = (rank[positive] - rankdata(own)) / len(others)
    below = 1 - (rank[~positive] - rankdata(others)) / len(own)
    n_pairs = min(len(own), len(others))
    variance = _variance_of_mean(above) + _variance_of_mean(below)
    if not 0 < value < 1 or variance == 0 or n_pairs < 2:
        low, high = exact_interval(round(value * n_pairs), n_pairs, level)
        return Estimate(value, min(value, float(low)), max(value, float(high)))
    width = special.ndtri((1 + level) / 2) * math.sqrt(variance) / (value * (1 - value))
    odds = special.logit(value)
    return Estimate(value, float(special.expit(odds - width)), float(special.expit(odds + width)))


def lift(positive: np.ndarray, score: np.ndarray, n_top: int) -> float:
    """Return how many times more rows of the class are among the top rows than on average.

    Rows with the same score as the last of them count in proportion.
    """
    border = np.partition(score, len(score) - n_top)[len(score) - n_top]
    surely, perhaps = score > border, score == border
    part = (n_top - np.count_nonzero(surely)) / np.count_nonzero(perhaps)
    found = np.count_nonzero(positive & surely) + part * np.count_nonzero(positive & perhaps)
    return float(found / n_top / positive.mean())


def _variance_of_mean(values: np.ndarray) -> float:
    return float(values.var(ddof=1) / len(values)) if len(values) > 1 else 0.0
