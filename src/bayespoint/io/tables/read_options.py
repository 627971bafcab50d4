"""Options for reading a file of rows."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ReadOptions:
    """How to read a file; options that are None are guessed from the file.

    Attributes
    ----------
    format : {"csv", "parquet", "libsvm"} or None
        Format of the file.
    delimiter : str or None
        Character between the columns of CSV.
    header : bool or None
        Whether the first line of CSV holds column names.
    encoding : str or None
        Encoding of CSV.
    n_features : int or None
        Number of features of LIBSVM.
    """

    format: str | None = None
    delimiter: str | None = None
    header: bool | None = None
    encoding: str | None = None
    n_features: int | None = None
