import itertools
import warnings

import numpy as np
import pytest
from scipy import sparse, special, stats
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import log_loss
from sklearn.utils.estimator_checks import parametrize_with_checks

from bayespoint import BayesPointClassifier, LinearBayesPointClassifier
from bayespoint._jit.linear import log_phi, moments, recover, refine
from bayespoint.classifiers.linear import FEW_ROWS, chosen
from bayespoint.solvers.propagation.on_gram import propagate
from bayespoint.solvers.weights.linear import (
    Belief,
    FactorizedRows,
    FullRows,
    Scale,
    _has_short_rows,
    entries,
    even_blocks,
    growing_blocks,
    independent,
    iterate,
    mixed_order,
)

COVARIANCES = ["full", "factorized"]


def classifier(**parameters):
    return LinearBayesPointClassifier(**parameters)


@pytest.fixture
def data():
    return make_classification(150, 6, n_informative=3, flip_y=0.1, random_state=0)


def exact(**parameters):
    """Everything fixed, and iterated to the end."""
    given = {"prior_variance": 1.0, "fit_intercept": False, "tol": 1e-10, "max_iter": 10_000}
    return classifier(**{**given, **parameters})


# What it computes


def test_figures_of_infer_net():
    # Published with the tests of Infer.NET's Bayes point machine.
    X, y = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]), [False, True, True]
    model = exact(covariance="factorized").fit(X, y)
    np.testing.assert_allclose(model.coef_, [[0.5641895835, 0.5641895835]], atol=1e-10)
    np.testing.assert_allclose(model.coef_variance_, [[0.6816901138, 0.6816901138]], atol=1e-10)
    probability = model.predict_proba([[0, 2], [4, 0]])[:, 1]
    np.testing.assert_allclose(probability, [0.7205601920, 0.7434467008], atol=1e-10)
    assert model.log_evidence_ == pytest.approx(-2.0794415417, abs=1e-10)


@pytest.mark.parametrize("noise", [1.3, 0.1])
def test_full_covariance_is_the_gaussian_process_with_a_linear_kernel(data, noise):
    X, y = data
    model = exact(prior_variance=0.7, noise_variance=noise, covariance="full").fit(X, y)
    matrix = 0.7 * X @ X.T + noise * np.eye(len(X))
    found = propagate(matrix, 2.0 * y - 1, tol=1e-12, max_iter=1000)
    np.testing.assert_allclose(model.coef_[0], 0.7 * X.T @ found.coef, atol=1e-8)
    assert model.log_evidence_ == pytest.approx(found.log_evidence, abs=1e-8)


@pytest.mark.parametrize("noise", [1.0, 0.0])
def test_independent_weights_need_no_covariance(noise):
    # Every row has a single entry: the posterior of the weights is independent.
    rng = np.random.default_rng(0)
    X = np.eye(5)[rng.integers(0, 5, 60)] * rng.uniform(0.5, 2, (60, 1))
    y = X.sum(axis=1) * 0 + (rng.random(60) < 0.8) if noise else X.sum(axis=1) > 0
    y = y.astype(int)
    y[:2] = 0, 1
    X[0] *= -1 if not noise else 1
    full, other = (exact(noise_variance=noise, covariance=c).fit(X, y) for c in COVARIANCES)
    np.testing.assert_allclose(full.coef_, other.coef_, atol=1e-8)
    np.testing.assert_allclose(full.coef_variance_, other.coef_variance_, atol=1e-8)
    assert full.log_evidence_ == pytest.approx(other.log_evidence_, abs=1e-8)


def test_a_forgotten_factor_would_be_noticed():
    # The negative control of the last test: with correlated features they do differ.
    X = np.random.default_rng(0).standard_normal((60, 2)) @ [[1, 0.9], [0, 0.1]]
    y = X[:, 0] > 0
    full, other = (exact(covariance=c).fit(X, y) for c in COVARIANCES)
    assert np.abs(full.coef_variance_ - other.coef_variance_).max() > 0.01


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_evidence_of_one_row_is_exact(covariance):
    X = np.array([[2.0, -1.0]])
    model = exact(covariance=covariance, prior_variance=2.0, batch_sweeps=9)
    model.partial_fit(X, [1], classes=[0, 1])
    assert model.log_evidence_ == pytest.approx(np.log(0.5))
    # E[w | y] = prior variance * x * phi(0) / Phi(0) / deviation.
    mean = 2.0 * X[0] * stats.norm.pdf(0) / 0.5 / np.sqrt(2 * 5 + 1)
    np.testing.assert_allclose(model.coef_[0], mean, atol=1e-10)


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_weights_are_repetitions(data, covariance):
    X, y = data
    weight = np.random.default_rng(0).integers(0, 3, len(y))
    one = exact(covariance=covariance).fit(X, y, sample_weight=weight)
    two = exact(covariance=covariance).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    # One row after the other converges slowly, by a percent a sweep or so: what is left is a
    # hundred times the last step, or more.
    limit = 1e-8 if covariance == "full" else 1e-6
    np.testing.assert_allclose(one.coef_, two.coef_, atol=limit)
    assert one.log_evidence_ == pytest.approx(two.log_evidence_, abs=limit)
    three = exact(covariance=covariance, class_weight={0: 1, 1: 2}).fit(X, y)
    four = exact(covariance=covariance).fit(X, y, sample_weight=1 + y)
    np.testing.assert_allclose(three.coef_, four.coef_, atol=limit)


