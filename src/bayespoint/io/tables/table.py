"""An open file of rows, in any format."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, Self

from ..._runtime.share_done import advance
from .stream import DAMAGED_FILE_ERRORS

MAX_COLUMNS = 100_000
# Compare a misspelled column name with this many names.
MAX_COMPARED_NAMES = 1000
# Suggest a name for a misspelled one if this share of their letters agrees: "widht" for "width",
# but not "target" for "age".
MIN_SIMILARITY = 0.75
# List this many columns in a message.
MAX_LISTED_NAMES = 20
# List this many columns that are missing.
MAX_MISSING_NAMES = 100
# Cut messages of other libraries to this many characters.
MAX_MESSAGE_LENGTH = 300


class Table:
    """An open file; its rows can be read once.

    Attributes
    ----------
    format : {"csv", "parquet", "libsvm"}
        Format of the file.
    name : str
        What to call the file in messages.
    columns : list of str, or None
        Column names; None for LIBSVM.
    has_header : bool
        Whether the file holds the column names.
    notes : list of str
        What the user should know about how the file is read.
    delimiter : str
        Character between the columns of CSV.
    """

    format: str
    columns: list[str] | None = None
    has_header = False
    delimiter = ""

    def __init__(self, name: str, stream: Any):
        self.name = name
        self.notes: list[str] = []
        self._stream = stream

    def __enter__(self) -> Self:
        """Return the table."""
        return self

    def __exit__(self, *error: Any) -> None:
        """Close the file."""
        self.close()

    def close(self) -> None:
        """Close the file; reading the last row closes it, too."""
        self._stream.close()

    def require_columns(self, names: Iterable[str], *, known: Collection[str] = ()) -> None:
        """Raise an error that names all of these columns that do not exist.

        A similar column is suggested, but none of the `known` ones, which mean something else.
        """
        columns = self.columns or []
        missing = [name for name in dict.fromkeys(names) if name not in columns]
        if missing:
            message = _missing_columns(missing, columns, known)
            raise ValueError(f"{self.name}: {message}{self._header_advice()}")

    def batches(
        self, names: Sequence[str] | None = None, texts: Collection[str] = ()
    ) -> Iterator[Any]:
        """Yield Arrow tables of a few megabytes.

        All columns of CSV are strings, as written; `columns.py` finds out what they mean. Columns
        of Parquet are numbers or strings.

        Parameters
        ----------
        names : sequence of str
            The columns to read; all by default.
        texts : collection of str
            Columns of Parquet whose numbers should be returned as strings.
        """
        try:
            names = list(self.columns or ()) if names is None else list(names)
            for batch in self._batches(names, texts):
                yield batch
                advance(self.share_read(), "reading")  # the caller is done with the batch
        except DAMAGED_FILE_ERRORS as error:
            raise ValueError(damaged(self.name, error)) from None
        except (ValueError, OSError, NotImplementedError) as error:
            raise ValueError(f"{self.name}: {self._explain(error)}") from None
        finally:
            self.close()

    def share_read(self) -> float | None:
        """Return the share of the file whose rows were returned; None if it is not known."""
        return None

    def sparse_chunks(self, n_rows: int, n_features: int | None) -> Iterator[tuple[Any, Any]]:
        """Yield CSR matrices and the numbers in front of their rows; only LIBSVM has them."""
        raise NotImplementedError

    def _batches(self, names: list[str], texts: Collection[str]) -> Iterator[Any]:
        """Yield Arrow tables; `batches` explains the errors."""
        raise NotImplementedError

    def _header_advice(self) -> str:
        """Return advice for wrong column names."""
        return ""

    def _explain(self, error: Exception) -> str:
        """Return the message of an error of Arrow, or an explanation of it."""
        return one_line(error)


def damaged(name: str, error: BaseException) -> str:
    """Return the message for a compressed file that is damaged."""
    return f"{name} is damaged or cut off: {error}"


def check_n_columns(name: str, n_columns: int) -> None:
    """Refuse a file with too many columns."""
    if n_columns > MAX_COLUMNS:
        raise ValueError(
            f"{name} has {n_columns:,} columns, but at most {MAX_COLUMNS:,} are supported. "
            "Write it as LIBSVM, which stores only values other than zero."
        )


def check_names(name: str, names: Sequence[str]) -> None:
    """Refuse a file with too many columns, or with two columns of the same name."""
    check_n_columns(name, len(names))
    twice = [column for column, count in Counter(names).items() if count > 1]
    if twice:
        raise ValueError(f"{name} has more than one column named {twice[0]!r}. Rename one of them.")


def one_line(error: Exception) -> str:
    """Return the message of an error as one line of limited length."""
    text = " ".join(str(error).split())
    return text if len(text) <= MAX_MESSAGE_LENGTH else text[: MAX_MESSAGE_LENGTH - 3] + "..."


def regroup(batches: Iterator[Any], n_rows: int) -> Iterator[Any]:
    """Yield Arrow tables of n_rows rows each, the last one perhaps shorter."""
    import pyarrow as pa

    held: list[Any] = []
    n_held = 0
    for batch in batches:
        while n_held + len(batch) >= n_rows:
            n_wanted = n_rows - n_held
            yield pa.concat_tables([*held, batch[:n_wanted]])
            held, n_held, batch = [], 0, batch[n_wanted:]
        if len(batch):
            held.append(batch)
            n_held += len(batch)
    if held:
        yield pa.concat_tables(held)


def _missing_columns(missing: list[str], names: Sequence[str], known: Collection[str]) -> str:
    """Say which columns do not exist, and suggest similar ones."""
    free = {other.lower(): other for other in names if other not in known}
    hints = []
    for name in missing[:MAX_LISTED_NAMES]:
        close = difflib.get_close_matches(
            name.lower(), list(free)[:MAX_COMPARED_NAMES], n=1, cutoff=MIN_SIMILARITY
        )
        hints += [f"{free[close[0]]!r} for {name!r}"] if close else []
    what = f"column {missing[0]!r}"
    if len(missing) > 1:
        what = f"columns {listed([repr(name) for name in missing], MAX_MISSING_NAMES)}"
    elif hints:
        hints = [hints[0].rpartition(" for ")[0]]
    hint = f" Did you mean {', '.join(hints)}?" if hints else ""
    verb = "is" if len(missing) == 1 else "are"
    return f"There {verb} no {what}.{hint} The columns are: {listed(names)}."


def listed(names: Sequence[str], most: int = MAX_LISTED_NAMES) -> str:
    """Return names as a text, and dots if there are too many to list."""
    return ", ".join([*names[:most], *["..."] * (len(names) > most)])
