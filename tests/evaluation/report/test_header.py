"""The top of the page: sentences, alerts, tiles and contents."""

from bayespoint.evaluation.baselines import most_frequent
from bayespoint.evaluation.measure import evaluate, evaluate_probabilities
from bayespoint.evaluation.report.alerts import Alert
from bayespoint.evaluation.report.header import header, tiles
from bayespoint.evaluation.report.markup import join
from bayespoint.evaluation.report.section import Section
from report_helpers import Page, Reject

PROBABILITY = [[0.9, 0.1], [0.4, 0.6], [0.7, 0.3], [0.8, 0.2]]
SECTIONS = [Section("one", "First <section>", join())]


def test_sentences_alerts_and_contents():
    alerts = [Alert("Few <rows>", "Only 4.", "one"), Alert("Other", "No section.", "two")]
    html = header("Title", "a model", ["One <1.", "Two."], alerts, join("tiles"), SECTIONS)
    words = Page(html).text
    for part in ("A model One <1. Two. tiles", "Few <rows> . Only 4.", "Other . No section."):
        assert part in words
    assert '<a href="#one">First &lt;section&gt;</a>' in html
    assert '<a href="#one">Few &lt;rows&gt;</a>' in html
    assert "#two" not in html  # no such section
    assert "Before you trust it" not in header("T", "a", ["S."], [], join(), SECTIONS)


def test_tiles():
    evaluation = evaluate_probabilities(list("abba"), PROBABILITY, ["a", "b"])
    words = Page(tiles(evaluation, most_frequent(evaluation))).text
    # Of the four pairs, "b" with 0.6 is before both "a", and "b" with 0.3 too.
    assert "error 25.0%" in words
    assert "AUC 1.000" in words
    assert "with rejection" not in words
    model = Reject(PROBABILITY, ["a", "b"], 0.75, reject_rate=0.5)
    evaluation = evaluate(model, None, list("abba"))
    words = Page(tiles(evaluation, most_frequent(evaluation))).text
    assert "with rejection 0% of the 50.0% it answers" in words


def test_tiles_of_one_class_and_of_three():
    evaluation = evaluate_probabilities(list("aa"), PROBABILITY[:2], ["a", "b"])
    assert "AUC" not in Page(tiles(evaluation, most_frequent(evaluation))).text
    evaluation = evaluate_probabilities([0, 1, 2], [[0.8, 0.1, 0.1]] * 3, [0, 1, 2])
    assert "AUC 0.500 mean over classes" in Page(tiles(evaluation, most_frequent(evaluation))).text
