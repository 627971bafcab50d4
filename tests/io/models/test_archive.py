import errno
import json
import os
import pickle
import struct
import warnings
import zipfile
from functools import cache

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bayespoint import LinearMarginSVC
from bayespoint.io.models import archive
from bayespoint.io.models.model_file import ModelFileError, load, save
from model_file_helpers import (
    SMALL_MODEL,
    X2,
    Payload,
    assert_refused,
    assert_same,
    fitted,
    members_of,
    with_text,
    written,
    zip_of,
)


def test_equal_models_are_equal_files(path, tmp_path):
    model = fitted("ep", "three")
    save(model, path)
    save(load(path), tmp_path / "other")
    assert path.read_bytes() == (tmp_path / "other").read_bytes()


def test_people_can_look_inside(path):
    model = fitted("linear full", "three")
    save(model, path)
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        text = json.loads(archive.read("model.json"))
    at = text["model"]["state"]["_shift"]["index"]
    np.testing.assert_array_equal(np.load(path)[f"arrays/{at}"], model._shift)


def test_too_many_arrays(path, monkeypatch):
    monkeypatch.setattr(archive, "MAX_ARRAYS", 3)
    save(LinearMarginSVC(C=[np.zeros(1) for _ in range(3)]), path)
    load(path)
    with pytest.raises(ModelFileError, match="at most 3 arrays"):
        save(LinearMarginSVC(C=[np.zeros(1) for _ in range(4)]), path)


def test_too_much_text(path, monkeypatch):
    monkeypatch.setattr(archive, "MAX_TEXT_BYTES", 5000)
    with pytest.raises(ModelFileError, match="5000 bytes of names"):
        save(LinearMarginSVC(C="x" * 5000), path)


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "full"), KeyboardInterrupt()], ids=repr)
def test_the_old_file_stays_if_writing_fails(error, path, monkeypatch):
    save(LinearMarginSVC(C=1.0), path)
    calls = []

    def fail(member, array, **options):
        calls.append(os.listdir(path.parent))
        member.write(b"some of it")
        raise error

    monkeypatch.setattr(np.lib.format, "write_array", fail)
    with pytest.raises(type(error)):
        save(LinearMarginSVC(C=np.zeros(3)), path)
    assert len(calls) == 1
    assert len(calls[0]) == 2
    assert os.listdir(path.parent) == [path.name]
    assert load(path).C == 1.0


def test_the_helpers_of_these_tests(path):
    path.write_bytes(with_text(lambda text: None))
    assert_same(load(path), SMALL_MODEL)
    path.write_bytes(zip_of(members_of(SMALL_MODEL).items(), zipfile.ZIP_DEFLATED))
    assert_refused(path, "compressed")


@cache
def hostile_archives():
    members = members_of(SMALL_MODEL)
    text, array = members["model.json"], members["arrays/0.npy"]
    good = list(members.items())
    bomb = [("model.json", b" " * 10**7), *good[1:]]
    plain = zip_of(good)
    encrypted = bytearray(plain)
    at = plain.index(b"PK\x01\x02")
    encrypted[at + 8] |= 1
    large = bytearray(plain)  # sizes of the first member
    large[at + 20 : at + 28] = struct.pack("<LL", 2**31, 2**31)
    directory = bytearray(plain)
    directory[-10:-6] = struct.pack("<L", 10**6)
    return {
        "bomb": (zip_of(bomb, zipfile.ZIP_DEFLATED), "compressed"),
        "bzip2": (zip_of(good, zipfile.ZIP_BZIP2), "compressed"),
        "twice": (zip_of([*good, ("model.json", text)]), "same name"),
        "path up": (zip_of([*good, ("../../evil", b"")]), "does not belong"),
        "absolute path": (zip_of([*good, ("/tmp/evil", b"")]), "does not belong"),
        "folder": (zip_of([*good, ("arrays/", b"")]), "does not belong"),
        "other member": (zip_of([*good, ("arrays/00.npy", array)]), "does not belong"),
        "missing member": (zip_of(good[:-1]), "missing"),
        "only text": (zip_of(good[:1]), "missing"),
        "encrypted": (bytes(encrypted), "encrypted"),
        "large member": (bytes(large), "too large"),
        "large directory": (bytes(directory), "directory of 1000000 bytes"),
        "comment": (plain[:-2] + b"\x03\0abc", "end is missing"),
        "behind it": (plain + b"x", "end is missing"),
        "before it": (b"#!/bin/sh\n" + plain, "not a model file"),
        "not text": (zip_of([("model.json", b"\xff\xfe")]), "damaged"),
        "not json": (zip_of([("model.json", b"{")]), "damaged"),
        "deep": (zip_of([("model.json", b"[" * 10**6)]), "damaged"),
        "deep dicts": (zip_of([("model.json", b'{"a":' * 10**6)]), "damaged"),
        "long number": (zip_of([("model.json", b"9" * 10**6)]), "damaged"),
        "short array": (zip_of([*good[:-1], (good[-1][0], b"")]), "not an array"),
        "pickle for an array": (
            zip_of([*good[:-1], (good[-1][0], pickle.dumps(Payload("/nonexistent/x")))]),
            "damaged",
        ),
    }


