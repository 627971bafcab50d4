"""The contents of an evaluation: counts, and conversion to JSON."""

import json
from dataclasses import replace

import numpy as np
import pytest

from bayespoint.evaluation.intervals import share
from bayespoint.evaluation.measure import evaluate_probabilities
from bayespoint.evaluation.results import Promise


@pytest.mark.parametrize("labels", [["no", "yes"], [False, True], [-1, 1], [0.5, 2.5]])
def test_types_of_labels(labels):
    evaluation = evaluate_probabilities(
        [labels[0], labels[1], labels[1]], [[0.9, 0.1], [0.4, 0.6], [0.7, 0.3]], labels
    )
    np.testing.assert_array_equal(evaluation.confusion, [[1, 0], [1, 1]])
    assert json.loads(json.dumps(evaluation.to_dict()))["classes"] == labels


def test_the_error_above_a_threshold():
    probability = [[0.9, 0.1], [0.4, 0.6], [0.7, 0.3]]
    evaluation = evaluate_probabilities(["a", "b", "b"], probability, ["a", "b"])
    assert evaluation.wrong.tolist() == [False, False, True]
    assert evaluation.at(0.0) == evaluation.error == share(1, 3, 0.95)
    assert evaluation.at(0.7) == share(1, 2, 0.95)  # the threshold itself is accepted
    assert evaluation.at(0.71) == share(0, 1, 0.95)
    assert evaluation.at(np.inf).total == 0


def test_json_has_no_infinities():
    evaluation = evaluate_probabilities(["a", "b"], np.eye(2), ["a", "b"])
    assert evaluation.to_dict()["promise"] is None
    nothing = Promise(np.inf, evaluation.at(np.inf), None, 0.02, 0.9, 30, True)
    written = json.dumps(replace(evaluation, promise=nothing).to_dict(), allow_nan=False)
    read = json.loads(written)
    assert read["promise"]["threshold"] is None
    assert read["promise"]["error"]["value"] is None
    assert read["promise"]["max_error"] == 0.02
    assert read["error"] == {"count": 0, "total": 2, "value": 0.0, **interval_of(evaluation)}
    assert read["rejection"]["accepted"] == [2]


def interval_of(evaluation):
    return {"low": evaluation.error.low, "high": evaluation.error.high}


def test_a_short_text_in_a_notebook(rng):
    y = np.arange(2000) % 2
    evaluation = evaluate_probabilities(y, rng.dirichlet([1, 1], 2000), [0, 1])
    text = repr(evaluation)
    assert len(text) < 200
    assert f"error {100 * evaluation.error.value:.1f} %" in text
    assert "2,000 rows" in text
    one = evaluate_probabilities([0], [[0.9, 0.1]], [0, 1])
    assert "nan" not in repr(one)


def test_majority_and_rarer_class():
    evaluation = evaluate_probabilities(["b", "b", "a"], [[0.4, 0.6]] * 3, ["a", "b"])
    assert evaluation.majority == share(1, 3, 0.95)
    assert evaluation.rare == 0
    assert evaluation.ranking.n_rows == 1
