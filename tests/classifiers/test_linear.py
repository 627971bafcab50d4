import numpy as np
import pytest
from scipy import sparse, stats
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.utils.estimator_checks import parametrize_with_checks

from bayespoint import LinearBayesPointClassifier
from bayespoint.solvers.propagation.on_gram import propagate
from weights_helpers import classifier, exact

COVARIANCES = ["full", "factorized"]


@pytest.fixture
def data():
    return make_classification(150, 6, n_informative=3, flip_y=0.1, random_state=0)


# What it computes


def test_values_of_infer_net():
    # Values published with the tests of Infer.NET's Bayes point machine.
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
    # Every row has a single entry, so the weights are independent in the posterior.
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
    # Negative control of the last test: correlated features make a difference.
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
    # Factorized sweeps converge slowly, by about 1 % per sweep: the remaining error is at
    # least a hundred times the last step.
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
    # Not identical: the order differs, and "full" processes rows in blocks.
    assert again.log_evidence_ == pytest.approx(expected, abs=0.05 * abs(expected))


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_batches_add_up(data, covariance):
    X, y = data
    stream = exact(covariance=covariance, batch_sweeps=100)
    for rows in np.array_split(np.arange(len(y)), 5):
        stream.partial_fit(X[rows], y[rows], classes=[0, 1])
    whole = exact(covariance=covariance).fit(X, y)
    # Not identical, because early rows are not visited again.
    assert np.abs(stream.coef_ - whole.coef_).max() < np.sqrt(whole.coef_variance_.min())
    assert np.all(stream.coef_variance_ < 1)


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
def test_merging_multiplies_likelihoods(data, covariance):
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


@pytest.mark.parametrize("covariance", COVARIANCES)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_default_models_can_be_merged(covariance, n_classes):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3000, 6)) * 10.0 ** np.arange(-3, 3)
    scores = X / 10.0 ** np.arange(-3, 3) @ rng.standard_normal((6, n_classes))
    y = (scores + rng.standard_normal(scores.shape)).argmax(axis=1)
    X[:1500, 2] = 0.0  # does not vary in the first part
    one, two = (
        classifier(covariance=covariance).fit(X[rows], y[rows])
        for rows in (slice(1500), slice(1500, None))
    )
    assert not np.array_equal(one.prior_variance_, two.prior_variance_)
    merged, whole = one.merge(two), classifier(covariance=covariance).fit(X, y)
    assert merged.n_samples_seen_ == 3000
    assert np.isnan(merged.log_evidence_)
    assert np.abs(merged.coef_[:, 2]).max() > 0.2 * np.abs(two.coef_[:, 2]).max()
    # Rows of one part did not know the other, and the priors differ, but 3000 rows say more.
    assert np.abs(merged.predict_proba(X) - whole.predict_proba(X)).mean() < 0.05
    merged.partial_fit(X[:10], y[:10], classes=np.arange(n_classes))


# Empty input


def test_sparse_matrices_without_entries_or_columns():
    y = [0, 1] * 5
    model = classifier().fit(sparse.csr_matrix((10, 3)), y)
    np.testing.assert_allclose(model.predict_proba(sparse.csr_matrix((2, 3))), 0.5)
    with pytest.raises(ValueError, match="0 feature"):
        classifier().fit(sparse.csr_matrix((10, 0)), y)


# More than two classes


@pytest.fixture
def three():
    X, y = make_classification(200, 5, n_informative=4, n_redundant=0, n_classes=3, random_state=0)
    return X, np.array(["a", "b", "c"])[y]


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
    model = classifier(covariance="factorized").fit(X[::2], y[::2])
    # LogisticRegression has 3.6 % errors with C chosen on the test set.
    assert model.score(X[1::2], y[1::2]) > 0.93
    assert log_loss(y[1::2], model.predict_proba(X[1::2])) < 0.25


def test_classes_are_fixed_by_the_first_batch(data):
    X, y = data
    model = classifier().partial_fit(X[:10], np.zeros(10), classes=[0, 1])
    with pytest.raises(ValueError, match="as in the first call"):
        model.partial_fit(X, y, classes=[0, 1, 2])
    with pytest.raises(ValueError, match="but holds"):
        model.partial_fit(X, y + 1)
    with pytest.raises(ValueError, match="fit_intercept should be as in the first call"):
        model.set_params(fit_intercept=not model.fit_intercept).partial_fit(X, y)
    with pytest.raises(ValueError, match="two classes to tell apart"):
        classifier().partial_fit(X, np.zeros(len(X)))
    with pytest.raises(ValueError, match="holds no class"):
        classifier().partial_fit(X, y, classes=[])
    for labels in (y + 0.5, y.astype(str), y + 5):
        with pytest.raises(ValueError, match="y should hold classes"):
            classifier().partial_fit(X, labels, classes=[0, 1])
    for classes in (np.array([0, 1], dtype=object), [1, 0.0, 1.5], range(30)):
        assert len(classifier().partial_fit(X, y, classes=classes).coef_) in (1, len(classes))


@parametrize_with_checks(
    # Rows are visited in an order that depends on their number, so results agree only to the
    # accuracy of the iteration.
    [
        LinearBayesPointClassifier(),
        LinearBayesPointClassifier(covariance="factorized", tol=1e-10, max_iter=100_000),
    ]
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize("seed", [6, 13, 33])
def test_sweeps_that_swing_converge(seed):
    # Without mixing, sweeps over these parts of iris swung for ever.
    X, y = load_iris(return_X_y=True)
    X, _, y, _ = train_test_split(X, y, random_state=seed, test_size=0.3 if seed == 13 else 0.5)
    model = LinearBayesPointClassifier().fit(X, y)  # a warning would be an error
    assert model.n_iter_ < 60
    near = LinearBayesPointClassifier(tol=1e-4, max_iter=400).fit(X, y)
    # The default tolerance stops where the evidence is flat: it cannot tell these priors apart.
    assert abs(model.log_evidence_ - near.log_evidence_) < 1
