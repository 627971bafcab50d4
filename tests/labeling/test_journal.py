import errno
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayespoint.labeling.entries import LABEL, SKIP, UNDO, UNKNOWN
from bayespoint.labeling.journal import Journal, JournalError, read
from labeling_helpers import FACTS


def open_journal(folder, **facts):
    return Journal(Path(folder) / "j.csv", FACTS | facts)


def test_it_goes_on_where_it_stopped(tmp_path):
    journal = open_journal(tmp_path)
    first = journal.append(LABEL, 3, "k", "yes", "m")
    journal.close()
    again = open_journal(tmp_path)
    assert again.entries == [first]
    assert again.facts == {name: str(value) for name, value in FACTS.items()}
    second = again.append(UNDO, 3, "k")
    again.close()
    assert read(tmp_path / "j.csv")[1] == [first, second]


def test_defaults_are_written_at_the_beginning_and_not_compared(tmp_path):
    facts = FACTS | {"seed": None}
    Journal(tmp_path / "j.csv", FACTS | {"seed": 7}).close()
    journal = Journal(tmp_path / "j.csv", facts, {"seed": 0})
    assert journal.facts["seed"] == "7"
    journal.close()
    other = Journal(tmp_path / "k.csv", facts, {"seed": 0})
    assert other.facts["seed"] == "0"
    other.close()


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from([LABEL, UNKNOWN, SKIP, UNDO]), st.integers(0, 9)), max_size=8
    ),
    st.data(),
)
def test_a_cut_at_any_byte_resumes_to_a_prefix(actions, data):
    with tempfile.TemporaryDirectory() as folder:
        journal = open_journal(folder)
        for action, row in actions:
            journal.append(action, row, "key", 'a "b", ü' if action == LABEL else "")
        journal.close()
        written, path = journal.entries, Path(folder) / "j.csv"
        content = path.read_bytes()
        path.write_bytes(content[: data.draw(st.integers(0, len(content)))])
        resumed = open_journal(folder)
        kept = list(resumed.entries)
        assert kept == written[: len(kept)]
        more = resumed.append(LABEL, 1, "key", "new")
        resumed.close()
        assert read(path)[1] == [*kept, more]


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"sha256": "other"}, "has changed since.*--merge"),
        ({"target": "spam"}, "classes of 'kind', not of 'spam'"),
        ({"seed": 1}, "has --seed 0, not 1"),
    ],
)
def test_another_session_is_refused_with_the_reason(tmp_path, facts, message):
    open_journal(tmp_path).close()
    with pytest.raises(ValueError, match=message):
        open_journal(tmp_path, **facts)


def test_a_promise_may_begin_later_but_never_changes(tmp_path):
    open_journal(tmp_path).close()
    journal = open_journal(tmp_path, max_error=0.05)
    assert journal.facts["max_error"] == "0.05"
    journal.append(SKIP, 1, "k")
    journal.close()
    resumed = open_journal(tmp_path)
    assert resumed.facts["max_error"] == "0.05"
    resumed.close()
    with pytest.raises(
        ValueError, match=r"has --max-error 0\.05, not 0\.1\. A promise is made once"
    ):
        open_journal(tmp_path, max_error=0.1)


def test_a_file_that_is_no_journal_stays_as_it_is(tmp_path):
    path = tmp_path / "j.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match="not a journal"):
        open_journal(tmp_path)
    assert path.read_text() == "a,b\n1,2\n"


@pytest.mark.skipif(sys.platform == "win32", reason="one process, two handles")
def test_two_cannot_write(tmp_path):
    journal = open_journal(tmp_path)
    with pytest.raises(ValueError, match="already running"):
        open_journal(tmp_path)
    journal.append(SKIP, 1, "k")
    journal.close()
    open_journal(tmp_path).close()


