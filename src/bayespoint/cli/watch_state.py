"""The watch over a model's promise, kept in a file that every evaluation continues."""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from .._runtime.atomic import in_place_of
from .._runtime.held_file import held_file
from .._runtime.interrupt import interrupts
from ..classifiers.reject.certificate import Certificate
from ..classifiers.reject.groups import group_name, group_values
from ..evaluation import Evaluation
from .group_lines import MAX_GROUPS_SHOWN
from .terminal import aligned, listed, note, percent

FORMAT, VERSION = "bayespoint watch", 1
# A part with fewer rows may equal another one by chance.
MIN_ROWS_RECOGNIZED = 20
DIGEST_BYTES = 16
# Confidences are compared up to this many decimals: other machines round differently.
DECIMALS = 6


_DAMAGED = (
    "{path} is not a file that --watch wrote, or is damaged. Give another name, or remove it to "
    "begin anew."
)


@dataclass
class State:
    """A certificate, whose model it watches, and which rows it has counted."""

    certificate: Certificate
    model: str  # a digest of the thresholds
    parts: list[dict[str, Any]] = field(default_factory=list)


def count(path: Path, model: Any, evaluation: Evaluation, X: Any, y: Any, data: str) -> Certificate:
    """Count the answers to some rows, and write the state; return what is known now."""
    if not path.exists():
        # Another process may begin at the same time, and may have counted rows already.
        with suppress(FileExistsError):
            _write(path, State(_certificate(model), _digest_of_model(model)), only_new=True)

    def tell() -> None:
        note(f"another process is writing {path}; waiting until it has finished")

    with held_file(path, tell) as is_same:
        state = read_watch(path, model)
        part = {"data": data, "n_rows": evaluation.n_rows, "digest": _digest(evaluation)}
        _refuse_counted_rows(state, evaluation, path)
        answers = model.classes_[evaluation.predicted]
        accepted = model.accepts(X, evaluation.confidence, answers)
        groups = None
        if state.certificate.by_group:
            groups = group_values(model.groups, X, answers)[accepted]
        state.certificate.update(np.asarray(y)[accepted], answers[accepted], groups)
        state.parts.append(part | {"n_answered": int(np.count_nonzero(accepted))})
        with interrupts():  # the rows count once, or not at all
            if not is_same():
                raise ValueError(
                    f"{path} was replaced by another process in the meantime, so these rows are "
                    "not counted. Run the command again."
                )
            _write(path, state)
    return state.certificate


