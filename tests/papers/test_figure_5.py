import numpy as np
import pytest

from bayespoint.papers.figure_5 import axes_of


def test_softness_makes_the_ellipsoid_a_ball():
    ratios = [axes_of(softness, 0)[2] / axes_of(softness, 0)[0] for softness in (0.01, 1, 1000)]
    assert ratios[0] > ratios[1] > ratios[2]
    assert ratios[2] < 1.01
    assert np.prod(axes_of(0.1, 3)) == pytest.approx(1.0)
