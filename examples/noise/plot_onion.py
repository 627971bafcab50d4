"""
The onion: mistakes in one class only
=====================================

Sometimes a mistake in one class is cheap and in the other it is not. Around version space lie
layers of hypotheses that make a few training errors: one on the first class and none on the
second, and so on. A single billiard visits them all, and you choose afterwards.
"""

# %%
# Healthy and ill people, with two measurements that overlap.

# sphinx_gallery_thumbnail_number = 2

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs

from bayespoint import OnionClassifier

X, y = make_blobs([60, 40], centers=[[-1, 0], [1, 0.4]], cluster_std=0.85, random_state=4)
onion = OnionClassifier("rbf", gamma=0.3, softness=0.1, max_errors=5, random_state=0).fit(X, y)

# %%
# Layers
# ------
#
# Rays of light leave the walls of version space and pass through the layers around it. The
# table shows which share of their length is in each. Entry (0, 0) is version space, and its
# mean the Bayes point.

share = 100 * onion.table_.time_share
fig, ax = plt.subplots(figsize=(6.4, 5), layout="constrained")
image = ax.imshow(np.log10(np.maximum(share, 1e-2)), origin="lower", cmap="cividis")
for (i, j), value in np.ndenumerate(share):
    ax.text(
        j, i, f"{value:.1f}", ha="center", va="center", color="black" if value > 0.35 else "white"
    )
ax.set(xlabel="Errors on ill people", ylabel="Errors on healthy people")
ax.set_title("Share of the rays in each layer (%)")
ax.grid(False)

# %%
# Three classifiers from one fit
# ------------------------------
#
# ``classifier(i, j)`` predicts by the mean of a layer. Errors on healthy people move the
# boundary away from the ill, and the other way around.

side_x, side_y = np.linspace(-3.3, 3.3, 200), np.linspace(-2.6, 3.0, 200)
grid = np.meshgrid(side_x, side_y)
pixels = np.column_stack([part.ravel() for part in grid])

fig, ax = plt.subplots(figsize=(8, 5.4), layout="constrained")
ax.plot(*X[y == 0].T, "o", color="C5", mec="black", mew=0.6, label="healthy")
ax.plot(*X[y == 1].T, "s", color="C1", mec="black", mew=0.6, label="ill")
for (healthy, ill), color in [((0, 0), "0.2"), ((4, 0), "C3"), ((0, 4), "C0")]:
    model = onion.classifier(healthy, ill)
    output = model.decision_function(pixels).reshape(200, 200)
    ax.contour(*grid, output, [0], colors=color, linewidths=3)
    ax.plot([], [], color=color, lw=3, label=f"{healthy} healthy, {ill} ill wrong")
ax.grid(False)
ax.set(title="Boundaries of three layers", xticks=[], yticks=[])
ax.legend(loc="upper left", ncols=1, frameon=True)

X_new, y_new = make_blobs(
    [3000, 3000], centers=[[-1, 0], [1, 0.4]], cluster_std=0.85, random_state=5
)
wrong_healthy, wrong_ill = onion.count_errors(X_new, y_new)
for entry in [(0, 0), (4, 0), (0, 4)]:
    healthy, ill = wrong_healthy[entry] / 3000, wrong_ill[entry] / 3000
    print(f"layer {entry}: {healthy:.1%} of the healthy and {ill:.1%} of the ill are wrong")

# %%
# Next, let cross-validation choose a layer with ``errors="cv"``, or mix layers with
# ``onion.weigh``: :class:`~bayespoint.OnionClassifier`. For costs that you know,
# :class:`~bayespoint.RejectOptionClassifier` takes ``costs``.
