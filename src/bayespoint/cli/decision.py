"""How to answer: what errors cost, or how much of a class has to be found."""

from __future__ import annotations

import csv
import math
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import typer

from ..evaluation.intervals import Share, share
from ..io.tables.labels import ClassCounts
from .terminal import listed, note, percent, wrapped

if TYPE_CHECKING:
    from .source import Plan

# Lower a threshold by this share, so that rounding does not miss the row that set it.
THRESHOLD_ROUNDING = 1e-9
LEVEL = 0.95


class Decision(NamedTuple):
    """What the user asked for: costs of errors, or the recall of a class, as written."""

    costs: str | None = None
    threshold_for: str | None = None


class Rule(NamedTuple):
    """Costs that decide the answers, and where they come from, for the model file."""

    costs: np.ndarray | None
    about: dict[str, Any] | None


def check_decision(decision: Decision, found: ClassCounts) -> None:
    """Refuse what does not fit to the classes, before anything is trained."""
    if decision.costs is not None:
        parse_costs(decision.costs, found.classes)
    if decision.threshold_for is not None:
        parse_goal(decision.threshold_for, found)


def make_rule(decision: Decision, classes: np.ndarray, probability, y) -> Rule:
    """Return the costs that the user named, or those that find enough rows of a class.

    Parameters
    ----------
    decision : Decision
        What the user asked for.
    classes : ndarray of shape (n_classes,)
        The classes of the model.
    probability, y : arrays of shapes (n_rows, n_classes) and (n_rows,)
        Probabilities and classes of the held-out rows, which set a threshold.
    """
    if decision.costs is not None:
        costs = parse_costs(decision.costs, classes)
        return Rule(costs, {"kind": "costs", "costs": costs.tolist()})
    if decision.threshold_for is not None:
        counts = np.array([np.count_nonzero(y == label) for label in classes])
        position, goal = parse_goal(decision.threshold_for, ClassCounts(classes, counts))
        return rule_for_recall(position, goal, classes, probability, y)
    return Rule(None, None)


def parse_costs(text: str, classes: np.ndarray) -> np.ndarray:
    """Return the matrix of `true:answer=cost,...`, or of a CSV file with a column per answer.

    Errors that are not named cost 1, and right answers nothing.
    """
    names = [str(label) for label in classes]
    pairs = {f"{true}:{answer}": (i, j) for i, true in enumerate(names)
             for j, answer in enumerate(names)}  # fmt: skip
    costs = 1 - np.eye(len(names))
    if Path(text).is_file():
        named = _costs_of_file(text)
    else:
        named = [part.rpartition("=")[::2] for part in text.split(",")]
    for pair, number in named:
        if pair.strip() not in pairs:
            raise typer.BadParameter(
                f"--costs should be TRUE:ANSWER=COST, separated by commas, such as "
                f"{names[-1]}:{names[0]}=5, or a CSV file, but holds {pair.strip()!r}. The classes "
                f"are {listed(names)}."
            )
        costs[pairs[pair.strip()]] = _number(number, "--costs")
    if not (costs > costs.diagonal()[:, None]).any():
        raise typer.BadParameter("--costs should make some wrong answer cost more than the right.")
    return costs


def _costs_of_file(path: str) -> list[tuple[str, str]]:
    """Return pairs and costs from a table: true classes down, answers across."""
    with open(path, newline="", encoding="utf-8-sig") as file:
        (_, *answers), *rows = [row for row in csv.reader(file) if row]
    return [
        (f"{true.strip()}:{answer.strip()}", cost)
        for true, *costs in rows
        for answer, cost in zip(answers, costs, strict=False)
    ]


def parse_goal(text: str, found: ClassCounts) -> tuple[int, float]:
    """Return the class and the recall of `class:recall=0.8`; the rarer of two if none is named."""
    names, counts = [str(label) for label in found.classes], found.counts
    before, _, number = text.rpartition("=")
    name, colon, measure = before.rpartition(":")
    if measure.strip() != "recall":
        raise typer.BadParameter(
            f"--threshold-for should be CLASS:recall=SHARE, such as {names[-1]}:recall=0.8, but is "
            f"{text!r}."
        )
    goal = _number(number, "--threshold-for")
    if not 0 < goal <= 1:
        raise typer.BadParameter(f"--threshold-for: a recall is above 0 and at most 1, not {goal}.")
    if colon:
        if name.strip() not in names:
            raise typer.BadParameter(
                f"--threshold-for: there is no class {name.strip()!r}. The classes are "
                f"{listed(names)}."
            )
        position = names.index(name.strip())
    elif len(names) > 2:
        raise typer.BadParameter(
            f"--threshold-for should name one of the {len(names)} classes, such as "
            f"{names[0]}:recall=0.8."
        )
    else:
        position = int(counts[1] <= counts[0])
    if not counts[position]:
        raise typer.BadParameter(
            f"--threshold-for: no held-out row has the class {names[position]!r}. Hold out more "
            "rows with --holdout."
        )
    return position, goal


