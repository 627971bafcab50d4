import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from bayespoint.io.tables.date_format import (
    FORMATS,
    ISO,
    DateFormat,
    check_formats,
    date_parts,
    describe_format,
    find_parts,
    parse_dates,
    recognize_dates,
)


def recognized(texts, name="x", day_first=True):
    return recognize_dates(dict.fromkeys(texts, 1), name, day_first=day_first)


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_is_recognized_and_read(format):
    rng = np.random.default_rng(0)
    seconds = rng.integers(0, 800 * 86_400, 300)
    times = pd.Timestamp("2023-01-01") + pd.to_timedelta(seconds, "s")
    texts = times.strftime(format).tolist()
    found, is_ambiguous = recognized(texts)
    assert not is_ambiguous
    parsed, odd = parse_dates(pa.chunked_array([texts]), found)
    assert not odd.any()
    assert parsed.dt.strftime(format).tolist() == texts


@pytest.mark.parametrize(
    "texts",
    [
        ["2024-01-02", "2024-03-04"],
        ["2024-01-02 10:00:00", "2024-01-02T11:30:00Z", "2024-01-03"],
        ["2024-01-02 10:00:00.123456+02:00"],
    ],
)
def test_the_international_format(texts):
    assert recognized(texts) == (ISO, False)
    parsed, odd = parse_dates(pa.chunked_array([[*texts, None, "bad"]]), ISO)
    assert odd.tolist() == [False] * (len(texts) + 1) + [True]
    assert parsed.notna().sum() == len(texts)


def test_day_and_month_can_be_exchanged():
    assert recognized(["01/02/2024", "03/04/2024"]) == ("%d/%m/%Y", True)
    assert recognized(["01/02/2024", "03/04/2024"], day_first=False) == ("%m/%d/%Y", True)
    assert recognized(["01/02/2024", "03/14/2024"]) == ("%m/%d/%Y", False)


@pytest.mark.parametrize(
    "texts", [["5 kg"], ["1.2.3", "4.5.6"], ["12-14", "10-12"], ["a", "b"], ["2024-13-45"], []]
)
def test_other_things_are_not_dates(texts):
    assert recognized(texts) is None


def test_eight_digits_are_a_date_only_by_name():
    assert recognized(["20240105", "20240203"]) is None
    assert recognized(["20240105", "20240203"], "order_date") == ("%Y%m%d", False)


def test_only_parts_that_vary_are_used():
    texts = pa.chunked_array([["2024-02-01 06:00", "2024-02-08 18:30", None]])
    times, _ = parse_dates(texts, ISO)
    dates = find_parts(times, ISO)
    assert dates == DateFormat(ISO, "2024-02-01T00:00:00+00:00", ["days", "hour"])
    assert dates.names("when") == ["when (days)", "when (hour)"]
    parts = date_parts(times, dates)
    np.testing.assert_allclose(parts["days"], [0.25, 7 + 18.5 / 24, np.nan])
    np.testing.assert_array_equal(parts["hour"], [6, 18.5, np.nan])
    times, _ = parse_dates(pa.chunked_array([["10:30", "23:15"]]), "%H:%M")
    assert find_parts(times, "%H:%M").parts == ["hour"]


def test_formats_in_words_and_wrong_ones():
    assert describe_format("%d.%m.%Y") == "dd.mm.yyyy"
    check_formats(["%d.%m.%Y", ISO, ""])
    with pytest.raises(ValueError, match="should be like"):
        check_formats(["dd.mm.yyyy"])
