"""MAPIE's control of precision in each group, for `group_promises.py`.

MAPIE has no groups, and no refusals: it chooses a threshold above which a binary classifier says
yes, so that its precision is high enough. With "the answer is right" as the yes this is the
promise about the error of accepted rows. Each group gets a controller of its own with an equal
share of the risk, so that all groups keep their promise together.
"""

import warnings

import numpy as np

# MAPIE's own fixed sequence has one start, at its largest threshold, above which too few rows are.
STARTS = 5


def mapie_rules(max_error, risk, n_groups):
    """Return rules: confidence, promise, group of each row -> a threshold for each group."""
    from mapie.risk_control.fwer_control import FWERFixedSequenceTesting

    methods = {
        "MAPIE Holm": "bonferroni_holm",
        "MAPIE starts": FWERFixedSequenceTesting(n_starts=STARTS),
    }

    def make(method):
        def rule(confidence, promise, group):
            parts = [np.flatnonzero(group == g) for g in range(n_groups)]
            return np.array(
                [
                    lowest(
                        confidence[rows], ~promise.loss[rows], max_error, risk / n_groups, method
                    )
                    for rows in parts
                ]
            )

        return rule

    return {name: make(method) for name, method in methods.items()}


def lowest(confidence, correct, max_error, risk, method):
    """Return the lowest of MAPIE's hundred thresholds at which precision is controlled."""
    from mapie.risk_control import BinaryClassificationController

    controller = BinaryClassificationController(
        lambda c: np.column_stack([1 - np.ravel(c), np.ravel(c)]),
        "precision",
        1 - max_error,
        confidence_level=1 - risk,
        fwer_method=method,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # risks that are not monotone; nothing is controlled
        controller.calibrate(confidence[:, None], correct.astype(int))
    valid = np.ravel(controller.valid_predict_params).astype(float)
    return valid.min() if valid.size else np.inf
