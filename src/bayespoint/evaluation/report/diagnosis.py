"""What the solver of a model reports, in plain words."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..model_parts import final_classifier
from .words import number, percent, several

# Above this, chains have not forgotten where they started.
_LARGEST_R_HAT = 1.05
_STOPS = {
    "tol": "came as close as it was asked to",
    "done": "finished",
    "consistent": "found members that get all training rows right",
    "n_bounces": "made as many bounces as it was allowed",
    "n_samples": "drew as many samples as it was allowed",
    "max_iter": "made as many passes as it was allowed",
    "max_mistakes": "made as many mistakes as it was allowed",
    "stalled": "came no closer",
    "max_time": "ran out of time",
    "interrupted": "was interrupted",
    "callback": "was stopped by a callback",
    "escaped": "lost the ball",
}


class Finding(NamedTuple):
    """Something that is known about the fit."""

    name: str
    value: str
    meaning: str
    fine: bool | None = None  # None: neither good nor bad


def diagnose(model) -> list[Finding]:
    """Return what can be said about the fit of a model, by its attributes.

    Parameters
    ----------
    model : classifier
        Fitted; pipelines and reject options are looked into.

    Returns
    -------
    list of Finding
        Empty for classifiers that report nothing.
    """
    classifier = final_classifier(model)
    report = getattr(classifier, "diagnostics_", None)
    found = [] if report is None else _solver(report)
    return found + _linear(classifier) + _choices(classifier) + _programs(classifier)


def describe_model(model) -> str:
    """Say what kind of model it is."""
    classifier = final_classifier(model)
    kind = type(classifier).__name__
    if kind == "BayesPointClassifier":
        report = classifier.diagnostics_
        return f"a Bayes point machine, {_kernel(classifier)}, by {_method(report)} ({kind})"
    if kind == "LinearBayesPointClassifier":
        return f"a linear Bayes point machine, {classifier.covariance_} covariance ({kind})"
    return f"a {kind}"


def _kernel(classifier) -> str:
    kernel = classifier.kernel
    return f"{kernel} kernel" if isinstance(kernel, str) else "a kernel of its own"


def _method(report: Any) -> str:
    """Tell the solver by what it reports."""
    if _r_hat(report) is None and not np.any(report.get("n_bounces", 1)):
        return "the corners of version space"
    for key, words in {
        "n_bounces": "billiard",
        "n_mistakes": "perceptrons",
        "n_cells": "expectation propagation in cells",
        "residual": "expectation propagation",
        "n_samples": "Gibbs sampling",
    }.items():
        if key in report:
            return words
    return "a solver of its own"


def _r_hat(report: Any) -> float | None:
    """Return the largest R-hat, if it is known."""
    largest = float(np.max(report.get("r_hat", np.nan)))
    return largest if np.isfinite(largest) else None


def _solver(report: Any) -> list[Finding]:
    """Read the diagnostics of `BayesPointClassifier`, the worst output of each."""
    found = [_stopped(report)]
    r_hat = _r_hat(report)
    if r_hat is not None:
        found.append(
            Finding(
                "R-hat",
                f"{r_hat:.3f}",
                "chains that started in different places "
                + ("agree" if r_hat <= _LARGEST_R_HAT else "do not agree yet: let them run longer")
                + f" (1 is perfect, up to {_LARGEST_R_HAT} is fine)",
                r_hat <= _LARGEST_R_HAT,
            )
        )
    if "residual" in report:
        residual, mixed = float(np.max(report["residual"])), bool(np.all(report["mixed"]))
        words = "largest mismatch of the Gaussian approximation, in standard deviations"
        found.append(Finding("residual", f"{residual:.2g}", words, mixed))
        return found
    angle = float(np.max(report["angle"]))
    if np.isfinite(angle):
        words = "estimated angle between this answer and that of an endless run, in degrees"
        mixed = bool(np.all(report["mixed"]))
        found.append(Finding("sampling error", f"{np.degrees(angle):.2g}°", words, mixed))
    else:
        words = "this solver cannot tell how far its answer is from the Bayes point"
        found.append(Finding("sampling error", "unknown", words))
    ess = float(np.min(report["ess"]))
    if np.isfinite(ess):
        words = "so many independent draws would be as good as those that were made"
        found.append(Finding("effective draws", number(round(ess)), words))
    if "n_consistent" in report:
        consistent, members = int(np.min(report["n_consistent"])), report["n_mistakes"].shape[-1]
        words = "perceptrons that get all training rows right; only these are averaged, if any"
        value = f"{consistent} of {members}"
        found.append(Finding("consistent members", value, words, consistent > 1))
    return found


def _stopped(report: Any) -> Finding:
    stops = sorted(set(np.ravel(report["stop"]).tolist()))
    words = " and ".join(_STOPS.get(stop, stop) for stop in stops)
    fine = set(stops) <= {"tol", "done", "consistent"}
    if not fine:
        words += ". The model can be used, but a longer training may improve it"
    seconds = float(np.sum(report["seconds"])) if "seconds" in report else float("nan")
    value = f"{seconds:.2g} s" if np.isfinite(seconds) else ", ".join(stops)
    return Finding("the solver", value, words, fine)


def _linear(classifier: Any) -> list[Finding]:
    """Read `LinearBayesPointClassifier`, and others that count iterations."""
    found = []
    n_iter, most = getattr(classifier, "n_iter_", None), getattr(classifier, "max_iter", None)
    if n_iter is not None and not hasattr(classifier, "diagnostics_"):
        n_iter = int(np.max(n_iter))
        early = isinstance(most, int) and most > 0 and n_iter >= most
        words = "passes over the training rows until nothing changed any more"
        if early:
            words = f"as many passes as were allowed: raise max_iter (now {most})"
        known = isinstance(most, int)
        found.append(Finding("iterations", f"{n_iter:,}", words, not early if known else None))
    seen: Any = getattr(classifier, "n_samples_seen_", None)
    if isinstance(seen, int | float):
        words = "rows that it learned from"
        found.append(Finding("training rows", number(round(float(seen))), words))
        evidence = getattr(classifier, "log_evidence_", float("nan"))
        if seen and np.isfinite(evidence):
            words = (
                "typical probability that it gave to the right class of a training row before "
                "it learned from it; the greater, the better the model suits the data"
            )
            value = percent(float(np.exp(evidence / seen)))
            found.append(Finding("evidence, per row", value, words))
    return found


def _choices(classifier: Any) -> list[Finding]:
    """Read what "auto" has chosen."""
    meanings = {
        "softness": "noise on the output that the boundary tolerates; 0 is a hard boundary",
        "label_noise": "share of training labels that are taken to be wrong, wherever they are",
        "gamma": "flexibility of the boundary: one over a squared distance (rbf)",
    }
    found = []
    looked_at = len(getattr(classifier, "candidates_", {}).get("score", []))
    for name, meaning in meanings.items():
        value: Any = getattr(classifier, f"{name}_", None)
        if not isinstance(value, int | float) or not hasattr(classifier, name):
            continue
        if getattr(classifier, name) == "auto" and looked_at:
            meaning += f". Chosen from {several(looked_at, 'candidate')} by evidence"
        found.append(Finding(name.replace("_", " "), f"{float(value):.3g}", meaning))
    return found


def _programs(classifier: Any) -> list[Finding]:
    """Read the machines that solve linear programs."""
    gap, objective = getattr(classifier, "dual_gap_", None), getattr(classifier, "objective_", None)
    if gap is None or objective is None:
        return []
    worst = float(np.max(np.abs(gap) / np.maximum(np.abs(objective), 1)))
    words = "how far the solution can be from the best one, relative to its value"
    return [Finding("duality gap", f"{worst:.1g}", words, worst < 1e-4)]
