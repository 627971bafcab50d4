import numpy as np
from sklearn.svm import SVC

from bayespoint.geometry.largest_ball import largest_ball
from helpers import angle_between, teacher_space


def test_no_other_direction_has_a_larger_margin(rng):
    walls = teacher_space(30, 3, seed=0).walls
    center, bound = largest_ball(walls)
    margin = (walls @ center).min()
    np.testing.assert_allclose(np.linalg.norm(center), 1)
    # The bound is reached: it proves that the margin is the largest.
    np.testing.assert_allclose(margin, bound, rtol=1e-12)
    others = center + rng.standard_normal((5000, 3)) * rng.choice([1e-3, 1e-2, 0.1], (5000, 1))
    others /= np.linalg.norm(others, axis=1, keepdims=True)
    assert (others @ walls.T).min(axis=1).max() <= margin + 1e-15


def test_margins_that_are_known():
    center, bound = largest_ball(np.eye(4))
    np.testing.assert_allclose(center, 0.5)
    np.testing.assert_allclose(bound, 0.5)


def test_without_a_version_space_the_bound_is_zero():
    _, bound = largest_ball(np.array([[1.0, 0.0], [-1.0, 0.0]]))
    assert bound < 1e-15


def test_it_is_the_hard_margin_machine():
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = rng.uniform(-1, 1, (10, 3))
        walls = X * np.sign(X @ rng.standard_normal(3))[:, None]
        walls /= np.linalg.norm(walls, axis=1, keepdims=True)
        # Mirroring the points makes the threshold of the SVM zero.
        svm = SVC(kernel="linear", C=1e9, tol=1e-9).fit(
            np.vstack([walls, -walls]), [1] * 10 + [0] * 10
        )
        # libsvm stops at 1e-9, relative to its own margin.
        assert angle_between(largest_ball(walls).center, svm.coef_[0]) < 1e-5
