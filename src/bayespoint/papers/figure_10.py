"""Figure 10 of 000: the 25 training digits of USPS that most perceptrons got wrong.

The caption of a digit gives its class, and how many of the hundred classifiers have a
coefficient for it. The picture is that of the machine as printed (figure_9.py).
"""

from __future__ import annotations

import numpy as np

from ..datasets import digits
from .experiment import Measured, Outcome, Plan
from .figure_9 import AS_PRINTED, VARIANTS, machine
from .picture import canvas

N_HARDEST = 25


def run(plan: Plan) -> Outcome:
    """Train a hundred perceptrons, and find the digits that they use most."""
    data = digits.load_handwritten("usps", plan.data)
    numbers: dict[str, Measured] = {}
    lines, found = [], {}
    for variant, label in ((AS_PRINTED, f"{AS_PRINTED}: "), ("ours", "")):
        used = times_used(data, plan, variant)
        hardest = np.argsort(-used, kind="stable")[:N_HARDEST]
        found[variant] = hardest, used
        numbers |= {
            f"{label}most classifiers that use a digit": Measured(float(used[hardest[0]])),
            f"{label}fewest that use one of the 25": Measured(float(used[hardest[-1]])),
            f"{label}digits that some classifier uses, %": Measured(100 * float(np.mean(used > 0))),
        }
        lines += [
            {"machine": variant, "index": i, "used": used[i], "class": data.y_train[i]}
            for i in hardest
        ]
    both = np.intersect1d(found["ours"][0], found[AS_PRINTED][0])
    numbers["digits among the 25 of both"] = Measured(float(len(both)))
    return Outcome(numbers, lines, lambda: _draw(data, *found[AS_PRINTED]))


def times_used(data, plan: Plan, variant: str) -> np.ndarray:
    """Return how many perceptrons have a coefficient for each training digit."""
    gray = VARIANTS[variant].gray
    model = machine(plan.seed, plan.jobs, variant).fit(gray(data.X_train), data.y_train)
    used = np.zeros(len(data.y_train), dtype=int)
    # A perceptron has a coefficient for each training point that it got wrong.
    used[model.support_] = np.count_nonzero(model.draw_coef_, axis=(0, 1))
    return used


def _draw(data, hardest, used):
    figure, axes = canvas(3, 9, height=3.2)
    side = round(np.sqrt(data.X_train.shape[1]))
    for ax in axes.flat:
        ax.set_axis_off()
    for ax, i in zip(axes.flat, hardest, strict=False):
        ax.imshow(data.X_train[i].reshape(side, side), cmap="gray_r", interpolation="nearest")
        ax.set_title(
            f"{used[i]}, class {data.y_train[i]}",
            fontsize=9,
            weight="normal",
            loc="center",
            y=-0.28,
        )
    return figure
