"""The training of a fitted model, in plain words."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..model_parts import final_classifier
from .formatting import number, percent, several
from .model_description import largest_r_hat

# Chains with a larger R-hat still depend on where they started.
MAX_R_HAT = 1.05
# Linear programs with a larger relative duality gap are not solved.
MAX_DUALITY_GAP = 1e-4
# Why a solver stopped, and the reasons that are fine.
STOP_REASONS = {
    "tol": "reached the requested precision",
    "done": "finished",
    "consistent": "found members that get all training rows right",
    "n_bounces": "reached the largest number of bounces allowed",
    "n_samples": "reached the largest number of samples allowed",
    "max_iter": "reached the largest number of passes allowed",
    "max_mistakes": "reached the largest number of mistakes allowed",
    "stalled": "made no more progress",
    "max_time": "ran out of time",
    "interrupted": "was interrupted",
    "callback": "was stopped by a callback",
    "escaped": "lost the ball",
}
FINE_STOP_REASONS = {"tol", "done", "consistent"}
# Parameters that "auto" can choose, and what they mean.
CHOSEN_PARAMETERS = {
    "softness": "noise on the output that the boundary tolerates; 0 is a hard boundary",
    "label_noise": "share of training labels assumed to be wrong, near the boundary or not",
    "gamma": "flexibility of the boundary: one over a squared distance (rbf)",
}


class Finding(NamedTuple):
    """One fact about the fit."""

    name: str
    value: str
    meaning: str
    fine: bool | None = None  # None: neither good nor bad


def diagnose(model) -> list[Finding]:
    """Return findings about the fit of a model, from its attributes.

    Parameters
    ----------
    model : classifier
        Fitted; may be inside pipelines and reject options.

    Returns
    -------
    list of Finding
        Empty for classifiers that report nothing.
    """
    classifier = final_classifier(model)
    diagnostics = getattr(classifier, "diagnostics_", None)
    return [
        *([] if diagnostics is None else _solver(diagnostics)),
        *_iterations(classifier),
        *_evidence(classifier),
        *_chosen_parameters(classifier),
        *_duality_gap(classifier),
    ]


def _solver(diagnostics: Any) -> list[Finding]:
    """Read the diagnostics of `BayesPointClassifier`; the worst output counts."""
    found = [_stop(diagnostics)]
    r_hat = largest_r_hat(diagnostics)
    if r_hat is not None:
        fine = r_hat <= MAX_R_HAT
        agree = "agree" if fine else "do not agree yet: let them run longer"
        words = f"chains with different starts {agree} (1 is perfect, up to {MAX_R_HAT} is fine)"
        found.append(Finding("R-hat", f"{r_hat:.3f}", words, fine))
    if "residual" in diagnostics:
        residual, mixed = float(np.max(diagnostics["residual"])), bool(np.all(diagnostics["mixed"]))
        words = "largest mismatch of the Gaussian approximation, in standard deviations"
        return [*found, Finding("residual", f"{residual:.2g}", words, mixed)]
    found.append(_sampling_error(diagnostics))
    ess = float(np.min(diagnostics["ess"]))
    if np.isfinite(ess):
        words = "independent draws that would be as good as the draws that were made"
        found.append(Finding("effective draws", number(round(ess)), words))
    if "n_consistent" in diagnostics:
        consistent = int(np.min(diagnostics["n_consistent"]))
        value = f"{consistent} of {diagnostics['n_mistakes'].shape[-1]}"
        words = "perceptrons that get all training rows right; if there are any, only these count"
        found.append(Finding("consistent members", value, words, consistent > 1))
    return found


def _stop(diagnostics: Any) -> Finding:
    """Say why the solver stopped, and how long it took."""
    stops = sorted(set(np.ravel(diagnostics["stop"]).tolist()))
    words = " and ".join(STOP_REASONS.get(stop, stop) for stop in stops)
    fine = set(stops) <= FINE_STOP_REASONS
    if not fine:
        words += ". The model can be used, but longer training may improve it"
    seconds = float(np.sum(diagnostics["seconds"])) if "seconds" in diagnostics else float("nan")
    value = f"{seconds:.2g} s" if np.isfinite(seconds) else ", ".join(stops)
    return Finding("the solver", value, words, fine)


def _sampling_error(diagnostics: Any) -> Finding:
    angle = float(np.max(diagnostics["angle"]))
    if not np.isfinite(angle):
        words = "this solver cannot estimate how far its answer is from the Bayes point"
        return Finding("sampling error", "unknown", words)
    words = "estimated angle between this answer and the answer of an endless run, in degrees"
    fine = bool(np.all(diagnostics["mixed"]))
    return Finding("sampling error", f"{np.degrees(angle):.2g}°", words, fine)


def _iterations(classifier: Any) -> list[Finding]:
    """Read the number of iterations, where it is all that is reported."""
    n_iter = getattr(classifier, "n_iter_", None)
    max_iter: Any = getattr(classifier, "max_iter", None)
    if n_iter is None or hasattr(classifier, "diagnostics_"):
        return []
    n_iter, limited = int(np.max(n_iter)), isinstance(max_iter, int)
    early = limited and 0 < max_iter <= n_iter
    words = "passes over the training rows until nothing changed any more"
    if early:
        words = f"as many passes as were allowed: raise max_iter (now {max_iter})"
    return [Finding("iterations", f"{n_iter:,}", words, not early if limited else None)]


def _evidence(classifier: Any) -> list[Finding]:
    """Read the training rows and the evidence of `LinearBayesPointClassifier`."""
    n_rows: Any = getattr(classifier, "n_samples_seen_", None)
    if not isinstance(n_rows, int | float):
        return []
    words = "rows that it learned from"
    found = [Finding("training rows", number(round(float(n_rows))), words)]
    evidence = getattr(classifier, "log_evidence_", float("nan"))
    if n_rows and np.isfinite(evidence):
        words = (
            "typical probability that the model gave to the class of a training row before it "
            "learned from that row; larger values mean that the model suits the data better"
        )
        value = percent(float(np.exp(evidence / n_rows)))
        found.append(Finding("evidence, per row", value, words))
    return found


def _chosen_parameters(classifier: Any) -> list[Finding]:
    """Read parameters that were given, or that "auto" has chosen."""
    found = []
    mixture = getattr(classifier, "mixture_", None)
    n_candidates = len(getattr(classifier, "candidates_", {}).get("score", []))
    for name, meaning in CHOSEN_PARAMETERS.items():
        value: Any = getattr(classifier, f"{name}_", None)
        if not isinstance(value, int | float) or not hasattr(classifier, name):
            continue
        if name == "gamma" and mixture is not None:  # every term has its own
            words = "ways of comparing two rows, with their weights. Chosen by left-out rows"
            found.append(Finding("kernel", mixture.describe(), words))
            continue
        if getattr(classifier, name) == "auto" and n_candidates:
            judge = "evidence" if _has_evidence(classifier) else "left-out rows"
            meaning += f". Chosen from {several(n_candidates, 'candidate')} by {judge}"
        found.append(Finding(name.replace("_", " "), f"{float(value):.3g}", meaning))
    return found


def _has_evidence(classifier: Any) -> bool:
    """Tell whether evidence chose the parameters, as `candidates_` explains."""
    return len(classifier.classes_) == 2 and not hasattr(classifier, "link_power_")


def _duality_gap(classifier: Any) -> list[Finding]:
    """Read the machines that solve linear programs."""
    gap, objective = getattr(classifier, "dual_gap_", None), getattr(classifier, "objective_", None)
    if gap is None or objective is None:
        return []
    worst = float(np.max(np.abs(gap) / np.maximum(np.abs(objective), 1)))
    words = "how far the solution can be from the optimum, relative to its value"
    return [Finding("duality gap", f"{worst:.1g}", words, worst < MAX_DUALITY_GAP)]
