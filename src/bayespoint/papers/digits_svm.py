"""The support vector machines beside figure 9 of 000: hard margins on MNIST and USPS.

The paper quotes both errors, for the kernel (<x, x'> + 1)^5, without their settings. So three
codings are tried: gray values from 0 to 255, which the paper gives for its own machine, from -1 to
1, as the digits of USPS were published, and points of unit length in feature space. Each class is
separated from the rest on USPS, and from each other class on MNIST, which is faster there.
"""

from __future__ import annotations

import numpy as np
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC

from ..datasets import digits
from .experiment import Lines, Measured, Outcome, Plan, counted
from .picture import canvas, color
from .published import published

# No slack is worth its cost.
HARD = 1e10
# Megabytes for rows of the kernel matrix.
CACHE_SIZE = 1500
# The coding that is compared with the paper.
COMPARED = "from -1 to 1"
CODINGS = (COMPARED, "from 0 to 255", "unit length")


def run(plan: Plan) -> Outcome:
    """Train with each coding, and count test errors."""
    numbers, lines = {}, []
    for name in plan.choose(("usps",), ("usps", "mnist")):
        data = digits.load_handwritten(name, plan.data)
        model = machine()
        if name == "usps":
            model = OneVsRestClassifier(model)
        for done, coding in enumerate(plan.choose(CODINGS[:2], CODINGS)):
            plan.progress(done, len(CODINGS), f"{name} {coding}")
            train, test = (encode(X, coding) for X in (data.X_train, data.X_test))
            # A common factor of all points does not change a hard margin.
            factor = np.sqrt(np.mean(np.sum(train**2, axis=1)))
            model.fit(train / factor, data.y_train)
            wrong = int(np.sum(model.predict(test / factor) != data.y_test))
            label = "" if coding == COMPARED else f", {coding}"
            numbers[f"{name}, SVM error %{label}"] = counted(wrong, len(test))
            lines.append({"name": name, "coding": coding, "errors": wrong, "tests": len(test)})
    return Outcome(numbers, lines, lambda: _draw(numbers))


def machine() -> SVC:
    """Return a support vector machine without slack; the constant of the kernel is a feature."""
    return SVC(C=HARD, kernel="poly", degree=5, gamma=1.0, coef0=0.0, cache_size=CACHE_SIZE)


def encode(X: np.ndarray, coding: str) -> np.ndarray:
    """Return gray values, given between 0 and 1, in another coding, and a constant feature."""
    scale, shift = {"from -1 to 1": (2, -1), "from 0 to 255": (255, 0)}.get(coding, (1, 0))
    Z = np.column_stack([scale * X + shift, np.ones(len(X))])
    return Z / np.linalg.norm(Z, axis=1, keepdims=True) if coding == "unit length" else Z


def redraw(numbers: dict[str, Measured], runs: Lines):
    """Draw kept results."""
    return _draw(numbers)


def _draw(numbers):
    figure, ax = canvas(height=3.4)
    theirs = published("digits_svm")
    for k, (quantity, ours) in enumerate(numbers.items()):
        ax.errorbar([ours.mean], [k + 0.1], xerr=[ours.error], fmt="o", color=color(0))
        if quantity in theirs:
            ax.plot([theirs[quantity].value], [k - 0.1], "s", mfc="white", color=color(3))
    ax.plot([], [], "o", color=color(0), label="ours")
    ax.plot([], [], "s", mfc="white", color=color(3), label="paper")
    ax.set_yticks(range(len(numbers)), [q.replace(" error %", "") for q in numbers])
    ax.set(xlabel="test error, percent", xlim=(0, None), ylim=(len(numbers) - 0.4, -0.6))
    ax.legend()
    return figure
