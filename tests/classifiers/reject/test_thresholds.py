from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.stats import binom
from sklearn.datasets import make_moons
from sklearn.ensemble import RandomForestClassifier
from sklearn.naive_bayes import GaussianNB

from bayespoint import BayesPointClassifier, RejectOptionClassifier
from bayespoint.classifiers.reject.chain import pilot_rows, share_risk
from bayespoint.classifiers.reject.thresholds import (
    certified_threshold,
    fewest_rows,
    reject_threshold,
    why_nothing_is_certified,
)

DOCS = Path(__file__).parents[3] / "docs"

LEVEL, N_DRAWS = 0.95, 1000
# A rule that breaks its promise exactly as often as allowed stays below this in 999 of 1000 runs.
LIMIT = binom.ppf(0.999, N_DRAWS, 1 - LEVEL)


@given(
    st.lists(st.integers(0, 8), min_size=2, max_size=40),
    st.floats(0, 1, exclude_max=True),
)
def test_reject_threshold_keeps_to_its_rate(values, rate):
    """Among exchangeable values, each is equally likely to be the new one."""
    values = np.array(values, dtype=float)
    rejected = [
        values[i] < reject_threshold(np.delete(values, i), rate) for i in range(len(values))
    ]
    assert np.sum(rejected) <= rate * len(values) + 1e-9


@pytest.mark.parametrize("rate", [0.0, 0.05, 0.3, 0.29, 0.99])
def test_reject_threshold_uses_its_rate(rng, rate):
    values = rng.permutation(99.0 + np.arange(99))
    assert np.mean(values < reject_threshold(values, rate)) == pytest.approx(rate, abs=1 / 99)


def test_reject_nothing():
    assert reject_threshold([0.5, 0.6], 0.0) == -np.inf
    assert reject_threshold([0.5, 0.6], 0.3) == -np.inf  # the smallest possible rate is a third


def obvious(confidence, correct, max_error, level):
    """Compute the same chain with sets, loops and scipy.stats."""
    pilot = pilot_rows(len(confidence))
    thresholds = [*sorted(confidence[pilot], reverse=True), -np.inf]
    shares = (1 - level) * share_risk(len(confidence), pilot.sum(), np.log1p(-max_error), 1 - level)
    certified, risk = [np.inf], 0.0
    for threshold, share in zip(thresholds, shares, strict=True):
        risk = risk + share
        kept = correct[~pilot & (confidence >= threshold)]
        if len(kept) and binom.cdf(np.sum(~kept), len(kept), max_error) <= risk:
            certified.append(threshold)
        else:
            risk = 0.0
    return min(certified)


@pytest.mark.parametrize("n", [1, 9, 30, 200, 1500])
@pytest.mark.parametrize("max_error", [0.02, 0.1, 0.3])
def test_agrees_with_the_obvious_chain(rng, n, max_error):
    for digits in (1, 16):  # with and without ties
        confidence = rng.uniform(0.5, 1, n).round(digits)
        correct = rng.random(n) < confidence**0.3
        found = certified_threshold(confidence, correct, max_error, LEVEL)
        assert found == obvious(confidence, correct, max_error, LEVEL)


@given(st.floats(0.003, 0.95), st.floats(0.05, 0.999), st.booleans())
@example(0.05, 0.95, True)
@example(0.01, 0.9, True)
@example(0.3, 0.999, False)
@example(0.5, 0.75, False)  # exactly two rows besides the pilot rows
@example(0.9, 0.9, False)  # exactly one row besides them
def test_fewest_rows_without_an_error_suffice_and_one_fewer_does_not(max_error, level, ties):
    least = fewest_rows(max_error, level)
    for n, expected in ((least, -np.inf), (least - 1, np.inf)):
        if n:
            confidence = np.ones(n) if ties else np.linspace(0.5, 1, n)
            assert certified_threshold(confidence, np.ones(n), max_error, level) == expected


