"""What workers do with a partition of a data set: look at its rows, and prepare them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ...evaluation.fingerprints import fingerprint
from .columns import Columns, as_texts, frame, has_integers
from .labels import known_labels, labels
from .pieces import Piece


class Partition(NamedTuple):
    """Pieces of files that a worker reads at once, and what to read of them."""

    number: int
    pieces: list[Piece]
    names: list[str]
    strings: frozenset[str]  # the others are numbers
    target: str
    seed: int

    def read(self) -> Any:
        """Return the rows as an Arrow table of numbers and strings."""
        import pyarrow as pa

        tables = []
        for piece in self.pieces:
            table = piece.read(self.names, self.strings)
            # A column without any value has another type in some files.
            kinds = [pa.string() if n in self.strings else pa.float64() for n in self.names]
            tables.append(table.cast(pa.schema(zip(self.names, kinds, strict=True))))
        return pa.concat_tables(tables)

    def lots(self, n_rows: int) -> np.ndarray:
        """Return a random number between 0 and 1 for each row, always the same ones.

        Rows with small numbers are held out, and those with slightly larger ones are a sample.
        """
        return np.random.default_rng([self.seed, self.number]).random(n_rows)


class Survey(NamedTuple):
    """What a worker saw in a partition."""

    n_rows: int
    n_unlabeled: int
    integers: bool  # whether all classes are written as whole numbers; True if there are none
    counts: dict[str, int]  # classes as they are written
    sample: Any  # an Arrow table of some labeled rows
    lots: np.ndarray  # their random numbers


def survey(partition: Partition, share: float, max_classes: int) -> Survey:
    """Count rows and classes, and return a share of the rows.

    More different classes than `max_classes` are not counted.
    """
    import pyarrow as pa

    table = partition.read()
    classes = as_texts(table[partition.target])
    known = classes.drop_null()
    counts = known.value_counts()[:max_classes]
    lots = partition.lots(len(table))
    is_known = classes.is_valid().to_numpy(zero_copy_only=False)
    chosen = np.flatnonzero((lots < share) & is_known)
    return Survey(
        n_rows=len(table),
        n_unlabeled=len(table) - len(known),
        integers=not len(known) or has_integers(table[partition.target]),
        counts=dict(zip(counts.field(0).to_pylist(), counts.field(1).to_pylist(), strict=True)),
        sample=table.take(pa.array(chosen)).combine_chunks(),
        lots=lots[chosen],
    )


class Preparation(NamedTuple):
    """What a worker needs to know to make training points of a partition."""

    columns: Columns
    rare: np.ndarray  # classes that are left out
    held_out: dict[Any, float]  # for each class, the numbers of rows that are held out are below
    transformer: Any  # fitted
    n_features: int
    is_sparse: bool
    salt: bytes  # of fingerprints
    limit: int  # fingerprints below are kept


class Prepared(NamedTuple):
    """Training points of a partition, and what the client should know about them."""

    X: Any
    y: np.ndarray
    odd: list[tuple[str, int, str]]  # values that cannot be read, as `frame` tells about them
    fingerprints: bytes


def prepare_points(
    partition: Partition, preparation: Preparation, topic: str
) -> tuple[Any, np.ndarray]:
    """Prepare a partition on a worker, and tell the client about it in an event of this topic."""
    from distributed import get_worker

    found = prepare(partition, preparation)
    about = {"number": partition.number, "n_rows": len(found.y), "odd": found.odd}
    get_worker().log_event(topic, about | {"fingerprints": found.fingerprints})
    return found.X, found.y


def prepare(partition: Partition, preparation: Preparation) -> Prepared:
    """Return the training points of a partition."""
    table, columns = partition.read(), preparation.columns
    odd: list[tuple[str, int, str]] = []
    known, y = known_labels(labels(table, columns), columns)
    used = ~np.isin(y, preparation.rare)
    limits = np.array([preparation.held_out.get(label, 0.0) for label in y.tolist()])
    used &= partition.lots(len(table))[known] >= limits
    rows = np.flatnonzero(known)[used]
    if not len(rows):
        empty: Any = np.empty((0, preparation.n_features))
        empty = sparse.csr_array(empty) if preparation.is_sparse else empty
        return Prepared(empty, y[:0], [], b"")
    try:
        X = frame(table, columns, lambda *told: odd.append(told)).iloc[rows]
    except ValueError as error:
        raise ValueError(f"{partition.pieces[0].path}: {error}") from None
    marks = np.unique(fingerprint(X, preparation.salt))
    marks = marks[marks < preparation.limit]
    return Prepared(preparation.transformer.transform(X), y[used], odd, marks.tobytes())
