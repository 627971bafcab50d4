import signal
import threading

import pytest

from bayespoint._runtime import interrupt
from bayespoint._runtime.interrupt import (
    DOUBLE_PRESS_SECONDS,
    end_if_pressed_twice,
    interrupts,
    n_presses,
)


@pytest.fixture(autouse=True)
def no_recent_press(monkeypatch):
    monkeypatch.setattr(interrupt, "_last_press", -10 * DOUBLE_PRESS_SECONDS)


@pytest.fixture(autouse=True)
def default_handler():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def press():
    signal.raise_signal(signal.SIGINT)


def test_one_press_is_noted_and_does_not_raise():
    before = n_presses()
    with interrupts() as interrupted:
        assert not interrupted
        press()
        assert interrupted
        assert not interrupted.twice
    assert n_presses() == before + 1
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_two_quick_presses_raise_at_the_end_of_the_block():
    done = []

    def work():
        with interrupts():
            done.extend(press() for _ in range(2))

    with pytest.raises(KeyboardInterrupt):
        work()
    assert len(done) == 2
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_two_presses_in_different_blocks_are_a_double_press_too():
    with interrupts():
        press()
    with pytest.raises(KeyboardInterrupt), interrupts():
        press()


def test_two_slow_presses_are_two_requests(monkeypatch):
    clock = iter([100.0, 100.0 + 1.01 * DOUBLE_PRESS_SECONDS])
    monkeypatch.setattr(interrupt.time, "monotonic", lambda: next(clock))
    with interrupts() as interrupted:
        press()
        press()
        assert interrupted
        assert not interrupted.twice


def test_inner_blocks_share_the_request():
    with interrupts() as outer:
        with interrupts() as inner:
            press()
        assert inner is outer
        assert outer
        # The inner block did not restore the handler that the outer one still replaces.
        assert signal.getsignal(signal.SIGINT) is not signal.default_int_handler


def test_errors_leave_the_block_and_restore_the_handler():
    with pytest.raises(ZeroDivisionError), interrupts():
        raise ZeroDivisionError
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    with interrupts() as interrupted:
        assert not interrupted


def test_another_handler_is_left_alone():
    seen = []

    def handler(*_):
        seen.append(True)

    signal.signal(signal.SIGINT, handler)
    with interrupts() as interrupted:
        press()
        assert signal.getsignal(signal.SIGINT) is handler
    assert seen == [True]
    assert not interrupted


def test_nothing_changes_outside_the_main_thread():
    handlers = []

    def work():
        with interrupts() as interrupted:
            handlers.append((signal.getsignal(signal.SIGINT), bool(interrupted)))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert handlers == [(signal.default_int_handler, False)]


def test_work_without_an_answer_can_end_at_the_second_press():
    end_if_pressed_twice()
    done = []

    def work():
        with interrupts():
            press()
            end_if_pressed_twice()
            done.append(True)
            press()
            end_if_pressed_twice()
            done.append(True)

    with pytest.raises(KeyboardInterrupt):
        work()
    assert len(done) == 1
