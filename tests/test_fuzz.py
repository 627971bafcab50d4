"""The corpus of benchmarks/fuzz.py is read or refused in words; hostile deeds are noticed."""

import sys
from pathlib import Path

import pytest

pytest.importorskip("starlette")
sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))

import fuzz_targets
from fuzz import NAMES


@pytest.mark.parametrize("target", NAMES)
def test_the_first_inputs_of_the_fuzzer(target):
    run, _, _ = fuzz_targets.TARGETS[target]
    contents = fuzz_targets.seeds(target)
    assert len(contents) >= 4
    for content in contents:
        run(content)
        run(content[: len(content) // 2])


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
