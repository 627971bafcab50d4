"""Options about rows that are not answered, each declared once."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from .groups import Group

REJECT_SECTION = "Refusing to answer"

RejectRate = Annotated[
    float | None,
    typer.Option(
        min=0,
        max=0.999,
        help="Refuse this share of rows, the least certain.",
        rich_help_panel=REJECT_SECTION,
    ),
]
MaxError = Annotated[
    float | None,
    typer.Option(
        min=1e-6,
        max=0.999,
        help="Refuse enough rows to keep the error of the answers within this.",
        rich_help_panel=REJECT_SECTION,
    ),
]
MaxNovelty = Annotated[
    float | None,
    typer.Option(
        min=0,
        max=1,
        help="Refuse rows that are stranger than this share of the training rows, such as 0.99.",
        rich_help_panel=REJECT_SECTION,
    ),
]
ConfidenceLevel = Annotated[
    float | None,
    typer.Option(
        min=0.001,
        max=0.999999,
        help="Probability that --max-error is kept.",
        show_default="0.95",
        rich_help_panel=REJECT_SECTION,
    ),
]


GroupColumn = Annotated[
    str | None,
    typer.Option(
        "--groups",
        metavar="COLUMN",
        help="Keep --max-error for each value of a column; 'prediction': for each answer.",
        rich_help_panel=REJECT_SECTION,
    ),
]


def make_rejection(
    reject_rate: RejectRate = None,
    max_error: MaxError = None,
    max_novelty: MaxNovelty = None,
    confidence_level: ConfidenceLevel = None,
) -> dict[str, Any] | None:
    """Return the given parameters of RejectOptionClassifier, or None if none was given."""
    if reject_rate is not None and max_error is not None:
        raise typer.BadParameter("Give --reject-rate or --max-error, not both.")
    if reject_rate is None and max_error is None:
        if confidence_level is not None:
            raise typer.BadParameter("--confidence-level needs --max-error.")
        return None if max_novelty is None else {"max_novelty": max_novelty}
    given = {
        "reject_rate": reject_rate,
        "max_error": max_error,
        "max_novelty": max_novelty,
        "confidence_level": confidence_level,
    }
    return {name: value for name, value in given.items() if value is not None}


Rejection = Annotated[dict[str, Any] | None, Group(make_rejection)]


def with_groups(rejection: dict[str, Any] | None, groups: str | None) -> dict[str, Any]:
    """Return the parameters of RejectOptionClassifier for a promise in each group."""
    rejection = rejection or {}
    if groups is None:
        return rejection
    if "max_error" not in rejection:
        raise typer.BadParameter("--groups needs --max-error.")
    return rejection | {"groups": groups}
