"""Describe the kind of a model in a short phrase."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..model_parts import final_classifier

# Solvers by entries that only their diagnostics have; the first match counts.
SOLVER_BY_DIAGNOSTICS = {
    ("n_bounces",): "billiard",
    ("n_mistakes",): "perceptrons",
    ("n_cells", "residual"): "expectation propagation in cells",
    ("n_cells",): "label regression in cells that landmarks join",
    ("n_factors",): "label regression",
    ("residual",): "expectation propagation",
    ("n_samples",): "Gibbs sampling",
}


def describe_model(model) -> str:
    """Return the kind of a fitted model as a phrase."""
    classifier = final_classifier(model)
    kind = type(classifier).__name__
    if kind == "BayesPointClassifier":
        method = _solver_name(classifier.diagnostics_)
        return f"a Bayes point machine, {_kernel_name(classifier)}, by {method} ({kind})"
    if kind == "LinearBayesPointClassifier":
        return f"a linear Bayes point machine, {classifier.covariance_} covariance ({kind})"
    return f"a {kind}"


def largest_r_hat(diagnostics: Any) -> float | None:
    """Return the largest R-hat of all outputs, or None if it is unknown."""
    largest = float(np.max(diagnostics.get("r_hat", np.nan)))
    return largest if np.isfinite(largest) else None


def _kernel_name(classifier) -> str:
    kernel = getattr(classifier, "kernel_", classifier.kernel)
    if kernel == "mixture":
        return "a mixture of kernels"
    return f"{kernel} kernel" if isinstance(kernel, str) else "a custom kernel"


def _solver_name(diagnostics: Any) -> str:
    """Recognize the solver by its diagnostics."""
    if largest_r_hat(diagnostics) is None and not np.any(diagnostics.get("n_bounces", 1)):
        return "the largest margin" if "margin" in diagnostics else "the corners of version space"
    for keys, name in SOLVER_BY_DIAGNOSTICS.items():
        if all(key in diagnostics for key in keys):
            return name
    return "a custom solver"
