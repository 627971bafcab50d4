"""What a person wants to know at a glance."""

import numpy as np

from bayespoint import active
from session_helpers import label


def test_the_summary_says_what_matters(certified):
    summary = certified.summary()
    assert summary.n_labels == 170
    assert sum(summary.class_counts.values()) == 170
    assert 0 <= summary.estimated_error <= summary.error_interval[1] <= 1
    assert summary.share_answered_now == certified.certificate().share_answered
    assert certified.summary().history == summary.history


def test_a_wrong_label_is_suspected(blobs):
    X, y = blobs
    session = label(active.Session(None, X, random_state=0), y, 40)
    center = np.argmin([np.linalg.norm(X[r] - X[y == y[r]].mean(axis=0)) for r in session.labels])
    row = list(session.labels)[center]
    session.tell(row, next(c for c in "abc" if c != y[row]))
    session.ask()
    assert row in [suspect for suspect, _ in session.summary().suspects[:3]]


def test_audited_rows_are_never_suspects(blobs):
    X, y = blobs
    session = active.Session(None, X, max_error=0.1, random_state=0)
    rng = np.random.default_rng(0)
    for _ in range(80):
        row = session.ask()
        session.tell(row, str(rng.choice(["a", "b"])) if rng.uniform() < 0.3 else str(y[row]))
    assert all(session._answers.is_training(row) for row, _ in session.summary().suspects)
