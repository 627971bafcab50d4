"""Other centers of version space beside the Bayes point: angle to it, error, and time.

The center of the largest ball is the support vector machine. The light trap (002, sec. 18.5.2)
only enters version space. The largest ellipsoid in version space (002, sec. 18.5.1) is that of the
cone of all consistent vectors up to length one, whose center of mass has the direction of the
Bayes point. It is a convex program, here for few dimensions:

    python benchmarks/centers.py

A teacher labels random points; the error of a hypothesis is its angle to the teacher over pi.
"""

# ruff: noqa: T201

from __future__ import annotations

import argparse
import time

import numpy as np
from scipy.optimize import minimize

from bayespoint.geometry.entry import trap_light
from bayespoint.geometry.gram import unit_gram
from bayespoint.geometry.version_space import VersionSpace
from bayespoint.solvers import EP, Billiard, LargestBall


def largest_ellipsoid(walls: np.ndarray, start: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return center d and axes L of the largest ellipsoid {d + L u} in the cone and unit ball.

    Maximize log det L so that |L' z| <= <z, d> for all walls z. The ellipsoid is in the unit ball
    if some b above all squared axes has |d|^2 + b + d' L (b - L' L)^-1 L' d <= 1.
    """
    r = walls.shape[1]
    low = np.tril_indices(r)

    def unpack(x):
        triangle = np.zeros((r, r))
        triangle[low] = x[: len(low[0])]
        return triangle, x[len(low[0]) : -1], x[-1]

    def inside(x):
        triangle, center, b = unpack(x)
        square = triangle.T @ triangle
        gap = b - np.linalg.eigvalsh(square)[-1]
        q = triangle.T @ center
        rest = q @ np.linalg.solve((b + 1e-12) * np.eye(r) - square, q) if gap > 0 else 1e3
        in_ball = 1 - center @ center - b - rest
        in_cone = walls @ center - np.linalg.norm(walls @ triangle, axis=1)
        return np.concatenate([in_cone, [in_ball, gap - 1e-9]])

    margin, diagonal = (walls @ start).min(), np.flatnonzero(low[0] == low[1])
    best = None
    for share in (0.25, 0.1, 0.5, 0.75, 0.03):  # SLSQP gives up on some starts
        first = share * margin * np.eye(r)
        found = minimize(
            lambda x: -np.sum(np.log(np.maximum(x[diagonal], 1e-12))),
            np.concatenate([first[low], start / 2, [margin**2]]),
            method="SLSQP",
            constraints={"type": "ineq", "fun": inside},
            options={"maxiter": 500, "ftol": 1e-8},
        )
        if inside(found.x).min() > -1e-6:
            best = found.x
            break
    if best is None:
        raise RuntimeError("SLSQP found no ellipsoid that is inside.")
    triangle, center, _ = unpack(best)
    return center, triangle


def teacher_problem(m: int, r: int, rng) -> tuple[VersionSpace, np.ndarray]:
    """Return a version space of linear hypotheses, and the teacher in its coordinates."""
    X, teacher = rng.standard_normal((m, r)), rng.standard_normal(r)
    gram = unit_gram(X @ X.T, 0.0)
    signs = np.sign(X @ teacher)
    inner = gram.factor * gram.lengths[:, None]
    w = np.linalg.lstsq(inner, X @ teacher, rcond=None)[0]
    return VersionSpace(gram, signs), w / np.linalg.norm(w)


def centers(space: VersionSpace, rng) -> dict[str, tuple[np.ndarray, float]]:
    """Return each center as a unit vector, with the seconds that it took."""
    ball = space.combine(LargestBall().solve(space, rng).coef)
    ways = {
        "largest ball": lambda: space.combine(LargestBall().solve(space, rng).coef),
        "light trap": lambda: trap_light(space, rng),
        "largest ellipsoid": lambda: largest_ellipsoid(space.walls, ball)[0],
        "ep": lambda: space.combine(EP().solve(space, rng).coef),
        "billiard": lambda: space.combine(Billiard(tol=0.01).solve(space, rng).coef),
    }
    found = {}
    for name, way in ways.items():
        began = time.process_time()
        try:
            w = way()
        except RuntimeError:
            continue  # the table says how many problems were solved
        found[name] = w / np.linalg.norm(w), time.process_time() - began
    return found


def angle(a: np.ndarray, b: np.ndarray) -> float:
    """Return the angle between unit vectors."""
    return float(2 * np.arctan2(np.linalg.norm(a - b), np.linalg.norm(a + b)))


def main() -> None:
    """Print the mean over problems of each size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--problems", type=int, default=20, help="problems of each size")
    parser.add_argument(
        "--sizes", nargs="+", default=["12,3", "20,5", "40,8"], help="points,dimensions"
    )
    given = parser.parse_args()
    n = given.problems
    print(
        "| points, dimensions | center | angle to the Bayes point | error, % | seconds | solved |"
    )
    print("|---|---|---|---|---|---|")
    for size in given.sizes:
        m, r = map(int, size.split(","))
        rows: dict[str, list] = {}
        for seed in range(n):
            rng = np.random.default_rng(seed)
            space, teacher = teacher_problem(m, r, rng)
            found = centers(space, rng)
            for name, (w, seconds) in found.items():
                away = angle(w, found["billiard"][0])
                rows.setdefault(name, []).append((away, 100 * angle(w, teacher) / np.pi, seconds))
        for name, values in rows.items():
            away, error, seconds = np.mean(values, axis=0)
            bar = np.std([v[1] for v in values], ddof=1) / np.sqrt(len(values))
            cells = f"{away:.3f} | {error:.1f} ± {bar:.1f} | {seconds:.3f} | {len(values)}"
            print(f"| {m}, {r} | {name} | {cells} |")


if __name__ == "__main__":
    main()
