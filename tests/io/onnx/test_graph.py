import numpy as np
import pytest

from bayespoint import to_onnx
from bayespoint.io.onnx import graph as graphs
from bayespoint.io.onnx.graph import Graph, concat
from onnx_helpers import bayes_point, evaluate

X = np.array([-2.0, -0.5, 0.0, 0.25, 3.0])


def test_arithmetic_is_that_of_numpy():
    def function(x):
        return [
            *(x + 1, 1 - x, 2 * x / 4, 1 / (x + 5), -x, abs(x), x.at_most(0.1), x.at_least(0.1)),
            (((x > -1.0) & (x < 1.0)) | ~(x >= -1.5)).where(x, 7.0),
        ]

    expected = [X + 1, 1 - X, X / 2, 1 / (X + 5), -X, np.abs(X)]
    expected += [np.minimum(X, 0.1), np.maximum(X, 0.1), np.where((abs(X) < 1) | (X < -1.5), X, 7)]
    for found, wanted in zip(evaluate(function, X), expected, strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_a_loop_ends_when_the_body_says_so():
    def double(_, x):
        x = x * 2
        return x.op("ReduceMax", keepdims=0) < 20.0, x

    (found,) = evaluate(lambda x: x.graph.loop(100, double, x), X)
    np.testing.assert_array_equal(found, 8 * X)
    (found,) = evaluate(lambda x: x.graph.loop(2, double, x), X)
    np.testing.assert_array_equal(found, 4 * X)


def test_a_sum_over_rows():
    rows = np.arange(6.0).reshape(3, 2)

    def function(x):
        start = x * np.zeros((1, 2))
        return [x.graph.sum_over(lambda row: x + row, start, rows)]

    (found,) = evaluate(function, X, n_columns=2)
    np.testing.assert_array_equal(found, 3 * X[:, None] + rows.sum(axis=0))


def test_columns_side_by_side():
    (found,) = evaluate(lambda x: [concat([x, x + 1, x * 2])], X, n_columns=3)
    np.testing.assert_array_equal(found, np.column_stack([X, X + 1, 2 * X]))


def test_a_product_with_a_single_row_is_no_matrix_product():
    """Its scalar factor would have single precision in onnxruntime."""
    graph = Graph()
    x = graph.input("x", graphs.DOUBLE, 1)
    _ = x @ np.ones((1, 3)), x @ np.ones((2, 3))
    assert [node.op_type for node in graph.nodes] == ["Mul", "MatMul"]


def test_names_of_inputs_are_not_used_again_and_equal_numbers_are_stored_once():
    graph = Graph(reserved=["_1", "_3"])
    x = graph.input("_1", graphs.DOUBLE, 1)
    _ = x + 2.0, x * 2.0, x * np.int64(2)
    names = [tensor.name for tensor in graph.constants]
    names += [name for node in graph.nodes for name in node.output]
    assert len(names) == len(set(names)) == 5
    assert not {"_1", "_3"} & set(names)


def test_too_large(moons, monkeypatch):
    monkeypatch.setattr(graphs, "MAX_CONSTANT_BYTES", 1000)
    with pytest.raises(ValueError, match="an ONNX model can have at most 2 GB"):
        to_onnx(bayes_point(*moons[:2]))