def read_watch(path: Path, model: Any) -> State:
    """Read a state, and check that it belongs to this model and promise."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if (content["format"], content["version"]) != (FORMAT, VERSION):
            raise ValueError("of another format")
        parts = [
            {"data": str(one["data"]), "digest": str(one["digest"])}
            | {name: int(one[name]) for name in ("n_rows", "n_answered")}
            for one in content["parts"]
        ]
        state = State(Certificate.from_dict(content["certificate"]), content["model"], parts)
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        raise ValueError(_DAMAGED.format(path=path)) from None
    if state.model != _digest_of_model(model):
        raise ValueError(
            f"{path} watches another model, or another promise of this one. After a new training "
            "or another --max-error, begin anew with another file."
        )
    if not _has_promise_of(model, state.certificate):
        raise ValueError(_DAMAGED.format(path=path))
    return state


def watch_lines(certificate: Certificate) -> list[str]:
    """Return what is known about the promise since deployment."""
    watched = certificate.watched()
    n_answers, n_wrong = sum(w.n_answers for w in watched), sum(w.n_wrong for w in watched)
    share = f" ({percent(n_wrong / n_answers)})" if n_answers else ""
    enough = len(watched) / (1 - certificate.confidence_level)
    lines = [
        f"Since the watch began {n_answers:,} answers, {n_wrong:,} wrong{share}; promised: at most "
        f"{percent(certificate.max_error)}.",
        f"Evidence against the promise: {max(w.evidence for w in watched):.3g}; it is broken at "
        f"{enough:.3g}.",
    ]
    if not certificate.by_group:
        return lines
    shown = sorted(watched, key=lambda one: -one.evidence)[:MAX_GROUPS_SHOWN]
    rows = [
        (
            f"  {group_name(one.group)}",
            f"{one.n_answers:,}",
            f"{one.n_wrong:,}",
            f"{one.evidence:.3g}",
            "" if one.holds else "broken",
        )
        for one in shown
    ]
    head = ("  group", "answers", "wrong", "evidence", "")
    more = len(watched) - len(shown)
    return [*lines, *aligned([head, *rows]), *[f"  and {more:,} more with less"] * (more > 0)]


def require_promise(certificate: Certificate) -> None:
    """Raise if the promise no longer holds."""
    if certificate.holds:
        return
    broken = [group_name(one.group) for one in certificate.watched() if not one.holds]
    where = f" for {listed(broken)}" if certificate.by_group else ""
    raise ValueError(
        f"the promise of at most {percent(certificate.max_error)} errors no longer holds{where}. "
        "Train again, with rows like the new ones."
    )


def watch_to_dict(certificate: Certificate) -> dict[str, Any]:
    """Return what is known, for --json."""
    return {
        "holds": certificate.holds,
        "groups": [
            one._asdict() | {"group": group_name(one.group)} for one in certificate.watched()
        ],
    }


def _certificate(model: Any) -> Certificate:
    if np.isnan(model.certified_error_):
        raise ValueError(
            "The model promises no error that could be watched. Train it with --max-error, or pass "
            "--max-error here, and use enough rows to promise it."
        )
    return model.certificate()


def _write(path: Path, state: State, only_new: bool = False) -> None:
    content = {
        "format": FORMAT,
        "version": VERSION,
        "model": state.model,
        "parts": state.parts,
        "certificate": state.certificate.to_dict(),
    }
    with in_place_of(path, only_new=only_new) as file:
        file.write(json.dumps(content, indent=1, allow_nan=False).encode())


def _has_promise_of(model: Any, certificate: Certificate) -> bool:
    """Tell whether a certificate is about the promise and the groups of a model."""
    names = ("max_error", "confidence_level", "reject_label", "groups")
    both = [one.to_dict() for one in (certificate, _certificate(model))]
    found, expected = (json.dumps([one[name] for name in names]) for one in both)
    return found == expected


def _digest_of_model(model: Any) -> str:
    """Return a digest of what decides the answers that are promised."""
    numbers = [model.max_error, model.confidence_level, model.threshold_, len(model.classes_)]
    thresholds = getattr(model, "group_thresholds_", None)
    content = [np.array(numbers, dtype=float), model.calibration_confidence_]
    content += [] if thresholds is None else [thresholds]
    return hashlib.blake2b(b"".join(one.tobytes() for one in content), digest_size=16).hexdigest()


def _digest(evaluation: Evaluation, n_rows: int | None = None) -> str:
    """Return a digest of the first rows: their classes, answers and confidences."""
    digest = hashlib.blake2b(digest_size=DIGEST_BYTES)
    digest.update(evaluation.classes.astype(str)[evaluation.target[:n_rows]].tobytes())
    digest.update(evaluation.predicted[:n_rows].astype("<i8").tobytes())
    digest.update(np.round(evaluation.confidence[:n_rows] * 10**DECIMALS).astype("<i8").tobytes())
    return digest.hexdigest()


def _refuse_counted_rows(state: State, evaluation: Evaluation, path: Path) -> None:
    """Raise if the first rows are an earlier part: a file given twice, or one that grew."""
    for part in state.parts:
        n_rows = part["n_rows"]
        if not MIN_ROWS_RECOGNIZED <= n_rows <= evaluation.n_rows:
            continue
        if _digest(evaluation, n_rows) == part["digest"]:
            rows = "These rows" if n_rows == evaluation.n_rows else f"The first {n_rows:,} rows"
            raise ValueError(
                f"{rows} are counted in {path} already (from {part['data']}). Pass each row once."
            )
