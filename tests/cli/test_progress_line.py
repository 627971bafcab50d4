import io
import os
import pty
import re
import subprocess
import sys
import time

import numpy as np
import pytest

from bayespoint._runtime.share_done import advance
from bayespoint.cli import progress_line
from bayespoint.cli.progress_line import Line, Step, about, clear_line, without_line, working
from bayespoint.cli.terminal import note


class Terminal(io.StringIO):
    """A terminal that keeps what was written to it."""

    encoding = "utf-8"

    def isatty(self):
        return True

    def screen(self):
        """Return the lines that a user sees."""
        lines = []
        for text in self.getvalue().split("\n"):
            line = ""
            for part in text.split("\r"):
                line = part + line[len(part) :]
            lines.append(line.rstrip())
        return lines


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


def line_at(clock, text="reading a.csv", **options):
    return Line(text, Terminal(), clock=clock, **options)


def test_nothing_is_said_about_the_time_left_before_there_is_something_to_judge_from():
    step = Step("reading")
    assert step.seconds_left(0) is None
    step.advance(0.0, 0)
    step.advance(0.5, 0.5)  # too early
    assert step.seconds_left(0.5) is None
    step.advance(0.6, 6)
    assert step.seconds_left(6) == pytest.approx(4)


def test_the_time_left_is_judged_from_what_this_step_did():
    """A stream that begins with 40 % of the file read has not read them in no time."""
    step = Step("learning")
    step.advance(0.4, 10)
    step.advance(0.5, 20)
    assert step.seconds_left(20) == pytest.approx(50)
    assert step.seconds_left(30) == pytest.approx(40)  # the clock goes on without a report
    assert step.seconds_left(80) is None  # overdue: nobody knows


def test_a_share_never_falls_and_nan_is_no_share():
    step = Step("reading")
    for share in (0.5, 0.3, np.nan):
        step.advance(share, 1)
    assert step.share == 0.5


def test_the_line_says_what_how_much_and_how_long():
    clock = Clock()
    line = line_at(clock)
    assert line.text() == "reading a.csv (0:00)"
    line.hear(0.0, "reading")
    clock.now += 75
    line.hear(0.25, "reading")
    assert line.text() == "reading a.csv, 25 %, about 4 min left (1:15)"
    line.hear(1.0, "reading")
    assert line.text().startswith("reading a.csv, 99 %")  # 100 % would be over
    line("training with 120 rows")
    line.hear(0.5, "choosing")
    assert line.text() == "training with 120 rows: choosing, 50 % (1:15)"
    line.hear(0, "fitting")
    assert line.text() == "training with 120 rows: fitting (1:15)"


def test_the_same_first_word_is_the_same_step():
    line = line_at(Clock(), "learning")
    line.hear(0.3, "reading")
    line("learning, 300 rows so far")
    assert "30 %" in line.text()
    line("testing")
    assert line.text() == "testing (0:00)"


def test_the_verb_knows_better_than_the_library():
    line = line_at(Clock(), "fold 1 of 5")
    line.advance(0)
    line.hear(0.9, "choosing")
    assert line.text() == "fold 1 of 5 (0:00)"
    line("fold 2 of 5")
    line.advance(0.2)
    assert line.text() == "fold 2 of 5, 20 % (0:00)"


def test_a_verb_may_follow_one_step():
    line = line_at(Clock(), "predicting", follow="reading")
    line.hear(0.5, "reading")
    line.hear(0.9, "predicting")
    assert line.text() == "predicting, 50 % (0:00)"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(3, "a few seconds"), (42, "about 40 s"), (200, "about 3 min"), (9000, "about 2 h")],
)
def test_times_are_round(seconds, text):
    assert about(seconds) == text


