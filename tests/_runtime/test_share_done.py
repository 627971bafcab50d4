import numpy as np
import pytest

from bayespoint._runtime.share_done import advance, between, heard_by, share_of_way


def test_nobody_needs_to_listen():
    advance(0.5, "reading")


def test_shares_are_heard_inside_the_block_alone():
    heard = []
    with heard_by(lambda *news: heard.append(news)):
        advance(0.25, "reading")
        advance(None, "reading")  # not known
    advance(0.5, "reading")
    assert heard == [(0.25, "reading")]


def test_a_part_of_a_longer_step():
    heard = []
    with heard_by(lambda share, step: heard.append(share)):
        with between(0.5, 1):
            advance(0.5, "choosing")
            with between(0, 0.5):
                advance(0.5, "choosing")
        advance(1, "choosing")
    assert heard == [0.75, 0.625, 1]


def test_a_part_that_nobody_hears():
    with between(0, 0.5):
        advance(0.5, "choosing")


def test_errors_that_fall_by_the_same_factor_are_steps_of_the_same_size():
    shares = [share_of_way(0.5 * 0.1**k, 0.5, 0.5e-4) for k in range(6)]
    assert shares == pytest.approx([0, 0.25, 0.5, 0.75, 1, 1])
    assert share_of_way(2.0, 1.0, 0.1) == 0  # worse than at first
    assert share_of_way(0.0, 1.0, 0.1) == 1
    for first, last in ((1.0, 0.0), (0.1, 1.0), (np.inf, 0.1)):
        assert share_of_way(0.5, first, last) is None
    assert share_of_way(np.inf, 1e152, 0.1) is None