@pytest.mark.parametrize("kind", hostile_archives())
def test_hostile_archives(kind, path):
    content, message = hostile_archives()[kind]
    path.write_bytes(content)
    assert_refused(path, message, megabytes=20)


def test_a_long_text(path, monkeypatch):
    path.write_bytes(written(SMALL_MODEL).getvalue())
    monkeypatch.setattr(archive, "MAX_TEXT_BYTES", 1000)
    assert_refused(path, "longer than 1000 bytes")


def test_a_million_members(path):
    entry = b"PK\x01\x02" + bytes(24) + b"\1" + bytes(18)  # and a name of one zero byte
    n = 10**6
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, n % 2**16, n % 2**16, n * len(entry), 4, 0)
    path.write_bytes(b"PK\x03\x04" + entry * n + end)
    assert_refused(path, "members in a directory", seconds=1)
    # The same, with counts in the place where large archives store them.
    offset = 4 + n * len(entry)
    long = struct.pack("<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, n, n, n * len(entry), 4)
    locator = struct.pack("<4sLQL", b"PK\x06\x07", 0, offset, 1)
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 1, 1, 100, 4, 0)
    path.write_bytes(b"PK\x03\x04" + entry * n + long + locator + end)
    assert_refused(path, "1000000 members", seconds=1)


def test_members_that_overlap(path):
    """Many names refer to the same bytes, and each member is as large as the file."""
    body = bytes(10**6)
    header = zip_of([("arrays/0.npy", body)])
    at = header.index(b"PK\x01\x02")
    entry = header[at : at + 46 + len("arrays/0.npy")]
    entries = [entry.replace(b"arrays/0.npy", b"arrays/%d.npy" % i) for i in range(10)]
    directory = b"".join(entries)
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 10, 10, len(directory), at, 0)
    path.write_bytes(header[:at] + directory + end)
    assert_refused(path, "members overlap")


CONTENT = written(SMALL_MODEL).getvalue()


def load_damaged(content: bytes, path, X):
    """Load a file that may be damaged; if loading succeeds, it must give the model."""
    path.write_bytes(content)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            loaded = load(path)
    except ModelFileError as error:
        assert "\n" not in str(error)  # noqa: PT017
        return
    np.testing.assert_array_equal(loaded.predict_proba(X), SMALL_MODEL.predict_proba(X))


def test_a_file_cut_off_anywhere(path):
    for length in range(0, len(CONTENT), 7):
        path.write_bytes(CONTENT[:length])
        with pytest.raises(ModelFileError):
            load(path)


def test_every_changed_byte(path):
    content = bytearray(CONTENT)
    for at in range(len(content)):
        flip = (0x01, 0x80, 0xFF)[at % 3]
        content[at] ^= flip
        load_damaged(bytes(content), path, X2[:, :2])
        content[at] ^= flip


EDITS = st.lists(
    st.tuples(st.floats(0, 1), st.integers(0, 40), st.binary(max_size=40)), min_size=1, max_size=5
)
FUZZ = settings(
    max_examples=300,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@FUZZ
@given(EDITS)
def test_any_damage(tmp_path, edits):
    content = CONTENT
    for place, n_removed, added in edits:
        at = int(place * len(content))
        content = content[:at] + added + content[at + n_removed :]
    load_damaged(content, tmp_path / "damaged", X2[:, :2])