@pytest.mark.parametrize("covariance", COVARIANCES)
@pytest.mark.parametrize("prior_variance", ["auto", 1.0])
def test_dense_and_sparse_agree(data, covariance, prior_variance):
    X, y = data
    X = np.where(X > 0.3, X, 0.0)
    options = {"covariance": covariance, "prior_variance": prior_variance, "tol": 1e-6}
    dense = classifier(**options).fit(X, y)
    sparse_ = classifier(**options).fit(sparse.csr_array(X), y)
    np.testing.assert_allclose(dense.coef_, sparse_.coef_, atol=1e-10)
    np.testing.assert_allclose(
        dense.predict_proba(X), sparse_.predict_proba(sparse.csr_array(X)), atol=1e-10
    )


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_the_intercept_is_a_feature_that_is_always_one(data, covariance):
    X, y = data
    model = exact(covariance=covariance, fit_intercept=True).fit(X, y)
    prior = independent(model.prior_variance_, covariance == "full")
    X, rest = np.column_stack([X, np.ones(len(X))]), (2.0 * y - 1, np.ones(len(y)), 1.0)
    if covariance == "full":
        rows = FullRows(X, *rest, even_blocks(*X.shape))
    else:
        rows = FactorizedRows(sparse.csr_array(X), *rest, False)
    mean = iterate(rows, prior, 10_000, 1e-10).belief.mean()
    np.testing.assert_allclose(mean, np.append(model.coef_, model.intercept_), atol=1e-6)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_short_sparse_rows_give_the_same(fit_intercept):
    # Their variances and products are summed entry by entry.
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 30)) * (rng.random((300, 30)) < 0.1)
    y = (X.sum(axis=1) + rng.standard_normal(300) > 0).astype(int)
    sparse_rows = sparse.csr_array(X)
    assert _has_short_rows(sparse_rows)
    options = {"covariance": "full", "fit_intercept": fit_intercept}
    one, two = classifier(**options).fit(X, y), classifier(**options).fit(sparse_rows, y)
    np.testing.assert_allclose(one.coef_, two.coef_, atol=1e-10)
    np.testing.assert_allclose(one.predict_proba(X), two.predict_proba(sparse_rows), atol=1e-10)
    assert one.log_evidence_ == pytest.approx(two.log_evidence_, abs=1e-8)


@pytest.mark.parametrize("covariance", COVARIANCES)
@pytest.mark.parametrize("n_features", [4, 60])
def test_the_prior_has_the_largest_evidence(covariance, n_features):
    rng = np.random.default_rng(n_features)
    X = rng.standard_normal((400, n_features))
    y = X @ rng.standard_normal(n_features) / np.sqrt(n_features) + rng.standard_normal(400) > 0
    options = {"covariance": covariance, "fit_intercept": False, "tol": 1e-8, "max_iter": 10_000}
    chosen = classifier(**options).fit(X, y)
    units = X.shape[1] / chosen.prior_variance_.sum() * chosen.prior_variance_

    def score(factor):
        # In the units of the fit, and with what it imagines: inverse gamma, mode near one.
        variance = factor * chosen.prior_variance_.mean()
        model = classifier(**options, prior_variance=variance).fit(X * np.sqrt(units), y)
        outputs = variance * np.mean(np.sum((X * np.sqrt(units)) ** 2, axis=1))
        half = Scale.IMAGINED / 2
        return model.log_evidence_ - half * np.log(outputs) - half / outputs

    scores = [score(factor) for factor in (0.8, 0.95, 1.0, 1.05, 1.25)]
    assert np.argmax(scores) == 2


def test_blocks_and_their_order_do_not_matter():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((5000, 3))
    y = X @ [1.0, -2.0, 0.5] + rng.standard_normal(5000) > 0
    model = exact(covariance="full").fit(X, y)  # two blocks, starting from some of the rows
    data, prior = (X, 2.0 * y - 1, np.ones(5000), 1.0), independent(np.ones(3), full=True)
    assert len(even_blocks(*X.shape)) == 2
    for blocks in ([slice(None)], even_blocks(*X.shape), growing_blocks(5000, 0)):
        found = iterate(FullRows(*data, blocks), prior, 1000, 1e-10)
        np.testing.assert_allclose(found.belief.mean(), model.coef_[0], atol=1e-9)
        assert found.log_evidence == pytest.approx(model.log_evidence_, abs=1e-7)