def rule_for_recall(position: int, goal: float, classes, probability, y) -> Rule:
    """Choose what it costs to miss a class, so that held-out rows of it are found often enough.

    The answer is the class if its probability is at least 1 / weight of the largest other one.
    As the threshold is the score of one of its n rows, the m-th largest, the recall of new rows
    has a beta distribution, which the exact interval of m out of n contains.
    """
    others = np.delete(probability, position, axis=1).max(axis=1)
    # A row in which only the class is probable is found by every threshold.
    ratio = probability[:, position] / np.maximum(others, np.finfo(float).tiny)
    positive = y == classes[position]
    own = np.sort(ratio[positive])[::-1]
    n_found = min(math.ceil(goal * len(own) - THRESHOLD_ROUNDING), len(own))
    least = max(own[n_found - 1], np.finfo(float).tiny) * (1 - THRESHOLD_ROUNDING)
    weight = float(1 / least)
    costs = 1 - np.eye(len(classes))
    costs[position] *= weight
    answered = ratio >= least
    found = int(np.count_nonzero(answered & positive))
    about = {
        "kind": "recall",
        "class": str(classes[position]),
        "goal": goal,
        "weight": weight,
        "threshold": 1 / (1 + weight) if len(classes) == 2 else None,
        "recall": [found, len(own)],
        "precision": [found, int(np.count_nonzero(answered))],
    }
    return Rule(costs, about)


def decision_lines(about: dict[str, Any] | None) -> list[str]:
    """Say how the model answers, if not with the most probable class."""
    if about is None:
        return []
    if about["kind"] == "costs":
        return ["  It answers with the class that costs least on average (--costs)."]
    name, from_ = about["class"], about["threshold"]
    recall, precision = _share(about["recall"]), _share(about["precision"])
    how = f" from a probability of {from_:.3g} on" if from_ is not None else " more often"
    return wrapped(
        f"It answers “{name}”{how}, to find {percent(about['goal'])} of them: as if missing one "
        f"cost {about['weight']:.3g} times as much as another error. The rows held out in training "
        f"set this: of their “{name}” it found {_of(recall)}, and of its answers “{name}” "
        f"{_of(precision)} were right."
    )


def _share(found_and_total: list[int]) -> Share:
    found, total = found_and_total
    return share(found, total, LEVEL)


def _of(part: Share) -> str:
    return (
        f"{percent(part.value)} ({part.number:,} of {part.total:,}, 95 % interval "
        f"{100 * part.low:.1f} to {percent(part.high)})"
    )


def with_class_weight(plan: Plan, found: ClassCounts) -> Plan:
    """Return the plan with a weight for each class in place of what the user wrote."""
    if not isinstance(plan.class_weight, str):
        return plan
    weights = parse_class_weight(plan.class_weight, found)
    note(
        "--class-weight changes probabilities too, as if the classes had other frequencies. To "
        "change the answers only, use --costs or --threshold-for"
    )
    return replace(plan, class_weight=weights)


def parse_class_weight(text: str, found: ClassCounts) -> dict[Any, float]:
    """Return the weight of each class from `balanced` or `class=weight,...`; others weigh 1."""
    classes = found.classes
    if text == "balanced":  # all classes have the same total weight
        balanced = found.n_rows / (len(classes) * found.counts)
        return dict(zip(classes.tolist(), balanced.tolist(), strict=True))
    names, weights = [str(label) for label in classes], dict.fromkeys(classes.tolist(), 1.0)
    for part in text.split(","):
        name, _, number = part.rpartition("=")
        if name.strip() not in names:
            raise typer.BadParameter(
                "--class-weight should be balanced, or CLASS=WEIGHT, separated by commas, such as "
                f"{names[-1]}=5, but holds {part.strip()!r}. The classes are {listed(names)}."
            )
        weight = _number(number, "--class-weight")
        if weight <= 0:
            raise typer.BadParameter(f"--class-weight: weights are above 0, but {weight} is not.")
        weights[classes.tolist()[names.index(name.strip())]] = weight
    return weights


def _number(text: str, option: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise typer.BadParameter(f"{option}: expected a number, but found {text.strip()!r}.")
    return number
