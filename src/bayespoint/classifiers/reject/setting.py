"""From held-out rows to the thresholds of a reject option."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ..._runtime.warn import warn
from .chain import make_chain
from .groups import UNKNOWN, certify_groups, group_codes, group_name
from .novelty import was_familiar
from .promise import Promise
from .thresholds import fewest_rows, reject_threshold, why_nothing_is_certified

# Parameters that promise something about accepted rows.
PROMISES = ("max_error", "max_false_positive_rate", "max_false_negative_rate", "max_cost")
COST, FALSE_NEGATIVE = "cost", "false negative rate"
# Name this many groups in a warning.
MAX_NAMES = 5


class GroupSummary(NamedTuple):
    """What is promised for a group of rows, and how its held-out rows are answered."""

    group: object
    n_rows: int
    n_accepted: int
    n_wrong: int  # of the accepted rows
    threshold: float
    reason: str  # why all rows are refused; empty if they are not


def check_parameters(option) -> None:
    """Raise if parameters contradict each other."""
    promised = {name: getattr(option, name) for name in PROMISES}
    promised = {name: value for name, value in promised.items() if value is not None}
    if option.reject_rate is not None and promised:
        (name, value), *_ = promised.items()
        raise ValueError(
            f"reject_rate and {name} both set the threshold, so only one of them can be given, "
            f"but got reject_rate={option.reject_rate} and {name}={value}."
        )
    if option.max_cost is not None:
        if option.costs is None:
            raise ValueError(
                f"max_cost={option.max_cost} needs costs: pass the cost of each answer (column) "
                "for each true class (row)."
            )
        if np.min(np.asarray(option.costs, dtype=float)) < 0:
            raise ValueError("max_cost needs costs that are not negative, but some are.")


def makes_promises(option) -> bool:
    """Tell whether a reject option promises anything about accepted rows."""
    return any(getattr(option, name) is not None for name in PROMISES)


def set_thresholds(option) -> None:
    """Set the thresholds of a fitted reject option, and what follows from them.

    Held-out rows that are refused for their novelty are accepted by no threshold. So promises
    come from the other rows, and a share of refused rows counts the novel rows first.
    """
    confidence, familiar = option.calibration_confidence_, was_familiar(option)
    option.threshold_, option.group_thresholds_ = -math.inf, None
    option.certified_error_ = math.nan
    if option.reject_rate is not None:
        lowest = np.where(familiar, confidence, -math.inf)
        option.threshold_ = reject_threshold(lowest, option.reject_rate)
    elif makes_promises(option):
        _keep_promises(option, np.flatnonzero(familiar))
    option.coverage_ = float(np.mean(accepted_of_calibration(option)))


def accepted_of_calibration(option) -> np.ndarray:
    """Return which held-out rows are accepted."""
    if option.group_thresholds_ is None:
        thresholds: Any = option.threshold_
    else:
        codes = group_codes(option.groups_, option.calibration_group_)
        thresholds = option.group_thresholds_[codes]
    return (option.calibration_confidence_ >= thresholds) & was_familiar(option)


def _keep_promises(option, rows: np.ndarray) -> None:
    """Find the lowest thresholds that keep all promises, in each group if there are groups.

    Only the rows that are not refused for their novelty can show that.
    """
    promises, risk = [p.of(rows) for p in _promises(option)], 1 - option.confidence_level
    confidence = option.calibration_confidence_[rows]
    if option.groups is None:
        if promises and not len(rows):
            option.threshold_ = math.inf
        elif promises:
            chain = make_chain(confidence, promises, risk)
            option.threshold_ = chain.lowest_certified(risk)[0]
        if option.threshold_ == math.inf:
            warn(_why_nothing(option, len(confidence)))
    elif promises:
        codes = group_codes(option.groups_, option.calibration_group_[rows])
        option.group_thresholds_ = certify_groups(
            confidence, promises, codes, len(option.groups_), risk
        )
        option.threshold_ = float(option.group_thresholds_.min())
        _tell_refused(option)
    if option.threshold_ < math.inf and option.max_error is not None:
        option.certified_error_ = float(option.max_error)


def _promises(option) -> list[Promise]:
    """Return the promises of a reject option about its held-out rows."""
    others = any(getattr(option, name) is not None for name in PROMISES[1:])
    if others and not hasattr(option, "calibration_class_"):
        raise ValueError(
            "This model does not know the classes of its calibration rows, because an earlier "
            "version or a labeling session made it. It can promise max_error; for other promises, "
            "fit it again."
        )
    wrong = ~option.calibration_correct_
    everything = np.ones(len(wrong), dtype=bool)
    promises = []
    if option.max_error is not None:
        promises.append(Promise("error", option.max_error, wrong, everything))
    for name, code in (("max_false_positive_rate", 0), ("max_false_negative_rate", 1)):
        limit = getattr(option, name)
        if limit is not None:
            _check_two_classes(name, option)
            counted = option.calibration_class_ == code
            words = name.removeprefix("max_").replace("_", " ")
            promises.append(Promise(words, limit, wrong, counted))
    if option.max_cost is not None:
        costs = np.asarray(option.costs, dtype=float)
        largest = costs.max()
        if np.any(option.calibration_class_ == UNKNOWN):
            raise ValueError(
                "max_cost needs the costs of all classes, but some calibration rows are of a class "
                "that the classifier does not know. Leave these rows out."
            )
        paid = costs[option.calibration_class_, option.calibration_answer_]
        if option.max_cost < largest:  # otherwise it holds without a test
            limit = option.max_cost / largest
            promises.append(Promise(COST, limit, paid / largest, everything))
    return promises


def _check_two_classes(name: str, option) -> None:
    if len(option.classes_) != 2:
        raise ValueError(
            f"{name} is about two classes, the second of which is the positive one, but there are "
            f"{len(option.classes_)}. Use max_error with groups='prediction', or costs and "
            "max_cost."
        )


def _why_nothing(option, n_rows: int) -> str:
    """Return the warning if everything is refused."""
    if option.max_error is not None:
        return why_nothing_is_certified(n_rows, option.max_error, option.confidence_level)
    wanted = ", ".join(
        f"{name}={getattr(option, name)}" for name in PROMISES if getattr(option, name) is not None
    )
    return (
        f"No threshold can promise {wanted} with probability {option.confidence_level}, so "
        f"everything is rejected. {n_rows} calibration rows were given. Give more rows "
        "(calibration_size, cv), a larger limit or a smaller confidence_level."
    )


def summarize_groups(option) -> list[GroupSummary]:
    """Return what is promised for each group, and how often its held-out rows are refused."""
    codes, n_groups = group_codes(option.groups_, option.calibration_group_), len(option.groups_)
    accepted = accepted_of_calibration(option)
    counts = [
        np.bincount(codes[rows], minlength=n_groups)
        for rows in (codes >= 0, accepted, accepted & ~option.calibration_correct_)
    ]
    thresholds = option.group_thresholds_
    if thresholds is None:
        thresholds = np.full(n_groups, option.threshold_)
    refused = np.flatnonzero(thresholds == math.inf)
    reasons = dict(zip(refused.tolist(), _reasons(option, codes)[refused], strict=True))
    n_rows, n_accepted, n_wrong = (found.tolist() for found in counts)
    return [
        GroupSummary(
            group,
            n_rows[code],
            n_accepted[code],
            n_wrong[code],
            float(thresholds[code]),
            reasons.get(code, ""),
        )
        for code, group in enumerate(option.groups_.tolist())
    ]


def _reasons(option, codes: np.ndarray) -> np.ndarray:
    """Say for each group why all of its rows would be refused."""
    reasons = np.full(len(option.groups_), "too many wrong, or too few rows to tell", dtype=object)
    if not makes_promises(option):
        return reasons
    familiar, classes = was_familiar(option), option.classes_.tolist()
    for promise in _promises(option):
        if promise.name == COST:
            continue
        counted = np.bincount(codes[familiar & promise.counted], minlength=len(reasons))
        needed = fewest_rows(promise.limit, option.confidence_level)
        what = "held-out row"
        if not promise.counted.all():
            what += f" of class {classes[promise.name == FALSE_NEGATIVE]!r}"
        for code in np.flatnonzero(counted < needed):
            n = int(counted[code])
            reasons[code] = (
                f"{n} {what.replace('row', 'row' if n == 1 else 'rows')}; at least {needed} are "
                "needed even if none is wrong"
            )
    return reasons


def _tell_refused(option) -> None:
    """Warn about groups that are refused as a whole."""
    refused = [found for found in summarize_groups(option) if found.reason]
    if refused:
        names = ", ".join(
            f"{group_name(found.group)!r} ({found.reason})" for found in refused[:MAX_NAMES]
        )
        more = f", and {len(refused) - MAX_NAMES} more" if len(refused) > MAX_NAMES else ""
        warn(
            f"All rows of these groups are rejected, because nothing can be promised for them: "
            f"{names}{more}. Give more rows of them (calibration_size, cv), or a larger limit."
        )
