"""
The hardest digits
==================

Most training rows are easy: whatever hypothesis you take, it gets them right. The few that are
not bound version space, and a Bayes point machine knows them, because it meets their walls
again and again. They are worth a look: odd handwriting, wrong labels, rows that somebody should
check.
"""

# %%
# All 1,797 digits that come with scikit-learn, all of them for training.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from bayespoint import BayesPointClassifier

X, y = load_digits(return_X_y=True)
model = BayesPointClassifier(random_state=0).fit(X, y)

# %%
# The hardest of them
# -------------------
#
# Above each image is its label, and the probability of this label as if the image had been left
# out. A frame means that another label would then be more probable.

rows, hits = model.hardest_examples(32)
left_out = model.loo_proba_

fig, axes = plt.subplots(4, 8, figsize=(8, 5.2), layout="constrained")
for ax, row in zip(axes.flat, rows, strict=True):
    ax.imshow(X[row].reshape(8, 8), cmap="gray_r")
    guess, probability = left_out[row].argmax(), left_out[row, y[row]]
    wrong = guess != y[row]
    text = f"{y[row]}, not {guess}?" if wrong else f"{y[row]} ({probability:.0%})"
    ax.set_title(
        text, fontsize=11, color="C3" if wrong else "0.3", fontweight="normal", loc="center"
    )
    ax.set(xticks=[], yticks=[])
    ax.grid(False)
    for side in ax.spines.values():
        side.set(visible=wrong, color="C3", linewidth=2)

# %%
# And the most typical
# --------------------
#
# The image of each digit that is most certain when it is left out.

typical = [np.argmax(np.where(y == digit, left_out[:, digit], 0)) for digit in range(10)]
fig, axes = plt.subplots(1, 10, figsize=(8, 1.2), layout="constrained")
for ax, row in zip(axes, typical, strict=True):
    ax.imshow(X[row].reshape(8, 8), cmap="gray_r")
    ax.axis("off")

# %%
# Where the difficulty is
# -----------------------

mistaken = left_out.argmax(axis=1) != y
rows, hits = model.hardest_examples(len(y))
print(f"the 100 hardest digits make {hits[:100].sum() / hits.sum():.0%} of the difficulty")
print(f"{mistaken.sum()} of {len(y)} digits are misclassified when left out")
print(f"{mistaken[rows[:100]].sum()} of these are among the 100 hardest")

# %%
# Next, look at your own data: :meth:`~bayespoint.BayesPointClassifier.hardest_examples` gives
# rows of any table, and ``loo_proba_`` costs nothing extra.
