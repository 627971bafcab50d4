"""The top of the page: summary, tiles and contents."""

from bayespoint.evaluation.baselines import most_frequent
from bayespoint.evaluation.measure import evaluate, evaluate_probabilities
from bayespoint.evaluation.report.header import header
from bayespoint.evaluation.report.markup import join
from bayespoint.evaluation.report.section import Section
from report_helpers import Page, Reject

PROBABILITY = [[0.9, 0.1], [0.4, 0.6], [0.7, 0.3], [0.8, 0.2]]


def top(evaluation):
    sections = [Section("one", "First <section>", join())]
    return header("Title", "a model", evaluation, most_frequent(evaluation), sections)


def test_summary_and_contents():
    html = top(evaluate_probabilities(list("abba"), PROBABILITY, ["a", "b"]))
    words = Page(html).text
    assert "On 4 rows that it had not seen, the model is wrong on 25.0% of them" in words
    assert "Always answering “a” would be wrong on 50.0%." in words
    assert "A model" in words
    assert '<a href="#one">First &lt;section&gt;</a>' in html
    assert "with rejection" not in words


def test_a_tile_for_rejection():
    model = Reject(PROBABILITY, ["a", "b"], 0.75, reject_rate=0.5)
    words = Page(top(evaluate(model, None, list("abba")))).text
    assert "with rejection 0% of the 50.0% it answers" in words