def test_one_number_of_fewest_rows_everywhere():
    """The 59 rows of the binomial test are not enough: pilot rows are needed as well."""
    assert (fewest_rows(0.05, 0.95), fewest_rows(0.01, 0.95)) == (65, 332)
    assert "at least 65 are needed" in why_nothing_is_certified(10, 0.05, 0.95)
    docstring = " ".join(RejectOptionClassifier.__doc__.split())
    assert "at least 65 for a `max_error` of 0.05" in docstring
    page = (DOCS / "abstaining.md").read_text("utf-8")
    assert "65 held-out rows for an error of 5 %" in page
    assert "332 for 1 %" in page


def test_order_of_rows_that_are_sorted_does_not_matter(rng):
    """Pilot rows are chosen independently of confidence, even if rows are sorted by it."""
    population = Population(np.linspace(0, 1, 5001), np.full(5001, 0.1001))
    broken = population.broken_promises(rng, 300, 0.1, sort=True)
    assert broken <= LIMIT


class Population:
    """Confidences with an error probability each; rows are drawn with replacement."""

    def __init__(self, confidence, wrong):
        order = np.argsort(confidence)
        self.confidence, self.wrong = confidence[order], wrong[order]
        self.risk = np.cumsum(self.wrong[::-1])[::-1] / np.arange(len(order), 0, -1)

    def true_error(self, threshold):
        first = np.searchsorted(self.confidence, threshold)
        return self.risk[first] if first < len(self.risk) else 0.0

    def broken_promises(self, rng, n, max_error, rule=certified_threshold, sort=False):
        broken = 0
        for _ in range(N_DRAWS):
            rows = rng.integers(len(self.risk), size=n)
            rows = np.sort(rows) if sort else rows
            correct = rng.random(n) >= self.wrong[rows]
            threshold = rule(self.confidence[rows], correct, max_error, LEVEL)
            broken += self.true_error(threshold) > max_error
        return broken


def uncorrected(confidence, correct, max_error, level):
    """Break the promise: test every threshold as if it were the only one."""
    order = np.argsort(-confidence)
    accepted = np.arange(1, len(order) + 1)
    passed = binom.cdf(np.cumsum(~correct[order]), accepted, max_error) <= 1 - level
    return confidence[order][passed].min(initial=np.inf)


def empirical(confidence, correct, max_error, level):
    """Break the promise: mistake the error on calibration rows for the true error."""
    order = np.argsort(-confidence)
    error = np.cumsum(~correct[order]) / np.arange(1, len(order) + 1)
    return confidence[order][error <= max_error].min(initial=np.inf)


def of_model(model, n_train=300, n_rows=20_000):
    X, y = make_moons(n_train + n_rows, noise=0.35, random_state=0)
    model.fit(X[:n_train], y[:n_train])
    probability = model.predict_proba(X[n_train:])
    wrong = model.classes_[probability.argmax(axis=1)] != y[n_train:]
    return Population(probability.max(axis=1), wrong.astype(float))


@pytest.fixture(scope="module", params=["bayes point machine", "forest"])
def fitted(request):
    if request.param == "forest":
        return of_model(RandomForestClassifier(random_state=0))
    return of_model(BayesPointClassifier(gamma=1.0, softness=0.3))


@pytest.mark.parametrize("max_error", [0.05, 0.1])
def test_promise_is_kept(fitted, rng, max_error):
    assert fitted.broken_promises(rng, 500, max_error) <= LIMIT


def test_calibration_error_alone_breaks_promises(fitted, rng):
    assert fitted.broken_promises(rng, 500, 0.1, empirical) > LIMIT


