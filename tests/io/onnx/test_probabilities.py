import numpy as np
import pytest
from scipy import special

from bayespoint import BayesPointClassifier, to_onnx
from bayespoint.io.onnx.probabilities import log_normal_tail, normal_tail, student_tail, two_classes
from onnx_helpers import CAUCHY_TOLERANCE, TOLERANCE, assert_same, bayes_point, evaluate

OUTPUTS = np.r_[0, 5e-324, 1e-38, np.logspace(-12, 2, 4001), 1e8]


def test_normal_tail():
    tail, log_tail = evaluate(lambda a: (normal_tail(a), log_normal_tail(a)), OUTPUTS)
    np.testing.assert_allclose(tail, special.ndtr(-OUTPUTS), rtol=0, atol=5e-15)
    np.testing.assert_allclose(log_tail, special.log_ndtr(-OUTPUTS), rtol=1e-14)


def test_normal_tail_of_infinity_and_nan():
    x = np.array([np.inf, 1e300, np.nan])
    tail, log_tail = evaluate(lambda a: (normal_tail(a), log_normal_tail(a)), x)
    np.testing.assert_array_equal(tail, [0, 0, np.nan])
    assert np.all(np.isfinite(log_tail[:2]))


def test_a_polynomial_of_lower_degree_is_noticed():
    (tail,) = evaluate(lambda a: [normal_tail(a, 10)], OUTPUTS)
    assert np.abs(tail - special.ndtr(-OUTPUTS)).max() > 1e-8


@pytest.mark.parametrize("df", [1, 2, 4, 8, 10])
def test_student_tail(df):
    (tail,) = evaluate(lambda a: [student_tail(a, df)], OUTPUTS)
    # SciPy has an error of 2e-9 for df=1.
    expected = special.stdtr(df, -OUTPUTS) if df > 1 else np.arctan2(1, OUTPUTS) / np.pi
    np.testing.assert_allclose(tail, expected, rtol=1e-12)


@pytest.mark.parametrize("df", [np.inf, 1, 2, 4, 8])
@pytest.mark.parametrize("label_noise", [0.0, 0.05])
def test_laws(moons, iris, df, label_noise):
    for X, y, points in (moons, iris):
        model = bayes_point(X, y)
        for scale in (1e-3, model.probit_scale_, 1e6):
            model.probit_df_, model.label_noise_, model.probit_scale_ = df, label_noise, scale
            # The scale multiplies errors of outputs, and SciPy adds its own error.
            assert_same(
                model, points, tolerance=TOLERANCE if scale < 1e6 and df > 1 else CAUCHY_TOLERANCE
            )


def test_label_noise_and_automatic_parameters(moons):
    X, y, points = moons
    model = BayesPointClassifier(label_noise=0.1, random_state=0).fit(X, y)
    assert_same(model, points)


def test_the_smallest_output_keeps_its_sign_with_any_law():
    (p,) = evaluate(lambda x: [two_classes(x, df=2.0)], np.array([1e-300, -1e-300]), n_columns=2)
    np.testing.assert_array_equal(p.argmax(axis=1), [1, 0])


@pytest.mark.parametrize("df", [3.0, -2.0, np.nan, 2.0**31])
def test_degrees_of_freedom_without_a_formula(moons, df):
    """A forged file with many of them took all memory: each two are a term of the graph."""
    model = bayes_point(*moons[:2])
    model.probit_df_ = df
    with pytest.raises(ValueError, match="probit_df_ is"):
        to_onnx(model)
