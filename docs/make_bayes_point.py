"""Draw what a Bayes point is: `python docs/make_bayes_point.py docs/pictures/bayes_point.png`.

Its twin for dark pages, bayes_point_dark.png, is written beside it.

Twelve points, labeled by a random line. Of 1,500 such toys this is one of the twenty where the
largest margin is farthest from the Bayes point; mean errors of many are in `bayespoint papers
run figure_6`.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.svm import SVC

from bayespoint import BayesPointClassifier
from bayespoint.displays import use_style
from bayespoint.evaluation.displays.colors import BLACK, COLORS, GRAY, INK, PAPER
from bayespoint.evaluation.displays.sphere import LambertProjection, arcs, corners, great_circle
from bayespoint.solvers import Billiard

SEED, N_POINTS = 693, 12
N_DRAWS, N_LINES = 300_000, 45
REACH = 1.15  # half the width of the plane that is drawn
LARGE_C = 1e6  # a hard margin
BLUE, ORANGE = COLORS[0], COLORS[1]


class Look(NamedTuple):
    """Colors on light or dark pages."""

    paper: str
    ink: str
    line: str
    svm: str
    bayes: str
    region: str
    strength: float  # of the colors of the plane


LIGHT = Look(PAPER, INK, GRAY, BLACK, COLORS[3], "#D3EAF8", 0.55)
DARK = Look("#14181E", "#E6E9EC", "#9AA4AF", "#FFFFFF", "#FF8A3D", "#17394D", 0.7)


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


def draw_plane(ax, look, X, y, draws, svm, bayes) -> None:
    """Draw the training points, lines that separate them, and how many say what."""
    from matplotlib.colors import LinearSegmentedColormap

    side = np.linspace(-REACH, REACH, 241)
    grid = np.column_stack([part.ravel() for part in np.meshgrid(side, side)])
    votes = np.mean(with_constant(grid) @ draws.T > 0, axis=1).reshape(len(side), -1)
    shades = LinearSegmentedColormap.from_list("votes", [BLUE, look.paper, ORANGE])
    extent = (-REACH, REACH, -REACH, REACH)
    ax.imshow(
        votes, cmap=shades, extent=extent, origin="lower", alpha=look.strength, vmin=0, vmax=1
    )
    for line in draws[:N_LINES]:
        draw_line(ax, line, color=look.line, lw=0.6, alpha=0.6)
    draw_line(ax, svm, color=look.svm, lw=2.4, ls=(0, (4, 2)))
    draw_line(ax, bayes, color=look.bayes, lw=3)
    for label, marker, color in ((-1, "o", BLUE), (1, "s", ORANGE)):
        ax.plot(*X[y == label].T, marker, color=color, mec=look.ink, mew=1, ms=9, zorder=5)
    ax.set(xlim=(-REACH, REACH), ylim=(-REACH, REACH), aspect="equal", xticks=[], yticks=[])


def draw_line(ax, line: np.ndarray, **look) -> None:
    """Draw where the output of a line is zero."""
    point = -line[2] * line[:2] / (line[:2] @ line[:2])
    ax.axline(point, (point[0] - line[1], point[1] + line[0]), **look)


def draw_version_space(ax, look, X, y, draws, svm, bayes) -> None:
    """Draw the lines as points of version space, which the training points cut out."""
    points = with_constant(X)
    walls = y[:, None] * points / np.linalg.norm(points, axis=1, keepdims=True)
    space = corners(walls, bayes)
    flat = LambertProjection(bayes, space)
    outline = flat(arcs(np.vstack([space, space[:1]])))
    ax.fill(*outline.T, fc=look.region)
    ax.plot(*outline.T, color=look.ink, lw=1.6)
    for wall in walls:
        circle = great_circle(wall)
        circle[circle @ bayes < 0] = np.nan
        ax.plot(*flat(circle).T, color=look.line, lw=0.6, alpha=0.4)
    ax.plot(*flat(draws[:N_LINES]).T, "o", color=look.line, ms=3, alpha=0.8)
    for point, marker, color, text, shift in (
        (svm, "X", look.svm, "largest margin (SVM)", (-30, -58)),
        (bayes, "D", look.bayes, "mean of all: Bayes point", (-16, 48)),
    ):
        place = flat(point[None])[0]
        ax.plot(*place, marker, color=color, mec=look.paper, ms=12, zorder=5)
        ax.annotate(
            text, place, shift, textcoords="offset points", ha="center", va="center", color=color,
            weight="bold", arrowprops={"arrowstyle": "-", "color": color, "shrinkB": 7},
        )  # fmt: skip
    low, high = outline.min(axis=0), outline.max(axis=0)
    middle, half = (low + high) / 2, 0.53 * (high - low).max()
    ax.set(xlim=(middle[0] - half, middle[0] + half), ylim=(middle[1] - half, middle[1] + half))
    ax.set(aspect="equal", xticks=[], yticks=[])
    ax.spines[:].set_visible(False)


def main(path: Path) -> None:
    """Draw both panels, for light and for dark pages."""
    X, y = make_toy(SEED)
    toy = X, y, draw_hypotheses(X, y), largest_margin(X, y), bayes_point(X, y)
    draw(toy, LIGHT).savefig(path)
    draw(toy, DARK).savefig(path.with_stem(f"{path.stem}_dark"))


def draw(toy, look: Look):
    """Return a figure with both panels. It is small, so that letters are large on a telephone."""
    from matplotlib.figure import Figure

    with use_style():
        figure = Figure(figsize=(6.8, 3.6), dpi=200, layout="constrained", facecolor=look.paper)
        figure.get_layout_engine().set(rect=(0.005, 0, 0.99, 0.98), w_pad=0.08)
        left, right = figure.subplots(1, 2)
        draw_plane(left, look, *toy)
        draw_version_space(right, look, *toy)
        for ax, title in (
            (left, "Lines that get every point right"),
            (right, "The same lines as points"),
        ):
            ax.set_title(title, color=look.ink)
            ax.set_facecolor(look.paper)
    return figure


if __name__ == "__main__":
    main(Path(sys.argv[1]))