def hard_cases():
    """Risks that are not monotone, or just above the promised error."""
    u = np.linspace(0, 1, 20_001)
    yield "just above everywhere", Population(u, np.full(len(u), 0.1001))
    yield "the most certain are worst", Population(u, np.where(u > 0.9, 0.3, 0.07))
    yield "bad and good in turn", waves(u)
    yield "few distinct confidences", Population((u * 7).round() / 7, 0.2 - 0.2 * u**2)
    yield "all equally certain", Population(np.ones(100), np.full(100, 0.11))


def waves(u):
    """Return a risk that oscillates around 0.1, more and more slowly."""
    accepted = 1 - u + 1e-3
    total = accepted * (0.1 + 0.001 * np.sin(12 * np.log(accepted)))
    wrong = np.clip(-np.gradient(total, u), 0, 1)
    return Population(u, wrong)


HARD = dict(hard_cases())


@pytest.mark.parametrize("name", HARD)
def test_promise_is_kept_in_hard_cases(rng, name):
    assert HARD[name].broken_promises(rng, 500, 0.1) <= LIMIT


@pytest.mark.parametrize("name", ["just above everywhere", "few distinct confidences"])
def test_hard_cases_are_hard(rng, name):
    # This rule would pass if risk fell steeply with confidence, as it does for real models.
    assert HARD[name].broken_promises(rng, 500, 0.1, uncorrected) > LIMIT


def test_waves_are_waves():
    risk = HARD["bad and good in turn"].risk[:-100]
    assert np.sum(np.diff(risk > 0.1)) >= 6


def test_promise_of_the_whole_classifier(rng):
    """Use the classifier's own stratified split and a new fit each time; confidences are poor."""
    X, y = make_moons(2000, noise=0.5, random_state=0)
    broken, n_draws = 0, 250
    for seed in range(n_draws):
        rows = rng.integers(len(y), size=400)
        model = RejectOptionClassifier(GaussianNB(), calibration_size=0.5, random_state=seed)
        model = model.fit(X[rows], y[rows])
        model.threshold_ = certified_threshold(
            model.calibration_confidence_, model.calibration_correct_, 0.15, LEVEL
        )
        accepted = model.accept(X)
        wrong = model.estimator_.predict(X) != y
        broken += accepted.any() and wrong[accepted].mean() > 0.15
    assert broken <= binom.ppf(0.999, n_draws, 1 - LEVEL)


def test_more_rows_accept_more():
    u = np.linspace(0, 1, 20_001)
    population = Population(u, 0.5 * (1 - u) ** 2)
    best = np.mean(population.risk <= 0.05)
    coverage = []
    for n in (300, 3000, 30_000):
        rng = np.random.default_rng(n)
        rows = rng.integers(len(u), size=(20, n))
        correct = rng.random((20, n)) >= population.wrong[rows]
        found = [certified_threshold(u[r], c, 0.05) for r, c in zip(rows, correct, strict=True)]
        coverage.append(np.mean([np.mean(u >= t) for t in found]))
    assert coverage[0] < coverage[1] < coverage[2] < best
    assert coverage[2] > best - 0.05


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: reject_threshold([], 0.1), "empty"),
        (lambda: reject_threshold([np.nan], 0.1), "NaN"),
        (lambda: reject_threshold([1.0], 1.0), "reject_rate .* below 1"),
        (lambda: reject_threshold([1.0], np.nan), "reject_rate"),
        (lambda: certified_threshold([1.0], [True, False], 0.1), "inconsistent"),
        (lambda: certified_threshold([1.0], [2], 0.1), "True or False"),
        (lambda: certified_threshold([1.0], ["yes"], 0.1), "True or False"),
        (lambda: certified_threshold([1.0], [True], 0.0), "max_error .* is 0.0"),
        (lambda: certified_threshold([1.0], [True], 0.1, 1.0), "confidence_level .* is 1.0"),
        (lambda: certified_threshold([[1.0], [2.0]], [[1, 1]], 0.1), "1d array|inconsistent"),
    ],
)
def test_errors(call, message):
    with pytest.raises(ValueError, match=message):
        call()
