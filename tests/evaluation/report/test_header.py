"""The top of the page: summary, tiles and contents."""

from dataclasses import replace

from bayespoint.evaluation.baselines import most_frequent
from bayespoint.evaluation.intervals import share
from bayespoint.evaluation.measure import evaluate, evaluate_probabilities
from bayespoint.evaluation.report.header import header
from bayespoint.evaluation.report.markup import join
from bayespoint.evaluation.report.section import Section
from bayespoint.evaluation.seen import UNKNOWN, SeenRows
from report_helpers import Page, Reject

PROBABILITY = [[0.9, 0.1], [0.4, 0.6], [0.7, 0.3], [0.8, 0.2]]


def top(evaluation):
    sections = [Section("one", "First <section>", join())]
    return header("Title", "a model", evaluation, most_frequent(evaluation), sections)


def test_summary_and_contents():
    html = top(evaluate_probabilities(list("abba"), PROBABILITY, ["a", "b"]))
    words = Page(html).text
    assert "On 4 rows, the model is wrong on 25.0% of them" in words
    assert UNKNOWN in words
    assert "Always answering “a” would be wrong on 50.0%." in words
    assert "A model" in words
    assert '<a href="#one">First &lt;section&gt;</a>' in html
    assert "with rejection" not in words


def test_only_rows_that_are_known_to_be_new_are_called_so():
    evaluation = evaluate_probabilities(list("abba"), PROBABILITY, ["a", "b"])
    new = SeenRows(4, 4, 0, 4, 0, share(0, 9, 0.95), "all", False)
    for seen, known in ((new, True), (new._replace(n_seen=2, requested=True), False)):
        words = Page(top(replace(evaluation, seen=seen))).text
        assert ("On 4 rows that it had not seen" in words) == known
        assert seen.sentence() in words


def test_a_tile_for_rejection():
    model = Reject(PROBABILITY, ["a", "b"], 0.75, reject_rate=0.5)
    words = Page(top(evaluate(model, None, list("abba")))).text
    assert "with rejection 0% of the 50.0% it answers" in words
