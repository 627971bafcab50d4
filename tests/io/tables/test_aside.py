import threading

import pytest

from bayespoint.io.tables.aside import aside


def test_values_come_one_by_one_from_another_thread():
    made, closed = [], threading.Event()

    def values():
        try:
            for i in range(3):
                made.append((i, threading.current_thread()))
                yield i
        finally:
            closed.set()

    read = aside(values())
    assert next(read) == 0
    assert [i for i, _ in made] == [0]  # nothing is read ahead
    assert list(read) == [1, 2]
    assert threading.current_thread() not in {thread for _, thread in made}
    some = aside(values())
    next(some)
    closed.clear()
    some.close()
    assert closed.wait(10)


def test_errors_are_raised_where_the_values_are_used():
    def values():
        yield 1
        raise ValueError("bad")

    read = aside(values())
    assert next(read) == 1
    with pytest.raises(ValueError, match="bad"):
        next(read)
