"""Each case of seen rows has a sentence that is true."""

from bayespoint.evaluation.intervals import share
from bayespoint.evaluation.seen import SeenRows

NONE, SOME = share(0, 100, 0.95), share(20, 100, 0.95)


def case(n_seen, judged, **changes):
    values = {"n_given": 57, "n_checked": 57, "n_judged": 57, "n_held_out": 0}
    more = {"by_chance": NONE, "requested": False}
    return SeenRows(**(values | more | {"n_seen": n_seen, "judged": judged} | changes))


def test_new_rows():
    seen = case(0, "all")
    assert seen.sentence() == "The model has seen none of the 57 rows in training."
    assert seen.only_new


def test_rows_that_trained_the_model_are_left_out():
    seen = case(46, "unseen", n_judged=11, n_held_out=11)
    assert seen.sentence() == (
        "The model has seen 46 of the 57 rows in training, or rows that equal them in all columns "
        "that it uses. Only the 11 others are judged. They already tested it when it was trained."
    )
    assert seen.only_new
    assert "5 of them already tested" in seen._replace(n_held_out=5).sentence()
    assert "20 % of new rows equal a training row" in seen._replace(by_chance=SOME).sentence()


def test_all_rows_on_request():
    seen = case(46, "all", requested=True)
    assert "seen 46 of the 57 rows in training. They are judged too" in seen.sentence()
    assert not seen.only_new


def test_coincidences():
    seen = case(12, "all", by_chance=SOME)
    assert "So do 20 of the 100 rows" in seen.sentence()
    assert "nobody can tell which rows are new" in seen.sentence()  # they may have been seen
    assert seen.are_coincidences
    assert not seen.only_new


def test_a_sample_of_the_rows_is_checked():
    seen = case(0, "all", n_checked=30)
    assert "none of the 30 rows that can be checked (of 57)" in seen.sentence()
    assert seen.to_dict()["by_chance"] == {"count": 0, "total": 100}
