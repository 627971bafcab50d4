"""Draw the pictures of the theory page and of the choice of a machine, for light and dark pages.

python docs/make_theory.py docs/pictures
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple

import matplotlib
import numpy as np
from make_bayes_point import SEED, make_toy, with_constant
from scipy import stats

from bayespoint import BayesPointClassifier, VersionSpaceDisplay
from bayespoint.displays import use_style
from bayespoint.evaluation.displays.sphere import LambertProjection, arcs, great_circle, unit

matplotlib.use("Agg")
import matplotlib.pyplot as plt

N_BOUNCES, N_PERCEPTRONS, N_DRAWS = 1000, 60, 150


class Look(NamedTuple):
    """Colors on light or dark pages."""

    ink: str
    rule: str
    region: str
    bayes: str
    path: str
    ball: str


LIGHT = Look("#1F2328", "#AEB6BF", "#D3EAF8", "#D55E00", "#0072B2", "#009E73")
DARK = Look("#E6E9EC", "#59636E", "#17394D", "#FF8A3D", "#7CC4F0", "#3FCFA4")


class Toy:
    """Twelve labeled points: the walls of a version space on the sphere, and what is inside."""

    def __init__(self):
        X, y = make_toy(SEED)
        self.X, self.y = with_constant(X), y
        figure, ax = plt.subplots()
        found = VersionSpaceDisplay.from_estimator(
            self.fit("billiard"), self.X, y, n_bounces=N_BOUNCES, random_state=1, ax=ax
        )
        plt.close(figure)
        self.walls, self.path = found.walls, found.path
        self.bayes_point, self.ball = found.bayes_point, found.svm_center
        self.flat = LambertProjection(found.bayes_point, found.corners_)
        self.outline = self.flat(arcs(np.vstack([found.corners_, found.corners_[:1]])))

    def fit(self, solver):
        """Return a hard machine with this solver."""
        return BayesPointClassifier(
            "linear", fit_intercept=False, softness=0, solver=solver, random_state=0
        ).fit(self.X, self.y)

    def hypotheses(self, outputs):
        """Return unit vectors on the sphere with these outputs at the training points."""
        found = np.linalg.lstsq(self.y[:, None] * self.walls, outputs.T)[0].T
        return found / np.linalg.norm(found, axis=1, keepdims=True)

    def draw(self, ax, look, border=0.12):
        """Draw version space and its walls."""
        ax.fill(*self.outline.T, fc=look.region)
        for wall in self.walls:
            circle = great_circle(wall)
            circle[circle @ self.bayes_point < 0] = np.nan
            ax.plot(*self.flat(circle).T, color=look.rule, lw=0.8)
        ax.plot(*self.outline.T, color=look.ink, lw=1.8)
        low, high = self.outline.min(axis=0), self.outline.max(axis=0)
        room = border * (high - low).max()
        ax.set(xlim=(low[0] - room, high[0] + room), ylim=(low[1] - room, high[1] + room))
        ax.set(aspect="equal", xticks=[], yticks=[])
        ax.axis("off")

    def mark(self, ax, point, marker, color, **kwargs):
        """Mark a hypothesis."""
        ax.plot(*self.flat(unit(point)[None]).T, marker, ms=10, color=color, zorder=5, **kwargs)


def draw_circle(ax, look, walls, title):
    """Draw the unit vectors of the plane, and which of them satisfy all walls."""
    turn = np.linspace(0, 2 * np.pi, 721)
    circle = np.column_stack([np.cos(turn), np.sin(turn)])
    inside = np.all(circle @ walls.T > 0, axis=1)
    ax.plot(*circle.T, color=look.rule, lw=1.5)
    # The circle is rolled, so that the part inside is drawn in one piece.
    start = np.flatnonzero(inside & ~np.roll(inside, 1))[0]
    part = np.roll(circle, -start, axis=0)[: inside.sum()]
    ax.plot(*part.T, color=look.path, lw=5)
    ax.fill(*np.vstack([[0, 0], part]).T, fc=look.region)
    for wall in walls:
        across = 1.25 * np.array([-wall[1], wall[0]])
        ax.plot(*np.column_stack([across, -across]), color=look.ink, lw=1.3)
        arrow = {"arrowstyle": "-|>", "color": look.ink, "lw": 1.3}
        ax.annotate("", 0.45 * wall, (0, 0), arrowprops=arrow)
    if len(walls) > 1:
        mean = unit(part.mean(axis=0))
        arrow = {"arrowstyle": "-|>", "color": look.bayes, "lw": 3, "mutation_scale": 18}
        ax.annotate("", mean, (0, 0), arrowprops=arrow)
    ax.set(aspect="equal", xlim=(-1.3, 1.3), ylim=(-1.3, 1.3), title=title)
    ax.axis("off")


def draw_version_space(toy, look):
    """From one wall to a version space."""
    figure, axes = plt.subplots(1, 3, figsize=(9, 3.2), width_ratios=[1, 1, 1.6])
    angles = np.array([0.35, 1.5, -0.9])
    walls = np.column_stack([np.cos(angles), np.sin(angles)])
    draw_circle(axes[0], look, walls[:1], "One training point")
    draw_circle(axes[1], look, walls, "Three")
    toy.draw(axes[2], look)
    toy.mark(axes[2], toy.bayes_point, "D", look.bayes, label="Bayes point")
    radius = np.arcsin((toy.walls @ toy.ball).min())
    turn = np.linspace(0, 2 * np.pi, 200)
    first = unit(np.cross(toy.ball, toy.walls[0]))
    rim = np.cos(turn)[:, None] * first + np.sin(turn)[:, None] * np.cross(toy.ball, first)
    ball = toy.flat(np.cos(radius) * toy.ball + np.sin(radius) * rim)
    axes[2].plot(*ball.T, color=look.ball, lw=2.2)
    toy.mark(axes[2], toy.ball, "X", look.ball, label="largest margin: center of the largest ball")
    axes[2].set_title("Twelve, with three weights")
    axes[2].legend(loc="upper center", bbox_to_anchor=(0.5, 0.0))
    return figure


def mean_of_path(path):
    """Return the mean over the arcs between stations on the unit sphere."""
    half = np.arccos(np.clip(np.sum(path[1:] * path[:-1], axis=1), -1, 1)) / 2
    return np.sum((path[1:] + path[:-1]) * np.tan(half)[:, None], axis=0)


def draw_billiard(toy, look):
    """The path of a ball, and the mean of where it has been."""
    figure, axes = plt.subplots(1, 3, figsize=(9, 1.75))
    for ax, n_bounces in zip(axes, (8, 60, N_BOUNCES), strict=True):
        path = toy.path[: n_bounces + 1]
        toy.draw(ax, look, border=0.04)
        shown = toy.path[: min(n_bounces, 300) + 1]
        ax.plot(*toy.flat(arcs(shown)).T, color=look.path, lw=0.8, alpha=0.8)
        toy.mark(ax, mean_of_path(path), "o", look.path, mec=look.ink)
        toy.mark(ax, toy.bayes_point, "D", look.bayes, mec=look.ink)
        ax.set_title(f"{n_bounces:,} bounces")
    return figure


def draw_ep(toy, look):
    """A wall that is replaced by a Gaussian, and all of them."""
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.2), width_ratios=[1, 1.3])
    t = np.linspace(-4, 5, 500)
    before = stats.norm(0.3, 1.4)
    density = np.where(t > 0, before.pdf(t), 0) / before.sf(0)
    mean, deviation = (stats.truncnorm(-0.3 / 1.4, np.inf, 0.3, 1.4).stats()[i] for i in (0, 1))
    after = stats.norm(mean, np.sqrt(deviation))
    axes[0].fill_between(t, density, color=look.region)
    axes[0].plot(t, before.pdf(t), color=look.ink, ls="--", lw=1.6, label="before")
    axes[0].plot(t, density, color=look.path, lw=1.6, label="cut by the wall")
    axes[0].plot(t, after.pdf(t), color=look.bayes, label="same mean and spread")
    axes[0].axvline(0, color=look.ink, lw=1.2)
    axes[0].set(title="One wall", xlabel="output at one training point", yticks=[])
    axes[0].set(ylim=(0, 0.68))
    axes[0].grid(visible=False)
    axes[0].legend(loc="upper right", bbox_to_anchor=(1.04, 1.04), fontsize=9)
    model = toy.fit("ep")
    toy.draw(axes[1], look)
    draws = toy.hypotheses(model.sample_decision(toy.X, N_DRAWS))
    axes[1].plot(*toy.flat(draws).T, "o", ms=3, color=look.path, label="draws from the Gaussian")
    mean = toy.hypotheses(model.decision_function(toy.X)[None])[0]
    toy.mark(axes[1], toy.bayes_point, "D", look.bayes, label="Bayes point")
    toy.mark(axes[1], mean, "+", look.ink, mew=2.5, label="mean of the Gaussian")
    axes[1].set_title("All walls")
    axes[1].legend(loc="upper center", bbox_to_anchor=(0.5, 0.02), ncols=3, fontsize=9)
    return figure


def learn(walls, rng):
    """Return the hypotheses of a perceptron on its way into version space."""
    w = walls[rng.integers(len(walls))].copy()
    way = [w.copy()]
    while (walls @ w).min() <= 0:
        for wall in walls[rng.permutation(len(walls))]:
            if wall @ w <= 0:
                w += wall
                way.append(w.copy())
    return np.array([unit(v) for v in way])


def draw_perceptrons(toy, look):
    """Perceptrons that learn in different orders."""
    rng = np.random.default_rng(1)
    ways = [learn(toy.walls, rng) for _ in range(N_PERCEPTRONS)]
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.0))
    for way, color in zip(ways, (look.path, look.ball, look.bayes), strict=False):
        late = toy.flat(way[-10:])
        axes[0].plot(*late.T, "-o", color=color, lw=1.2, ms=3)
        axes[0].plot(*late[-1], "o", ms=9, color=color, mec=look.ink)
    ends = np.array([way[-1] for way in ways])
    axes[1].plot(*toy.flat(ends).T, "o", ms=5, color=look.path, label="perceptrons")
    for ax, title in zip(axes, ("Three perceptrons, their last steps", "Sixty"), strict=True):
        toy.draw(ax, look, border=0.25)
        ax.set_title(title)
    toy.mark(axes[1], ends.mean(axis=0), "o", look.ink, label="their mean")
    toy.mark(axes[1], toy.bayes_point, "D", look.bayes, label="Bayes point")
    axes[1].legend(loc="upper center", bbox_to_anchor=(0.5, 0.02), ncols=3, fontsize=10)
    return figure


CHOICES = [  # depth, question, answer
    (0, "How many rows?", None),
    (1, "up to 100,000", "BayesPointClassifier()"),
    (2, "an exact answer with an error bar", 'solver="billiard"'),
    (2, "labels wrong anywhere", 'label_noise="auto"'),
    (1, "more, or word counts, or a stream", "LinearBayesPointClassifier()"),
    (2, "a boundary with detail, clean labels", 'BayesPointClassifier(solver="perceptron")'),
    (2, "a boundary with detail, noisy labels", 'BayesPointClassifier(solver="nystroem")'),
    (
        0,
        "A promise about the error of any of them?",
        "RejectOptionClassifier(model, max_error=0.05)",
    ),
]
# Sizes in points. The picture is narrow, so that a telephone shows all of it.
CHOICE_WIDTH, MARGIN, INDENT, QUESTION, ANSWER, GAP = 340, 8, 24, 15, 21, 12


def draw_choice(_, look):
    """From the data to the machine: an outline of questions, each with its answer below."""
    heights = [QUESTION + ANSWER * bool(answer) for _, _, answer in CHOICES]
    height = sum(heights) + GAP * (len(CHOICES) - 1) + 2 * MARGIN
    figure = plt.figure(figsize=(CHOICE_WIDTH / 72, height / 72), layout="none")
    ax = figure.add_axes((0, 0, 1, 1), xlim=(0, CHOICE_WIDTH), ylim=(height, 0))
    ax.axis("off")
    top, trunks = MARGIN, {}  # where the line to the choices of each depth begins
    for (depth, words, answer), used in zip(CHOICES, heights, strict=True):
        left, middle = MARGIN + INDENT * depth, top + QUESTION / 2
        if depth:
            trunk = left - INDENT + 6
            ax.plot([trunk, trunk, left - 4], [trunks[depth], middle, middle], c=look.rule, lw=1.6)
        weight = "normal" if depth else "bold"
        ax.text(left, middle, words, va="center_baseline", size=11, weight=weight)
        if answer:
            box = {"boxstyle": "round,pad=0.35", "ec": look.path, "fc": look.region, "lw": 1.4}
            place = left + 4, top + used - ANSWER / 2
            ax.text(*place, answer, va="center", family="monospace", size=9.5, bbox=box)
        top += used
        trunks[depth + 1] = top + 2
        top += GAP
    return figure


PICTURES = {
    "theory_version_space": draw_version_space,
    "theory_billiard": draw_billiard,
    "theory_ep": draw_ep,
    "theory_perceptrons": draw_perceptrons,
    "which_machine": draw_choice,
}


def main(folder):
    """Draw all pictures into a folder."""
    use_style()
    toy = Toy()
    for look, ending in ((LIGHT, ""), (DARK, "_dark")):
        words = ("text.color", "axes.titlecolor", "axes.labelcolor", "axes.edgecolor")
        plt.rcParams.update(dict.fromkeys([*words, "xtick.labelcolor"], look.ink))
        plt.rcParams.update({"figure.facecolor": "none", "axes.facecolor": "none"})
        plt.rcParams.update({"savefig.facecolor": "none", "svg.hashsalt": "bayespoint"})
        plt.rcParams["figure.constrained_layout.use"] = True
        if not ending:  # where there is no second picture, it may be seen on a dark page
            plt.rcParams.update({"figure.facecolor": "white", "savefig.facecolor": "white"})
        for name, draw in PICTURES.items():
            draw(toy, look).savefig(folder / f"{name}{ending}.svg", metadata={"Date": None})
            plt.close("all")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
