import numpy as np
import pytest
from sklearn.datasets import make_blobs

from bayespoint import to_onnx
from bayespoint.io.onnx.kernels import _MAX_SQUARED_WIDTHS
from bayespoint.solvers import Cells, Mosaic
from onnx_helpers import CAUCHY_TOLERANCE, TOLERANCE, assert_same, bayes_point, run, session


@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "laplacian"])
def test_kernels(moons, iris, kernel, fit_intercept, normalize):
    for X, y, points in (moons, iris):
        options = {"fit_intercept": fit_intercept, "normalize": normalize, "degree": 2}
        model = bayes_point(X, y, kernel, **options)
        # Python refuses points whose squared length overflows.
        moderate = np.abs(points).max(axis=1) < 1e50
        assert_same(model, points[moderate] if kernel == "poly" else points)


@pytest.mark.parametrize("degree", [1, 1.5, 2, 5, 7])
def test_degrees(moons, degree):
    X, y, _ = moons
    X = X - X.min(axis=0)  # no power of a negative number
    assert_same(bayes_point(X, y, "poly", degree=degree), np.vstack([X, 10 * X]))


@pytest.mark.parametrize("normalize", [False, True])
def test_sigmoid(moons, normalize):
    X, y, points = moons
    model = bayes_point(X, y, "sigmoid", solver="perceptron", gamma=0.1, normalize=normalize)
    assert_same(
        model, points[:2000], tolerance=TOLERANCE if model.probit_df_ > 1 else CAUCHY_TOLERANCE
    )


@pytest.mark.parametrize("kernel", ["linear", "rbf", "laplacian"])
def test_cells(moons, iris, kernel):
    # Beyond 1e10, rounding decides which cell scikit-learn finds for a point.
    for X, y, points in (moons, iris):
        model = bayes_point(X, y, kernel, solver=Cells(n_points=15))
        assert len(model.cell_centers_) > 2
        assert_same(model, points[np.abs(points).max(axis=1) < 1e10])


@pytest.mark.parametrize("kernel", ["linear", "rbf", "laplacian", "auto"])
@pytest.mark.parametrize("n_points", [15, 1000])
def test_mosaic(moons, iris, kernel, n_points):
    # The model itself predicts in single precision where the kernel allows it (docs/onnx.md).
    for X, y, points in (moons, iris):
        model = bayes_point(X, y, kernel, solver=Mosaic(10, n_points))
        assert (len(model.cell_centers_) > 2) == (n_points == 15)
        near = points[np.abs(points).max(axis=1) < 1e10]
        assert_same(model, near, tolerance=1e-5 if model._single else TOLERANCE)


@pytest.mark.parametrize("solver", ["regression", Mosaic(20, 15)])
def test_compact_models(moons, iris, solver):
    """Graphs have the carriers alone; compared in double precision, which they compute in."""
    for X, y, points in (moons, iris):
        model = bayes_point(X, y, "auto", solver=solver, gamma="auto")
        small = model.compact(0.05)
        small._single = False
        assert_same(small, points[np.abs(points).max(axis=1) < 1e10])
        assert len(to_onnx(small).SerializeToString()) < len(to_onnx(model).SerializeToString())


def test_cells_share_their_landmarks():
    """Points and their ranks are stored once, not once for each cell."""
    n_landmarks, n_features = 60, 12
    X = np.random.default_rng(0).standard_normal((120, n_features))
    model = bayes_point(X, X[:, 0] > 0, "auto", solver=Mosaic(n_landmarks, 15), gamma="auto")
    assert len(model.cell_centers_) > 4
    shapes = [sorted(constant.dims) for constant in to_onnx(model).graph.initializer]
    tables = [s for s in shapes if len(s) == 2 and s[0] == n_features and s[1] >= n_landmarks]
    assert tables == 2 * [[n_features, len(X) + n_landmarks]]


def test_points_far_from_each_other():
    """Squares would lose the digits of distances, so the graph uses differences."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3)) + 1e6 * rng.integers(0, 2, (60, 1))
    model = bayes_point(X, (X[:, 0] % 1e3 < 500).astype(int), solver="perceptron", gamma=1.0)
    squares = np.sum((model.support_vectors_ - model.origin_) ** 2, axis=1)
    assert squares.max() > _MAX_SQUARED_WIDTHS
    assert_same(model, X + 0.1 * rng.standard_normal(X.shape))


@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
def test_the_edge_of_double_precision(moons, kernel):
    X, y, _ = moons
    far = np.array([[1.7e308, -1.7e308], [1.7e308, 0], [-1.7e308, 1]])
    assert_same(bayes_point(30 * X, y, kernel, gamma=0.01), np.vstack([30 * X, far]))


def test_many_features_and_the_single_precision_of_python():
    X, y = make_blobs(150, 40, centers=3, cluster_std=9, random_state=0)
    model = bayes_point(X, y, solver="perceptron", gamma=1e-4)
    assert_same(model, X)
    model._single = True  # as with many training points
    error = np.abs(run(session(model), X)["probabilities"] - model.predict_proba(X)).max()
    assert TOLERANCE < error < 1e-5


def test_kernels_that_are_not_known(moons):
    X, y, _ = moons
    model = bayes_point(X @ X.T + 1, y, "precomputed")
    with pytest.raises(ValueError, match="A precomputed kernel cannot be exported"):
        to_onnx(model)
    model = bayes_point(X, y, lambda A, B: A @ B.T + 1)
    with pytest.raises(ValueError, match="A kernel function cannot be exported"):
        to_onnx(model)
