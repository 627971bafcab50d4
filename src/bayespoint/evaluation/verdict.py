"""Say in words whether a model is worth its answers, and whether it is worth its ranking."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import binom

if TYPE_CHECKING:
    from .results import Evaluation

# Probability with which a model that is no better than one constant answer passes as better.
MAX_RISK = 0.05
# A class with fewer rows than this is not worth a sentence if it is never answered.
MIN_ROWS_OF_MISSED_CLASS = 10
MAX_MISSED_CLASSES_NAMED = 5


def beats_constant(evaluation: Evaluation) -> bool:
    """Tell whether fewer errors than those of the most frequent class are more than luck.

    Only rows with another answer count, and an exact sign test on them decides.
    """
    constant = int(np.bincount(evaluation.target).argmax())
    other = evaluation.predicted != constant
    better = int(np.count_nonzero(other & ~evaluation.wrong))
    worse = int(np.count_nonzero(other & (evaluation.target == constant)))
    return bool(better > worse and binom.sf(better - 1, better + worse, 0.5) < MAX_RISK)


def verdict(evaluation: Evaluation) -> list[str]:
    """Return sentences about a model that needs a warning; none if it is fine."""
    if evaluation.cost is not None:
        # Answers that cost least may well be wrong more often than a constant.
        return _missed(evaluation)
    if beats_constant(evaluation):
        return _missed(evaluation)
    answers = np.unique(evaluation.predicted)
    constant = evaluation.classes[np.bincount(evaluation.target).argmax()]
    always = len(answers) == 1 and evaluation.classes[answers[0]] == constant
    said = (
        f"As a classifier it is useless here: it always answers “{constant}”."
        if always
        else f"By the number of errors it is not shown to be better than always “{constant}”."
    )
    return [said, _as_ranking(evaluation)]


def _as_ranking(evaluation: Evaluation) -> str:
    found = evaluation.ranking
    if found is None or not found.auc.low > 0.5:
        if np.isnan(evaluation.auc.value):
            return "These rows have one class only, so they cannot tell more."
        return "Nor do its probabilities rank rows better than chance, as far as these rows tell."
    name = evaluation.classes[found.position]
    top = (
        f"and the top {found.n_top:,} rows hold {found.lift:.1f} times as many “{name}” as usual"
        if found.lift > 1
        else f"but the top {found.n_top:,} rows hold no more “{name}” than usual"
    )
    return (
        f"As a ranking it is useful: of a row of “{name}” and another row, the first has the "
        f"larger probability of it in {100 * found.auc.value:.0f} % of the cases, {top}."
    )


def _missed(evaluation: Evaluation) -> list[str]:
    """Name classes that are never answered though the rows have them."""
    counts = evaluation.confusion.sum(axis=1)[: evaluation.n_known]
    answered = evaluation.confusion.sum(axis=0)[: evaluation.n_known]
    missed = np.flatnonzero((counts >= MIN_ROWS_OF_MISSED_CLASS) & (answered == 0))
    if not len(missed):
        return []
    names = [f"“{evaluation.classes[i]}”" for i in missed[:MAX_MISSED_CLASSES_NAMED]]
    more = len(missed) - len(names)
    listed = ", ".join(names) + (f" and {more} more" if more else "")
    return [f"It never answers {listed}, although the rows have such cases."]
