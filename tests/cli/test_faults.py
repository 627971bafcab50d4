"""Full disks at every change of a file, and read-only folders; more is in benchmarks/faults.py."""

import contextlib
import io
import os
import sys
from pathlib import Path

import pytest

import bayespoint
from cli_helpers import fails
from helpers import slow_but_for

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

from fault_injection import VERBS, disk_fault, make_world
from faults import break_disk, fill_disk

ALL = [verb for verb in VERBS if verb != "label"]  # needs a pool of its own
pytestmark = pytest.mark.skipif(os.name == "nt", reason="patches POSIX calls")


@pytest.mark.parametrize("verb", slow_but_for(ALL, "predict", "check"))
@pytest.mark.parametrize("lasting", [False, True])
def test_a_full_disk_leaves_the_old_file_or_the_new_one(tmp_path, world, verb, lasting):
    count = break_disk(verb, world, tmp_path / "out", lasting)
    assert count.n >= 5  # a draft, its content, its sync, its permissions, its name
    assert (count.half, count.words, count.left) == (0, 0, 0)


@pytest.mark.slow
@pytest.mark.parametrize("lasting", [False, True])
def test_a_full_disk_while_labeling(tmp_path, lasting):
    world = tmp_path / "world"
    world.mkdir()
    with contextlib.redirect_stdout(io.StringIO()):
        make_world(world)
    count = break_disk("label", world, tmp_path / "out", lasting, step=3)
    assert count.n > 20
    assert (count.half, count.words, count.left) == (0, 0, 0)


def test_a_full_disk_while_python_saves(tmp_path):
    path, number = tmp_path / "model", 0
    model = bayespoint.LinearMarginSVC(C=1.0)
    bayespoint.save(model, path)
    while True:
        number += 1
        try:
            with disk_fault(tmp_path, number, fill_disk, False) as changes:
                bayespoint.save(bayespoint.LinearMarginSVC(C=2.0), path)
        except OSError:
            assert bayespoint.load(path).C == 1.0
        else:
            # The name may fail to reach the disk for good after the file is complete.
            assert bayespoint.load(path).C == 2.0
            assert changes[-1] == "fsync"
        assert os.listdir(tmp_path) == ["model"]
        if len(changes) < number:
            break
        bayespoint.save(model, path)
    assert number > 5


def test_the_injection_finds_a_file_that_is_written_in_place(tmp_path, world, monkeypatch):
    """A verb that does not write a draft first must fail the test above."""

    @contextlib.contextmanager
    def in_place(path, partial=None):
        with open(path, "wb") as file:
            yield file

    monkeypatch.setattr("bayespoint.cli.predict.in_place_of", in_place)
    assert break_disk("predict", world, tmp_path / "out", False).half > 0


def test_a_folder_that_cannot_be_written_is_refused_before_the_work(world, tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda place, mode: str(place) != str(tmp_path))
    train = ["train", world / "train.csv", "--target", "kind", "--model", tmp_path / "m"]
    assert "You may not write to the folder" in fails(*train, code=2)
    monkeypatch.undo()
    assert os.listdir(tmp_path) == []
