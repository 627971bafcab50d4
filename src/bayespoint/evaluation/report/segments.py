"""Segments of the rows with more or fewer errors than the others, by values of one column."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy import stats

from ..holm import holm
from ..intervals import Share, share
from ..results import Evaluation
from .columns import Table, is_number, missing_values
from .formatting import number, text

# Smaller segments are not looked at: they say little, and every look costs power.
MIN_SEGMENT_ROWS = 20
# Look at this many columns at most.
MAX_COLUMNS = 500
# Numbers with at most this many different values are treated as categories.
MAX_DISTINCT_NUMBERS = 6
# Numbers with more are cut at their quartiles.
QUARTILES = (0.25, 0.5, 0.75)
# Categories of a column, the most frequent first.
MAX_CATEGORIES = 20
# A segment differs if its corrected p-value is below this.
SIGNIFICANCE_LEVEL = 0.05


class Segment(NamedTuple):
    """Rows with certain values in one column."""

    column: int
    values: str  # in words, such as "= red" or "over 3.5"
    error: Share
    elsewhere: Share  # error of all other rows
    expected: float  # error that the confidence of the model promises for the segment
    p_value: float  # corrected for all segments that were looked at


class Segments(NamedTuple):
    """Segments that differ, one for each column at most, and the number of looks."""

    found: list[Segment]
    n_looks: int


def find_segments(cells: Table, evaluation: Evaluation) -> Segments:
    """Return where errors are more or less frequent than elsewhere, by exact tests."""
    wrong, looks = evaluation.wrong, []
    for j in range(min(cells.n_columns, MAX_COLUMNS)):
        for values, inside in _split(cells.values(j)):
            if MIN_SEGMENT_ROWS <= np.count_nonzero(inside) < len(wrong):
                looks.append((j, values, inside))
    if not looks:
        return Segments([], 0)
    counts = np.array([[inside.sum(), (inside & wrong).sum()] for _, _, inside in looks])
    corrected = holm(_p_values(counts[:, 0], counts[:, 1], wrong))
    best: dict[int, Segment] = {}
    for (j, values, inside), p_value in zip(looks, corrected, strict=True):
        if p_value < SIGNIFICANCE_LEVEL:
            segment = _segment(j, values, inside, evaluation, float(p_value))
            if j not in best or _rank(segment) < _rank(best[j]):
                best[j] = segment
    return Segments(sorted(best.values(), key=lambda s: -_difference(s)), len(looks))


def _p_values(n_rows: np.ndarray, n_wrong: np.ndarray, wrong: np.ndarray) -> np.ndarray:
    """Return p-values of Fisher's exact test: twice the smaller tail."""
    law = stats.hypergeom(len(wrong), int(wrong.sum()), n_rows)
    return np.minimum(2 * np.minimum(law.cdf(n_wrong), law.sf(n_wrong - 1)), 1)


def _segment(j: int, values: str, inside, evaluation: Evaluation, p_value: float) -> Segment:
    wrong, confidence_level = evaluation.wrong, evaluation.confidence_level
    outside = ~inside
    return Segment(
        j,
        values,
        share((wrong & inside).sum(), inside.sum(), confidence_level),
        share((wrong & outside).sum(), outside.sum(), confidence_level),
        float(1 - evaluation.confidence[inside].mean()),
        p_value,
    )


def _difference(segment: Segment) -> float:
    return segment.error.value - segment.elsewhere.value


def _rank(segment: Segment) -> tuple[float, float]:
    """Order the segments of a column: the clearest first, then the worst."""
    return segment.p_value, -segment.error.value


def _split(values: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """Yield segments of a column: their values in words, and which rows are inside."""
    missing = missing_values(values)
    if missing.any():
        yield "missing", missing
    present = values[~missing]
    if not len(present):
        return
    if not is_number(present):
        yield from _categories(np.array(list(map(str, values.tolist()))), ~missing, text)
        return
    numbers = np.full(len(values), np.nan)
    numbers[~missing] = present.astype(float)
    if len(np.unique(numbers[~missing])) <= MAX_DISTINCT_NUMBERS:
        yield from _categories(numbers, ~missing, lambda value: number(value.item()))
        return
    edges = np.unique(np.quantile(numbers[~missing], QUARTILES, method="lower"))
    yield f"up to {number(edges[0].item())}", numbers <= edges[0]
    for low, high in pairwise(edges):
        words = f"over {number(low.item())}, up to {number(high.item())}"
        yield words, (numbers > low) & (numbers <= high)
    yield f"over {number(edges[-1].item())}", numbers > edges[-1]


def _categories(values: np.ndarray, present: np.ndarray, name) -> Iterator[tuple[str, np.ndarray]]:
    found, counts = np.unique(values[present], return_counts=True)
    for value in found[np.argsort(-counts, kind="stable")[:MAX_CATEGORIES]]:
        yield f"= {name(value)}", present & (values == value)
