"""TrajectoryDisplay shows the rounds of the fit itself."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.naive_bayes import GaussianNB

from bayespoint import BayesPointClassifier, TrajectoryDisplay, solvers
from display_helpers import drawn, legend_texts


@pytest.mark.parametrize(
    "solver", ["billiard", solvers.Billiard(tol=0.02), solvers.Gibbs(tol=0.3)], ids=str
)
def test_trajectory_is_that_of_the_fit(solver):
    X, y = make_blobs(60, centers=3, cluster_std=2.0, random_state=0)
    model = BayesPointClassifier(gamma=1.0, softness=0.3, solver=solver, random_state=0)
    display = drawn(TrajectoryDisplay.from_estimator(model, X, y))
    fitted = model.fit(X, y)  # still unfitted: the display fitted a clone
    assert len(display.lines_) == 3
    for i in range(3):
        assert np.all(np.diff(display.n_steps[i]) > 0)
        assert display.angle[i][-1] == fitted.diagnostics_.angle[i]
        assert display.n_steps[i][-1] == fitted.diagnostics_["n_" + display.steps][i]
    assert legend_texts(display)[:3] == ["class 0", "class 1", "class 2"]
    assert model.get_params()["solver"] is solver


@pytest.mark.parametrize("model", [BayesPointClassifier(), GaussianNB()], ids=str)
def test_trajectory_refuses_what_has_no_chains(moons, model):
    with pytest.raises(ValueError, match='"billiard" or "gibbs"'):
        TrajectoryDisplay.from_estimator(model, *moons)
