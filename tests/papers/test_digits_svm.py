import numpy as np
import pytest
from sklearn.metrics.pairwise import polynomial_kernel

from bayespoint.papers.digits_svm import CODINGS, encode, machine
from bayespoint.papers.figure_9 import PAPER_KERNEL

PAPER = {key: value for key, value in PAPER_KERNEL.items() if key != "kernel"}


@pytest.mark.parametrize(("coding", "scale", "shift"), [(CODINGS[0], 2, -1), (CODINGS[1], 255, 0)])
def test_the_kernel_is_the_paper_s(coding, scale, shift, rng):
    X = rng.random((5, 3))
    svm = machine()
    ours = polynomial_kernel(encode(X, coding), degree=svm.degree, gamma=svm.gamma, coef0=svm.coef0)
    assert ours == pytest.approx(polynomial_kernel(scale * X + shift, **PAPER))


def test_unit_length(rng):
    X = rng.random((5, 3))
    Z = encode(X, "unit length")
    matrix = polynomial_kernel(X, **PAPER)
    lengths = np.sqrt(np.diag(matrix))
    assert pytest.approx(matrix / np.outer(lengths, lengths)) == (Z @ Z.T) ** 5


def test_no_training_error(rng):
    X = rng.random((60, 4))
    y = rng.integers(3, size=60)
    Z = encode(X, "unit length")
    assert np.array_equal(machine().fit(Z, y).predict(Z), y)
