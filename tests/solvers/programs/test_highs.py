import highspy
import numpy as np
from scipy import sparse

from bayespoint.solvers.programs.highs import HIGHS_TOLERANCE, add_constraints, new_highs


def test_constraints_of_dense_and_sparse_matrices_bound_the_variables():
    # Maximize x + y for x + 2 y <= 4, 3 x + y <= 4, x >= 0, y >= 0: at x = 4/5, y = 8/5.
    matrix = np.array([[1.0, 2.0], [3.0, 1.0]])
    for kind in (np.asarray, sparse.csr_array, sparse.coo_matrix):
        highs = new_highs()
        highs.addVars(2, np.zeros(2), np.full(2, np.inf))
        highs.changeColsCost(2, np.arange(2, dtype=np.int32), np.full(2, -1.0))
        add_constraints(highs, kind(matrix), -np.inf, 4.0)
        highs.run()
        assert highs.getModelStatus() == highspy.HighsModelStatus.kOptimal
        np.testing.assert_allclose(
            highs.getSolution().col_value, [0.8, 1.6], atol=10 * HIGHS_TOLERANCE
        )


def test_highs_is_silent_and_exact(capfd):
    highs = new_highs()
    highs.addVars(1, np.zeros(1), np.ones(1))
    highs.run()
    assert capfd.readouterr() == ("", "")
    assert highs.getOptionValue("primal_feasibility_tolerance")[1] == HIGHS_TOLERANCE
    assert highs.getOptionValue("dual_feasibility_tolerance")[1] == HIGHS_TOLERANCE
