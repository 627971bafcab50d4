"""
Labeling with few labels
========================

Images are free, labels are not. A session asks about the image whose label teaches most, then
about the next. You see how many labels it saves on handwritten digits, and which images it asks
about.
"""

# %%
# A pool of 700 images without labels, and others to test with. A person would look at each
# image; here the true label stands for the person.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from bayespoint import BayesPointClassifier, active

X, y = load_digits(return_X_y=True)
X_pool, X_test, y_pool, y_test = train_test_split(X, y, train_size=700, random_state=0)
machine = BayesPointClassifier("rbf", gamma=0.001, softness=0.02, solver="regression")

# %%
# Ask, learn, ask
# ---------------
#
# ``ask`` names a row, ``tell`` takes its label. Between them the model learns the new row,
# without a fit from the beginning.

session = active.Session(machine, X_pool, classes=range(10), random_state=0)
asked, checkpoints = [], [20, 30, 40, 60, 80, 100, 125, 150]
errors = {"questions of the session": [], "random rows": []}
for _ in range(max(checkpoints)):
    row = session.ask()
    session.tell(row, int(y_pool[row]))
    asked.append(row)
    if len(asked) in checkpoints:
        errors["questions of the session"].append(1 - session.model.score(X_test, y_test))

# %%
# For comparison, the same machine with labels of random rows, five times.

rng = np.random.default_rng(0)
for n_labels in checkpoints:
    trials = []
    for _ in range(5):
        rows = rng.choice(len(X_pool), n_labels, replace=False)
        trials.append(1 - machine.fit(X_pool[rows], y_pool[rows]).score(X_test, y_test))
    errors["random rows"].append(np.mean(trials))

fig, ax = plt.subplots(figsize=(8, 4.6), layout="constrained")
for (name, values), color in zip(errors.items(), ["C3", "C0"], strict=True):
    ax.plot(checkpoints, 100 * np.array(values), "o-", color=color, label=name)
ax.set(xlabel="Labels", ylabel="Test error (%)", title="What a label is worth", ylim=(0, None))
ax.legend()

# %%
# What it asks
# ------------
#
# The first twelve questions, and the last twelve: from typical digits to those between two
# classes.

fig, axes = plt.subplots(2, 12, figsize=(8, 1.9), layout="constrained")
for ax, row in zip(axes.flat, [*asked[:12], *asked[-12:]], strict=True):
    ax.imshow(X_pool[row].reshape(8, 8), cmap="gray_r")
    ax.set(xticks=[], yticks=[], frame_on=False)
    ax.grid(False)
axes[0, 0].set_ylabel("first")
axes[1, 0].set_ylabel("last")

# %%
# Next, let the session say when it is enough: with ``max_error=0.05`` it audits itself and
# promises an error for the rest of the pool. :class:`~bayespoint.active.Session` has the
# details, and the command ``bayespoint label`` asks you in the browser.
