"""Training of permuted perceptrons, with Gram rows that are computed when needed."""

from __future__ import annotations

import math
import time
from typing import Any

import joblib
import numpy as np
from sklearn.exceptions import ConvergenceWarning

from .._runtime.interrupt import interrupts
from .._runtime.progress import Progress
from .._runtime.threads import count_remote_jobs, one_blas_thread, threads
from .._runtime.warn import warn
from ..geometry.equal_rows import merge_equal_rows
from ..geometry.points import in_double
from ..geometry.row_store import BYTES_PER_VALUE, LARGEST_VALUE, RowStore, block_size
from ..geometry.unit_kernel import AnyKernel, ProductKernel
from ..solvers import Posterior
from ..solvers.members import MEMBER_BYTES_PER_POINT, Members
from .probabilities import fitted_scale
from .task import Answer, Task
from .training_points import single_precision_pays, used_points

# Training points held out for calibration: this share, or a larger one that gives the minimum
# number of points, up to the maximum share.
HELD_OUT_SHARE = 1 / 20
MIN_HELD_OUT_POINTS = 500
MAX_HELD_OUT_SHARE = 1 / 5
# With so many copies of each point on average, new rows are mostly known ones: then probabilities
# come from leaving out one copy of a point, not from points that were held out.
MANY_COPIES = 5
# Reasons to stop, worst first: the worst reason of all processes is reported.
STOPS_WORST_FIRST = ("interrupted", "max_time", "max_mistakes", "consistent")
# Rounding may exceed Novikoff's bound by this factor.
NOVIKOFF_SLACK = 1.001


def fit_rows(task: Task, progress: Progress) -> Answer:
    """Return the mean perceptron of each output."""
    # Ctrl-C is noted at any time, and acted on when there is an answer to keep.
    with interrupts() as interrupted:
        return _fit(task, progress, interrupted)


def _fit(task: Task, progress: Progress, interrupted) -> Answer:
    began = time.perf_counter()
    rows, lengths, order = _points_in_order(task)
    kernel = _unit_kernel(task, rows, lengths)
    n_rows = _affordable_gram_rows(task, kernel)
    members = _members(task, rows, order, lengths)
    with progress.output(0) as on_round:
        hooks = {"on_round": on_round, "interrupted": interrupted}
        stop, n_computed, largest = _learn(task, kernel, n_rows, members, hooks)
    posteriors = [members.posterior(c) for c in range(len(task.signs))]
    _warn_unless_consistent(posteriors, members, stop, task.solver, largest)
    seconds = time.perf_counter() - began
    for posterior in posteriors:
        posterior.info.update(stop=stop, n_rows=n_computed, seconds=seconds)
    state = {**vars(members), "made_for": _fingerprint(task)} if task.keep_state else None
    answer = _answer(task, rows, lengths, members, posteriors)
    return answer._replace(single=isinstance(kernel, ProductKernel), state=state)


