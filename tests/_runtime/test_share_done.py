from bayespoint._runtime.share_done import advance, between, heard_by


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
