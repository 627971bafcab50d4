"""Fingerprints of rows: a model recognizes its training rows without keeping them.

A fingerprint is a salted hash of the values of a row, cut to four bytes. Nothing can be read from
it. Whoever has the model file and guesses a whole row can test the guess, and of a few billion
wrong guesses, one for each fingerprint passes too.
"""

from __future__ import annotations

import base64
import secrets
from collections.abc import Iterator
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

SALT_BYTES = 16
FINGERPRINT_DTYPE = np.dtype("<u4")
N_FINGERPRINTS = 2 ** (8 * FINGERPRINT_DTYPE.itemsize)
# Keep at most this many; of more rows, those whose fingerprint is below a limit.
MAX_KEPT = 2**16
ROWS_PER_BLOCK = 10_000
# Codes of values are eight bytes, in the same order on every machine.
CODE_DTYPE = np.dtype("<u8")
MISSING_TEXT_CODE = 2**64 - 1


class Look(NamedTuple):
    """Which rows the fingerprints know, as masks."""

    checked: np.ndarray  # the others are beyond the limit: nothing is known about them
    trained: np.ndarray
    held_out: np.ndarray


@dataclass(frozen=True)
class Fingerprints:
    """Fingerprints of the rows that trained a model and of those that tested it.

    Attributes
    ----------
    salt : bytes
        Random for each model, so that fingerprints of two models have nothing in common.
    trained, held_out : ndarray of uint32
        Sorted fingerprints below `limit`.
    limit : int
        Rows with a larger fingerprint are not remembered; 2**32 if all are.
    """

    salt: bytes
    trained: np.ndarray
    held_out: np.ndarray
    limit: int = N_FINGERPRINTS

    @classmethod
    def empty(cls) -> Fingerprints:
        """Return the fingerprints of no rows, with a new salt."""
        nothing = np.empty(0, FINGERPRINT_DTYPE)
        return cls(secrets.token_bytes(SALT_BYTES), nothing, nothing)

    @classmethod
    def limit_for(cls, n_rows: int) -> int:
        """Return a limit below which about as many fingerprints of so many rows are as are kept."""
        limit = N_FINGERPRINTS
        while n_rows * limit > MAX_KEPT * N_FINGERPRINTS:
            limit //= 2
        return limit

    def add(self, *, trained=None, held_out=None) -> Fingerprints:
        """Return fingerprints that also know these rows."""
        limit = self.limit
        old_and_new = []
        for old, X in ((self.trained, trained), (self.held_out, held_out)):
            old_and_new.append(old if X is None else np.union1d(old, fingerprint(X, self.salt)))
        while any(np.count_nonzero(known < limit) > MAX_KEPT for known in old_and_new):
            limit //= 2
        kept = [known[known < limit].astype(FINGERPRINT_DTYPE) for known in old_and_new]
        return replace(self, trained=kept[0], held_out=kept[1], limit=limit)

    def look(self, X) -> Look:
        """Return which of these rows are known."""
        found = fingerprint(X, self.salt)
        return Look(found < self.limit, np.isin(found, self.trained), np.isin(found, self.held_out))

    @property
    def false_positive_rate(self) -> float:
        """Return the probability that a checked new row is taken for a training row."""
        return len(self.trained) / self.limit

    def to_dict(self) -> dict[str, Any]:
        """Return everything, ready for JSON."""
        return {
            "salt": self.salt.hex(),
            "limit": self.limit,
            "trained": base64.b64encode(self.trained.tobytes()).decode(),
            "held_out": base64.b64encode(self.held_out.tobytes()).decode(),
        }

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> Fingerprints:
        """Return what `to_dict` described; anything else raises a ValueError."""
        salt, limit = bytes.fromhex(content["salt"]), content["limit"]
        if len(salt) != SALT_BYTES or type(limit) is not int or not 0 < limit <= N_FINGERPRINTS:
            raise ValueError("its fingerprints of rows are damaged")
        trained, held_out = (
            np.frombuffer(base64.b64decode(content[name], validate=True), FINGERPRINT_DTYPE)
            for name in ("trained", "held_out")
        )
        return cls(salt, trained, held_out, limit)


def fingerprint(X, salt: bytes) -> np.ndarray:
    """Return the fingerprint of each row of a table, array or sparse matrix.

    The order of named columns does not matter, nor the type or spelling of numbers: 1, 1.0 and
    "1e0" are the same, and numbers that are not whole are compared in single precision.
    """
    rows = _sparse_rows(X) if sparse.issparse(X) else _dense_rows(X)
    size = FINGERPRINT_DTYPE.itemsize
    digests = (blake2b(row, digest_size=size, salt=salt).digest() for row in rows)
    return np.frombuffer(b"".join(digests), FINGERPRINT_DTYPE)


def _dense_rows(X) -> Iterator[bytes]:
    X = X if hasattr(X, "iloc") else np.asarray(X)
    for start in range(0, len(X), ROWS_PER_BLOCK):
        block = slice(start, start + ROWS_PER_BLOCK)
        if hasattr(X, "iloc"):
            codes = _table_codes(X.iloc[block])
        elif X.dtype.kind in "fiub":
            codes = number_codes(X[block])
        else:
            codes = np.column_stack([_text_codes(column) for column in X[block].T])
        content, width = codes.tobytes(), codes.shape[1] * codes.itemsize
        yield from (content[i : i + width] for i in range(0, len(content), width))


def _sparse_rows(X) -> Iterator[bytes]:
    X = X.tocsr(copy=True)
    X.sum_duplicates()
    X.eliminate_zeros()
    indices, values = X.indices.astype(CODE_DTYPE), number_codes(X.data)
    for start, stop in zip(X.indptr[:-1], X.indptr[1:], strict=True):
        yield indices[start:stop].tobytes() + values[start:stop].tobytes()


def number_codes(values) -> np.ndarray:
    """Return a code for each number; all NaN have the same, and so have 0 and -0."""
    exact = np.asarray(values, dtype=float)
    with np.errstate(over="ignore", under="ignore"):
        rounded = exact.astype(np.float32).astype(float)
    # A file may hold numbers in single precision, or with fewer digits than they had in another.
    # Whole numbers stay exact: they may be identifiers or seconds.
    keep = (exact == np.rint(exact)) | ~np.isfinite(rounded) | (rounded == 0)
    codes = np.where(keep, exact, rounded) + 0.0
    codes[np.isnan(codes)] = np.nan
    return np.ascontiguousarray(codes).view(np.uint64).astype(CODE_DTYPE)


def _table_codes(table) -> np.ndarray:
    names = [str(name) for name in table.columns]
    order = sorted(range(len(names)), key=names.__getitem__)
    return np.column_stack([_column_codes(table.iloc[:, i]) for i in order])


def _column_codes(column) -> np.ndarray:
    from pandas.api.types import is_numeric_dtype

    if is_numeric_dtype(column.dtype):
        return number_codes(column.to_numpy(dtype=float, na_value=np.nan))
    return _text_codes(column)


def _text_codes(column) -> np.ndarray:
    import pandas as pd

    place, texts = pd.factorize(column)
    codes = [
        int.from_bytes(blake2b(str(text).encode("utf-8", "replace"), digest_size=8).digest())
        for text in texts
    ]
    return np.array([*codes, MISSING_TEXT_CODE], CODE_DTYPE)[place]  # -1 is missing: the last
