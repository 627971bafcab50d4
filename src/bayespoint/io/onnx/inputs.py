"""The inputs of a model: a matrix of numbers, or a table with an input for each column."""

from __future__ import annotations

from collections.abc import Sequence

from .graph import DOUBLE, STRING, Graph, Value, concat

# A column with one of these names gets another name as input.
OUTPUT_NAMES = ("label", "probabilities", "scores", "accept")
# The input of models that were fitted without column names.
MATRIX_INPUT = "X"


class Matrix:
    """A matrix of numbers, one column for each feature."""

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
        """Refuse to return a column of strings."""
        raise ValueError(
            f"Column {i} holds text, but the model was fitted without column names. An ONNX input "
            "has one type and one name: fit the model on a DataFrame."
        )

    def select(self, which: Sequence[int]) -> Matrix:
        """Return some of the columns."""
        if list(which) == list(range(self.n_columns)):
            return self
        return Matrix(self.value.columns(which), len(which))


class Table:
    """Columns by name; a column becomes an input of the graph when it is first used."""

    def __init__(self, graph: Graph, names: Sequence[str]):
        self.graph = graph
        self.names = list(names)
        self.inputs = input_names(self.names)
        self.used: dict[int, tuple[int, Value]] = {}

    def column(self, i: int, kind: int) -> Value:
        """Return a column of numbers or strings, shape (rows, 1)."""
        if i not in self.used:
            self.used[i] = kind, self.graph.input(self.inputs[i], kind, 1)
        known, value = self.used[i]
        if known != kind:
            raise ValueError(
                f"Column {self.names[i]!r} is used both as numbers and as text, but an ONNX input "
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
        """Return a column of strings, shape (rows, 1)."""
        return self.table.column(self.which[i], STRING)

    def select(self, which: Sequence[int]) -> Columns:
        """Return some of these columns."""
        return Columns(self.table, [self.which[i] for i in which])


Source = Matrix | Columns


def input_names(columns: Sequence[str]) -> list[str]:
    """Return the names of inputs: the column names, changed where a name is already taken."""
    taken = {"", *OUTPUT_NAMES}
    names = []
    for i, column in enumerate(columns):
        name = column
        while name in taken or (name != column and name in columns):
            name = f"column {i} {name}".strip()
        names.append(name)
        taken.add(name)
    return names
