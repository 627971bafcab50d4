from typing import NamedTuple

import numpy as np
import pytest
from scipy import stats
from sklearn.datasets import make_moons
from sklearn.metrics.pairwise import rbf_kernel

from bayespoint import BayesPointClassifier
from bayespoint.fitting import parameter_search, parameters
from bayespoint.fitting.parameters import Settings, choose
from bayespoint.fitting.task import TrainingSet
from bayespoint.geometry.gram import soften, unit_matrix
from bayespoint.geometry.settle import settle_kernel
from bayespoint.solvers.propagation.approximation import Approximation
from bayespoint.solvers.propagation.on_gram import propagate
from bayespoint.solvers.propagation.sites import Sites
from helpers import slow_but_for

SEEDS = range(6)
# Twice the gap between the largest log evidence and the log evidence of the truth is about
# chi-squared, with one degree of freedom per chosen parameter (Wilks). Exceeding the limit
# has this probability.
SIGNIFICANCE = 1e-4
LACKING = stats.chi2.isf(SIGNIFICANCE, df=1) / 2


def from_the_prior(m, gamma, softness, eta, seed, n_dimensions=2):
    """Return points and labels of a Gaussian process with probit noise, some labels flipped."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((m, n_dimensions))
    K = rbf_kernel(X, gamma=gamma) + 1e-9 * np.eye(m)
    f = np.linalg.cholesky(K) @ rng.standard_normal(m)
    y = np.where(f + np.sqrt(softness) * rng.standard_normal(m) > 0, 1, -1)
    y[rng.random(m) < eta] *= -1
    return X, y


def kernels(X, name="rbf"):
    """Return a function that makes the kernel for a gamma and an intercept."""

    def kernel_for(gamma, fit_intercept):
        return settle_kernel(
            name,
            X,
            gamma=gamma,
            degree=3,
            coef0=1.0,
            normalize=False,
            fit_intercept=fit_intercept,
        )

    return kernel_for


def never(seconds):
    return False


def chosen(X, y, given, kernel_for=None, should_stop=never):
    signs = np.atleast_2d(y)
    target = np.argmax(signs, axis=0) if len(signs) > 1 else signs[0]
    data = TrainingSet(X, target, signs, "rbf", kernel_for or kernels(X))
    return choose(data, given, should_stop)


def by_name(choice, name):
    """Return the log evidence for each value of one parameter."""
    return {getattr(settings, name): value for settings, value in choice.score.items()}


class Call(NamedTuple):
    """Arguments and result of one call of `propagate`."""

    signs: np.ndarray
    start: Sites | None
    found: Approximation


@pytest.fixture
def calls(monkeypatch):
    """Record all calls of `propagate` in order."""
    seen = []

    def noted(matrix, signs, *args, sites, **options):
        assert matrix.shape == (len(signs), len(signs))
        found = propagate(matrix, signs, *args, sites=sites, **options)
        seen.append(Call(signs, sites, found))
        return found

    monkeypatch.setattr(parameter_search, "propagate", noted)
    return seen


# Choices


def looked_up(X, y, settings):
    """Return the log evidence of settings, computed from scratch with a small tolerance."""
    kernel = kernels(X)(settings.gamma, settings.fit_intercept)
    unit, _ = unit_matrix(kernel(X, X))
    matrix = soften(unit, settings.softness)
    return propagate(matrix, y, settings.label_noise, tol=1e-4).log_evidence


@pytest.mark.parametrize("softness", slow_but_for([0.01, 0.1, 1.0], 0.1))
def test_finds_the_softness(softness):
    found = []
    for seed in SEEDS:
        X, y = from_the_prior(200, 0.5, softness, 0.0, seed)
        given = Settings(0.5, False, "auto", 0.0)
        choice = chosen(X, y, given)
        found.append(choice.best.softness)
        truth = looked_up(X, y, given._replace(softness=softness))
        assert choice.score[choice.best] - truth < LACKING
    # Within half a decade, on average.
    assert abs(np.mean(np.log10(found)) - np.log10(softness)) <= 0.5


@pytest.mark.parametrize("gamma", slow_but_for([0.05, 0.5, 5.0], 0.5, 5.0))
def test_finds_gamma(gamma):
    found = []
    for seed in SEEDS:
        X, y = from_the_prior(200, gamma, 0.01, 0.0, seed)
        given = Settings("auto", False, 0.01, 0.0)
        choice = chosen(X, y, given)
        found.append(choice.best.gamma)
        truth = looked_up(X, y, given._replace(gamma=gamma))
        assert choice.score[choice.best] - truth < LACKING
    assert abs(np.mean(np.log10(found)) - np.log10(gamma)) <= 0.5


def test_finds_more_label_noise_where_labels_were_flipped():
    given = Settings(0.5, False, 0.1, "auto")
    clean, flipped = (
        [
            chosen(*from_the_prior(200, 0.5, 0.1, eta, seed), given).best.label_noise
            for seed in SEEDS
        ]
        for eta in (0.0, 0.1)
    )
    assert np.mean(clean) <= 0.01
    assert np.mean(flipped) >= 0.03


@pytest.mark.parametrize(("offset", "expected"), [(0.0, False), (1.5, True)])
def test_finds_whether_there_is_an_intercept(offset, expected):
    for seed in SEEDS:
        X = np.random.default_rng(seed).standard_normal((100, 2))
        y = np.where(X[:, 0] + offset > 0, 1, -1)
        choice = chosen(X, y, Settings(1.0, "auto", 0.01, 0.0), kernels(X, "linear"))
        assert len(choice.score) == 2
        assert bool(choice.best.fit_intercept) is expected


@pytest.mark.parametrize(("label_noise", "seed"), [(0.0, 0), (0.0, 1), (0.0, 4), (0.1, 0)])
def test_evidences_are_those_from_scratch(label_noise, seed, calls):
    X, y = from_the_prior(100, 0.5, 0.1, 0.05, seed)
    choice = chosen(X, y, Settings("auto", "auto", "auto", label_noise))
    assert len(choice.score) >= 10
    residuals = {call.found.log_evidence: call.found.residual for call in calls}
    for settings, value in choice.score.items():
        # The evidence is stationary at the fixed point: the error per point is at most the square
        # of the mismatch. The largest measured error is a third of that. With label noise the
        # likelihood is not log-concave and may have several fixed points: seed 4 has two, and
        # their log evidence differs by 1.
        limit = len(y) * max(residuals[value], parameter_search.SHORT_RUN_TOL) ** 2
        assert abs(value - looked_up(X, y, settings)) <= limit


def test_more_classes_are_judged_by_leaving_points_out():
    X = np.random.default_rng(0).standard_normal((60, 2))
    target = np.digitize(X[:, 0] + 0.3 * X[:, 1], [-0.5, 0.5])
    signs = np.array([np.where(target == c, 1, -1) for c in range(3)])
    choice = chosen(X, signs, Settings(0.5, False, "auto", 0.0))
    assert len(choice.score) > 2
    for settings, value in choice.score.items():
        matrix = soften(unit_matrix(rbf_kernel(X, gamma=0.5))[0], settings.softness)
        found = [propagate(matrix, y, tol=1e-4) for y in signs]
        outputs = np.array([f.cavity_mean / np.sqrt(f.cavity_variance) for f in found])
        odds = stats.norm.cdf(outputs) / stats.norm.sf(outputs)
        expected = np.sum(np.log(odds[target, np.arange(60)] / odds.sum(axis=0)))
        # Errors of the outputs are at most the mismatch of moments: SHORT_RUN_TOL standard
        # deviations. d log p / d output is about as large as the output: one or two.
        assert abs(value - expected) <= 2 * len(target) * parameter_search.SHORT_RUN_TOL


def test_the_wrong_likelihood_has_another_evidence():
    X, y = from_the_prior(100, 0.5, 0.1, 0.05, seed=0)
    choice = chosen(X, y, Settings("auto", True, "auto", 0.0))
    for settings, value in choice.score.items():
        wrong = looked_up(X, y, settings._replace(softness=2 * settings.softness + 0.1))
        assert abs(value - wrong) > len(y) * parameter_search.SHORT_RUN_TOL**2


# Path of the climb


@pytest.mark.parametrize("seed", SEEDS)
def test_ends_where_no_neighbor_is_better(seed):
    X, y = from_the_prior(80, 2.0, 0.1, 0.05, seed)
    choice = chosen(X, y, Settings("auto", "auto", "auto", "auto"))
    scale = kernels(X)("scale", True).gamma
    axes = (
        scale * parameters.GAMMA,
        parameters.INTERCEPT,
        parameters.SOFTNESS,
        parameters.LABEL_NOISE,
    )
    place = [
        int(np.flatnonzero(axis == value)[0]) for axis, value in zip(axes, choice.best, strict=True)
    ]
    best = choice.score[choice.best]
    n_neighbors = 0
    for i, axis in enumerate(axes):
        for number in (place[i] - 1, place[i] + 1):
            if 0 <= number < len(axis):
                neighbor = choice.best._replace(**{Settings._fields[i]: axis[number]})
                assert choice.score[neighbor] <= best
                n_neighbors += 1
    assert n_neighbors >= 4
    assert best == max(choice.score.values())


def test_given_parameters_are_kept():
    X, y = from_the_prior(40, 0.5, 0.1, 0.0, seed=0)
    given = Settings(0.7, False, 0.2, 0.05)
    for name in Settings._fields:
        choice = chosen(X, y, given._replace(**{name: "auto"}))
        assert choice.best._replace(**{name: None}) == given._replace(**{name: None})
        assert len(choice.score) > 1
        for settings in choice.score:
            assert settings._replace(**{name: None}) == given._replace(**{name: None})


def test_nothing_to_choose_is_no_work():
    def kernel_for(gamma, fit_intercept):
        raise AssertionError("not needed")

    given = Settings("scale", True, 0.1, 0.0)
    choice = chosen(None, [1, -1], given, kernel_for)
    assert choice.best is given
    assert choice.score == {}
    assert all(len(column) == 0 for column in choice.columns().values())


def test_stops_when_it_should():
    X, y = from_the_prior(40, 0.5, 0.1, 0.0, seed=0)
    everything = Settings("auto", "auto", "auto", "auto")
    asked = []

    def should_stop(seconds):
        asked.append(seconds)
        return len(asked) > 3

    assert len(chosen(X, y, everything, should_stop=should_stop).score) == 3
    assert len(set(asked)) == 1
    assert 0 < asked[0] < 1
    choice = chosen(X, y, everything, should_stop=lambda seconds: True)
    assert choice.score == {}
    first = Settings(parameters.FIRST_GAMMA / (2 * X.var()), True, parameters.FIRST_SOFTNESS, 0.0)
    assert choice.best == pytest.approx(first)
    assert len(chosen(X, y, everything).score) > 10


@pytest.mark.parametrize("kernel", ["rbf", "precomputed"])
def test_takes_a_part_of_many_points(monkeypatch, calls, kernel):
    monkeypatch.setattr(parameter_search, "MAX_POINTS", 50)
    X, y = from_the_prior(120, 0.5, 0.1, 0.0, seed=0)
    if kernel == "precomputed":
        X = rbf_kernel(X, gamma=0.5)
    given = Settings(0.5, False, "auto", 0.0)
    first, again = (chosen(X, y, given, kernels(X, kernel)) for _ in range(2))
    assert {len(call.signs) for call in calls} == {50}
    assert first == again


def test_takes_fewer_points_for_many_outputs(monkeypatch, calls):
    monkeypatch.setattr(parameter_search, "MAX_POINTS", 64)
    monkeypatch.setattr(parameter_search, "FULL_SAMPLE_OUTPUTS", 1)
    X = np.random.default_rng(0).standard_normal((80, 2))
    signs = np.array([np.where(np.arange(80) % 8 == c, 1, -1) for c in range(8)])
    chosen(X, signs, Settings(0.5, False, 0.1, "auto"))
    assert {len(call.signs) for call in calls} == {32}  # an eighth of the work for each output


def test_begins_with_the_sites_of_the_neighbor(calls):
    X, y = from_the_prior(40, 0.5, 0.1, 0.0, seed=0)
    chosen(X, y, Settings(0.5, False, "auto", 0.0))
    assert calls[0].start is None
    assert all(call.start is not None for call in calls[1:])


def test_candidates_without_a_kernel_are_skipped():
    X, y = from_the_prior(60, 5.0, 0.01, 0.0, seed=0)
    usual = kernels(X)

    def kernel_for(gamma, fit_intercept):
        if gamma != "scale" and gamma > 1:
            raise ValueError("too large")
        return usual(gamma, fit_intercept)

    given = Settings("auto", False, 0.01, 0.0)
    assert chosen(X, y, given).best.gamma > 1
    choice = chosen(X, y, given, kernel_for)
    assert choice.best.gamma <= 1
    skipped = [s.gamma for s, value in choice.score.items() if value == -np.inf]
    assert skipped
    assert min(skipped) > 1


def test_without_any_kernel_the_first_candidate_is_left_to_fail():
    def kernel_for(gamma, fit_intercept):
        raise ValueError("no such kernel")

    X = np.zeros((4, 1))
    choice = chosen(X, [1, 1, -1, -1], Settings(1.0, False, "auto", 0.0), kernel_for)
    assert choice.best.softness == parameters.FIRST_SOFTNESS
    assert set(choice.score.values()) == {-np.inf}


def test_the_classifier_says_what_is_wrong_with_every_candidate():
    X = np.random.default_rng(0).standard_normal((20, 2))
    model = BayesPointClassifier(kernel=lambda A, B: np.full((len(A), len(B)), np.inf))
    with pytest.raises(ValueError, match="finite"):
        model.fit(X, X[:, 0] > 0)


def test_named_precomputed_and_callable_kernels_agree():
    X, y = from_the_prior(60, 0.5, 0.1, 0.0, seed=0)
    given = Settings(0.5, "auto", "auto", "auto")
    named = chosen(X, y, given)
    K = rbf_kernel(X, gamma=0.5)
    given = given._replace(gamma=1.0)
    precomputed = chosen(K, y, given, kernels(K, "precomputed"))
    by_function = chosen(X, y, given, kernels(X, lambda A, B: rbf_kernel(A, B, gamma=0.5)))
    for other in (precomputed, by_function):
        assert other.best[1:] == named.best[1:]
        theirs = {settings[1:]: value for settings, value in other.score.items()}
        ours = {settings[1:]: value for settings, value in named.score.items()}
        assert theirs == pytest.approx(ours, abs=1e-6)


def test_points_at_the_origin_do_not_affect_the_choice():
    X, y = from_the_prior(30, 0.5, 0.1, 0.0, seed=0)
    given = Settings(1.0, False, "auto", 0.0)
    X_more, y_more = np.vstack([X, [[0.0, 0.0]]]), np.append(y, 1)
    one = chosen(X, y, given, kernels(X, "linear"))
    two = chosen(X_more, y_more, given, kernels(X_more, "linear"))
    for settings in set(one.score) & set(two.score):
        lost = one.score[settings] - two.score[settings]
        assert lost == pytest.approx(np.log(2), abs=30 * parameter_search.SHORT_RUN_TOL**2)


# Messages


def test_summary_and_table():
    X, y = from_the_prior(40, 0.5, 0.1, 0.0, seed=0)
    choice = chosen(X, y, Settings("auto", "auto", "auto", "auto"))
    n = len(choice.score)
    assert f"of {n} candidates" in str(choice)
    assert f"softness={choice.best.softness:.3g}" in str(choice)
    columns = choice.columns()
    assert list(columns) == [*Settings._fields, "score"]
    assert {column.shape for column in columns.values()} == {(n,)}
    best = np.argmax(columns["score"])
    assert columns["gamma"][best] == choice.best.gamma


def test_same_random_state_same_choice(monkeypatch):
    monkeypatch.setattr(parameter_search, "MAX_POINTS", 40)
    X, y = from_the_prior(100, 0.5, 0.1, 0.0, seed=0)
    one, two = (
        BayesPointClassifier(label_noise="auto", random_state=3).fit(X, y).candidates_
        for _ in range(2)
    )
    for name in one:
        np.testing.assert_array_equal(one[name], two[name])


@pytest.mark.parametrize("seed", [1, *(pytest.param(n, marks=pytest.mark.slow) for n in (3, 5))])
def test_a_bad_beginning_does_not_hide_a_better_candidate(seed):
    # Sites for labels without noise are a bad start for labels with little noise: updates
    # that diverge from there converge from empty sites.
    X, y = from_the_prior(200, 0.5, 0.01, 0.2, seed)
    given = Settings(0.5, False, 0.01, "auto")
    choice = chosen(X, y, given)
    known = [looked_up(X, y, given._replace(label_noise=eta)) for eta in parameters.LABEL_NOISE]
    assert choice.score[choice.best] >= max(known) - len(y) * parameter_search.SHORT_RUN_TOL**2
    assert choice.best.label_noise >= 0.1


def test_says_what_gamma_scale_is():
    X, y = from_the_prior(40, 0.5, 0.1, 0.0, seed=0)
    choice = chosen(X, y, Settings("scale", True, "auto", 0.0))
    assert choice.best.gamma == pytest.approx(1 / (2 * X.var()))
    assert f"gamma={choice.best.gamma:.3g}," in str(choice)


def test_looks_further_where_nothing_near_is_possible():
    X, y = make_moons(200, noise=0.4, random_state=0)
    # With a hard boundary only a large gamma separates these labels.
    assert BayesPointClassifier(softness=0).fit(X, y).score(X, y) == 1


def test_indefinite_candidates_are_refused():
    X = np.random.default_rng(0).standard_normal((30, 2))
    y = np.where(X[:, 0] > 0, 1, -1)
    matrix = np.tanh(X @ X.T)
    needed = -np.linalg.eigvalsh(unit_matrix(matrix)[0]).min()
    choice = chosen(matrix, y, Settings(1.0, False, "auto", 0.0), kernels(matrix, "precomputed"))
    assert needed > 0.01
    for settings, value in choice.score.items():
        assert np.isfinite(value) == (settings.softness > needed)
