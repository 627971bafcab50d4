"""The section about novel rows: counts, the most novel rows, and models that cannot tell."""

import numpy as np

from bayespoint import LinearBayesPointClassifier, RejectOptionClassifier
from bayespoint.evaluation import evaluate
from bayespoint.evaluation.report.columns import Table
from bayespoint.evaluation.report.sections.novelty import novelty_section
from report_helpers import Constant, Page

RNG = np.random.default_rng(0)
y = np.arange(120) % 2
X = RNG.standard_normal((120, 3)) + 2 * y[:, None]
TEST, LABELS = X[80:].copy(), y[80:]
TEST[7] = 40.0


def section(model, n_examples=2):
    evaluation = evaluate(model, TEST, LABELS)
    return novelty_section(model, TEST, evaluation, Table(TEST), n_examples, range(3))


def test_counts_and_the_most_novel_row():
    model = LinearBayesPointClassifier().fit(X[:80], y[:80])
    words = Page(section(model).content).text
    found = model.novelty(TEST)
    for level in (0.9, 0.95, 0.99):
        assert f"above {level:.1%} {np.mean(found > level):.1%}" in words
    assert "The most novel rows" in words
    assert words.index(" 8 ") < words.index("40")  # rows are counted from 1
    assert "The most novel rows" not in Page(section(model, n_examples=0).content).text
    assert "refused" not in words


def test_refused_rows_are_counted():
    option = RejectOptionClassifier(LinearBayesPointClassifier(), max_novelty=0.95, random_state=0)
    option.fit(X[:80], y[:80])
    n = np.count_nonzero(option.novelty(TEST) > 0.95)
    assert n > 0
    assert f"{n} row" in Page(section(option).content).text


def test_other_classifiers_have_no_section():
    assert section(Constant(np.full((40, 2), 0.5), [0, 1])) is None
