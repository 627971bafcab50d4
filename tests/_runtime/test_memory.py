import numpy as np

from bayespoint._runtime import memory
from bayespoint._runtime.memory import ASSUMED_RESIDENT_BYTES, peak_bytes, resident_bytes


def test_memory_grows_with_what_is_taken():
    before = resident_bytes()
    taken = np.ones(2**24)  # 128 MB
    grown = resident_bytes() - before
    # Pages that were freed before may be used again, but not so many.
    assert 2**26 < grown < 2**28
    assert peak_bytes() >= taken.nbytes


def test_systems_that_do_not_say_it(monkeypatch, tmp_path):
    monkeypatch.setattr(memory, "STATM", tmp_path / "missing")
    assert resident_bytes() == peak_bytes()
    monkeypatch.setattr(memory, "peak_bytes", lambda: 0)
    assert resident_bytes() == ASSUMED_RESIDENT_BYTES