def _points_in_order(task: Task) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return increasing rows, their lengths, and their positions in an order of their content."""
    by_content, lengths = used_points(task)
    increasing = np.argsort(by_content)
    return by_content[increasing], lengths[increasing], np.argsort(increasing)


def _learn(task: Task, kernel, n_rows: int, members: Members, hooks: dict[str, Any]):
    """Let members learn; return why they stopped, the Gram rows computed, their largest value."""
    n_remote = count_remote_jobs(task.n_jobs) if task.elsewhere is None else task.elsewhere.n_jobs
    n_parts = min(n_remote, members.order.shape[1])
    if n_parts > 1 or (task.elsewhere is not None and n_parts):
        return _learn_elsewhere(task, kernel, n_rows, members, n_parts)
    with threads(task.n_jobs) as thread_map:
        store = RowStore(kernel, n_rows, thread_map)
        stop = task.solver.solve(
            store, members, thread_map=thread_map, deadline=task.deadline, **hooks
        )
        return stop, store.n_computed, store.largest


def _learn_elsewhere(task: Task, kernel, n_rows: int, members: Members, n_parts: int):
    """Let parts of the members learn in other processes, each with its own Gram rows."""
    numbers = np.array_split(np.arange(members.order.shape[1]), n_parts)
    seconds = task.deadline - time.perf_counter()
    parts = [members.some(part) for part in numbers]
    if task.elsewhere is not None:
        results = task.elsewhere.run(_learn_part, task.solver, kernel, n_rows, parts, seconds)
    else:
        results = joblib.Parallel(task.n_jobs)(
            joblib.delayed(_learn_part)(task.solver, kernel, n_rows, part, seconds)
            for part in parts
        )
    learned, stops, n_computed, largest = zip(*results, strict=True)
    for part, some in zip(numbers, learned, strict=True):
        members.put(part, some)
    worst = next(stop for stop in STOPS_WORST_FIRST if stop in stops)
    return worst, sum(n_computed), max(largest)


def _learn_part(solver, kernel, n_rows: int, members: Members, seconds: float):
    """Return trained members, and what `_learn` returns."""
    with one_blas_thread():
        store = RowStore(kernel, n_rows)
        stop = solver.solve(store, members, deadline=time.perf_counter() + seconds)
    return members, stop, store.n_computed, store.largest


def _points(task: Task, rows: np.ndarray):
    """Return some training points, without a copy if they are all."""
    if len(rows) == task.n_samples:
        return task.X
    return task.X[np.ix_(rows, rows)] if task.kernel.name == "precomputed" else task.X[rows]


def _unit_kernel(task: Task, rows: np.ndarray, lengths: np.ndarray) -> ProductKernel | AnyKernel:
    """Return the kernel of unit training points, in single precision where that is exact enough."""
    X = _points(task, rows)
    if single_precision_pays(task, X, len(rows)):
        return ProductKernel(task.kernel, X)
    return AnyKernel(task.kernel, X, lengths)


def _affordable_gram_rows(task: Task, kernel: ProductKernel | AnyKernel) -> int:
    """Return how many Gram rows fit into memory."""
    m = kernel.n_points
    members = MEMBER_BYTES_PER_POINT * m * len(task.signs) * task.solver.n_members
    fixed = members + kernel.n_bytes + task.copied
    needed = (fixed + BYTES_PER_VALUE * m * block_size(kernel)) / 2**20
    if needed > task.cache_size:
        raise ValueError(
            f"{task.solver.n_members} perceptrons for each of {len(task.signs)} outputs and {m} "
            f"training points need at least {math.ceil(needed)} MB, but cache_size is "
            f"{task.cache_size:g}. Raise cache_size, or lower n_members of the solver."
        )
    return int((task.cache_size * 2**20 - fixed) / (BYTES_PER_VALUE * m))


def _members(task: Task, rows: np.ndarray, order: np.ndarray, lengths: np.ndarray) -> Members:
    """Return new members, or the members of the previous fit."""
    previous = task.previous
    if previous is not None:
        state = {k: v for k, v in previous.items() if k != "made_for"}
        # Compiled loops rely on the signs, and a state may come from a file.
        same = np.array_equal(previous["signs"], task.signs[:, rows])
        same = same and state.keys() == Members.__dataclass_fields__.keys()  # of this version
        if previous["made_for"] == _fingerprint(task) and same:
            return Members(**state).with_more(task.solver.n_members)
        warn(
            "warm_start=True, but the training data or the parameters of the kernel differ from "
            "the last fit: starting from scratch.",
        )
    return _new_members(task, rows, order, lengths)


def _new_members(task: Task, rows: np.ndarray, order: np.ndarray, lengths: np.ndarray) -> Members:
    """Return members that have learned nothing; a part of each class is held out.

    Everything random goes by the order of content, so that the order of rows does not matter.
    """
    m, seed = len(rows), int(task.rng.integers(2**32))
    share = task.solver.held_out
    if share == "auto":
        share = min(max(HELD_OUT_SHARE, MIN_HELD_OUT_POINTS / m), MAX_HELD_OUT_SHARE)
    place, stands_for_place = _places(task, rows, order)
    target = np.where(stands_for_place, task.target[rows][order], -1)
    shuffled = np.random.default_rng(seed).permutation(m)
    by_class = [shuffled[target[shuffled] == c] for c in range(task.target.max() + 1)]
    held_out = np.concatenate([points[: int(share * len(points))] for points in by_class])
    is_held_out = np.isin(place, place[held_out])
    others, held_out = order[~is_held_out], order[is_held_out]
    signs, n_members = task.signs[:, rows], task.solver.n_members
    softness = _softness(task, rows)
    # A common factor of all lengths does not matter.
    step = 1.0 if task.solver.unit_length else lengths / lengths.mean()
    # Softness makes points longer. A mistake on a light point, which is mostly noise, must not
    # move a hypothesis as far as one on a heavy point.
    step = step * np.sqrt((1 + task.softness) / (1 + softness))
    given = signs, held_out, seed, softness, n_members
    return Members.at_start(*given, others=others, step=step)


def _places(task: Task, rows: np.ndarray, order: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return a number for the features of each point, and whether its label is their heaviest.

    Points are in the order of content. Those that differ in nothing but their labels are held out
    together: perceptrons that know only the other label would be wrong about the held-out one.
    """
    m = len(rows)
    if task.sets is None:
        return np.arange(m), np.ones(m, dtype=bool)
    alike = merge_equal_rows(_points(task, rows), np.zeros(m, dtype=np.int64), np.ones(m))
    place = alike.member_of[order]
    weight = np.ones(m) if task.weight is None else task.weight[rows][order]
    heaviest_first = np.lexsort((-weight, place))
    first = np.unique(place[heaviest_first], return_index=True)[1]
    return place, np.isin(np.arange(m), heaviest_first[first])


