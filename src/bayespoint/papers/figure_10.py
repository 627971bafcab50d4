"""Figure 10 of 000: the 25 training digits of USPS that most perceptrons got wrong.

The caption of a digit gives its class, and how many of the hundred classifiers have a
coefficient for it.
"""

from __future__ import annotations

import numpy as np

from ..datasets import digits
from .experiment import Measured, Outcome, Plan
from .figure_9 import machine
from .picture import canvas

N_HARDEST = 25


def run(plan: Plan) -> Outcome:
    """Train a hundred perceptrons, and find the digits that they use most."""
    data = digits.load_handwritten("usps", plan.data)
    model = machine(plan.seed, plan.jobs).fit(data.X_train, data.y_train)
    used = np.zeros(len(data.y_train), dtype=int)
    # A perceptron has a coefficient for each training point that it got wrong.
    used[model.support_] = np.count_nonzero(model.draw_coef_, axis=(0, 1))
    hardest = np.argsort(-used, kind="stable")[:N_HARDEST]
    numbers = {
        "most classifiers that use a digit": Measured(float(used[hardest[0]])),
        "fewest that use one of the 25": Measured(float(used[hardest[-1]])),
        "digits that some classifier uses, %": Measured(100 * float(np.mean(used > 0))),
    }
    lines = [{"index": i, "used": used[i], "class": data.y_train[i]} for i in hardest]
    return Outcome(numbers, lines, lambda: _draw(data, hardest, used))


def _draw(data, hardest, used):
    figure, axes = canvas(3, 9, height=3.2)
    side = round(np.sqrt(data.X_train.shape[1]))
    for ax in axes.flat:
        ax.set_axis_off()
    for ax, i in zip(axes.flat, hardest, strict=False):
        ax.imshow(data.X_train[i].reshape(side, side), cmap="gray_r", interpolation="nearest")
        ax.set_title(f"{used[i]}, class {data.y_train[i]}", fontsize=8, y=-0.28)
    return figure
