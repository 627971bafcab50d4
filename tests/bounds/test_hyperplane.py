import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from bayespoint import BayesPointClassifier, LinearBayesPointClassifier
from bayespoint.bounds import normalized_margins
from bayespoint.datasets.two_gaussians import TwoGaussians


@pytest.fixture(scope="module")
def data():
    X, y = TwoGaussians([1.0, 0.5], [0.0, 0.3]).draw(80, random_state=0)
    return X + 0.3, np.where(y > 0, "yes", "no")  # not centered at the origin


def cosine(features, weights, y):
    lengths = np.linalg.norm(features, axis=1) * np.linalg.norm(weights)
    return np.where(y == "yes", 1, -1) * (features @ weights) / lengths


@pytest.mark.parametrize("scaling", [1.0, 3.0])
@pytest.mark.parametrize(
    "model",
    [
        LinearSVC(),
        LogisticRegression(),
        SVC(kernel="linear"),
        LinearBayesPointClassifier(),
        BayesPointClassifier(kernel="linear"),
        BayesPointClassifier(kernel="linear", solver="perceptron", random_state=0),
    ],
    ids=repr,
)
def test_linear_models_are_hyperplanes_in_input_space(model, scaling, data):
    X, y = data
    model.fit(X, y)
    # Compute the weights from decisions alone, at the origin and on the axes.
    axes = np.vstack([np.zeros(2), np.eye(2)])
    if hasattr(model, "coef_"):
        weights = np.append(model.coef_, model.intercept_ / scaling)
    else:  # decisions are cosines, in a feature space with another constant
        lengths = np.sqrt(np.sum((axes - model.origin_) ** 2, axis=1) + model.constant_)
        outputs = model.decision_function(axes) * lengths
        weights = np.append(outputs[1:] - outputs[0], outputs[0] / scaling)
    found = normalized_margins(model, X, y, intercept_scaling=scaling)
    features = np.column_stack([X, np.full(len(X), scaling)])
    assert np.allclose(found, cosine(features, weights, y), atol=1e-5)  # perceptrons use float32
    assert np.array_equal(found > 0, model.predict(X) == y)


@pytest.mark.parametrize(
    "model",
    [
        SVC(kernel="poly", degree=2, gamma=0.5, coef0=1.0),
        BayesPointClassifier(kernel="poly", degree=2, gamma=0.5),
        BayesPointClassifier(kernel="poly", degree=2, gamma=0.5, fit_intercept=False),
        BayesPointClassifier(kernel="poly", degree=2, gamma=0.5, normalize=True),
    ],
    ids=repr,
)
def test_polynomial_kernel_is_its_feature_map(model, data):
    X, y = data
    model.fit(X, y)
    a, b = X.T * np.sqrt(0.5)
    features = np.column_stack([a**2, b**2, np.sqrt(2) * a * b, np.sqrt(2) * a, np.sqrt(2) * b])
    features = np.column_stack([features, np.ones(len(X))])
    if getattr(model, "normalize", False):
        features /= np.linalg.norm(features, axis=1, keepdims=True)
    weights = np.ravel(model.dual_coef_) @ features[model.support_]
    if getattr(model, "fit_intercept", True):
        features = np.column_stack([features, np.full(len(X), 2.0)])
        weights = np.append(weights, model.intercept_ / 2.0)
    found = normalized_margins(model, X, y, intercept_scaling=2.0)
    assert np.allclose(found, cosine(features, weights, y), atol=1e-9)
    assert np.array_equal(found > 0, model.predict(X) == y)


@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
def test_without_intercept_decisions_are_cosines_already(kernel, data):
    X, y = data
    model = BayesPointClassifier(kernel=kernel, gamma=0.5, fit_intercept=False).fit(X, y)
    signed = np.where(y == "yes", 1, -1) * model.decision_function(X)
    found = normalized_margins(model, X, y)
    # They differ only by the length of the mean hypothesis, which the solver reports.
    ratio = signed / found
    assert np.allclose(ratio, ratio[0])
    assert 0 < ratio[0] <= 1


def test_sparse_and_in_blocks(data, monkeypatch):
    X, y = data
    model = SVC(gamma=0.3).fit(sparse.csr_array(X), y)
    whole = normalized_margins(SVC(gamma=0.3).fit(X, y), X, y)
    assert np.allclose(normalized_margins(model, sparse.csr_array(X), y), whole)
    monkeypatch.setattr("bayespoint.bounds.hyperplane._BLOCK_ROWS", 7)
    assert np.allclose(normalized_margins(model, X, y), whole)


def test_point_at_the_origin_has_no_margin():
    X, y = np.array([[0.0, 0.0], [1.0, 2.0], [-1.0, 1.0]]), np.array([0, 1, 0])
    model = LinearSVC(fit_intercept=False).fit(X, y)
    assert normalized_margins(model, X, y)[0] == 0


def test_refuses(data):
    X, y = data
    three = np.arange(len(y)) % 3
    with pytest.raises(ValueError, match="two classes, but this one has 3"):
        normalized_margins(SVC().fit(X, three), X, three)
    model = SVC().fit(X, y)
    with pytest.raises(ValueError, match=r"classes \['no', 'yes'\], but holds \['maybe'\]"):
        normalized_margins(model, X, np.full(len(y), "maybe"))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        normalized_margins(model, X[1:], y)
    with pytest.raises(ValueError, match="intercept_scaling should be a positive"):
        normalized_margins(model, X, y, intercept_scaling=0.0)
    with pytest.raises(TypeError, match="KNeighborsClassifier has no dual_coef_"):
        normalized_margins(KNeighborsClassifier().fit(X, y), X, y)
    with pytest.raises(TypeError, match="For a pipeline, pass its last step"):
        normalized_margins(make_pipeline(StandardScaler(), SVC()).fit(X, y), X, y)
    with pytest.raises(TypeError, match="precomputed"):
        normalized_margins(SVC(kernel="precomputed").fit(X @ X.T, y), X @ X.T, y)
    with pytest.raises(TypeError, match="precomputed kernel, or a callable"):
        normalized_margins(SVC(kernel=lambda A, B: A @ B.T).fit(X, y), X, y)
    model = LinearSVC(fit_intercept=False).fit(X, y)
    model.coef_ = np.zeros((1, 2))
    with pytest.raises(ValueError, match="All weights of the classifier are zero"):
        normalized_margins(model, X, y)
    bad = SVC(kernel="sigmoid", gamma=2.0, coef0=-1.0).fit(X, y)
    with pytest.raises(ValueError, match=r"semi-definite|cannot be negative"):
        normalized_margins(bad, X, y)


def test_a_kernel_chosen_by_the_labels_has_no_bound(data):
    X, y = data
    with pytest.raises(ValueError, match=r'chose a mixture.*Fit with kernel="rbf"'):
        normalized_margins(BayesPointClassifier(random_state=0).fit(X, y), X, y)


def test_tables_are_read_as_in_predictions(data):
    X, y = data
    table = X.astype(object)
    table[:, 0] = np.where(X[:, 0] > 0, "right", "left")
    table[3, 1] = None
    model = BayesPointClassifier(gamma=0.1, softness=0.3, standardize=True).fit(table, y)
    margins = normalized_margins(model, table, y)
    assert np.array_equal(margins > 0, model.predict(table) == y)
