import os
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from bayespoint._runtime import held_file as module
from bayespoint._runtime.held_file import held_file

needs_locks = pytest.mark.skipif(os.name == "nt", reason="there are no such locks")


def replace(path, text):
    draft = path.with_suffix(".draft")
    draft.write_text(text)
    os.replace(draft, path)


def add_one(path, waits):
    """Read a number and replace the file by one that holds the next."""
    with held_file(path, lambda: waits.append(path)) as is_same:
        number = int(path.read_text())
        threading.Event().wait(0.02)  # time for the others to read the same number
        assert is_same()
        replace(path, str(number + 1))
        assert not is_same()


@needs_locks
@pytest.mark.parametrize("locks", [True, False])
def test_changes_at_once_are_all_kept(tmp_path, monkeypatch, locks):
    monkeypatch.setattr(module, "WAIT_SECONDS", 0.001)
    if not locks:
        monkeypatch.setattr(module, "lock_file", lambda descriptor: None)
    path, waits = tmp_path / "number", []
    path.write_text("0")
    with ThreadPoolExecutor(8) as pool:
        for done in [pool.submit(add_one, path, waits) for _ in range(8)]:
            if locks:
                done.result()
    # Without locks the same changes are lost: so the test can fail.
    assert (path.read_text() == "8") is locks
    assert len(waits) <= 7  # whoever waits is told once


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError), held_file(tmp_path / "none", lambda: None):
        pass


def test_a_file_that_is_removed_is_not_the_same(tmp_path):
    path = tmp_path / "file"
    path.touch()
    with held_file(path, lambda: None) as is_same:
        assert is_same()
        path.unlink()
        assert not is_same()


@needs_locks
def test_the_file_is_released_after_an_error(tmp_path):
    path = tmp_path / "file"
    path.touch()
    with pytest.raises(ValueError, match="bad"), held_file(path, lambda: None):
        raise ValueError("bad")
    with held_file(path, lambda: pytest.fail("nobody holds it")):
        pass
