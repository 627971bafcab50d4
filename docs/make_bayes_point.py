"""Draw what a Bayes point is: `python docs/make_bayes_point.py docs/pictures/bayes_point.png`.

Twelve points, labeled by a random line. Of 1,500 such toys this is one of the twenty where the
largest margin is farthest from the Bayes point; mean errors of many are in `bayespoint papers
run figure_6`.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from sklearn.svm import SVC

from bayespoint import BayesPointClassifier
from bayespoint.displays import use_style
from bayespoint.evaluation.displays.colors import BLACK, COLORS, GRAY, INK
from bayespoint.evaluation.displays.sphere import LambertProjection, arcs, corners, great_circle
from bayespoint.solvers import Billiard

SEED, N_POINTS = 693, 12
N_DRAWS, N_LINES = 300_000, 45
REACH = 1.15  # half the width of the plane that is drawn
LARGE_C = 1e6  # a hard margin
BLUE, ORANGE, BAYES = COLORS[0], COLORS[1], COLORS[3]


def make_toy(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return points in a square, and their classes."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (N_POINTS, 2))
    # A small offset, so that the line crosses the square.
    rule = rng.standard_normal(3) * [1, 1, 0.4]
    return X, np.where(with_constant(X) @ rule > 0, 1, -1)


def with_constant(X: np.ndarray) -> np.ndarray:
    """Return points with a third coordinate, which is multiplied by the bias."""
    return np.column_stack([X, np.ones(len(X))])


def draw_hypotheses(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return random lines that classify all points correctly, each equally probable."""
    lines = np.random.default_rng(SEED).standard_normal((N_DRAWS, 3))
    lines /= np.linalg.norm(lines, axis=1, keepdims=True)
    return lines[np.all(y[:, None] * (with_constant(X) @ lines.T) > 0, axis=0)]


def largest_margin(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the line of scikit-learn's SVC as a unit vector."""
    svc = SVC(kernel="linear", C=LARGE_C).fit(X, y)
    line = np.append(svc.coef_[0], svc.intercept_)
    return line / np.linalg.norm(line)


def bayes_point(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the line of a Bayes point machine as a unit vector."""
    model = BayesPointClassifier(
        "linear", fit_intercept=False, softness=0, solver=Billiard(tol=0.003), random_state=0
    ).fit(with_constant(X), y)
    line = model.decision_function(np.eye(3))
    return line / np.linalg.norm(line)


def draw_plane(ax, X, y, draws, svm, bayes) -> None:
    """Draw the training points, lines that separate them, and how many say what."""
    from matplotlib.colors import LinearSegmentedColormap

    side = np.linspace(-REACH, REACH, 241)
    grid = np.column_stack([part.ravel() for part in np.meshgrid(side, side)])
    votes = np.mean(with_constant(grid) @ draws.T > 0, axis=1).reshape(len(side), -1)
    shades = LinearSegmentedColormap.from_list("votes", [BLUE, "#FFFFFF", ORANGE])
    extent = (-REACH, REACH, -REACH, REACH)
    ax.imshow(votes, cmap=shades, extent=extent, origin="lower", alpha=0.55, vmin=0, vmax=1)
    for line in draws[:N_LINES]:
        draw_line(ax, line, color=GRAY, lw=0.6, alpha=0.6)
    draw_line(ax, svm, color=BLACK, lw=2.4, ls=(0, (4, 2)))
    draw_line(ax, bayes, color=BAYES, lw=3)
    for label, marker, color in ((-1, "o", BLUE), (1, "s", ORANGE)):
        ax.plot(*X[y == label].T, marker, color=color, mec=INK, mew=1, ms=9, zorder=5)
    ax.set(xlim=(-REACH, REACH), ylim=(-REACH, REACH), aspect="equal", xticks=[], yticks=[])


def draw_line(ax, line: np.ndarray, **look) -> None:
    """Draw where the output of a line is zero."""
    point = -line[2] * line[:2] / (line[:2] @ line[:2])
    ax.axline(point, (point[0] - line[1], point[1] + line[0]), **look)


def draw_version_space(ax, X, y, draws, svm, bayes) -> None:
    """Draw the lines as points of version space, which the training points cut out."""
    points = with_constant(X)
    walls = y[:, None] * points / np.linalg.norm(points, axis=1, keepdims=True)
    space = corners(walls, bayes)
    flat = LambertProjection(bayes, space)
    outline = flat(arcs(np.vstack([space, space[:1]])))
    ax.fill(*outline.T, fc=COLORS[5], alpha=0.25)
    ax.plot(*outline.T, color=INK, lw=1.6)
    for wall in walls:
        circle = great_circle(wall)
        circle[circle @ bayes < 0] = np.nan
        ax.plot(*flat(circle).T, color=GRAY, lw=0.6, alpha=0.4)
    ax.plot(*flat(draws[:N_LINES]).T, "o", color=GRAY, ms=3, alpha=0.8)
    for point, marker, color, text, shift in (
        (svm, "X", BLACK, "largest margin (SVM)", (-30, -58)),
        (bayes, "D", BAYES, "mean of all: Bayes point", (-16, 48)),
    ):
        place = flat(point[None])[0]
        ax.plot(*place, marker, color=color, mec="white", ms=12, zorder=5)
        ax.annotate(
            text, place, shift, textcoords="offset points", ha="center", va="center", color=color,
            weight="bold", arrowprops={"arrowstyle": "-", "color": color, "shrinkB": 7},
        )  # fmt: skip
    low, high = outline.min(axis=0), outline.max(axis=0)
    middle, half = (low + high) / 2, 0.53 * (high - low).max()
    ax.set(xlim=(middle[0] - half, middle[0] + half), ylim=(middle[1] - half, middle[1] + half))
    ax.set(aspect="equal", xticks=[], yticks=[])
    ax.spines[:].set_visible(False)


def main() -> None:
    """Draw both panels."""
    from matplotlib.figure import Figure

    X, y = make_toy(SEED)
    draws, svm, bayes = draw_hypotheses(X, y), largest_margin(X, y), bayes_point(X, y)
    with use_style():
        figure = Figure(figsize=(8, 4.2), layout="constrained")
        figure.get_layout_engine().set(rect=(0.005, 0, 0.99, 0.98), w_pad=0.1)
        left, right = figure.subplots(1, 2)
        draw_plane(left, X, y, draws, svm, bayes)
        draw_version_space(right, X, y, draws, svm, bayes)
        left.set_title("Lines that get every point right")
        right.set_title("The same lines as points")
        figure.savefig(Path(sys.argv[1]))


if __name__ == "__main__":
    main()
