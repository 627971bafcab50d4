"""The confusion section: matrix, recall and precision, frequent mistakes."""

import re

import numpy as np
import pytest

from bayespoint.evaluation.measure import evaluate_probabilities
from bayespoint.evaluation.report.sections.confusion import confusion_section
from report_helpers import Constant, Page


@pytest.mark.parametrize("n_classes", [20, 26, 150])
def test_many_classes(write, n_classes):
    rng = np.random.default_rng(0)
    names = np.array([f"class {i:03}" for i in range(n_classes)])
    probability = rng.dirichlet(np.ones(n_classes), size=1000)
    evaluation, page = write(
        Constant(probability, names), rng.normal(size=(1000, 3)), rng.choice(names, 1000)
    )
    assert ("true ↓ answer →" in page.text) == (n_classes <= 20)
    off = evaluation.confusion - np.diag(np.diag(evaluation.confusion))
    i, j = np.unravel_index(off.argmax(), off.shape)
    assert re.search(f"of the class {names[i]} {names[j]} {off[i, j]} ", page.text)


def test_recall_and_precision():
    answers = [0, 0, 0, 1, 1, 0, 0]
    evaluation = evaluate_probabilities([0, 0, 0, 0, 1, 1, 1], np.eye(2)[answers], [0, 1])
    words = Page(confusion_section(evaluation).content).text
    # the class that is missed most often comes first
    assert re.search(
        # AUC: both orders of the hard answers, (3/4 + 1/3) / 2
        "precision AUC 1 3 42.9% 33.3% 50.0% 0.542 0 4 57.1% 75.0% 60.0% 0.542",
        words,
    )
    assert "most frequent mistakes" not in words  # the matrix shows them


def test_the_list_comes_first_where_the_matrix_is_large():
    rng = np.random.default_rng(0)
    for n_classes, first in ((5, "true ↓ answer →"), (6, "The most frequent mistakes")):
        probability = rng.dirichlet(np.ones(n_classes), size=200)
        evaluation = evaluate_probabilities(
            rng.integers(n_classes, size=200), probability, np.arange(n_classes)
        )
        content = confusion_section(evaluation).content
        assert ("confusion many" in content) == (n_classes == 6)
        places = [content.find(words) for words in ("true ↓ answer →", "The most frequent")]
        assert content.find(first) == min(place for place in places if place >= 0)
