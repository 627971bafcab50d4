"""
Choosing a kernel by evidence
=============================

Which kernel, and which gamma? Cross-validation answers by holding out rows, many times. A Bayes
point machine answers with one number from each fit: the evidence, the probability that it gives
to the training labels. You see five kernels on two problems, and whether the evidence picks the
right one.
"""

# %%
# A ring, which no straight line can separate, and stripes along a diagonal.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import log_loss

from bayespoint import BayesPointClassifier, DecisionConfidenceDisplay


def draw_ring(n_points, rng):
    X = rng.uniform(-1, 1, (n_points, 2))
    return X, np.hypot(*X.T) + rng.normal(0, 0.08, n_points) < 0.7


def draw_line(n_points, rng):
    X = rng.uniform(-1, 1, (n_points, 2))
    return X, X @ [1, 0.6] + rng.normal(0, 0.2, n_points) > 0.1


problems = {"ring": draw_ring, "line": draw_line}
kernels = {
    "linear": {"kernel": "linear"},
    "polynomial, degree 2": {"kernel": "poly", "degree": 2},
    "polynomial, degree 5": {"kernel": "poly", "degree": 5},
    "rbf": {"kernel": "rbf"},
    "laplacian": {"kernel": "laplacian"},
}

# %%
# Evidence and test error
# -----------------------
#
# Gamma and softness are "auto": each kernel shows itself from its best side. Only 80 points are
# used for training, and no others for the choice. Where kernels predict about equally well, the
# evidence prefers the simpler one.

fig, axes = plt.subplots(2, 1, figsize=(8, 6.4), layout="constrained")
best = {}
for ax, (problem, draw) in zip(axes, problems.items(), strict=True):
    X, y = draw(80, np.random.default_rng(0))
    X_test, y_test = draw(4000, np.random.default_rng(1))
    results = []
    for name, settings in kernels.items():
        model = BayesPointClassifier(**settings, solver="ep").fit(X, y)
        loss = log_loss(y_test, model.predict_proba(X_test))
        results.append((model.log_evidence_, loss, name))
    evidence, losses, names = zip(*sorted(results), strict=True)
    best[problem] = names[-1]
    colors = ["C3" if name == best[problem] else "C0" for name in names]
    ax.hlines(names, -63, evidence, colors=colors, lw=3)
    ax.scatter(evidence, names, s=110, color=colors, zorder=3, clip_on=False)
    for x, loss, name in results:
        ax.annotate(
            f"test log loss {loss:.3f}", (x, name), xytext=(12, -4), textcoords="offset points"
        )
    ax.set(title=f"The {problem}", xlim=(-63, 8), xticks=range(-60, 1, 10))
    ax.grid(False, axis="y")
axes[1].set_xlabel("Log evidence of the 80 training labels")

# %%
# What it has chosen
# ------------------
#
# The classifiers with the most evidence. Since evidence is a probability, a difference of 3
# means that one kernel makes the labels about twenty times as probable as the other.

fig, axes = plt.subplots(1, 2, figsize=(8, 4.3), layout="constrained")
for ax, (problem, draw) in zip(axes, problems.items(), strict=True):
    X, y = draw(80, np.random.default_rng(0))
    model = BayesPointClassifier(**kernels[best[problem]], solver="ep").fit(X, y)
    DecisionConfidenceDisplay.from_estimator(model, X, y, ax=ax, legend=False)
    ax.set(title=f"The {problem}: {best[problem]}", xlabel="", ylabel="", xticks=[], yticks=[])

# %%
# Next, leave the choice alone: ``kernel="auto"``, the default of
# :class:`~bayespoint.BayesPointClassifier`, mixes several kernels and chooses their weights by
# left-out points. ``model.candidates_`` lists what was tried, and ``model.mixture_`` what was
# chosen.
