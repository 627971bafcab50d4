"""
Margins that adapt to each point
================================

A support vector machine asks the same margin of every training point, so an outlier pulls hard
at the boundary. :class:`~bayespoint.AdaptiveMarginSVC` asks instead that the *other* points get
each point right. It has no parameter C, and one dial, ``adaptivity``, from a close fit to a
smooth one.
"""

# %%
# Two clouds, and a few points of each class on the wrong side.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs
from sklearn.svm import SVC

from bayespoint import AdaptiveMarginSVC

X, y = make_blobs([70, 70], centers=[[-1.3, 0], [1.3, 0]], cluster_std=0.75, random_state=2)
outliers = np.array([[-1.9, 0.3], [-1.2, -0.8], [1.9, 0.6]])
X, y = np.vstack([X, outliers]), np.append(y, [1, 1, 0])
X_test, y_test = make_blobs(
    [5000, 5000], centers=[[-1.3, 0], [1.3, 0]], cluster_std=0.75, random_state=3
)

# %%
# The boundary, and the points that carry it
# ------------------------------------------
#
# Filled points carry the boundary; faint ones could be left out. A machine of large margin with
# a large C bends around the outliers; adaptive margins give way to them.

machines = {
    "SVC(C=1000)": SVC(C=1000, gamma=0.5),
    "adaptivity=0.3": AdaptiveMarginSVC(gamma=0.5, adaptivity=0.3),
    "adaptivity=1 (default)": AdaptiveMarginSVC(gamma=0.5),
    "adaptivity=10": AdaptiveMarginSVC(gamma=0.5, adaptivity=10),
}
grid = np.meshgrid(np.linspace(-4, 4, 160), np.linspace(-2.6, 2.6, 160))
pixels = np.column_stack([part.ravel() for part in grid])

fig, axes = plt.subplots(2, 2, figsize=(8, 6), sharex=True, sharey=True, layout="constrained")
for ax, (name, machine) in zip(axes.flat, machines.items(), strict=True):
    machine.fit(X, y)
    output = machine.decision_function(pixels).reshape(160, 160)
    ax.contourf(*grid, output, [-np.inf, 0, np.inf], colors=["C5", "C1"], alpha=0.22)
    ax.contour(*grid, output, [0], colors="black", linewidths=2)
    carrying = np.isin(np.arange(len(y)), machine.support_)
    for label, color, marker in [(0, "C5", "o"), (1, "C1", "s")]:
        for shown, alpha in [(carrying, 1.0), (~carrying, 0.35)]:
            points = X[(y == label) & shown]
            ax.plot(*points.T, marker, color=color, mec="black", mew=0.7 * alpha, alpha=alpha)
    error = np.mean(machine.predict(X_test) != y_test)
    ax.set_title(f"{name}\nerror {error:.1%}, {len(machine.support_)} points")
    ax.set(xticks=[], yticks=[], xlim=(-4, 4), ylim=(-2.6, 2.6))
    ax.grid(False)

# %%
# The whole path at once
# ----------------------
#
# ``fit_path`` fits many adaptivities, each starting from the last. The error is flat over a
# wide range, which is why the default rarely needs a change.

adaptivities = np.geomspace(0.05, 30, 16)
path = AdaptiveMarginSVC(gamma=0.5).fit_path(X, y, adaptivities)
errors = [100 * np.mean(model.predict(X_test) != y_test) for model in path]
n_points = [len(model.support_) for model in path]

fig, (top, bottom) = plt.subplots(2, 1, figsize=(8, 5), sharex=True, layout="constrained")
top.plot(adaptivities, errors, "o-", color="C3")
top.set(ylabel="Test error (%)", title="From a close fit to a smooth one")
bottom.plot(adaptivities, n_points, "o-", color="C0")
bottom.set(xscale="log", xlabel="adaptivity", ylabel="Support vectors")
for ax in (top, bottom):
    ax.axvline(1, color="0.5", ls="--", lw=1.5)
    ax.set_ylim(bottom=0)
default = np.mean(machines["adaptivity=1 (default)"].predict(X_test) != y_test)
print(f"smallest error {min(errors):.2f} %, with the default {100 * default:.2f} %")

# %%
# Next, compare with :class:`~bayespoint.LinearProgramSVC`, which has few support vectors and a
# C, and with :class:`~bayespoint.BayesPointClassifier`, which gives probabilities as well.
