"""What a model is given: a matrix of numbers, or a table with an input for each column."""

from __future__ import annotations

from collections.abc import Sequence

from .graph import DOUBLE, STRING, Graph, Value, concat

# Names of outputs; a column that has one of them gets another name as input.
OUTPUTS = ("label", "probabilities", "scores", "accept")
# The input of models that were fitted without names of columns.
MATRIX = "X"


class Matrix:
    """Numbers, one feature a column."""

    def __init__(self, value: Value, n_columns: int):
        self.value = value
        self.n_columns = n_columns

    def matrix(self) -> Value:
        """Return all columns as one matrix."""
        return self.value

    def numbers(self, i: int) -> Value:
        """Return a column of numbers, shape (rows, 1)."""
        return self.value.columns([i])

    def texts(self, i: int) -> Value:
        """Return a column of texts, which a matrix does not have."""
        raise ValueError(
            f"Column {i} holds texts, and the model was fitted without names of columns. An ONNX "
            "input has one type and a name: fit the model on a DataFrame."
        )

    def select(self, which: Sequence[int]) -> Matrix:
        """Return some of the columns."""
        if list(which) == list(range(self.n_columns)):
            return self
        return Matrix(self.value.columns(which), len(which))


class Table:
    """Columns by name; each becomes an input of the graph when it is first used."""

    def __init__(self, graph: Graph, names: Sequence[str]):
        self.graph = graph
        self.names = list(names)
        self.inputs = input_names(self.names)
        self.used: dict[int, tuple[int, Value]] = {}

    def column(self, i: int, kind: int) -> Value:
        """Return a column of numbers or texts, shape (rows, 1)."""
        if i not in self.used:
            self.used[i] = kind, self.graph.input(self.inputs[i], kind, 1)
        known, value = self.used[i]
        if known != kind:
            raise ValueError(
                f"Column {self.names[i]!r} is used both as numbers and as texts, but an ONNX input "
                "has one type. Give the model two columns."
            )
        return value


class Columns:
    """Some columns of a table, with the methods of `Matrix`."""

    def __init__(self, table: Table, which: Sequence[int]):
        self.table = table
        self.which = list(which)
        self.n_columns = len(self.which)

    def matrix(self) -> Value:
        """Return all columns as one matrix of numbers."""
        return concat([self.numbers(i) for i in range(self.n_columns)])

    def numbers(self, i: int) -> Value:
        """Return a column of numbers, shape (rows, 1)."""
        return self.table.column(self.which[i], DOUBLE)

    def texts(self, i: int) -> Value:
        """Return a column of texts, shape (rows, 1)."""
        return self.table.column(self.which[i], STRING)

    def select(self, which: Sequence[int]) -> Columns:
        """Return some of these columns."""
        return Columns(self.table, [self.which[i] for i in which])


Source = Matrix | Columns


def input_names(columns: Sequence[str]) -> list[str]:
    """Return the names of inputs: those of columns, unless they mean something else in ONNX."""
    taken = {"", *OUTPUTS}
    names = []
    for i, column in enumerate(columns):
        name = column
        while name in taken or (name != column and name in columns):
            name = f"column {i} {name}".strip()
        names.append(name)
        taken.add(name)
    return names
