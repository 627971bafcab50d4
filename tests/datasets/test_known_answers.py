import numpy as np
import pytest

from bayespoint.datasets.known_answers import make_orthant, make_teacher, make_wedge

N_DRAWS = 20_000
# Allowed distance of a mean from the truth in standard errors. In one dimension, the worst
# case, a normal variable exceeds it 1 in 16,000 times.
N_ERRORS = 4


def sample_version_space(X, y, rng):
    """Draw uniform directions and keep those that classify every point correctly."""
    kept = []
    while sum(map(len, kept)) < N_DRAWS:
        w = rng.standard_normal((200_000, X.shape[1]))
        w = w[np.all(y * (w @ X.T) > 0, axis=1)]
        kept.append(w / np.linalg.norm(w, axis=1, keepdims=True))
    return np.concatenate(kept)[:N_DRAWS]


def distance_in_errors(draws, direction):
    """Return the distance of the mean of draws from a direction, in standard errors."""
    across = draws - np.outer(draws @ direction, direction)
    error = np.sqrt(np.sum(across**2) / len(draws) ** 2)
    return np.linalg.norm(across.mean(axis=0)) / error


@pytest.mark.parametrize("angle", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("n_samples", [2, 15])
def test_bisector_is_the_bayes_point_of_a_wedge(angle, n_samples, rng):
    X, y, bayes_point = make_wedge(angle, n_samples, random_state=0)
    draws = sample_version_space(X, y, rng)
    assert distance_in_errors(draws, bayes_point) < N_ERRORS
    # The wedge has exactly this width: with probability 1 - exp(-15) the outermost of n
    # uniform draws is within 15 spacings of the edge.
    widest = np.arccos(np.clip(draws @ bayes_point, -1, 1)).max()
    assert angle / 2 * (1 - 15 / N_DRAWS) < widest < angle / 2 + 1e-6


@pytest.mark.parametrize("n_features", [2, 3, 6])
def test_diagonal_is_the_bayes_point_of_the_orthant(n_features, rng):
    X, y, bayes_point = make_orthant(n_features)
    draws = sample_version_space(X, y, rng)
    assert distance_in_errors(draws, bayes_point) < N_ERRORS
    assert draws.min() > 0


def test_negative_control_is_seen(rng):
    """The test notices a direction that is off by a twentieth of the wedge."""
    X, y, bayes_point = make_wedge(1.0, random_state=0)
    off = bayes_point + 0.05 * np.array([-bayes_point[1], bayes_point[0]])
    off /= np.linalg.norm(off)
    assert distance_in_errors(sample_version_space(X, y, rng), off) > N_ERRORS


def test_teacher_is_uniform_in_version_space(rng):
    """In the plane, the share of the wedge to the left of the teacher is uniform on [0, 1]."""
    shares = []
    for seed in rng.integers(2**31, size=400):
        X, y, teacher = make_teacher(5, 2, random_state=int(seed))
        walls = y[:, None] * X
        assert (walls @ teacher).min() > 0
        lean = np.arctan2(teacher[0] * walls[:, 1] - teacher[1] * walls[:, 0], walls @ teacher)
        left, right = np.pi / 2 + lean.min(), np.pi / 2 - lean.max()
        shares.append(left / (left + right))
    error = np.sqrt(1 / 12 / len(shares))
    assert abs(np.mean(shares) - 0.5) < N_ERRORS * error


def test_teacher_returns_both_classes_on_the_sphere():
    for seed in range(20):
        X, y, teacher = make_teacher(2, 3, random_state=seed)
        assert set(y) == {-1, 1}
        assert np.allclose(np.linalg.norm(X, axis=1), 1)
        assert np.isclose(np.linalg.norm(teacher), 1)


@pytest.mark.parametrize("make", [lambda s: make_wedge(1.0, 8, s), lambda s: make_teacher(8, 3, s)])
def test_same_seed_same_problem(make):
    assert all(np.array_equal(a, b) for a, b in zip(make(3), make(3), strict=True))
    assert not np.array_equal(make(3)[0], make(4)[0])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: make_wedge(0.0), "angle should be between 0 and pi, but is 0.0"),
        (lambda: make_wedge(np.nan), "angle should be between 0 and pi"),
        (lambda: make_wedge(1.0, 1), "n_samples should be at least 2, but is 1"),
        (lambda: make_orthant(1), "n_features should be at least 2, but is 1"),
        (lambda: make_teacher(1, 3), "n_samples should be at least 2, but is 1"),
        (lambda: make_teacher(5, 0), "n_features should be at least 1, but is 0"),
    ],
)
def test_impossible_problems_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()
