"""The corpus of benchmarks/fuzz.py is read or refused in words; hostile deeds are noticed."""

import base64
import io
import json
import random
import sys
import zipfile
from pathlib import Path

import pytest

pytest.importorskip("starlette")
pytest.importorskip("skops")
sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))

import fuzz_changes
import fuzz_targets
from fuzz import NAMES

KEPT = sorted((Path(__file__).parent / "files" / "fuzz").glob("*.json"))


@pytest.mark.parametrize("target", NAMES)
def test_the_first_inputs_of_the_fuzzer(target):
    run, _, _ = fuzz_targets.TARGETS[target]
    contents = fuzz_targets.seeds(target)
    assert len(contents) >= 4
    for content in contents:
        run(content)
        run(content[: len(content) // 2])


@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.stem)
def test_inputs_that_the_fuzzer_kept(path):
    """They reach code that the first inputs do not reach, or were found to raise an error."""
    run, _, _ = fuzz_targets.TARGETS[path.stem]
    for text in json.loads(path.read_text()):
        run(base64.b85decode(text))


def test_changed_files_stay_readable():
    """Else the reader would refuse nearly all of them at once, by their checksums."""
    rng, model = random.Random(0), fuzz_targets.seeds("archive")[0]
    for target, content in (("model", fuzz_targets.seeds("model")[0]), ("archive", model)):
        n_changed = 0
        for _ in range(20):
            changed = fuzz_changes.change(target, content, [content], rng, lambda some: some[::-1])
            n_changed += changed != content
            if target == "archive" and changed.startswith(b"PK"):
                assert zipfile.ZipFile(io.BytesIO(changed)).testzip() is None
        assert n_changed > 10


def test_classifiers_of_other_libraries_are_reached():
    """The fuzzer reads what skops wrote, alone and inside of model files, and changes it there."""
    assert all(map(fuzz_targets.read_foreign, fuzz_targets.seeds("skops")))
    inside = [content for content in fuzz_targets.seeds("archive") if b"schema.json" in content]
    assert len(inside) >= 2
    rng, names, n_read = random.Random(0), set(), 0
    for _ in range(40):
        changed = fuzz_changes.change_archive(inside[0], rng, lambda some: some[::-1])
        n_read += fuzz_targets.read_archive(changed)
        for _, was, now in _members(inside[0], changed):
            if was[128:].startswith(b"PK"):
                names |= {one for one, a, b in _members(was[128:], now[128:]) if a != b}
    assert 0 < n_read < 40
    assert {"schema.json"} < names


def _members(*contents):
    """Yield the name of each member, and what it is in two archives; nothing if one is none."""
    try:
        files = [zipfile.ZipFile(io.BytesIO(content)) for content in contents]
        for name in files[0].namelist():
            yield name, *(file.read(name) for file in files)
    except (zipfile.BadZipFile, KeyError):
        return


def test_a_tree_that_leaves_its_arrays_is_refused():
    """Else compiled code would read anywhere."""
    forest = next(one for one in fuzz_targets.seeds("skops") if b"RandomForest" in one)
    trees = [name for name, content in _members(forest) if b"left_child" in content]
    assert len(trees) == 2
    for tree in trees:
        for end, is_read in ((b"", True), (b"\x7f" * 64, False)):  # of the last nodes
            buffer = io.BytesIO()
            with zipfile.ZipFile(buffer, "w") as file:
                for name, content in _members(forest):
                    keep = len(content) - len(end) if name == tree else len(content)
                    file.writestr(name, content[:keep] + end * (name == tree))
            assert fuzz_targets.read_foreign(buffer.getvalue()) is is_read


def test_all_targets_have_names():
    assert set(NAMES) == set(fuzz_targets.TARGETS)


@pytest.mark.parametrize("event", ["os.system", "pickle.find_class", "subprocess.Popen"])
def test_code_that_runs_is_noticed_although_its_error_is_swallowed(event):
    with pytest.raises(AssertionError, match=f"forbidden: .*{event}"), fuzz_targets.WATCHDOG.on():
        sys.audit(event, "x", "y")
    sys.audit(event, "x", "y")  # nobody watches now


def test_a_page_with_a_foreign_element_is_noticed(monkeypatch):
    known = fuzz_targets._known_tags()
    monkeypatch.setattr(fuzz_targets, "_known_tags", lambda: known)
    monkeypatch.setattr(fuzz_targets, "_report", lambda text: f"<p>{text}</p>")
    with pytest.raises(AssertionError, match="onerror"):
        fuzz_targets.report(b"<img src=x onerror=alert(1)>")
