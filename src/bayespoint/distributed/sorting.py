"""Sort the points of a cluster by their content, and merge equal points."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from ..geometry.equal_rows import content_ranks, merge_equal_rows
from .calls import memory_limits
from .row_parts import Part, RowParts, join

# Parts hold about this many bytes of points, so that Dask can move some of them to disk; but there
# is at least one part for each thread.
PART_BYTES = 2**26
# Merging a part takes eight more times these bytes for a while, when its worker is full. So a part
# has at most this share of a worker's limit.
PART_SHARE = 1 / 64
# This many points for each part are compared to find where parts should begin.
COMPARED_POINTS_PER_PART = 64


def sort_by_content(rows: RowParts) -> RowParts:
    """Return distinct points with their total weights, in the order of `merge_equal_rows`."""
    n_bytes = bytes_of(rows)
    n_threads = sum(rows.client.nthreads().values())
    part_bytes = min([PART_BYTES, *(PART_SHARE * limit for limit in memory_limits(rows.client))])
    n_parts = min(max(n_threads, round(n_bytes / part_bytes)), rows.n_rows)
    submit = rows.client.submit
    borders = _borders(rows, n_parts)
    divided = [submit(divide, part, borders, pure=False) for part in rows.parts]
    pieces = [[submit(_pick, d, i, pure=False) for d in divided] for i in range(n_parts)]
    merged = [submit(merge, some, pure=False) for some in pieces]
    return RowParts(rows.client, merged, "sorting")


def bytes_of(rows: RowParts) -> int:
    """Return the size of all points."""
    return sum(rows.ask(_bytes))


def _borders(rows: RowParts, n_parts: int):
    """Return points that divide all points into parts of similar size."""
    n = min(COMPARED_POINTS_PER_PART * n_parts, rows.n_rows)
    some = rows.take(np.linspace(0, rows.n_rows - 1, n).astype(np.int64)).X
    order = np.argsort(content_ranks(some), kind="stable")
    return some[order[np.arange(1, n_parts) * n // n_parts]]


# Tasks


def _bytes(part: Part) -> int:
    X = part.X
    return X.data.nbytes + X.indices.nbytes if sparse.issparse(X) else X.nbytes


def divide(part: Part, borders) -> list[Part]:
    """Return the points before the first border, then those from each border on."""
    stack = sparse.vstack if sparse.issparse(part.X) else np.concatenate
    rank = content_ranks(stack([borders, part.X]))
    n_borders = borders.shape[0]
    which = np.searchsorted(rank[:n_borders], rank[n_borders:], side="right")
    return [part.take(np.flatnonzero(which == i)) for i in range(n_borders + 1)]


def _pick(pieces: list[Part], number: int) -> Part:
    return pieces[number]


def merge(pieces: list[Part]) -> Part:
    """Return the distinct points of some pieces, sorted, with total weights."""
    part = join(pieces)
    sets = merge_equal_rows(part.X, part.target, np.ones(part.n_rows))
    n = len(sets.first)
    weights = [np.bincount(sets.member_of, w, n) for w in (part.weight, part.likelihood)]
    first = part.take(sets.first)
    return first._replace(weight=weights[0], likelihood=weights[1])
