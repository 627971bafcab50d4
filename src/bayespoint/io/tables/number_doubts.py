"""Numbers that may not mean what they say: codes for missing values, and percent signs."""

from __future__ import annotations

import re

import numpy as np

from .number_format import MIN_UNIT_SHARE

# Numbers that people write where a value is missing.
_CODE = re.compile(r"-9+|99+")
# A code stands in this many rows at least, among this many other values.
MIN_CODE_ROWS = 2
MIN_OTHERS = 2
# It is this many times as far from the other values as they are from each other.
MIN_GAP = 2
_SIGNS = ("%", "‰")
_ZERO = re.compile(r"[+-]?0*[.,]?0*")


def find_code(values: np.ndarray) -> tuple[int, int] | None:
    """Return a number that probably stands for missing values, and its number of rows.

    Such as -999 among positive numbers, or 9999 among small ones.

    Parameters
    ----------
    values : ndarray
        Numbers; NaN is missing.

    Examples
    --------
    >>> import numpy as np
    >>> find_code(np.array([18, 35, -999, 79, -999]))
    (-999, 2)
    >>> find_code(np.array([18, 35, 99, 79, 99]))
    """
    different, counts = np.unique(values[np.isfinite(values)], return_counts=True)
    if len(different) <= MIN_OTHERS:
        return None
    for place, others in ((0, different[1:]), (-1, different[:-1])):
        code, n_rows = different[place], int(counts[place])
        if n_rows < MIN_CODE_ROWS or not _CODE.fullmatch(f"{code:.15g}"):
            continue
        gap = others[0] - code if place == 0 else code - others[-1]
        if (code < 0 <= others[0]) or gap > MIN_GAP * np.ptp(others):
            return int(code), n_rows
    return None


def find_unsigned(texts: list[str], unit: str) -> str | None:
    """Return a number without the percent sign that the others have; zeros need none.

    Examples
    --------
    >>> find_unsigned(["12 %", "0", "0.12"], "%")
    '0.12'
    """
    if unit not in _SIGNS:
        return None
    return next((t for t in texts if unit not in t and not _ZERO.fullmatch(t)), None)


def find_rare_unit(texts: list[str], unit: str) -> str | None:
    """Return a number with the unit if most others are written without it.

    Examples
    --------
    >>> find_rare_unit(["67 yrs", "34", "71", "8"], "yrs")
    '67 yrs'
    """
    written = [text for text in texts if unit in text]
    if not unit or unit in _SIGNS or len(written) >= MIN_UNIT_SHARE * len(texts):
        return None
    return next(iter(written), None)


def ask_about_numbers(name: str, values: np.ndarray, texts: list[str], unit: str) -> list[str]:
    """Return questions about a column of numbers.

    Parameters
    ----------
    name : str
        The column.
    values : ndarray
        Its numbers; NaN is missing.
    texts : list of str
        The same as they are written, those that are numbers.
    unit : str
        Their unit, such as "%".
    """
    questions = []
    code = find_code(values)
    if code is not None:
        number, n_rows = code
        questions.append(
            f"column {name!r} holds {number} in {n_rows:,} rows, far from its other values. If it "
            "stands for missing values, leave them empty"
        )
    unsigned = find_unsigned(texts, unit)
    if unsigned is not None:
        questions.append(
            f"column {name!r} holds {unsigned!r} among numbers with {unit}: it is read as "
            f"{unsigned} {unit}. If that is wrong, write all of them in the same way"
        )
    rare = find_rare_unit(texts, unit)
    if rare is not None:
        questions.append(
            f"column {name!r} holds {rare!r} among numbers without a unit: all are read in "
            f"{unit}. If that is wrong, write all of them in the same way"
        )
    return questions
