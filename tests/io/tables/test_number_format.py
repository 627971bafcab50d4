import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayespoint.io.tables.number_format import (
    NumberFormat,
    certain_marks,
    looks_like_number,
    parse_numbers,
    recognize_numbers,
)


def read(texts, **evidence):
    """Return the format of texts, and their numbers."""
    reading = recognize_numbers(dict.fromkeys(texts, 1), **evidence)
    return reading, parse_numbers(pa.chunked_array([texts]), reading.format)[0].to_pylist()


@pytest.mark.parametrize(
    ("texts", "format", "numbers"),
    [
        (["1,5", "2,25", "-3,0"], (",", "", ""), [1.5, 2.25, -3.0]),
        (["€ 1,234.50", "€ 987"], (".", ",", "€"), [1234.5, 987.0]),
        (["12 %", "3,5 %", "-1 %"], (",", "", "%"), [12.0, 3.5, -1.0]),
        (["1 234,5", "12 345,0", "7,1"], (",", " ", ""), [1234.5, 12345.0, 7.1]),
        (["1\u202f234,5", "7\u00a0100,1"], (",", " ", ""), [1234.5, 7100.1]),
        (["$1,234.50", "-$3.10", "($12.00)"], (".", ",", "$"), [1234.5, -3.1, -12.0]),
        (["1'234.5", "12"], (".", "'", ""), [1234.5, 12.0]),
        (["1’234.5", "12"], (".", "'", ""), [1234.5, 12.0]),
        (["12,34,567.00", "1,000.00"], (".", ",", ""), [1234567.0, 1000.0]),
        (["1.000.000", "500"], (",", ".", ""), [1e6, 500.0]),
        (["1.5 kg", "2 kg"], (".", "", "kg"), [1.5, 2.0]),
        (["12°C", "13.5 °C"], (".", "", "°C"), [12.0, 13.5]),
        (["1,50 EUR", "1.002,00 EUR"], (",", ".", "EUR"), [1.5, 1002.0]),
        (["17.5-", "2.5"], (".", "", ""), [-17.5, 2.5]),
        (["−3.5", "+2"], (".", "", ""), [-3.5, 2.0]),
        (["1e5", "2E-3", ".5", "5."], (".", "", ""), [1e5, 2e-3, 0.5, 5.0]),
    ],
)
def test_formats(texts, format, numbers):
    reading, found = read(texts)
    assert reading.format == NumberFormat(*format)
    assert reading.is_number
    assert not reading.odd
    assert not reading.is_ambiguous
    assert found == numbers


@pytest.mark.parametrize(
    ("texts", "evidence", "numbers"),
    [
        (["1,234", "56,789"], {}, [1234, 56789]),
        (["1,234", "56,789"], {"usual_decimal": ","}, [1.234, 56.789]),
        (["1.234", "56.789"], {"usual_decimal": ","}, [1234, 56789]),
    ],
)
def test_what_could_be_both_is_decided_by_the_file_and_said(texts, evidence, numbers):
    reading, found = read(texts, **evidence)
    assert reading.is_ambiguous
    assert found == numbers
    reading, _ = read(texts, decimal=".", **evidence)
    assert not reading.is_ambiguous  # the user has said it


def test_points_alone_are_what_computers_write():
    reading, found = read(["1.234", "56.789"])
    assert (reading.is_ambiguous, found) == (False, [1.234, 56.789])


@pytest.mark.parametrize(
    "texts",
    [
        *(["A12", "B13"], ["12.03.2020", "1.1.2021"], ["10:30", "11:30"], ["12-14", "3-4"]),
        *(["1 2 3"], ["1.2.3"], ["yes", "no"], ["1,2,3"], ["$ 5 kg"], ["٣", "٤"]),
    ],
)
def test_other_things_are_not_numbers(texts):
    assert recognize_numbers(dict.fromkeys(texts, 1)) is None
    assert not any(map(looks_like_number, texts))


def test_a_few_words_among_numbers():
    counts = {str(i): 1 for i in range(50)} | {"unknown": 30}
    reading = recognize_numbers(counts)
    assert reading.is_number
    assert reading.odd == ["unknown"]
    # Many different words are something else, and so are other units.
    assert not recognize_numbers(counts | {f"word {i}": 1 for i in range(20)}).is_number
    assert not recognize_numbers({"5 kg": 10, "300 g": 8}).is_number


def test_a_letter_beside_one_number_is_not_a_unit():
    reading = recognize_numbers({"11": 5, "12": 5, "1O": 1})
    assert reading.format == NumberFormat()
    assert reading.odd == ["1O"]


def test_a_unit_at_a_few_numbers_is_read():
    numbers = {str(age): 10 for age in range(20, 70)}
    reading = recognize_numbers(numbers | {"67 yrs": 4, "31 yrs": 1})
    assert (reading.format.unit, reading.odd, reading.share) == ("yrs", [], 1.0)
    # Not if it is rare, one letter, one of two units, or changes what a number means.
    for others in (
        {"67 yrs": 4}, {"67 m": 9}, {"67 yrs": 9, "5 months": 9}, {"3 Mio": 9}, {"5 %": 9},
    ):  # fmt: skip
        reading = recognize_numbers(numbers | others)
        assert (reading.format.unit, reading.odd) == ("", list(others))


def test_a_value_in_another_format_is_not_read_wrongly():
    """With thousands separators, 1,5 must not become 15."""
    texts = pa.chunked_array([["1,234.5", "1,5", "12,34", None, "x"]])
    numbers, odd = parse_numbers(texts, NumberFormat(".", ","))
    assert numbers.to_pylist() == [1234.5, None, None, None, None]
    assert odd.to_pylist() == [False, True, True, False, True]


def test_marks_that_leave_no_doubt():
    assert certain_marks(["1,5", "1,234", "12", "x"]) == {",": 1}
    assert certain_marks(["1.234", "5"]) == {}


def test_formats_in_words():
    assert NumberFormat().describe() == ""
    assert NumberFormat(",", ".", "€").describe() == "like 1.234,5 €"


FORMATS = st.tuples(
    st.sampled_from([(".", ""), (".", ","), (",", ""), (",", "."), (",", " "), (".", "'")]),
    st.sampled_from(["", "{} €", "${}", "{} %", "{}kg"]),
)


@given(FORMATS, st.lists(st.floats(-1e9, 1e9), min_size=3, max_size=20))
def test_what_is_written_is_read(format, values):
    """Two decimals make every mark certain, whatever the format."""
    (decimal, thousands), unit = format
    swap = str.maketrans({",": thousands, ".": decimal})
    texts = [(unit or "{}").format(f"{abs(value):,.2f}".translate(swap)) for value in values]
    texts = [("-" if value < 0 else "") + text for value, text in zip(values, texts, strict=True)]
    reading, found = read(texts)
    assert reading.is_number
    np.testing.assert_array_equal(found, np.round(values, 2))