def test_a_scale_is_found_in_few_steps():
    # The secants, where the rule by itself would take dozens.
    rng = np.random.default_rng(0)
    X = sparse.random_array((2000, 3000), density=0.01, random_state=rng, format="csr")
    y = X @ rng.standard_normal(3000) + 0.1 * rng.standard_normal(2000) > 0
    assert classifier().fit(X, y).n_iter_ <= 12


@pytest.mark.parametrize("n_rows", [0, 1, 7, 8, 9, 100])
def test_the_mixed_order_has_every_row_once(n_rows):
    assert sorted(mixed_order(n_rows)) == list(range(n_rows))


def test_sorted_labels_do_not_mislead_a_stream():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((4000, 3))
    y = np.sort(rng.integers(0, 2, 4000))
    X[:, 0] += y
    for covariance in COVARIANCES:
        model = classifier(covariance=covariance).partial_fit(X[:0:-2], y[:0:-2])
        model.partial_fit(X[::2], y[::2])
        # Bayes error: Phi(-1/2) = 0.309.
        assert model.score(X, y) > 0.67


def test_features_need_not_be_scaled(data):
    X, y = data
    units = 10.0 ** np.arange(-3, 3)
    one, two = classifier().fit(X, y), classifier().fit(X * units, y)
    np.testing.assert_allclose(one.predict_proba(X), two.predict_proba(X * units), atol=1e-6)


def test_good_on_real_data():
    X, y = load_breast_cancer(return_X_y=True)
    model = classifier().fit(X[::2], y[::2])
    assert model.covariance_ == "full"
    assert model.score(X[1::2], y[1::2]) > 0.95


# Streaming


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_first_batch_is_a_fit(data, covariance):
    X, y = data
    one = exact(covariance=covariance, batch_sweeps=10_000).partial_fit(X, y)
    two = exact(covariance=covariance).fit(X, y)
    np.testing.assert_allclose(one.coef_, two.coef_, atol=1e-8)
    assert one.log_evidence_ == pytest.approx(two.log_evidence_, abs=1e-8)


def test_the_same_sweeps_give_the_same_posterior(data):
    X, y = data
    fixed = {"covariance": "factorized", "prior_variance": 1.0, "tol": 0.0}
    one = classifier(**fixed, batch_sweeps=3).partial_fit(X, y)
    with pytest.warns(ConvergenceWarning, match="still moved"):
        two = classifier(**fixed, max_iter=3).fit(X, y)
    np.testing.assert_array_equal(one.coef_, two.coef_)


