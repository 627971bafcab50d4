import errno
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from bayespoint._runtime import atomic
from bayespoint._runtime.atomic import DRAFT_SUFFIX, in_place_of, remove_drafts

needs_posix = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "file"


def write(path, content=b"new"):
    with in_place_of(path) as file:
        file.write(content)


def test_the_old_file_stays_until_the_new_one_is_complete(path):
    path.write_bytes(b"old")
    with in_place_of(path) as file:
        file.write(b"new")
        assert path.read_bytes() == b"old"
        assert len(os.listdir(path.parent)) == 2
    assert path.read_bytes() == b"new"
    assert os.listdir(path.parent) == [path.name]


@pytest.mark.parametrize("error", [ValueError("bad"), KeyboardInterrupt()], ids=repr)
def test_the_old_file_stays_if_writing_fails(error, path):
    path.write_bytes(b"old")
    with pytest.raises(type(error)), in_place_of(path) as file:  # noqa: PT012
        file.write(b"half")
        raise error
    assert path.read_bytes() == b"old"
    assert os.listdir(path.parent) == [path.name]


@pytest.mark.parametrize("name", ["replace", "fsync"])
def test_nothing_is_left_if_the_end_fails(name, path, monkeypatch):
    def fail(*_):
        raise OSError(errno.EIO, "broken")

    monkeypatch.setattr(os, name, fail)
    with pytest.raises(OSError, match="broken"):
        write(path)
    assert os.listdir(path.parent) == []


def test_drafts_are_removed_when_the_process_ends(path):
    with pytest.raises(FileNotFoundError), in_place_of(path):  # noqa: PT012
        remove_drafts()
        assert os.listdir(path.parent) == []
    remove_drafts()
    write(path)
    remove_drafts()
    assert path.read_bytes() == b"new"


def test_a_disk_that_is_really_full():
    if not os.access("/dev/full", os.W_OK):
        pytest.skip("needs a device that is always full")
    with pytest.raises(IsADirectoryError, match="directory or a device"):
        write("/dev/full")
    assert stat.S_ISCHR(os.stat("/dev/full").st_mode)


@needs_posix
def test_a_limit_on_the_size_of_files(path):
    code = f"""
import resource, signal
from bayespoint._runtime.atomic import in_place_of
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
try:
    with in_place_of({str(path)!r}) as file:
        file.write(bytes(800_000))
except OSError as error:
    print("OSError", error.errno)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == f"OSError {errno.EFBIG}\n"
    assert os.listdir(path.parent) == []


@needs_posix
def test_permissions(path):
    old = os.umask(0o027)
    try:
        write(path)
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
        path.chmod(0o604)
        write(path)
        assert stat.S_IMODE(path.stat().st_mode) == 0o604
    finally:
        os.umask(old)


@needs_posix
def test_links_are_followed(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    link = tmp_path / "link"
    for target in (folder / "absolute", Path("folder") / "relative"):
        link.symlink_to(target)
        write(link, b"first")  # to a file that is not there yet
        write(link, b"second")
        assert link.is_symlink()
        assert (tmp_path / target).read_bytes() == link.read_bytes() == b"second"
        link.unlink()
    assert sorted(os.listdir(folder)) == ["absolute", "relative"]


def test_places_that_are_no_files(tmp_path):
    with pytest.raises(FileNotFoundError, match="There is no folder"):
        write(tmp_path / "missing" / "file")
    with pytest.raises(IsADirectoryError, match="is a directory"):
        write(tmp_path)


@needs_posix
def test_abandoned_drafts_are_removed_and_those_in_use_are_not(path):
    abandoned = path.with_name(f".0123{DRAFT_SUFFIX}")
    abandoned.write_bytes(b"half")
    other = path.with_name(".0123.tmp")  # not ours
    other.write_bytes(b"")
    with in_place_of(path) as first:
        assert not abandoned.exists()
        write(path.with_name("second"))
        first.write(b"new")
    assert path.read_bytes() == b"new"
    assert sorted(os.listdir(path.parent)) == sorted([other.name, "file", "second"])


@needs_posix
def test_a_draft_that_was_taken_for_abandoned_is_made_again(path, monkeypatch):
    """Another process may look at a draft before it is locked."""
    lock, calls = atomic.lock_file, []

    def steal(descriptor):
        calls.append(descriptor)
        if len(calls) == 1:
            next(path.parent.glob(f".*{DRAFT_SUFFIX}")).unlink()
        return lock(descriptor)

    monkeypatch.setattr(atomic, "lock_file", steal)
    write(path)
    assert (path.read_bytes(), len(calls)) == (b"new", 2)
    assert os.listdir(path.parent) == ["file"]


@pytest.mark.parametrize("missing", ["locks", "fcntl"])
def test_without_locks_files_are_written_all_the_same(path, missing, monkeypatch):
    if missing == "fcntl":
        monkeypatch.setattr(atomic, "fcntl", None)
    else:
        monkeypatch.setattr(atomic, "lock_file", lambda descriptor: None)
    with in_place_of(path) as file:
        file.write(b"new")
        if missing == "locks":  # nobody can know whether it is abandoned
            write(path.with_name("second"))
    assert path.read_bytes() == b"new"
    assert not list(path.parent.glob(".*"))


def test_ctrl_c_moves_what_was_written_if_requested(path):
    path.write_bytes(b"old")
    partial = path.with_name("partial")

    def press(**options):
        with in_place_of(path, **options) as file:
            file.write(b"half")
            raise KeyboardInterrupt

    for options, files in ({}, ["file"]), ({"partial": partial}, ["file", "partial"]):
        with pytest.raises(KeyboardInterrupt):
            press(**options)
        assert sorted(os.listdir(path.parent)) == files
    assert (path.read_bytes(), partial.read_bytes()) == (b"old", b"half")


@needs_posix
def test_the_draft_of_a_private_file_is_private(path):
    old = os.umask(0o022)
    try:
        path.write_bytes(b"old")
        path.chmod(0o640)
        with in_place_of(path) as file:
            assert stat.S_IMODE(os.stat(file.name).st_mode) == 0o600
            file.write(b"new")
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
        partial = path.with_name("partial")
        with pytest.raises(KeyboardInterrupt), in_place_of(path, partial):
            raise KeyboardInterrupt
        assert stat.S_IMODE(partial.stat().st_mode) == 0o640
    finally:
        os.umask(old)


@pytest.mark.parametrize("has_links", [True, False])
def test_a_file_that_appears_in_the_meantime_is_left_alone_if_requested(
    path, has_links, monkeypatch
):
    def link(source, target):
        raise OSError(errno.EPERM, "no links here")

    if not has_links:
        monkeypatch.setattr(os, "link", link)
    with in_place_of(path, only_new=True) as file:
        file.write(b"first")
    assert path.read_bytes() == b"first"
    with pytest.raises(FileExistsError), in_place_of(path, only_new=True) as file:
        file.write(b"second")
    assert path.read_bytes() == b"first"
    assert os.listdir(path.parent) == [path.name]
