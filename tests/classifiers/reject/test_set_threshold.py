"""Thresholds from held-out rows, some of which are refused for their novelty."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from bayespoint.classifiers.reject.set_threshold import set_threshold
from bayespoint.classifiers.reject.thresholds import certified_threshold, reject_threshold

RNG = np.random.default_rng(0)
CONFIDENCE, NOVELTY = RNG.uniform(0.5, 1, 400), RNG.uniform(size=400)
CORRECT = RNG.uniform(size=400) < CONFIDENCE


def option(**given):
    nothing = {"reject_rate": None, "max_error": None, "max_novelty": None}
    found = SimpleNamespace(
        calibration_confidence_=CONFIDENCE,
        calibration_correct_=CORRECT,
        calibration_novelty_=NOVELTY,
        confidence_level=0.95,
        **{**nothing, **given},
    )
    set_threshold(found)
    return found


def test_nothing_is_refused_by_default():
    found = option()
    assert (found.threshold_, found.coverage_) == (-math.inf, 1.0)
    assert math.isnan(found.certified_error_)


def test_promises_come_from_familiar_rows():
    found, familiar = option(max_error=0.2, max_novelty=0.8), NOVELTY <= 0.8
    assert found.threshold_ == certified_threshold(CONFIDENCE[familiar], CORRECT[familiar], 0.2)
    assert found.certified_error_ == 0.2
    assert found.coverage_ == np.mean((found.threshold_ <= CONFIDENCE) & familiar)


def test_a_rate_counts_novel_rows_first():
    found, familiar = option(reject_rate=0.5, max_novelty=0.8), NOVELTY <= 0.8
    lowest = np.where(familiar, CONFIDENCE, -math.inf)
    assert found.threshold_ == reject_threshold(lowest, 0.5)
    assert abs(found.coverage_ - 0.5) <= 2 / 400


def test_without_familiar_rows_nothing_can_be_promised():
    with pytest.warns(UserWarning, match="0 calibration rows"):
        found = option(max_error=0.2, max_novelty=0.0)
    assert (found.threshold_, found.coverage_) == (math.inf, 0.0)
