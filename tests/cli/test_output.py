import os
from pathlib import Path

import pytest
import typer

from bayespoint.cli.output import check_output


def test_a_new_file_and_an_old_one_may_be_written(tmp_path):
    (tmp_path / "old").touch()
    check_output(tmp_path / "new", tmp_path / "input", "-")
    check_output(tmp_path / "old", tmp_path / "input", "-")


@pytest.mark.parametrize("name", ["input", "link", "./input"])
def test_an_input_is_not_overwritten_under_any_name(tmp_path, name):
    (tmp_path / "input").touch()
    (tmp_path / "link").symlink_to(tmp_path / "input")
    with pytest.raises(typer.BadParameter, match="would be overwritten"):
        check_output(tmp_path / name, tmp_path / "input")


def test_a_folder_that_cannot_be_written_to(tmp_path, monkeypatch):
    """A file is written beside the one that a link points to."""
    theirs, ours = tmp_path / "theirs", tmp_path / "ours"
    theirs.mkdir()
    ours.mkdir()
    (ours / "link").symlink_to(theirs / "file")
    monkeypatch.setattr(os, "access", lambda place, mode: place != str(theirs))
    check_output(ours / "file")
    for path in (theirs / "file", ours / "link"):
        with pytest.raises(typer.BadParameter, match="You may not write to the folder"):
            check_output(path)


def test_folders_are_no_files(tmp_path):
    with pytest.raises(typer.BadParameter, match="is a folder"):
        check_output(tmp_path)
    with pytest.raises(typer.BadParameter, match="There is no folder"):
        check_output(tmp_path / "missing" / "file")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs POSIX")
def test_devices_and_pipes_are_refused_before_the_work(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path(os.devnull)):
        with pytest.raises(typer.BadParameter, match="is a device or a pipe"):
            check_output(path)
