"""How a column writes its numbers: decimal mark, thousands separator, and unit or currency."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any

# A column holds numbers if this share of its values is numbers; the others become missing.
MIN_NUMBER_SHARE = 0.9
# So it does if only a few different words stand among its numbers: codes for missing values.
MAX_CODE_WORDS = 3
MIN_NUMBER_SHARE_WITH_CODES = 0.5
MIN_NUMBERS_WITH_CODES = 5
# A unit should stand at this share of the numbers, or else be the only one, in this many rows.
MIN_UNIT_SHARE = 0.5
MIN_ROWS_OF_A_RARE_UNIT = 5
# Beside plain numbers these change what a number means: "3 Mio" is not 3, nor "5 %" 5.
_FACTORS = re.compile(r"[%‰]|tsd|th|mn|mil|mill|mio|mrd|bn|bio|tn|[ap]m", re.IGNORECASE)
CURRENCY = (
    r"[$€£¥₹₽₩₺฿]|US\$|R\$|A\$|C\$|USD|EUR|GBP|CHF|JPY|CNY|INR|SEK|NOK|DKK|PLN|CZK|kr|zł|Fr\."
    r"|Rs\.?"
)
_SPACES = re.compile("[\u00a0\u2007\u2009\u202f]")
_NUMBER = re.compile(
    rf"(?P<prefix>{CURRENCY})?\ ?(?P<body>[0-9.,'\ ]*[0-9][.,]?)(?P<exponent>[eE][+-]?[0-9]+)?"
    rf"\ ?(?P<suffix>{CURRENCY}|[%‰]|°\ ?[CFK]?|[a-zA-Zµμ²³/]{{1,8}})?"
)


@dataclass(frozen=True)
class NumberFormat:
    """How numbers are written; the default is what computers write.

    Attributes
    ----------
    decimal, thousands : str
        Decimal mark, and the mark between groups of digits if there is one.
    unit : str
        Text before or after the numbers, such as "€" or "%".
    """

    decimal: str = "."
    thousands: str = ""
    unit: str = ""

    def to_dict(self) -> dict[str, str]:
        """Return the attributes as a dict that JSON can hold."""
        return asdict(self)

    def describe(self) -> str:
        """Return how numbers are written, by an example; nothing for plain numbers."""
        if self == PLAIN:
            return ""
        whole = f"1{self.thousands}234" if self.thousands else "1"
        return f"like {whole}{self.decimal}5 {self.unit}".rstrip()


PLAIN = NumberFormat()


@dataclass(frozen=True)
class Reading:
    """What the values of a column say about its number format.

    Attributes
    ----------
    format : NumberFormat
        The format of most values.
    is_ambiguous : bool
        Whether "1,234" could be a thousand or a little more than one.
    odd : list of str
        Values that are not numbers in this format.
    share : float
        Share of rows that are numbers.
    """

    format: NumberFormat
    is_ambiguous: bool
    odd: list[str]
    share: float

    @property
    def is_number(self) -> bool:
        """Tell whether the column holds numbers, perhaps with a few other words."""
        return self.share >= MIN_NUMBER_SHARE


def recognize_numbers(
    counts: dict[str, int], *, decimal: str | None = None, usual_decimal: str | None = None
) -> Reading | None:
    """Find the number format of a column, or return None if it holds something else.

    Parameters
    ----------
    counts : dict
        Different texts and how often each occurs.
    decimal : str
        The decimal mark if the user gave it.
    usual_decimal : str
        The decimal mark of other columns of the file, which decides what "1,234" means.
    """
    parsed = {text: _parse(text) for text in counts}
    known = {text: part for text, part in parsed.items() if part is not None}
    total = sum(counts.values())
    if not known or not total:
        return None
    units = Counter[str]()
    marks = Counter[str]()
    separators = Counter[str]()
    for text, (body, unit) in known.items():
        units[unit] += counts[text]
        mark, separator = _marks(body)
        marks[mark] += counts[text]
        separators[separator] += counts[text]
    chosen, is_ambiguous = _decimal(marks, decimal, usual_decimal)
    format = NumberFormat(chosen, _thousands(chosen, marks, separators), _unit(units))
    fits = re.compile(pattern(format))
    odd = [text for text in counts if not fits.fullmatch(normal(text, format))]
    n_numbers = total - sum(counts[text] for text in odd)
    share = n_numbers / total
    few_words = len(odd) <= MAX_CODE_WORDS and n_numbers >= MIN_NUMBERS_WITH_CODES
    few_words = few_words and not any(any(c.isdigit() for c in text) for text in odd)
    few_words = few_words and len(counts) - len(odd) > len(odd)
    if share < MIN_NUMBER_SHARE and few_words and share >= MIN_NUMBER_SHARE_WITH_CODES:
        share = 1.0
    return Reading(format, is_ambiguous, odd, share)


def _unit(units: Counter[str]) -> str:
    """Return the unit of a column, or nothing; `units` counts the rows with each."""
    unit = max((u for u in units if u), key=lambda u: units[u], default="")
    if units[unit] >= MIN_UNIT_SHARE * units.total():
        return unit
    # People write "67" in most rows and "67 yrs" in some. One letter may be a typing error.
    is_alone = len(units) == 2 and units[unit] >= MIN_ROWS_OF_A_RARE_UNIT
    is_word = len(unit) > 1 or not unit.isalpha()
    return unit if is_alone and is_word and not _FACTORS.fullmatch(unit) else ""


def certain_marks(texts: Sequence[str]) -> Counter[str]:
    """Count the decimal marks of texts whose mark is certain."""
    found = Counter[str]()
    for text in texts:
        part = _parse(text)
        if part is not None:
            found[_marks(part[0])[0]] += 1
    return Counter({mark: found[mark] for mark in ".," if found[mark]})


def looks_like_number(text: str) -> bool:
    """Tell whether a text can be a number in some format."""
    return _parse(text) is not None


def _parse(text: str) -> tuple[str, str] | None:
    """Return the digits and marks of a number, and its unit; None for other texts."""
    text = _SPACES.sub(" ", text).replace("−", "-").replace("’", "'")
    if text.startswith("(") and text.endswith(")"):
        text = text[1:-1]
    text = re.sub(rf"^((?:{CURRENCY}) ?)?[+-] ?", r"\1", text).removesuffix("-")
    match = _NUMBER.fullmatch(text)
    if match is None or not _has_groups(match["body"]):
        return None
    if match["prefix"] and match["suffix"]:
        return None
    return match["body"], match["prefix"] or match["suffix"] or ""


def _has_groups(body: str) -> bool:
    """Tell whether marks between digits can be a decimal mark and thousands separators."""
    return any(
        re.fullmatch(pattern(NumberFormat(decimal, thousands)), body)
        for decimal, thousands in ((".", ","), (",", "."), (".", " "), (",", " "), (".", "'"))
    )


def _marks(body: str) -> tuple[str, str]:
    """Return the decimal mark and the thousands separator; "?," and "?." if it is not certain."""
    separator = next((c for c in " '" if c in body), "")
    if "." in body and "," in body:
        last = max(".,", key=body.rfind)
        return last, "," if last == "." else "."
    for mark in ".,":
        n = body.count(mark)
        if n > 1:
            return ("," if mark == "." else "."), mark
        if n == 1:
            before, after = body.split(mark)
            is_group = len(after) == 3 and 1 <= len(before) <= 3 and not before.startswith("0")
            return (f"?{mark}" if is_group and not separator else mark), separator
    return "", separator


def _decimal(marks: Counter[str], given: str | None, usual: str | None) -> tuple[str, bool]:
    """Return the decimal mark of a column, and whether it had to be guessed."""
    if given:
        return given, False
    if marks["."] or marks[","]:
        return (",", False) if marks[","] > marks["."] else (".", False)
    if marks["?,"] or marks["?."]:
        mark = "," if marks["?,"] >= marks["?."] else "."
        # Without other evidence 1.234 is what a computer writes, and 1,234 what a person writes.
        return (usual or "."), mark == "," or usual == ","
    return ".", False


def _thousands(decimal: str, marks: Counter[str], separators: Counter[str]) -> str:
    """Return the thousands separator of a column with this decimal mark."""
    other = "," if decimal == "." else "."
    if separators[other] or marks[f"?{other}"]:
        return other
    return max((s for s in " '" if separators[s]), key=lambda s: separators[s], default="")


@lru_cache(maxsize=1024)
def pattern(format: NumberFormat) -> str:
    """Return the regular expression of numbers without their unit, in this format."""
    whole = "[0-9]+"
    if format.thousands:
        mark = re.escape(format.thousands)
        # Groups of three; in India groups of two before the last three digits.
        threes, twos = rf"(?:{mark}[0-9]{{3}})+", rf"(?:{mark}[0-9]{{2}})+{mark}[0-9]{{3}}"
        whole = f"(?:[0-9]{{1,3}}{threes}|[0-9]{{1,2}}{twos}|[0-9]+)"
    mark = re.escape(format.decimal)
    return rf"[+-]?(?:{whole}(?:{mark}[0-9]*)?|{mark}[0-9]+)(?:[eE][+-]?[0-9]+)?"


def normal(text: str, format: NumberFormat) -> str:
    """Return a text without its unit and blanks, negative numbers with a sign in front."""
    for before, after in _replacements(format):
        text = re.sub(before, after, text)
    return text


def _replacements(format: NumberFormat) -> list[tuple[str, str]]:
    """Return what to replace before the text of a number can be read; for Python and Arrow."""
    changes = [("[\u00a0\u2007\u2009\u202f]", " "), ("−", "-"), ("’", "'")]
    if format.unit:
        unit = re.escape(format.unit).replace("\\ ", " ")
        changes += [(rf"^([(+-]?) ?{unit} ?", r"\1"), (rf" ?{unit}( ?\)?-?)$", r"\1")]
    return [*changes, (r"^\((.*)\)$", r"-\1"), (r"^([^+-].*)-$", r"-\1"), (r"^([+-]) +", r"\1")]


def parse_numbers(texts, format: NumberFormat) -> tuple[Any, Any]:
    """Return an Arrow column as float64, and which values are not numbers in this format.

    Parameters
    ----------
    texts : Arrow array of str
        Texts without blanks around them; null is missing.
    format : NumberFormat
        How the numbers are written.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    expression = f"^(?:{pattern(format)})$"
    plain, fits = texts, pc.match_substring_regex(texts, pattern=expression)
    if not pc.all(fits).as_py():
        for before, after in _replacements(format):
            plain = pc.replace_substring_regex(plain, pattern=before, replacement=after)
        fits = pc.match_substring_regex(plain, pattern=expression)
    plain = pc.if_else(fits, plain, pa.scalar(None, pa.string()))
    if format.thousands:
        plain = pc.replace_substring(plain, pattern=format.thousands, replacement="")
    if format.decimal != ".":
        plain = pc.replace_substring(plain, pattern=format.decimal, replacement=".")
    return plain.cast(pa.float64()), pc.fill_null(pc.invert(fits), False)
