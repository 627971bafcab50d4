"""The mixture of kernels in a graph: ranks, categories, both kinds of links."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from bayespoint import BayesPointClassifier
from bayespoint.fitting.power_link import PowerLink, power_probabilities
from bayespoint.io.onnx.graph import DOUBLE, Graph
from bayespoint.io.onnx.probabilities import power_probabilities as power_nodes
from onnx_helpers import assert_same, run, session

IRIS = load_iris(return_X_y=True)


def points(X, seed=0):
    """Return points between training points, and some far beyond them."""
    rng = np.random.default_rng(seed)
    near = X[rng.integers(len(X), size=200)] + rng.normal(scale=0.1, size=(200, X.shape[1]))
    return np.vstack([X, near, 10 * near, -1000 * near[:5]])


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("solver", ["auto", "ep"])
def test_a_default_model_is_exported(n_classes, solver):
    X, y = IRIS
    y = np.minimum(y, n_classes - 1)
    assert_same(BayesPointClassifier(solver=solver, random_state=0).fit(X, y), points(X))


def test_codes_are_equal_or_different_in_the_graph_too():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(4, size=(150, 3)), rng.normal(size=150)])
    y = (X[:, 0] == X[:, 1]).astype(int)
    model = BayesPointClassifier(random_state=0).fit(X, y)
    assert "overlap" in model.mixture_.names
    new = X.copy()
    new[:50, 0] = 7.0  # a code that training did not have
    assert_same(model, new)


def test_codes_in_single_precision_are_those_of_the_graph():
    rng = np.random.default_rng(0)
    X = (rng.integers(4, size=(150, 3)) / 10).astype(np.float32)
    model = BayesPointClassifier(random_state=0).fit(X, (X[:, 0] == X[:, 1]).astype(int))
    # The graph standardizes in double precision: its codes differ from those of training.
    p = run(session(model), X)["probabilities"]
    np.testing.assert_allclose(p, model.predict_proba(X), atol=1e-5)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_the_link_is_exact_from_the_smallest_to_the_largest_outputs(n_classes):
    rng = np.random.default_rng(0)
    n_outputs = 1 if n_classes == 2 else n_classes
    outputs = rng.normal(size=(500, n_outputs)) * 10.0 ** rng.uniform(-12, 2, (500, 1))
    link = PowerLink(2.5, 0.03)
    graph = Graph(["X", "p"])
    X = graph.input("X", DOUBLE, n_outputs)
    graph.output("p", power_nodes(X, n_classes, link), DOUBLE, ["rows", n_classes])
    expected = power_probabilities(outputs, link)
    found = run_graph(graph, outputs)
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-15)


def run_graph(graph, X):
    import onnxruntime
    from onnx import helper

    from bayespoint.io.onnx.graph import IR_VERSION, OPSET

    model = helper.make_model(
        graph.proto(), ir_version=IR_VERSION, opset_imports=[helper.make_opsetid("", OPSET)]
    )
    session = onnxruntime.InferenceSession(model.SerializeToString())
    return session.run(["p"], {"X": X})[0]
