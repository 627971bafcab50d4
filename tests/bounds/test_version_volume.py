import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.svm import SVC

from bayespoint import BayesPointClassifier
from bayespoint.bounds import estimate_version_space_bound, version_space_bound
from bayespoint.datasets.known_answers import make_teacher


def arc(X, y, teacher):
    """Return the angles from a teacher in the plane to the ends of version space."""
    signed = X * y[:, None]
    across = np.array([-teacher[1], teacher[0]])
    lean = np.arctan2(signed @ across, signed @ teacher)  # of normals, within pi / 2
    return np.pi / 2 + lean.max(), np.pi / 2 - lean.min()


def gibbs_error_and_volume(m, rng):
    """Return both exactly, for points around the circle and a teacher in the plane."""
    teacher = np.array([1.0, 0.0])
    X = rng.standard_normal((m, 2))
    y = np.where(X[:, 0] > 0, 1, -1)
    right, left = np.pi - np.array(arc(X, y, teacher))
    error = (right**2 + left**2) / 2 / (right + left) / np.pi
    return error, (right + left) / (2 * np.pi)


@pytest.mark.parametrize("confidence", [0.5, 0.9])
def test_holds_with_its_confidence(confidence, rng):
    m, n_sets = 30, 2000
    found = [gibbs_error_and_volume(m, rng) for _ in range(n_sets)]
    bounds = [version_space_bound(np.log(v), m, confidence=confidence).gibbs for _, v in found]
    errors = np.array([error for error, _ in found])
    assert np.mean(errors > bounds) <= 1 - confidence


@pytest.mark.parametrize("confidence", [0.1, 0.5])
def test_holds_where_most_of_the_error_is_not_yet_seen(confidence, rng):
    """Points lie on d axes: each point seen halves version space, the others are guessed."""
    d, m, n_sets = 100, 50, 500
    seen = np.array([len(set(rng.integers(d, size=m))) for _ in range(n_sets)])
    errors = (d - seen) / d / 2
    bounds = [version_space_bound(-k * np.log(2), m, confidence=confidence).gibbs for k in seen]
    assert np.mean(errors > bounds) <= 1 - confidence
    # Without the volume, or with half of its logarithm, the bound would fail.
    for share in (0.0, 0.5):
        broken = [
            version_space_bound(-share * k * np.log(2), m, confidence=confidence).gibbs
            for k in seen
        ]
        assert np.mean(errors > broken) > 1 - confidence


def test_arcs_are_those_that_sampling_finds(rng):
    X, y, teacher = make_teacher(12, 2, random_state=3)
    right, left = np.pi - np.array(arc(X, y, teacher))
    w = rng.standard_normal((400_000, 2))
    inside = np.all((w @ X.T) * y > 0, axis=1)
    share = (right + left) / (2 * np.pi)
    assert abs(inside.mean() - share) < 4 * np.sqrt(share / len(w))


@given(st.floats(-500, 0), st.integers(2, 10**6), st.floats(0.01, 0.99))
def test_is_at_most_mcallesters(log_volume, m, confidence):
    bound = version_space_bound(log_volume, m, confidence=confidence)
    mcallester = (-log_volume - np.log(1 - confidence) + 2 * np.log(m) + 1) / m
    assert 0 < bound.gibbs <= min(1, mcallester)
    assert bound.vote == min(1, 2 * bound.gibbs)
    assert bound.bayes_point == min(1, np.e * bound.gibbs)


@pytest.mark.parametrize("n_features", [2, 3, 5])
def test_where_the_center_is_wrong_a_third_of_version_space_is(n_features, rng):
    """Check Grünbaum's 1 / e = 0.37 at the walls of random version spaces."""
    X, y, _ = make_teacher(6, n_features, random_state=n_features)
    w = rng.standard_normal((400_000, n_features))
    w = w[np.all((w @ X.T) * y > 0, axis=1)]
    center = w.mean(axis=0)
    x = rng.standard_normal((300, n_features))
    x -= np.outer(x @ center / (center @ center), center)  # hyperplanes through the center
    share = np.mean(w @ x.T > 0, axis=0)
    error = np.sqrt(0.25 / len(w))
    assert np.minimum(share, 1 - share).min() > 1 / np.e - 5 * error


def test_estimate_is_close_to_the_exact_volume(rng):
    X, y, _ = make_teacher(12, 3, random_state=1)
    options = {"softness": 0, "fit_intercept": False, "solver": "ep"}
    model = BayesPointClassifier("linear", **options).fit(X, y)
    w = rng.standard_normal((1_000_000, 3))
    volume = np.mean(np.all((w @ X.T) * y > 0, axis=1))
    exact = version_space_bound(float(np.log(volume)), 12)
    found = estimate_version_space_bound(model)
    # The error of EP's log evidence is up to 0.17 here (docs/notes/ep.md).
    assert found.log_volume == pytest.approx(np.log(volume), abs=0.2)
    assert found.gibbs == pytest.approx(exact.gibbs, abs=0.2 / 12)
    assert estimate_version_space_bound(model, n_tuned=5).gibbs > found.gibbs


def test_refuses(rng):
    X, y, _ = make_teacher(12, 3, random_state=1)
    message = "two classes with a hard boundary"
    for model in (
        BayesPointClassifier().fit(X, y),
        BayesPointClassifier(softness=0, solver="billiard", random_state=0).fit(X, y),
        BayesPointClassifier(softness=0, label_noise=0.1).fit(X, y),
        SVC().fit(X, y),
    ):
        with pytest.raises(ValueError, match=message):
            estimate_version_space_bound(model)
    for wrong in (0.1, -np.inf, np.nan):
        with pytest.raises(ValueError, match="log_volume should be the logarithm of a share"):
            version_space_bound(wrong, 10)
    with pytest.raises(ValueError, match="n_tuned should be a number of at least 1"):
        version_space_bound(-1.0, 10, n_tuned=0)
    with pytest.raises(ValueError, match="n_samples"):
        version_space_bound(-1.0, 0)
    with pytest.raises(ValueError, match="confidence"):
        version_space_bound(-1.0, 10, confidence=0.0)
    model = BayesPointClassifier(softness=0, solver="ep", gamma=1.0).fit(X, y)
    model.log_evidence_ = np.nan
    with pytest.raises(ValueError, match="did not converge"):
        estimate_version_space_bound(model)