class FullDisk:
    """A file on a disk that takes so many more bytes."""

    def __init__(self, file, room, *, fails="write"):
        self._file, self.room, self._fails = file, room, fails

    def __getattr__(self, name):
        return getattr(self._file, name)

    def write(self, content):
        if self._fails == "write" and not self.room:
            raise OSError(errno.ENOSPC, "No space left on device")
        n = self._file.write(content[: self.room])
        self.room -= n
        return n


@pytest.mark.parametrize("room", [0, 1, 20])
def test_a_full_disk_keeps_everything_before(tmp_path, room):
    journal = open_journal(tmp_path)
    first = journal.append(LABEL, 1, "k", "yes")
    disk, real = FullDisk(journal._file, room), journal._file
    journal._file = disk
    with pytest.raises(JournalError, match=r"disk is full.*All answers before are safe"):
        journal.append(LABEL, 2, "k", "no")
    assert read(tmp_path / "j.csv")[1] == journal.entries == [first]
    journal._file = real  # there is room again
    second = journal.append(LABEL, 2, "k", "yes")
    assert read(tmp_path / "j.csv")[1] == [first, second]
    journal.close()


def test_a_line_that_could_not_be_removed_is_overwritten(tmp_path, monkeypatch):
    journal = open_journal(tmp_path)
    real = journal._file

    class Stuck(FullDisk):
        def truncate(self, size):
            raise OSError(errno.EIO, "Input/output error")

    journal._file = Stuck(real, 10)
    with pytest.raises(JournalError):
        journal.append(LABEL, 2, "k", "a long label that leaves a long rest")
    journal._file = real
    entry = journal.append(LABEL, 1, "k", "b")
    journal.close()
    resumed = open_journal(tmp_path)
    assert resumed.entries == [entry]
    resumed.close()


def test_an_answer_that_is_not_synced_is_not_accepted(tmp_path, monkeypatch):
    journal = open_journal(tmp_path)

    def fail(descriptor):
        raise OSError(errno.EIO, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fail)
        with pytest.raises(JournalError, match="Input/output error"):
            journal.append(SKIP, 1, "k")
    assert journal.entries == read(tmp_path / "j.csv")[1] == []
    journal.close()


LIMITED = """
import resource, signal, sys
from pathlib import Path
from bayespoint.labeling.journal import Journal, JournalError
journal = Journal(Path(sys.argv[1]), {"pool": "p", "sha256": "a", "target": "t"})
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, resource.RLIM_INFINITY))
n = 0
try:
    while True:
        journal.append("label", n, "key", "yes")
        n += 1
except JournalError:
    pass
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
journal.append("label", n, "key", "no")
print(n)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="limits of file sizes")
def test_a_real_limit_of_the_system(tmp_path):
    path = tmp_path / "j.csv"
    command = [sys.executable, "-c", LIMITED, str(path)]
    n = int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    entries = read(path)[1]
    assert n > 3
    assert [entry.label for entry in entries] == ["yes"] * n + ["no"]


ANSWERS = """
import sys
from pathlib import Path
from bayespoint.labeling.journal import Journal
journal = Journal(Path(sys.argv[1]), {"pool": "p", "sha256": "a", "target": "t"})
for row in range(len(journal.entries), 100_000):
    journal.append("label", row, "key", "yes")
    print(row, flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_kill_loses_nothing_that_was_confirmed(tmp_path):
    path, confirmed = tmp_path / "j.csv", -1
    for n in (7, 23, 60):
        process = subprocess.Popen(
            [sys.executable, "-c", ANSWERS, str(path)], stdout=subprocess.PIPE
        )
        while confirmed < n:
            confirmed = int(process.stdout.readline())
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        rows = [entry.row for entry in read(path)[1]]
        assert rows[: confirmed + 1] == list(range(confirmed + 1))
        assert rows == list(range(len(rows)))


def test_a_copy_is_readable_while_it_is_written(tmp_path):
    journal = open_journal(tmp_path)
    journal.append(LABEL, 1, "k", "yes")
    shutil.copy(tmp_path / "j.csv", tmp_path / "copy.csv")
    assert read(tmp_path / "copy.csv")[1] == journal.entries
    journal.close()
