"""What a person wants to know at a glance."""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

import numpy as np

from .answers import NO_ANSWER, UNKNOWN, Answers
from .promise import EXPECTATION_ROWS, Certificate, Promise

# Labels that look wrong are shown if the model gives them less than this probability.
MAX_SUSPECT_PROBABILITY = 0.2
MAX_SUSPECTS = 20
# A forecast needs this many points, goes to the next multiple of this share, and is not made
# if it would take more than this many times the labels so far.
MIN_FORECAST_POINTS, SHARE_STEP, MAX_FORECAST_GROWTH = 12, 0.1, 4


class Summary(NamedTuple):
    """The side panel of a labeling session.

    Examples
    --------
    >>> from bayespoint import active
    >>> session = active.Session(None, [[0.0], [1.0], [2.0]], random_state=0)
    >>> session.tell(2, "yes")
    >>> session.summary().class_counts
    {'yes': 1}
    """

    n_rows: int
    n_labels: int  # without unknown ones
    n_unknown: int
    class_counts: dict[Any, int]
    estimated_error: float | None  # as the model says, among the rows that it could answer now
    error_interval: tuple[float, float] | None  # with `confidence_level`, at all times
    history: list[tuple[int, float, float, float]]  # n_labels, estimate, low, high
    share_answered_now: float  # of the rows without a label, at most max_error expected
    n_more_labels: int | None  # to reach share_after, about
    share_after: float | None
    suspects: list[tuple[int, float]]  # rows and the probability of their label
    certificate: Certificate


def describe(session, promise: Promise | None, answers: Answers, certified, in_work) -> Certificate:
    """Return the certificate in numbers and in a sentence."""
    level, n_open = session.confidence_level, int(np.sum(answers.codes == NO_ANSWER))
    if promise is None:
        return Certificate(False, None, level, 1.0, 0.0, 0, 0, 0, "No error is promised.")
    shown = certified or in_work
    if shown is None:
        message = "Nothing is promised yet: the model has to learn more first."
        return Certificate(False, session.max_error, level, 1.0, 0.0, 0, 0, 0, message)
    bound = promise.bound(shown, answers)
    share = shown.n_rest / max(n_open, 1)
    numbers = (shown.n_rest, shown.n_audited, shown.n_wrong)
    if certified is not None:
        message = (
            f"The model can answer {shown.n_rest} of {n_open} rows without a label. At most "
            f"{100 * session.max_error:.3g} % of these answers are wrong, with probability "
            f"{level:.3g}."
        )
        return Certificate(True, session.max_error, level, bound, share, *numbers, message)
    ahead = promise.audits_ahead(shown)
    message = (
        "Nothing is promised yet: the model makes too many errors and has to learn more."
        if not np.isfinite(ahead)
        else f"Nothing is promised yet: about {_round(1.5 * ahead)} more answers are needed."
    )
    return Certificate(False, session.max_error, level, bound, 0.0, *numbers, message)


def summarize(session, promise, answers: Answers, learner, history) -> Summary:
    """Return the side panel, and add a point to the history if there are new answers."""
    certificate = session.certificate()
    n_labels = int(np.sum(answers.codes >= 0))
    share = _share_answered(session, answers, learner, certificate)
    estimate = _estimated_error(answers, learner, certificate)
    interval = (0.0, certificate.error_bound) if certificate.n_audited else None
    if estimate is not None and (not history or history[-1][0] != n_labels):
        history.append((n_labels, estimate, *(interval or (0.0, 1.0)), share))
    n_more, share_after = _forecast(history)
    counts = Counter(label for label in answers.labels.values() if label is not UNKNOWN)
    return Summary(
        n_rows=session.n_rows,
        n_labels=n_labels,
        n_unknown=len(answers.labels) - n_labels,
        class_counts={c: counts[c] for c in answers.classes},
        estimated_error=estimate,
        error_interval=interval,
        history=[point[:4] for point in history],
        share_answered_now=share,
        n_more_labels=n_more,
        share_after=share_after,
        suspects=_suspects(learner),
        certificate=certificate,
    )


def _open_confidence(answers: Answers, learner) -> np.ndarray | None:
    """Return the largest probability of each row without a label, from high to low."""
    if learner.model is None or not hasattr(learner.model, "predict_proba"):
        return None
    return np.sort(learner.scores()[answers.codes == NO_ANSWER].max(axis=1))[::-1]


def _share_answered(session, answers: Answers, learner, certificate: Certificate) -> float:
    """Return the share of rows that are certified, or that the model expects to get right."""
    if certificate.holds:
        return certificate.share_answered
    confidence = _open_confidence(answers, learner)
    if confidence is None or session.max_error is None or not len(confidence):
        return 0.0
    expected = np.cumsum(1 - confidence) / np.arange(1, len(confidence) + 1)
    return float(np.searchsorted(expected, session.max_error, side="right") / len(confidence))


def _estimated_error(answers: Answers, learner, certificate: Certificate) -> float | None:
    """Return the share of wrong audits, together with what the model expects."""
    confidence = _open_confidence(answers, learner)
    if confidence is None or not len(confidence):
        return None
    if not certificate.n_answered:
        return float(np.mean(1 - confidence))
    expected = float(np.mean(1 - confidence[: certificate.n_answered]))
    n_wrong = certificate.n_audit_errors + EXPECTATION_ROWS * expected
    return n_wrong / (certificate.n_audited + EXPECTATION_ROWS)


def _forecast(history) -> tuple[int | None, float | None]:
    """Return how many labels a larger share would take, if it goes on growing as before."""
    if len(history) < MIN_FORECAST_POINTS or history[-1][0] < MIN_FORECAST_POINTS:
        return None, None
    points = np.array([(np.log(p[0]), p[4]) for p in history[len(history) // 2 :] if p[0]])
    slope, _ = np.polyfit(points[:, 0], points[:, 1], 1)
    n_labels, share = history[-1][0], history[-1][4]
    goal = (np.floor(share / SHARE_STEP + 0.5) + 1) * SHARE_STEP
    if slope <= 0 or goal > 1:
        return None, None
    n_more = n_labels * (np.exp(min((goal - share) / slope, 10.0)) - 1)
    if n_more > MAX_FORECAST_GROWTH * n_labels:
        return None, None
    return _round(max(n_more, 1)), float(goal)


def _suspects(learner) -> list[tuple[int, float]]:
    """Return labels that the other rows make improbable. Audited rows are never among them.

    To look again only at audits that the model got wrong would flatter the model.
    """
    found = learner.left_out()
    if found is None:
        return []
    rows, probability = found
    order = np.argsort(probability, kind="stable")[:MAX_SUSPECTS]
    improbable = order[probability[order] < MAX_SUSPECT_PROBABILITY]
    return [(rows[i], float(probability[i])) for i in improbable]


def _round(number: float) -> int:
    """Return a number with two digits at most: it is only an estimate."""
    return int(float(f"{number:.2g}"))