@pytest.mark.parametrize("intercept", [True, False])
def test_one_pass_is_one_sweep(data, intercept):
    # Without sites and divisions, the same numbers.
    X, y = data
    weight = np.random.default_rng(0).choice([0.5, 1.0], len(y))
    rows = sparse.csr_array(np.where(X > 0, X, 0)), 2.0 * y - 1, weight, 0.7
    rows = FactorizedRows(*rows, intercept)
    prior = independent(np.linspace(1, 2, 6 + intercept), full=False)
    found, swept = rows.learn_once(prior), prior.times(rows.sweep(prior, 1.0))
    np.testing.assert_allclose(found.belief.precision, swept.precision, rtol=1e-10)
    np.testing.assert_allclose(found.belief.shift, swept.shift, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("far", [10.0, 1e4, 1e8, 1e12])
def test_some_variance_is_left_however_wrong_a_hard_boundary_is(far):
    # Beyond 1e7 deviations its share is below what double precision knows.
    one = FactorizedRows(sparse.csr_array([[3.0]]), np.ones(1), np.ones(1), 0.0, False)
    prior = Belief(np.ones(1), np.full(1, -far))
    for belief in one.learn_once(prior).belief, prior.times(one.sweep(prior, 1.0)):
        assert 0 < belief.variances()[0] < 1
        assert np.isfinite(belief.mean()[0])
        if far == 10.0:  # the moments of a normal distribution cut off at zero
            left = stats.truncnorm(far, np.inf, loc=-far)
            np.testing.assert_allclose([belief.mean()[0], belief.variances()[0]], left.stats())


def test_indices_of_either_size_and_kind_give_the_same(data):
    X, y = data
    X, rows = sparse.csr_matrix(np.where(X > 0, X, 0)), {}
    for size in (np.int32, np.int64):
        X.indices, X.indptr = X.indices.astype(size), X.indptr.astype(size)
        data, indices, indptr = entries(X)
        assert indices.itemsize == indptr.itemsize == np.dtype(size).itemsize
        assert indices.dtype.kind == indptr.dtype.kind == "u"
        np.testing.assert_array_equal(indices, X.indices)
        model = classifier(covariance="factorized").fit(X, y)
        rows[size] = model.partial_fit(X, y).coef_
    np.testing.assert_array_equal(*rows.values())


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_rows_are_scored_before_they_are_learned(data, covariance):
    X, y = data
    model = exact(covariance=covariance, prior_variance=1.0).partial_fit(X[:100], y[:100])
    expected = 0.0
    for i in range(100, 150):
        expected += np.log(model.predict_proba(X[[i]])[0, y[i]])
        model.partial_fit(X[[i]], y[[i]])
    again = exact(covariance=covariance).partial_fit(X[:100], y[:100])
    again.partial_fit(X[100:], y[100:])
    # In another order, and for "full" in blocks, so near but not the same.
    assert again.log_evidence_ == pytest.approx(expected, abs=0.05 * abs(expected))


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_batches_add_up(data, covariance):
    X, y = data
    stream = exact(covariance=covariance, batch_sweeps=100)
    for rows in np.array_split(np.arange(len(y)), 5):
        stream.partial_fit(X[rows], y[rows], classes=[0, 1])
    whole = exact(covariance=covariance).fit(X, y)
    # Not the same, as early rows are not looked at again, but close.
    assert np.abs(stream.coef_ - whole.coef_).max() < np.sqrt(whole.coef_variance_.min())
    assert np.all(stream.coef_variance_ < 1)


@pytest.mark.parametrize("covariance", COVARIANCES)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_few_of_the_first_rows_choose_the_prior(covariance, n_classes):
    # All entries are as large, so that the units of the prior are the same for any rows.
    rng = np.random.default_rng(0)
    X = rng.choice([-1.0, 1.0], (5000, 6))
    y = (X[:, :n_classes] + rng.standard_normal((5000, n_classes))).argmax(axis=1)
    few = chosen(5000, FEW_ROWS)
    assert few.sum() == FEW_ROWS
    model = classifier(covariance=covariance).partial_fit(X, y)
    first = classifier(covariance=covariance).partial_fit(X[few], y[few])
    evidence = first.log_evidence_
    second = first.partial_fit(X[~few], y[~few])
    np.testing.assert_allclose(model.coef_, second.coef_, rtol=1e-10)
    np.testing.assert_allclose(model.prior_variance_, second.prior_variance_, rtol=1e-10)
    assert model.log_evidence_ == pytest.approx(evidence + second.log_evidence_)
    assert model.n_samples_seen_ == 5000


def test_those_few_are_from_everywhere():
    places = np.flatnonzero(chosen(10_000, 2000))
    # Four standard errors of the mean place of 2000 of 10,000.
    assert abs(places.mean() - 5000) < 4 * 10_000 * np.sqrt(0.8 / (12 * 2000))
    np.testing.assert_array_equal(places, np.flatnonzero(chosen(10_000, 2000)))


def test_blocks_grow_with_what_is_known_in_rows(monkeypatch):
    # However often each of them counts.
    known = []

    def noted(n_rows, n_known):
        known.append((n_rows, n_known))
        return growing_blocks(n_rows, n_known)

    monkeypatch.setattr("bayespoint.classifiers.linear.growing_blocks", noted)
    X, y = make_classification(3000, 6, random_state=0)
    for weight in (1.0, 30.0):
        model = classifier(covariance="full").partial_fit(X, y, sample_weight=weight)
        model.partial_fit(X[:100], y[:100], sample_weight=weight)
    assert known == [(1000, 2000.0), (100, 3000.0)] * 2


@pytest.mark.parametrize("covariance", COVARIANCES)
@pytest.mark.parametrize("prior", ["auto", 1.0])
def test_a_batch_that_does_not_count_changes_nothing(data, covariance, prior):
    X, y = data
    model = classifier(covariance=covariance, prior_variance=prior).partial_fit(X, y)
    coef, n = model.coef_, model.n_samples_seen_
    model.set_params(class_weight={0: 0.0, 1: 0.0}).partial_fit(X[:9], y[:9])
    np.testing.assert_allclose(model.coef_, coef, rtol=1e-12)
    assert model.n_samples_seen_ == n
    first = classifier(covariance=covariance, prior_variance=prior, class_weight={0: 0.0, 1: 0.0})
    assert not first.partial_fit(X, y).coef_.any()


def test_all_is_forgotten(data):
    X, y = data
    model = exact(forgetting=1.0, batch_sweeps=20).partial_fit(X, y)
    model.partial_fit(X[:20], y[:20])
    fresh = exact(batch_sweeps=20).partial_fit(X[:20], y[:20], classes=[0, 1])
    np.testing.assert_allclose(model.coef_, fresh.coef_, atol=1e-12)


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_merging_multiplies_what_data_say(data, covariance):
    X, y = data
    one = exact(covariance=covariance).fit(X[:70], y[:70])
    two = exact(covariance=covariance).fit(X[70:], y[70:])
    merged, other = one.merge(two), two.merge(one)
    np.testing.assert_allclose(merged.coef_, other.coef_, atol=1e-12)
    assert np.all(merged.coef_variance_ < np.minimum(one.coef_variance_, two.coef_variance_))
    nothing = exact(covariance=covariance).partial_fit(0 * X[:2], [0, 1])
    np.testing.assert_allclose(one.merge(nothing).coef_, one.coef_, atol=1e-12)


def test_what_cannot_be_merged(data):
    X, y = data
    one = exact().fit(X, y)
    with pytest.raises(ValueError, match="same classes, prior, noise"):
        one.merge(exact(prior_variance=2.0).fit(X, y))


# What it says


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_draws_have_mean_and_spread(data, covariance):
    X, y = data
    model = classifier(covariance=covariance).fit(X, y)
    n = 4000
    draws = model.sample_coef(n, random_state=0)
    mean = np.append(model.coef_, model.intercept_)
    deviation = np.sqrt(np.append(model.coef_variance_, draws[:, -1].var()))
    assert np.abs((draws.mean(axis=0) - mean) / deviation).max() * np.sqrt(n) < 4.5
    # The standard error of a variance from n draws is sqrt(2 / n) of it.
    ratio = draws[:, :-1].var(axis=0) / model.coef_variance_[0]
    assert np.abs(ratio - 1).max() < 4.5 * np.sqrt(2 / n)
    outputs = np.column_stack([X, np.ones(len(X))]) @ draws.T
    assert outputs.std(axis=1) == pytest.approx(model.decision_std(X), rel=4.5 / np.sqrt(2 * n))
    assert (model.predict(X) == model.predict_proba(X).argmax(axis=1)).all()


def test_costs_decide(data):
    X, y = data
    model = classifier().fit(X, y)
    np.testing.assert_array_equal(model.predict(X, loss=[[0, 1], [1, 0]]), model.predict(X))
    # To miss a positive costs nine times as much: positive from a probability of one in ten.
    positive = model.predict(X, loss=[[0, 1], [9, 0]])
    np.testing.assert_array_equal(positive, model.predict_proba(X)[:, 1] > 0.1)
    with pytest.raises(ValueError, match=r"shape \(2, 2\), but has shape \(2,\)"):
        model.predict(X, loss=[1, 2])


@pytest.mark.parametrize(
    ("array", "place", "value"),
    [("indices", 0, -1), ("indices", 2, 10**9), ("indices", 5, 6), ("indptr", 5, 10**8)],
)
@pytest.mark.parametrize("sorted_", [True, False])
def test_entries_outside_of_a_sparse_matrix_are_an_error(data, array, place, value, sorted_):
    # They would be written to whatever memory is there.
    X, y = data
    X = sparse.csr_matrix(X)
    good = X.copy()
    getattr(X, array)[place] = value
    X.has_sorted_indices = X.has_canonical_format = sorted_
    for model in classifier(), BayesPointClassifier():
        with pytest.raises(ValueError, match="not a valid sparse matrix"):
            model.fit(X, y)
        with pytest.raises(ValueError, match="not a valid sparse matrix"):
            model.fit(good, y).predict(X)


def test_sparse_matrices_without_entries_or_columns():
    y = [0, 1] * 5
    model = classifier().fit(sparse.csr_matrix((10, 3)), y)
    np.testing.assert_allclose(model.predict_proba(sparse.csr_matrix((2, 3))), 0.5)
    with pytest.raises(ValueError, match="0 feature"):
        classifier().fit(sparse.csr_matrix((10, 0)), y)


# Sites that were lost


@pytest.mark.parametrize("noise", [1.0, 1e-2, 0.0])
@pytest.mark.parametrize("weight", [0.3, 1.0, 3.0])
def test_a_posterior_knows_the_sites_of_its_rows(noise, weight):
    # Whatever part in the posterior a row has: outputs with variances over eight decades.
    rng, n = np.random.default_rng(0), 20_000
    y, weights = rng.choice([-1.0, 1.0], n), np.full(n, weight)
    V = 10.0 ** rng.uniform(-4, 4, n)
    M = rng.uniform(-8, 8, n) * np.sqrt(V + noise)
    (precision, shift), found = np.zeros((2, n)), np.zeros((2, n))
    refine(y, weights, M, V, noise, 1.0, precision, shift)  # given what others say: M, V
    part = min(weight, 1.0)
    v = 1 / (1 / V + part * precision)
    recover(y, weights, v * (M / V + part * shift), v, noise, *found)
    # The search stops where a step is below 1e-10; errors fall by a factor of 0.9 a round at
    # worst, so that what is left is ten times as much.
    assert np.abs((found[0] - precision) * v).max() < 1e-9
    assert np.abs((found[1] - shift) * np.sqrt(v)).max() < 1e-9


def rows_of(kind, data, y, weight, noise=1.0):
    """Return rows of either kind, with an intercept."""
    y = 2.0 * y - 1
    if kind is FullRows:
        return FullRows(data, y, weight, noise, [slice(0, None, 2), slice(1, None, 2)])
    return FactorizedRows(sparse.csr_array(data), y, weight, noise, True)


@pytest.mark.parametrize("kind", [FullRows, FactorizedRows])
@pytest.mark.parametrize("before", [0, 3])
def test_lost_sites_are_found_again(data, kind, before, monkeypatch):
    # By rows that are new, or a copy from some sweeps ago.
    monkeypatch.setattr("bayespoint.solvers.weights.linear.RECOVERED", 1e-12)
    X, y = data
    weight = np.random.default_rng(0).choice([0.5, 1.0, 2.0], len(y))
    prior = independent(np.ones(7), kind is FullRows)
    rows = rows_of(kind, X, y, weight)
    fit = iterate(rows, prior, 10_000, 1e-10)
    product = fit.belief.over(prior)
    again, belief = rows_of(kind, X, y, weight), prior
    for _ in range(before):
        belief = prior.times(again.sweep(belief, 1.0))
    found = again.recover(fit.belief, product, 10_000)
    # As exact as the fit, whose sweeps move it by 1e-10 and come closer by a few percent each.
    assert prior.times(found).distance(fit.belief) < 1e-8
    constants = [each.log_constant(fit.belief) for each in (rows, again)]
    assert constants[0] == pytest.approx(constants[1], abs=1e-6)
    # It goes on where it was.
    next_ = prior.times(again.sweep(prior.times(found), 1.0))
    assert next_.distance(fit.belief) < 1e-8


def test_an_old_copy_is_not_learned_from_the_beginning(data):
    X, y = data
    weight, prior = np.ones(len(y)), independent(np.ones(7), False)
    fit = iterate(rows_of(FactorizedRows, X, y, weight), prior, 10_000, 1e-10)
    far = []
    for n_sweeps in (0, 1000):
        rows, belief = rows_of(FactorizedRows, X, y, weight), prior
        for _ in range(n_sweeps):
            belief = prior.times(rows.sweep(belief, 1.0))
        found = rows.recover(fit.belief, fit.belief.over(prior), 1)
        far.append(prior.times(found).distance(fit.belief))
    assert far[0] > 0.1
    assert far[1] < 1e-6


def test_a_row_that_the_posterior_contradicts_gets_no_site():
    sites = np.ones((2, 1))
    # All weights are on the wrong side of it, by 50 standard deviations.
    recover(np.ones(1), np.ones(1), np.full(1, -5.0), np.full(1, 0.01), 0.0, *sites)
    np.testing.assert_array_equal(sites, 0.0)


# More than two classes


@pytest.fixture
def three():
    X, y = make_classification(200, 5, n_informative=4, n_redundant=0, n_classes=3, random_state=0)
    return X, np.array(["a", "b", "c"])[y]


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_weights_of_classes_sum_to_zero(three, covariance):
    model = classifier(covariance=covariance).fit(*three)
    assert model.coef_.shape == model.coef_variance_.shape == (3, 5)
    np.testing.assert_allclose(model.coef_.sum(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(model.intercept_.sum(), 0, atol=1e-12)
    probability = model.predict_proba(three[0])
    np.testing.assert_allclose(probability.sum(axis=1), 1, atol=1e-12)
    np.testing.assert_array_equal(model.predict(three[0]), model.classes_[probability.argmax(1)])
    np.testing.assert_allclose(
        stats.norm.cdf(model.decision_function(three[0])), probability, atol=1e-6
    )


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_draws_of_classes_have_mean_and_spread(three, covariance):
    X, _ = three
    model = classifier(covariance=covariance).fit(*three)
    n = 4000
    draws = model.sample_coef(n, random_state=0)
    assert draws.shape == (n, 3, 6)
    mean = np.column_stack([model.coef_, model.intercept_])
    assert np.abs((draws.mean(axis=0) - mean) / draws.std(axis=0)).max() * np.sqrt(n) < 4.5
    ratio = draws[:, :, :5].var(axis=0) / model.coef_variance_
    assert np.abs(ratio - 1).max() < 4.5 * np.sqrt(2 / n)
    scores = np.column_stack([X, np.ones(len(X))])[None] @ draws.transpose(0, 2, 1)
    np.testing.assert_allclose(scores.std(axis=0), model.decision_std(X), rtol=4.5 / np.sqrt(2 * n))
    # The largest score, with noise, wins as often as the probability says.
    noisy = scores + np.random.default_rng(0).standard_normal(scores.shape)
    share = np.mean(noisy.argmax(axis=2)[:, :, None] == np.arange(3), axis=0)
    assert np.abs(share - model.predict_proba(X)).max() < 5 / np.sqrt(4 * n)
    if covariance == "full":
        flat = draws.reshape(n, -1)
        np.testing.assert_allclose(
            np.cov(flat.T), model.coef_covariance_, atol=0.1 * model.coef_covariance_.max()
        )


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_streams_of_three_classes(three, covariance):
    X, y = three
    fixed = {"covariance": covariance, "prior_variance": 1.0}
    whole = classifier(**fixed).fit(X, y)
    stream = classifier(**fixed)
    for rows in np.array_split(np.arange(200), 10):
        stream.partial_fit(X[rows], y[rows], classes=["a", "b", "c"])
    assert np.abs(stream.predict_proba(X) - whole.predict_proba(X)).mean() < 0.05
    first = classifier(**fixed).fit(X[:100], y[:100])
    merged = first.merge(classifier(**fixed).fit(X[100:], y[100:]))
    assert np.abs(merged.predict_proba(X) - whole.predict_proba(X)).mean() < 0.05
    assert merged.n_samples_seen_ == 200


def test_costs_of_three_classes(three):
    X, y = three
    model = classifier().fit(X, y)
    np.testing.assert_array_equal(model.predict(X, loss=1 - np.eye(3)), model.predict(X))
    never = model.predict(X, loss=[[0, 1, 9], [1, 0, 9], [1, 1, 9]])
    assert "c" not in never


def test_weights_and_classes(three):
    X, y = three
    counts = {"a": 1, "b": 2, "c": 1}
    one = exact(class_weight=counts).fit(X, y)
    two = exact().fit(X, y, sample_weight=np.array([counts[label] for label in y]))
    np.testing.assert_allclose(one.coef_, two.coef_, atol=1e-10)
    with pytest.raises(ValueError, match="A class of y has no row of positive weight"):
        classifier(class_weight={"a": 0, "b": 1, "c": 1}).fit(X, y)


def test_digits():
    X, y = load_digits(return_X_y=True)
    model = classifier().fit(X[::2], y[::2])
    assert model.covariance_ == "factorized"
    # LogisticRegression with its C chosen on the test set makes 3.6 % errors.
    assert model.score(X[1::2], y[1::2]) > 0.93
    assert log_loss(y[1::2], model.predict_proba(X[1::2])) < 0.25


def test_large_problems_are_factorized():
    X = sparse.random_array(
        (50, 600), density=0.05, random_state=np.random.default_rng(0), format="csr"
    )
    model = classifier().fit(X, np.arange(50) % 2)
    assert model.covariance_ == "factorized"
    assert classifier().fit(X[:, :200], np.arange(50) % 2).covariance_ == "full"
    assert classifier().partial_fit(X[:, :200], np.arange(50) % 2).covariance_ == "factorized"
    assert classifier().partial_fit(X[:, :90], np.arange(50) % 2).covariance_ == "full"
    assert not hasattr(model, "coef_covariance_")


def test_classes_are_fixed_by_the_first_batch(data):
    X, y = data
    model = classifier().partial_fit(X[:10], np.zeros(10), classes=[0, 1])
    with pytest.raises(ValueError, match="those of the first call"):
        model.partial_fit(X, y, classes=[0, 1, 2])
    with pytest.raises(ValueError, match="but holds"):
        model.partial_fit(X, y + 1)
    with pytest.raises(ValueError, match="fit_intercept should stay"):
        model.set_params(fit_intercept=not model.fit_intercept).partial_fit(X, y)
    with pytest.raises(ValueError, match="two classes to tell apart"):
        classifier().partial_fit(X, np.zeros(len(X)))
    with pytest.raises(ValueError, match="there is no class"):
        classifier().partial_fit(X, y, classes=[])
    for labels in (y + 0.5, y.astype(str), y + 5):
        with pytest.raises(ValueError, match="y should hold classes"):
            classifier().partial_fit(X, labels, classes=[0, 1])
    for classes in (np.array([0, 1], dtype=object), [1, 0.0, 1.5], range(30)):
        assert len(classifier().partial_fit(X, y, classes=classes).coef_) in (1, len(classes))


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_contradictions_under_a_hard_boundary_are_an_error(covariance):
    X = np.repeat(np.random.default_rng(0).standard_normal((10, 3)), 2, axis=0)
    y = np.tile([0, 1], 10)
    model = classifier(covariance=covariance, noise_variance=0.0, prior_variance=1.0, max_iter=20)
    with pytest.warns(ConvergenceWarning), pytest.raises(ValueError, match="Raise noise_variance"):
        model.fit(X, y)


@pytest.mark.parametrize("seed", range(12))
def test_numbers_are_finite_or_the_labels_inexplicable(seed):
    # Features over 120 decades, rows that count 1e-6 to 1e6 times, priors of 1e-12 to 1e12.
    rng = np.random.default_rng(seed)
    n, d = rng.integers([2, 1], [80, 12])
    X = np.where(rng.random((n, d)) < rng.random(), rng.standard_normal((n, d)), 0.0)
    X *= 10.0 ** rng.uniform(-60, 60, d) if seed % 3 == 1 else 10.0
    X = np.round(X) if seed % 3 == 0 else X
    y = X @ rng.standard_normal(d) > 0 if seed % 2 else rng.random(n) < 0.5
    y[0], y[-1] = True, False
    weight = 10.0 ** rng.uniform(-6, 6, n) if seed % 4 > 1 else None
    for noise, prior, covariance, method in itertools.product(
        (1.0, 1e-8, 0.0), ("auto", 1.0, 1e12, 1e-12), COVARIANCES, ("fit", "partial_fit")
    ):
        model = classifier(
            noise_variance=noise, prior_variance=prior, covariance=covariance, max_iter=30
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            try:
                getattr(model, method)(X, y, sample_weight=weight)
            except ValueError as error:
                if noise == 0 and "Raise noise_variance" in str(error):
                    continue
                raise
        for values in model.coef_, model.coef_variance_, model.log_evidence_:
            assert np.all(np.isfinite(values))
        assert np.all(np.isfinite(model.predict_proba(X)))


def test_far_tails_are_those_of_the_scaled_error_function():
    z = -np.geomspace(30, 1e3)
    slope = np.sqrt(2 / np.pi) / special.erfcx(-z / np.sqrt(2))
    log_z, a, b = np.transpose([moments(1.0, value, 1.0) for value in z])
    np.testing.assert_allclose(log_z, special.log_ndtr(z), rtol=1e-12)
    np.testing.assert_allclose(a, slope, rtol=1e-12)
    # The series leaves out 2e-10; the difference below loses digits, 1e-16 z^2 of it.
    assert np.all(np.abs(b / (slope * (slope + z)) - 1) < 2e-10 + 1e-15 * z**2)


def test_the_evidence_of_long_rows_does_not_overflow():
    # Five hundred weights, each of which the row makes ten times as precise.
    n = 500
    rows = FactorizedRows(sparse.csr_array(np.ones((1, n))), np.ones(1), np.ones(1), 1.0, False)
    rows.sites = np.full(n, 9.0), np.full(n, 0.3)
    mean, variance = 0.1, 2.0  # of the others
    belief = Belief(np.full(n, 1 / variance + 9.0), np.full(n, mean / variance + 0.3))
    site = stats.norm(0.3 / 9.0, np.sqrt(1 / 9.0 + variance)).logpdf(mean)
    # A site is a normal density but for a factor.
    site += 0.5 * np.log(2 * np.pi / 9.0) + 0.5 * 0.3**2 / 9.0
    expected = special.log_ndtr(n * mean / np.sqrt(1 + n * variance)) - n * site
    assert rows.log_constant(belief) == pytest.approx(expected, rel=1e-10)


def test_log_phi_is_scipys():
    z = np.concatenate([np.linspace(-40, 10, 2001), [-1e5, -10.0, -10.000001, 37.0]])
    ours = np.array([log_phi(value) for value in z])
    np.testing.assert_allclose(ours, special.log_ndtr(z), rtol=1e-9, atol=1e-15)


@parametrize_with_checks(
    # Rows visited one after the other, in an order that depends on their number, agree as
    # far as they are iterated.
    [
        LinearBayesPointClassifier(),
        LinearBayesPointClassifier(covariance="factorized", tol=1e-10, max_iter=100_000),
    ]
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize("covariance", COVARIANCES)
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("n", [300, 3000])
def test_labels_that_no_weights_explain_need_noise(covariance, method, n_classes, n):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 20))
    clean = (X @ rng.standard_normal((20, n_classes))).argmax(axis=1)
    noisy = np.where(rng.random(n) < 0.2, rng.integers(n_classes, size=n), clean)
    model = LinearBayesPointClassifier(covariance=covariance, noise_variance=0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        with pytest.raises(ValueError, match="Raise noise_variance"):
            getattr(clone(model), method)(X, noisy)
        assert getattr(clone(model), method)(X, clean).score(X, clean) > 0.99
        # A first call that failed can be repeated.
        with pytest.raises(ValueError, match="Raise noise_variance"):
            getattr(model, method)(X, noisy)
        getattr(model.set_params(noise_variance=1.0), method)(X, noisy)
