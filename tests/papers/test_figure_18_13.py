import numpy as np
from sklearn.metrics.pairwise import rbf_kernel

from bayespoint.geometry.gram import unit_gram
from bayespoint.geometry.version_space import VersionSpace
from bayespoint.papers.experiment import Plan
from bayespoint.papers.figure_18_13 import bounces_until_escape, flipper_errors


def test_ball_escapes_from_a_wide_cone_only():
    """A ball soon leaves a wide cone, but bounces on in a narrow one."""
    wide = VersionSpace(unit_gram(np.eye(3), 0.0), np.ones(3))
    assert bounces_until_escape(wide, 0, 800) <= 3 * 8
    # Points near the plane of the first two coordinates leave a narrow slit.
    rows = np.array([[1.0, 0.02], [-1.0, 0.02]])
    narrow = VersionSpace(unit_gram(rows @ rows.T, 0.0), np.ones(2))
    assert bounces_until_escape(narrow, 0, 8000) > 8 * 10


def test_flipper_stays_in_version_space(problem):
    """So it makes no errors on training points, and only errors if their labels are turned."""
    X, y = problem
    matrix = rbf_kernel(X, gamma=0.5) + 1
    space = VersionSpace(unit_gram(matrix, 0.0), y.astype(float))
    assert flipper_errors(space, matrix, y, Plan(quick=True)) == 0
    assert flipper_errors(space, matrix, -y, Plan(quick=True)) == 60
