"""
A billiard finds the center of version space
============================================

How do you average over all classifiers that make no training error? You let a ball fly through
version space and bounce off its walls, and average over its path. You see the path, how the
mean settles, and how long it takes in more dimensions.
"""

# %%
# The path of one ball
# --------------------
#
# Ten points in three dimensions, without an intercept: a hypothesis is a point on a sphere, and
# version space is a region that we can draw. ``make_teacher`` labels points by a random
# hypothesis.

import matplotlib.pyplot as plt
import numpy as np

from bayespoint import BayesPointClassifier, TrajectoryDisplay, VersionSpaceDisplay
from bayespoint.datasets import make_teacher
from bayespoint.solvers import Billiard

X, y, teacher = make_teacher(10, 3, random_state=9)
model = BayesPointClassifier(
    "linear", fit_intercept=False, softness=0, solver=Billiard(tol=0.005), random_state=0
).fit(X, y)

fig, axes = plt.subplots(1, 3, figsize=(8, 2.9), layout="constrained")
for ax, n_bounces in zip(axes, [5, 50, 300], strict=True):
    VersionSpaceDisplay.from_estimator(
        model, X, y, n_bounces=n_bounces, random_state=0, ax=ax, legend=False, lw=0.8
    )
    ax.set_title(f"{n_bounces} bounces")
fig.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)

# %%
# The ball flies along great circles, the straight lines of a sphere. After some hundred bounces
# it has been everywhere for about the same time, so the mean of its path is the center of mass
# of the region. Now and then a wall sends it off in a random direction; without this, some
# billiards never reach every corner.
#
# The answer has an error bar
# ---------------------------
#
# Several balls fly independently. Their disagreement tells how far their mean may be from the
# Bayes point. Here are 200 points in 20 dimensions:

X, y, teacher = make_teacher(200, 20, random_state=0)
fig, ax = plt.subplots(figsize=(8, 4.5), layout="constrained")
TrajectoryDisplay.from_estimator(
    BayesPointClassifier(
        "linear", fit_intercept=False, softness=0, solver=Billiard(tol=0.002), random_state=0
    ),
    X,
    y,
    ax=ax,
)
ax.set_title("Four times the bounces, half the error")

# %%
# The balls stop when the estimate is below ``tol``. Is the estimate true? A long run tells how
# far a short one really is from the Bayes point.

hypotheses = {}
for name, tol in [("short", 0.05), ("long", 0.0004)]:
    solver = Billiard(tol=tol, n_bounces=20_000_000)
    model = BayesPointClassifier(
        "linear", fit_intercept=False, softness=0, solver=solver, random_state=1
    ).fit(X, y)
    weights = model.dual_coef_[0] @ model.support_vectors_
    hypotheses[name] = weights / np.linalg.norm(weights)
    print(f"{name:5} run: estimated angle {model.diagnostics_.angle[0]:.4f}")

print(f"angle between both: {np.linalg.norm(hypotheses['short'] - hypotheses['long']):.4f}")

# %%
# Next, read ``model.diagnostics_`` of your own fit, or try ``solver="gibbs"``, another exact
# sampler. :class:`~bayespoint.solvers.Billiard` has all parameters, and
# :class:`~bayespoint.TrajectoryDisplay` works with both.