def test_a_name_can_neither_steer_the_terminal_nor_fill_it(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    line = line_at(Clock(), "reading \x1b[31m[/bold]\n" + 100 * "x")
    line.draw(0)
    line.draw(1)
    written = line._stream.getvalue()
    assert "\x1b" not in written
    assert "\n" not in written
    assert max(map(len, written.split("\r"))) < 40


def test_a_terminal_without_unicode_gets_plain_letters(monkeypatch):
    line = line_at(Clock())
    monkeypatch.setattr(Terminal, "encoding", "ascii")
    line.draw(0)
    assert line._stream.getvalue().isascii()


def make_terminal(monkeypatch):
    """Replace standard error by a terminal whose line appears at once.

    No fixture does this, because pytest replaces standard error before the test begins.
    """
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(progress_line, "SECONDS_BEFORE_LINE", 0.0)
    return terminal


def wait_for(terminal, text):
    for _ in range(1000):
        if text in terminal.getvalue():
            return
        progress_line.time.sleep(0.01)
    raise AssertionError(terminal.getvalue())


def test_the_line_goes_away_and_notes_stand_alone(monkeypatch):
    terminal = make_terminal(monkeypatch)
    with working("thinking") as say:
        advance(0.5, "guessing")
        wait_for(terminal, "thinking: guessing, 50 %")
        note("a surprise")
        say("resting")
        wait_for(terminal, "resting")
    assert terminal.screen() == ["bayespoint: note: a surprise", ""]
    clear_line()  # there is none


def test_no_frame_is_drawn_while_a_note_is_written(monkeypatch):
    terminal = make_terminal(monkeypatch)
    monkeypatch.setattr(progress_line, "SECONDS_BETWEEN_FRAMES", 0.001)
    with working("thinking"):
        wait_for(terminal, "thinking")
        with without_line():
            before = terminal.getvalue()
            progress_line.time.sleep(0.05)
            assert terminal.getvalue() == before
            assert before.endswith("\r")


def test_the_line_goes_away_after_an_error(monkeypatch):
    terminal = make_terminal(monkeypatch)

    def fail():
        with working("thinking"):
            wait_for(terminal, "thinking")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert terminal.screen() == [""]


def test_work_that_is_done_at_once_shows_nothing(monkeypatch):
    terminal = make_terminal(monkeypatch)
    monkeypatch.setattr(progress_line, "SECONDS_BEFORE_LINE", 60.0)
    with working("thinking") as say:
        say("done")
    assert terminal.getvalue() == ""


def test_a_closed_terminal_stops_nothing(monkeypatch):
    terminal = make_terminal(monkeypatch)
    with working("thinking"):
        terminal.close()


@pytest.mark.parametrize("quiet", [True, False])
def test_no_line_without_a_terminal_or_if_not_wanted(quiet, monkeypatch):
    make_terminal(monkeypatch)
    if not quiet:
        monkeypatch.setattr(sys, "stderr", io.StringIO())
    with working("thinking", quiet=quiet) as say:
        say("still thinking")
        say.advance(0.5)
        advance(0.5, "guessing")
    assert sys.stderr.getvalue() == ""


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo terminal")
def test_a_real_terminal_shows_shares_of_reading_and_is_left_clean(world, tmp_path):
    header, *rows = (world / "test.csv").read_text().splitlines(keepends=True)
    path = tmp_path / "long.csv"
    path.write_text(header + "".join(rows) * 4000)
    code = (
        "from bayespoint.cli import main, progress_line; progress_line.SECONDS_BEFORE_LINE = 0.0; "
        "progress_line.SECONDS_BETWEEN_FRAMES = 0.01; main()"
    )
    arguments = ["predict", world / "linear.bpm", path, "--output", tmp_path / "out.csv"]
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)], stderr=theirs, stdout=subprocess.PIPE
    )
    os.close(theirs)
    written = b""
    while True:
        try:
            written += os.read(ours, 1 << 16)
        except OSError:  # the other end is closed
            break
    os.close(ours)
    out, _ = process.communicate(timeout=60)
    assert (process.returncode, out[:9]) == (0, b"Predicted")
    shares = [int(n) for n in re.findall(rb"predicting, [\d,]+ rows so far, (\d+) %", written)]
    assert len(set(shares)) > 3
    assert shares == sorted(shares)
    assert b"\x1b" not in written  # the cursor was never hidden
    line = written.partition(b"bayespoint: note")[0]  # repeated rows may seem to drift
    assert line.split(b"\r")[-1] == b""
    assert line.split(b"\r")[-2].strip() == b""


def test_a_log_gets_whole_lines_now_and_then(monkeypatch, capsys):
    monkeypatch.setattr(progress_line, "SECONDS_BETWEEN_LINES", 0.01)
    with working("reading a folder", log=True):
        advance(0.5, "reading")
        time.sleep(0.1)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) > 1
    assert set(lines) == {"bayespoint: reading a folder, 50 % (0:00)"}
    with working("reading a folder"):
        time.sleep(0.05)
    assert capsys.readouterr().err == ""
