import time

import numpy as np
import pytest

from bayespoint.cli import limits
from bayespoint.cli.limits import Limits, parse_size, size_text


@pytest.mark.parametrize(
    ("text", "size"),
    [("500M", 500 * 2**20), ("2G", 2**31), ("1.5 GiB", 3 * 2**29), ("7kb", 7168), ("12", 12)],
)
def test_sizes(text, size):
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "G", "2X", "-1G", "0M", "1,5G"])
def test_sizes_that_are_none(text):
    with pytest.raises(ValueError, match=r"such as 500M or 2G, but is"):
        parse_size(text)


def test_sizes_for_people():
    assert [size_text(2**31), size_text(500 * 2**20)] == ["2G", "500M"]


def test_a_command_limits_itself_if_little_memory_is_free(monkeypatch):
    monkeypatch.setattr(limits, "resident_bytes", lambda: 2**28)
    monkeypatch.setattr(limits, "free_bytes", lambda: np.inf)
    assert limits.limit_by_free_memory() is None
    monkeypatch.setattr(limits, "free_bytes", lambda: float(limits.PLENTY_BYTES))
    assert limits.limit_by_free_memory() is None
    monkeypatch.setattr(limits, "free_bytes", lambda: 2.0**30)
    assert limits.limit_by_free_memory() == pytest.approx(2**28 + 0.7 * 2**30, abs=1)


def test_no_limit():
    free = Limits()
    assert free.seconds_left == free.bytes_left == np.inf
    assert free.seconds(0.5) is None
    assert not free.is_past(0.0)
    free.require_memory()


def test_time_passes(monkeypatch):
    monkeypatch.setattr(limits.time, "perf_counter", lambda: 106.0)
    of_ten = Limits(10.0, None, 100.0)
    assert of_ten.seconds_left == 4.0
    assert of_ten.seconds(0.5) == 2.0
    assert of_ten.is_past(0.5)
    assert not of_ten.is_past(0.7)
    assert Limits(1.0, None, 100.0).seconds(0.5) == limits.MIN_SECONDS


def test_memory_is_counted_with_the_program(monkeypatch):
    monkeypatch.setattr(limits, "resident_bytes", lambda: 300 * 2**20)
    now = time.perf_counter()
    assert Limits(None, 2**30, now).bytes_left == 724 * 2**20
    Limits(None, 2**30, now).require_memory()
    words = r"at most 350M of memory .* 300M\. Allow at least 428M with --max-memory.*ulimit -v"
    with pytest.raises(ValueError, match=words):
        Limits(None, 350 * 2**20, now).require_memory()
    assert Limits(None, 2**20, now).bytes_left == 0
