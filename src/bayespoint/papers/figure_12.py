"""Figure 12 of 000: the angle between hypotheses and its linear approximation.

Two hypotheses whose cosine is x disagree on a share arccos(x) / pi of the points. The center
of mass minimizes (1 - x) / 2 instead.
"""

from __future__ import annotations

import numpy as np

from .experiment import Measured, Outcome, Plan
from .picture import canvas, color


def run(plan: Plan) -> Outcome:
    """Find the largest difference between the angle and its approximation."""
    # The difference is largest where the slopes agree: 1 / (pi sqrt(1 - x^2)) = 1 / 2.
    x = np.sqrt(1 - 4 / np.pi**2)
    gap = abs(np.arccos(x) / np.pi - (1 - x) / 2)
    numbers = {"largest distance": Measured(float(gap), 0.0)}
    lines = [
        {"cosine": c, "angle": np.arccos(c) / np.pi, "proxy": (1 - c) / 2}
        for c in np.linspace(-1, 1, 41)
    ]
    return Outcome(numbers, lines, lambda: _draw(gap))


def _draw(gap: float):
    figure, ax = canvas()
    x = np.linspace(-1, 1, 400)
    ax.plot(x, np.arccos(x) / np.pi, color=color(0), label="arccos(x) / π")
    ax.plot(x, (1 - x) / 2, color=color(3), ls="--", label="(1 - x) / 2")
    ax.fill_between(x, (1 - x) / 2 - gap, (1 - x) / 2 + gap, color=color(3), alpha=0.15, lw=0)
    ax.set(xlabel="cosine of the angle between hypotheses", ylabel="share of disagreement")
    ax.legend()
    return figure