def _softness(task: Task, rows: np.ndarray) -> np.ndarray:
    """Return the softness of each point, which a larger weight makes smaller.

    An error of size e costs e^2 / softness, and on w equal points w times as much.
    """
    weight = 1.0 if task.weight is None else task.weight[rows]
    return np.full(len(rows), task.softness) / weight


def _fingerprint(task: Task) -> str:
    """Return a hash that is equal for two tasks with the same version spaces."""
    kernel, few = task.kernel._replace(name=""), in_double(task.X[:5])
    # A callable kernel is identified by its values on a few points.
    name = task.kernel(few, few) if callable(task.kernel.name) else task.kernel.name
    parts = [task.X, task.signs, tuple(kernel), name, task.softness]
    if task.weight is not None:
        parts.append(task.weight)
    if not (task.solver.unit_length and task.solver.held_out == "auto"):
        parts.append((task.solver.unit_length, task.solver.held_out))
    return joblib.hash(parts)


def _answer(task: Task, rows, lengths, members: Members, posteriors) -> Answer:
    """Express hypotheses by coefficients on the training points."""
    to_points = members.signs / (lengths * np.sqrt(1 + members.softness))
    n_draws = min(len(p.draws) for p in posteriors)
    draws = np.array([p.draws[:n_draws] for p in posteriors]) * to_points[:, None]
    tested, decisions = members.held_out, np.array([p.info.pop("trial") for p in posteriors])
    copies = np.ones(len(rows)) if task.weight is None else task.weight[rows]
    known_rows = copies.mean() >= MANY_COPIES
    if known_rows or not decisions.size or not np.isfinite(decisions).all():
        tested, decisions = np.arange(len(rows)), members.left_out(copies)
    weight = None if task.weight is None else copies[tested]
    scale, df = fitted_scale(decisions.T, task.target[rows][tested], weight)
    infos = [p.info for p in posteriors]
    return Answer(
        rows=rows,
        coef=np.array([p.coef for p in posteriors]) * to_points,
        draws=draws,
        chains=draws,
        resultant=np.array([info.pop("resultant") for info in infos]),
        softness=task.softness,
        label_noise=0.0,
        probit_scale=scale,
        probit_df=df,
        infos=infos,
    )


def _warn_unless_consistent(
    posteriors: list[Posterior], members: Members, stop: str, solver, largest: float
) -> None:
    """Warn about members that are not consistent, and about an indefinite kernel."""
    sign = None
    if any(p.info["n_mistakes"].max() > NOVIKOFF_SLACK * p.info["novikoff"] for p in posteriors):
        sign = "A perceptron made more mistakes than Novikoff's theorem allows"
    elif largest > LARGEST_VALUE:
        sign = f"Two points of unit length have the kernel value {largest:.3g}, which is above one"
    if sign is not None:
        warn(
            f"{sign}: the kernel is not positive semi-definite, and the answer is not a mean over "
            "a version space. Choose another kernel, other kernel parameters or a larger softness.",
        )
    n, n_consistent = members.consistent().size, int(members.consistent().sum())
    if stop == "consistent":
        return
    if stop == "max_mistakes":
        message = (
            f"{n - n_consistent} of {n} perceptrons found no hypothesis that classifies all "
            f"training points correctly within {solver.max_mistakes} mistakes, so none has a "
            f"margin above {solver.max_mistakes**-0.5:.2g}. The best they found is used. Raise "
            "softness, or max_mistakes of the solver, or give the kernel more freedom."
        )
    else:
        used = "these are averaged" if n_consistent else "all are averaged as they are"
        advice = {
            "max_time": "Raise max_time",
            "interrupted": "Press Ctrl-C twice to stop without an answer",
        }.get(stop, "Fit again")
        message = (
            f"The perceptrons stopped early ({stop}): {n_consistent} of {n} classify all training "
            f"points correctly; {used}. {advice}, or continue with warm_start=True."
        )
    warn(message, ConvergenceWarning)
