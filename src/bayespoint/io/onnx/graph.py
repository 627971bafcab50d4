"""A graph of ONNX operators, written as arithmetic on its values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from onnx import GraphProto, NodeProto, TensorProto, ValueInfoProto, helper, numpy_helper

# Models use these versions, because onnxruntime supports new ones later than onnx.
OPSET = 21
IR_VERSION = 10
# A protocol buffer has at most 2^31 bytes, including nodes and names.
MAX_CONSTANT_BYTES = 2**31 - 2**24

DOUBLE, STRING = TensorProto.DOUBLE, TensorProto.STRING


class Graph:
    """Operators, constants, inputs and outputs, with a name for every value.

    Parameters
    ----------
    reserved : sequence of str, default=()
        Names of inputs and outputs, which no other value may have.
    """

    def __init__(self, reserved: Sequence[str] = ()):
        self.inputs: list[ValueInfoProto] = []
        self.outputs: list[ValueInfoProto] = []
        self.constants: list[TensorProto] = []
        self._reserved = set(reserved)
        self._bodies: list[list[NodeProto]] = [[]]  # the graph, and the loops being written
        self._scalars: dict[tuple, Value] = {}
        self._count = self._bytes = 0

    @property
    def nodes(self) -> list[NodeProto]:
        """Return the operators of the loop being written, or of the graph."""
        return self._bodies[-1]

    def input(self, name: str, kind: int, n_columns: int) -> Value:
        """Declare an input with any number of rows."""
        self.inputs.append(helper.make_tensor_value_info(name, kind, ["rows", n_columns]))
        return Value(self, name)

    def output(self, name: str, value: Value, kind: int, shape: Sequence[Any]) -> None:
        """Declare an output."""
        self.nodes.append(helper.make_node("Identity", [value.name], [name]))
        self.outputs.append(helper.make_tensor_value_info(name, kind, shape))

    def op(self, kind: str, *operands: Any, n_outputs: int = 1, **attributes: Any) -> Any:
        """Append an operator and return its value, or a list if it has several."""
        names = [self.value(operand).name for operand in operands]
        results = [self._new_name() for _ in range(n_outputs)]
        # Nodes have names: onnxruntime 1.20 gives those that it makes of nameless ones equal names.
        self.nodes.append(helper.make_node(kind, names, results, name=results[0], **attributes))
        values = [Value(self, name) for name in results]
        return values[0] if n_outputs == 1 else values

    def value(self, operand: Any) -> Value:
        """Return a value as it is, and turn anything else into a constant."""
        if isinstance(operand, Value):
            return operand
        # Python's numbers become doubles; NumPy's integers stay integers.
        array = np.asarray(float(operand) if type(operand) is int else operand)
        if array.ndim:
            return self._constant(array)
        key = array.dtype.str, array.item()
        if key not in self._scalars:
            self._scalars[key] = self._constant(array)
        return self._scalars[key]

    def loop(self, n_rounds: int, body: Callable, *state: Any) -> list[Value]:
        """Repeat body(i, *state), which returns whether to continue, and the next state.

        Returns the state after the last round. The body may use all values outside of it.
        """
        index, condition = self._new_name(), self._new_name()
        before = [self._new_name() for _ in state]
        self._bodies.append([])
        go_on, *after = body(Value(self, index), *(Value(self, name) for name in before))
        # A body has to compute its outputs itself.
        after = [self.op("Identity", value) for value in (go_on, *after)]
        inner = _body(self._bodies.pop(), before, [v.name for v in after])
        # Without these declarations onnxruntime does not know that they are scalars.
        inner.input.insert(0, helper.make_tensor_value_info(condition, TensorProto.BOOL, []))
        inner.input.insert(0, helper.make_tensor_value_info(index, TensorProto.INT64, []))
        found = self.op("Loop", np.int64(n_rounds), True, *state, n_outputs=len(state), body=inner)
        return [found] if len(state) == 1 else found

    def sum_over(self, body: Callable, start: Any, *rows: Any) -> Value:
        """Return start plus the sum of body(*r) over r, the i-th rows of all arrays."""
        total, *each = [self._new_name() for _ in range(1 + len(rows))]
        self._bodies.append([])
        last = Value(self, total) + body(*(Value(self, name) for name in each))
        inner = _body(self._bodies.pop(), [total, *each], [last.name])
        return self.op("Scan", start, *rows, body=inner, num_scan_inputs=len(rows))

    def proto(self) -> GraphProto:
        """Return the graph as a protocol buffer."""
        return helper.make_graph(
            self.nodes, "bayespoint", self.inputs, self.outputs, self.constants
        )

    def _constant(self, array: np.ndarray) -> Value:
        name = self._new_name()
        self._bytes += array.nbytes
        if self._bytes > MAX_CONSTANT_BYTES:
            raise ValueError(
                f"The model would have {self._bytes / 2**30:.1f} GB of constants, but an ONNX "
                "model can have at most 2 GB. Fit a model with fewer support vectors, for example "
                'with solver="nystroem", or a linear model with covariance="factorized".'
            )
        if array.dtype.kind in "OUT":
            texts = [str(text).encode() for text in array.ravel()]
            tensor = TensorProto(name=name, data_type=STRING, dims=array.shape, string_data=texts)
            self.constants.append(tensor)
        else:
            self.constants.append(numpy_helper.from_array(np.asarray(array, order="C"), name))
        return Value(self, name)

    def _new_name(self) -> str:
        self._count += 1
        name = f"_{self._count}"
        return self._new_name() if name in self._reserved else name


def _body(nodes: list[NodeProto], inputs: list[str], outputs: list[str]) -> GraphProto:
    """Return the body of a loop as a graph; onnx infers its types."""
    return helper.make_graph(
        nodes,
        "body",
        [ValueInfoProto(name=name) for name in inputs],
        [ValueInfoProto(name=name) for name in outputs],
    )


class Value:
    """The result of an operator: arithmetic on it appends operators to its graph."""

    # Make NumPy leave `array + value` to this class.
    __array_ufunc__ = None

    def __init__(self, graph: Graph, name: str):
        self.graph = graph
        self.name = name

    def op(self, kind: str, *others: Any, **attributes: Any) -> Any:
        """Append an operator with this as its first operand."""
        return self.graph.op(kind, self, *others, **attributes)

    def __add__(self, other: Any) -> Value:
        return self.op("Add", other)

    def __sub__(self, other: Any) -> Value:
        return self.op("Sub", other)

    def __mul__(self, other: Any) -> Value:
        return self.op("Mul", other)

    def __truediv__(self, other: Any) -> Value:
        return self.op("Div", other)

    def __matmul__(self, other: Any) -> Value:
        # onnxruntime fuses a matrix product with a scalar factor before or after it, and stores
        # the factor in single precision. The scale of a single column is such a scalar, so its
        # product is written as Mul; scalar factors of other products go into their constants.
        is_outer = isinstance(other, np.ndarray) and other.ndim == 2 and len(other) == 1
        return self.op("Mul" if is_outer else "MatMul", other)

    def __radd__(self, other: Any) -> Value:
        return self.graph.op("Add", other, self)

    def __rsub__(self, other: Any) -> Value:
        return self.graph.op("Sub", other, self)

    def __rmul__(self, other: Any) -> Value:
        return self.graph.op("Mul", other, self)

    def __rtruediv__(self, other: Any) -> Value:
        return self.graph.op("Div", other, self)

    def __neg__(self) -> Value:
        return self.op("Neg")

    def __abs__(self) -> Value:
        return self.op("Abs")

    def __lt__(self, other: Any) -> Value:
        return self.op("Less", other)

    def __gt__(self, other: Any) -> Value:
        return self.op("Greater", other)

    def __ge__(self, other: Any) -> Value:
        return self.op("GreaterOrEqual", other)

    def __and__(self, other: Any) -> Value:
        return self.op("And", other)

    def __or__(self, other: Any) -> Value:
        return self.op("Or", other)

    def __invert__(self) -> Value:
        return self.op("Not")

    def equal(self, other: Any) -> Value:
        return self.op("Equal", other)

    def where(self, yes: Any, no: Any) -> Value:
        return self.op("Where", yes, no)

    def exp(self) -> Value:
        return self.op("Exp")

    def log(self) -> Value:
        return self.op("Log")

    def sqrt(self) -> Value:
        return self.op("Sqrt")

    def at_most(self, other: Any) -> Value:
        return self.op("Min", other)

    def at_least(self, other: Any) -> Value:
        return self.op("Max", other)

    def double(self) -> Value:
        return self.op("Cast", to=DOUBLE)

    def integer(self) -> Value:
        return self.op("Cast", to=TensorProto.INT64)

    def sum(self, axis: int, keepdims: bool = True) -> Value:
        return self._reduce("ReduceSum", axis, keepdims)

    def max(self, axis: int, keepdims: bool = True) -> Value:
        return self._reduce("ReduceMax", axis, keepdims)

    def min(self, axis: int, keepdims: bool = True) -> Value:
        return self._reduce("ReduceMin", axis, keepdims)

    def argmax(self) -> Value:
        return self.op("ArgMax", axis=1, keepdims=0)

    def transpose(self, *axes: int) -> Value:
        return self.op("Transpose", perm=list(axes))

    def columns(self, which: Sequence[int]) -> Value:
        return self.op("Gather", np.asarray(which, dtype=np.int64), axis=1)

    def expand(self, axis: int) -> Value:
        return self.op("Unsqueeze", np.array([axis]))

    def squeeze(self, axis: int) -> Value:
        return self.op("Squeeze", np.array([axis]))

    def _reduce(self, kind: str, axis: int, keepdims: bool) -> Value:
        return self.op(kind, np.array([axis]), keepdims=int(keepdims))


def concat(values: Sequence[Value]) -> Value:
    """Put matrices side by side."""
    return values[0] if len(values) == 1 else values[0].op("Concat", *values[1:], axis=1)
