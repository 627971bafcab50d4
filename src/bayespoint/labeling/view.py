"""What the page shows of a session's summary and certificate, as plain JSON."""

from __future__ import annotations

import math
from typing import Any

# Points of the curve of the error that are sent to the page.
MAX_POINTS = 120
MAX_SUSPECTS = 8


def summary_view(summary: Any, desk: Any) -> dict[str, Any]:
    """Return the numbers of the side panel."""
    history = [[_number(value) for value in point] for point in summary.history]
    step = max(-(-len(history) // MAX_POINTS), 1)
    thinned = history[::-step][::-1]  # the last point is always there
    interval = summary.error_interval
    return {
        "n_labels": summary.n_labels,
        "n_unknown": summary.n_unknown,
        "n_rows": len(desk.rows),
        "class_counts": {str(name): int(n) for name, n in summary.class_counts.items()},
        "error": _number(summary.estimated_error),
        "interval": None if interval is None else [_number(value) for value in interval],
        "history": thinned,
        "share_answered": _number(summary.share_answered_now),
        "n_more_labels": None if summary.n_more_labels is None else int(summary.n_more_labels),
        "share_after": _number(summary.share_after),
        "suspects": [
            desk.mention(int(row)) | {"probability": _number(probability)}
            for row, probability in summary.suspects[:MAX_SUSPECTS]
        ],
    }


def certificate_view(certificate: Any) -> dict[str, Any]:
    """Return the promise, without the number of blind questions: it would tell which they are."""
    return {
        "holds": bool(certificate.holds),
        "max_error": _number(certificate.max_error),
        "confidence_level": _number(certificate.confidence_level),
        "error_bound": _number(certificate.error_bound),
        "share_answered": _number(certificate.share_answered),
        "message": str(certificate.message),
    }


def _number(value: Any) -> float | int | None:
    """Return a number that JSON can hold."""
    if value is None:
        return None
    value = value.item() if hasattr(value, "item") else value
    return value if math.isfinite(value) else None
