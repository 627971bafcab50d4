import json
from types import SimpleNamespace

import numpy as np

from bayespoint.active import Certificate
from bayespoint.labeling.view import MAX_POINTS, certificate_view, summary_view

DESK = SimpleNamespace(rows=range(7), mention=lambda row: {"row": row})


def summary(**changes):
    values = {
        "n_labels": np.int64(3),
        "n_unknown": 0,
        "class_counts": {"a": np.int64(3)},
        "estimated_error": np.float64(0.1),
        "error_interval": (0.0, np.nan),
        "history": [],
        "share_answered_now": 0.5,
        "n_more_labels": None,
        "share_after": None,
        "suspects": [(np.int64(2), np.float64(0.01))],
    }
    return SimpleNamespace(**(values | changes))


def test_everything_is_json():
    found = json.loads(json.dumps(summary_view(summary(n_labels=3), DESK), allow_nan=False))
    assert found["interval"] == [0.0, None]
    assert found["suspects"] == [{"row": 2, "probability": 0.01}]
    assert found["class_counts"] == {"a": 3}


def test_a_long_curve_is_thinned_and_keeps_its_end():
    history = [(n, 1 / n, 0.0, np.inf) for n in range(1, 1001)]
    found = summary_view(summary(n_labels=3, history=history), DESK)["history"]
    assert len(found) <= MAX_POINTS
    assert found[-1] == [1000, 0.001, 0.0, None]


def test_the_certificate_keeps_the_number_of_blind_tests_to_itself():
    found = certificate_view(Certificate(True, 0.05, 0.95, 0.04, 0.7, 70, 65, 1, "It holds."))
    assert json.dumps(found, allow_nan=False)
    assert not {"n_audited", "n_audit_errors"} & set(found)
    assert found["message"] == "It holds."
