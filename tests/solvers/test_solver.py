import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_moons
from threadpoolctl import threadpool_info

from bayespoint import BayesPointClassifier, solvers
from bayespoint.fitting.dispatch import FIT_FUNCTIONS
from bayespoint.solvers.solver import GramSolver, Solver
from helpers import orthant_space

SOLVERS = [getattr(solvers, name) for name in solvers.__all__ if name != "Posterior"]


class Recorder(GramSolver):
    """Record the arguments of `_solve`, and answer with the sum of all walls."""

    def _solve(self, space, rng, *others) -> solvers.Posterior:
        self.others = others
        libraries = [lib for lib in threadpool_info() if lib["user_api"] == "blas"]
        coef = np.ones(len(space.signs)) / len(space.signs)
        info = {"stop": "done", "n_threads": [lib["num_threads"] for lib in libraries]}
        return solvers.Posterior(coef, np.stack([coef] * 4), np.stack([coef] * 2), info)


def test_solve_hands_on_what_it_was_given(rng):
    start, on_round = np.ones(3), print
    solver = Recorder()
    posterior = solver.solve(
        orthant_space(3), rng, start=start, n_jobs=2, deadline=7.0, on_round=on_round
    )
    assert solver.others == (start, 2, 7.0, on_round)
    assert posterior.info["seconds"] >= 0
    assert set(posterior.info["n_threads"]) <= {1}


def test_a_solver_must_have_an_algorithm(rng):
    with pytest.raises(NotImplementedError):
        GramSolver().solve(orthant_space(3), rng)


@pytest.mark.parametrize("kind", SOLVERS)
def test_every_solver_says_what_it_needs_and_can_be_cloned(kind):
    solver = kind()
    assert solver.needs in FIT_FUNCTIONS
    assert isinstance(solver.supports_label_noise, bool)
    copy = clone(solver)
    assert copy.get_params() == solver.get_params()
    assert vars(copy) == vars(solver)


def test_the_defaults_hold_for_objects_that_only_solve():
    assert (Solver.needs, Solver.supports_label_noise) == ("gram", False)

    class Theirs:
        def solve(self, space, rng, *, start=None, n_jobs=None, deadline=np.inf, on_round=None):
            return solvers.Billiard(tol=0.3, n_bounces=20_000).solve(space, rng, start=start)

    X, y = make_moons(40, noise=0.2, random_state=0)
    model = BayesPointClassifier(solver=Theirs(), softness=0.3, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.5
