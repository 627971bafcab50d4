import numpy as np
import pytest
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from bayespoint import (
    AdaptiveMarginSVC,
    LinearBayesPointClassifier,
    LinearMarginSVC,
    LinearProgramSVC,
    OnionClassifier,
    RejectOptionClassifier,
    to_onnx,
)
from bayespoint.solvers import Billiard, Cells, Corners, Gibbs, Mosaic, Nystroem, Perceptron
from onnx_helpers import CAUCHY_TOLERANCE, TOLERANCE, assert_same, bayes_point, run, session

SOLVERS = [
    Billiard(tol=0.2, n_draws=20),
    Gibbs(tol=0.2, n_draws=20),
    Corners(),
    Perceptron(n_members=5),
    Nystroem(n_landmarks=20),
    Cells(),
    Mosaic(n_landmarks=20),
]


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda s: type(s).__name__)
def test_solvers(moons, iris, solver):
    for X, y, points in (moons, iris):
        model = bayes_point(X, y, solver=solver)
        assert_same(
            model, points, tolerance=TOLERANCE if model.probit_df_ > 1 else CAUCHY_TOLERANCE
        )


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "laplacian"])
@pytest.mark.parametrize("machine", [AdaptiveMarginSVC, LinearProgramSVC])
def test_linear_programs(moons, iris, machine, kernel):
    for X, y, points in (moons, iris):
        near = points[np.abs(points).max(axis=1) < 1e3]
        for options in ({}, {"fit_intercept": True}, {"normalize": True}):
            model = machine(kernel, gamma=0.5, degree=2, **options).fit(X - 1, y)
            # Large coefficients enlarge the rounding of kernel values.
            size = np.abs(model.dual_coef_).sum()
            assert_same(model, near, tolerance=TOLERANCE * max(size, 1))


@pytest.mark.filterwarnings("ignore:With adaptivity")
def test_linear_program_without_support_vectors(moons):
    X, y, points = moons
    model = AdaptiveMarginSVC(gamma=0.5, adaptivity=1e6, fit_intercept=True).fit(X, y[::-1])
    assert len(model.support_) == 0
    found = run(session(model), points)
    np.testing.assert_array_equal(found["label"], model.predict(points))


def test_onion(moons):
    X, y, points = moons
    model = OnionClassifier(gamma=0.5, softness=0.3, random_state=0, n_bounces=2000).fit(X, y)
    assert_same(model, points)
    other = model.classifier(0, 1)
    assert_same(other, points)
    assert_same(model.weigh(np.ones((6, 6))), points)


def test_a_changed_model_is_noticed(moons):
    X, y, points = moons
    model, twin = bayes_point(X, y), bayes_point(X, y)
    twin.dual_coef_ = twin.dual_coef_ * (1 + 1e-8)
    with pytest.raises(AssertionError):
        assert_same(model, points, twin=twin)


def test_other_estimators(moons):
    X, y, _ = moons
    with pytest.raises(ValueError, match="LogisticRegression cannot be exported"):
        to_onnx(LogisticRegression().fit(X, y))
    model = make_pipeline(MinMaxScaler(), LinearBayesPointClassifier()).fit(X, y)
    with pytest.raises(ValueError, match="MinMaxScaler cannot be exported"):
        to_onnx(model)


def test_accept_by_scores(moons, iris):
    for X, y, points in (moons, iris):
        frozen = FrozenEstimator(LinearMarginSVC().fit(X, y))
        model = RejectOptionClassifier(frozen, reject_rate=0.4).fit(X, y)
        near = points[np.abs(points).max(axis=1) < 1e3]
        found = run(session(model), near)
        assert 0 < found["accept"].mean() < 1
        np.testing.assert_array_equal(found["accept"], model.accept(near))
