import time

import numpy as np
import pytest

from bayespoint._runtime.interrupt import Interrupted, interrupts
from bayespoint.solvers.watch import Watch, watching


def pressed():
    interrupted = Interrupted()
    interrupted.pressed = True
    return interrupted


def test_goes_on_without_a_reason_to_stop():
    watch = Watch(Interrupted(), time.perf_counter() + 60, lambda info: None)
    assert not watch.is_over()
    assert not watch.end_round({})
    assert watch.stop == ""


@pytest.mark.parametrize(
    ("interrupted", "deadline", "answer", "stop"),
    [
        (pressed(), 0.0, True, "interrupted"),
        (pressed(), np.inf, False, "interrupted"),
        (Interrupted(), 0.0, True, "max_time"),
        (Interrupted(), np.inf, True, "callback"),
    ],
)
def test_stops_for_the_weightiest_reason(interrupted, deadline, answer, stop):
    watch = Watch(interrupted, deadline, lambda info: answer)
    assert watch.end_round({"n_iter": 1})
    assert watch.stop == stop
    assert watch.is_over()


def test_a_late_ctrl_c_outweighs_what_came_before():
    interrupted = Interrupted()
    watch = Watch(interrupted, np.inf, lambda info: True)
    assert watch.report({})
    assert watch.stop == "callback"
    interrupted.pressed = True
    assert watch.is_over()
    assert watch.stop == "interrupted"


def test_the_last_report_says_why_it_is_the_last():
    seen = []
    Watch(Interrupted(), 0.0, seen.append).end_round({"n_iter": 3})
    assert seen == [{"n_iter": 3, "stop": "max_time"}]


def test_sees_the_ctrl_c_of_the_caller():
    with interrupts() as outside, watching(np.inf, None) as watch:
        outside.pressed = True
        assert watch.is_over()
    with watching(np.inf, None, pressed()) as watch:
        assert watch.is_over()
    with watching(np.inf, None) as watch:
        assert not watch.is_over()
