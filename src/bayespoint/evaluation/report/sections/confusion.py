"""Which classes the model confuses."""

from __future__ import annotations

import numpy as np

from ...results import Evaluation
from ..formatting import percent
from ..markup import Markup, join, table, tag
from ..section import MAX_CLASSES, Section, class_name, number_cell

# Shades of color in the matrix, as in the style sheet.
N_SHADES = 5
# Up to this many classes, the matrix itself shows the most frequent mistakes.
MAX_CLASSES_WITHOUT_LIST = 5
# Number of listed mistakes, next to the matrix and without a matrix.
N_MISTAKES, N_MISTAKES_WITHOUT_MATRIX = 10, 20


def confusion_section(evaluation: Evaluation) -> Section:
    """Show the confusion matrix, recall and precision, and the most frequent mistakes."""
    n_classes = len(evaluation.classes)
    matrix = _matrix(evaluation) if n_classes <= MAX_CLASSES else None
    by_class, mistakes = _by_class(evaluation), _mistakes(evaluation)
    if n_classes > MAX_CLASSES_WITHOUT_LIST:  # the list first: it is easier to read
        content = join(mistakes, matrix, by_class)
    else:
        content = join(matrix, by_class, mistakes)
    return Section("confusion", "Which classes it confuses", content)


def _matrix(evaluation: Evaluation) -> Markup:
    counts = evaluation.confusion
    many = len(counts) > MAX_CLASSES_WITHOUT_LIST
    of_class = np.maximum(counts.sum(axis=1), 1)
    worst = max(1.0 * _off_diagonal(counts).max(), 1)
    rows = []
    for i, row in enumerate(counts):
        cells = []
        for j, n in enumerate(row):
            depth = n / of_class[i] if i == j else n / worst
            shade = f" shade-{int(np.ceil(depth * N_SHADES))}" if n else " zero"
            kind = "right-answer" if i == j else "wrong-answer"
            cells.append(tag("td", f"{n:,}" if n or not many else "·", class_=kind + shade))
        rows.append([class_name(evaluation, i), *cells])
    names = [class_name(evaluation, j) for j in range(len(counts))]
    # The names of many classes are turned, so that the columns are narrow.
    head = ["true ↓ answer →", *(tag("span", name) if many else name for name in names)]
    caption = "Rows by true class (down) and answer (across)"
    return table(head, rows, caption=caption, class_="confusion many" if many else "confusion")


def _mistakes(evaluation: Evaluation) -> Markup:
    """List the most frequent mistakes."""
    wrong = _off_diagonal(evaluation.confusion)
    n_listed = N_MISTAKES if len(wrong) <= MAX_CLASSES else N_MISTAKES_WITHOUT_MATRIX
    rows = []
    for place in np.argsort(-wrong, axis=None, kind="stable")[:n_listed]:
        i, j = divmod(int(place), len(wrong))
        if wrong[i, j]:
            share = percent(wrong[i, j] / evaluation.confusion[i].sum())
            names = [class_name(evaluation, i), class_name(evaluation, j)]
            rows.append([*names, number_cell(f"{wrong[i, j]:,}"), number_cell(share)])
    if not rows:
        return tag("p", "None: every row is answered correctly.")
    if len(wrong) <= MAX_CLASSES_WITHOUT_LIST:
        return join()
    head = ["true class", "answer", "rows", "of the class"]
    return table(head, rows, caption="The most frequent mistakes")


def _by_class(evaluation: Evaluation) -> Markup:
    """Show recall and precision, beginning with the class that is missed most often."""
    counts = evaluation.confusion
    hit, truth, answered = np.diag(counts), counts.sum(axis=1), counts.sum(axis=0)
    missed = (truth - hit) / np.maximum(truth, 1)
    order = np.argsort(-missed, kind="stable")[:MAX_CLASSES]
    rows = [
        [
            class_name(evaluation, i),
            number_cell(f"{truth[i]:,}"),
            number_cell(percent(truth[i] / evaluation.n_rows)),
            number_cell(percent(hit[i] / truth[i]) if truth[i] else "–"),
            number_cell(percent(hit[i] / answered[i]) if answered[i] else "–"),
            number_cell(_auc(evaluation, i)),
        ]
        for i in order
    ]
    all_shown = len(order) == len(counts)
    caption = "Classes" if all_shown else f"The {len(order)} classes that are missed most often"
    explanation = (
        "Recall: how many rows of the class it finds. Precision: how many of its answers with this "
        "class are right. AUC: how often a row of the class gets a larger probability of it than "
        "another row; 0.5 is chance, 1 is perfect."
    )
    head = ["class", "rows", "share", "recall", "precision", "AUC"]
    return join(table(head, rows, caption=caption), tag("p", explanation, class_="soft"))


def _auc(evaluation: Evaluation, position: int) -> str:
    """Format how well a class is ranked; classes that the model does not know have no number."""
    if position >= evaluation.n_known:
        return "–"
    value = evaluation.per_class[position].auc.value
    return "–" if np.isnan(value) else f"{value:.3f}"


def _off_diagonal(counts: np.ndarray) -> np.ndarray:
    """Return the mistakes of a confusion matrix."""
    return counts - np.diag(np.diag(counts))
