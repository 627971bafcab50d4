"""
Finding wrong labels
====================

Labels come from people, and people make mistakes. A row whose label is improbable, given all
*other* rows, deserves a second look. A Bayes point machine knows these probabilities after one
fit, without cross-validation. You hide wrong labels in a data set, and find them again.
"""

# %%
# A thousand digits, and for one in twenty a wrong label.

# sphinx_gallery_thumbnail_number = 2

import time

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bayespoint import BayesPointClassifier

X, truth = load_digits(return_X_y=True)
X, truth = X[:1000], truth[:1000]
rng = np.random.default_rng(0)
mistaken = rng.permutation(len(truth)) < 50
y = np.where(mistaken, (truth + rng.integers(1, 10, len(truth))) % 10, truth)

# %%
# Suspects
# --------
#
# ``loo_proba_`` has the probability of each class for each training row, as if the row had been
# left out. We sort the rows by the probability of the label that they were given.

began = time.perf_counter()
model = BayesPointClassifier(random_state=0).fit(X, y)
suspicion = {"Bayes point, one fit": model.loo_proba_[np.arange(len(y)), y]}
seconds = {"Bayes point, one fit": time.perf_counter() - began}
order = np.argsort(suspicion["Bayes point, one fit"])

fig, axes = plt.subplots(5, 12, figsize=(8, 4.8), layout="constrained")
for ax, row in zip(axes.flat, order, strict=False):
    ax.imshow(X[row].reshape(8, 8), cmap="gray_r")
    color = "C3" if mistaken[row] else "C0"
    ax.set_title(f"{y[row]}?", fontsize=12, color=color, loc="center", pad=4)
    ax.set(xticks=[], yticks=[], frame_on=False)
    ax.grid(False)
fig.suptitle(
    "The sixty most suspicious labels: orange ones are wrong, blue ones right",
    x=0.01,
    ha="left",
    fontsize=12,
)

# %%
# How many rows must be checked?
# ------------------------------
#
# Others need cross-validation to say something about rows that they were trained on.

for name, other in {
    "Random forest, 5 folds": RandomForestClassifier(200, random_state=0),
    "Logistic regression, 5 folds": make_pipeline(
        StandardScaler(), LogisticRegression(max_iter=500)
    ),
}.items():
    began = time.perf_counter()
    probability = cross_val_predict(other, X, y, cv=5, method="predict_proba")
    suspicion[name] = probability[np.arange(len(y)), y]
    seconds[name] = time.perf_counter() - began

fig, ax = plt.subplots(figsize=(8, 4.6), layout="constrained")
for color, (name, values) in zip(["C3", "C2", "C1"], suspicion.items(), strict=True):
    found = np.cumsum(mistaken[np.argsort(values)])
    ax.plot(np.arange(1, len(y) + 1), found, color=color, label=name)
    needed = np.flatnonzero(found >= 0.9 * mistaken.sum())[0] + 1
    print(f"{name:30} 90 % of the mistakes in {needed:3} rows, {seconds[name]:.1f} s")
ax.plot([0, 50, 150], [0, 50, 50], color="0.4", ls="--", lw=1.2, label="an oracle")
ax.set(xlim=(0, 150), xlabel="Rows that were checked", ylabel="Wrong labels found")
ax.set_title("Fifty wrong labels among a thousand")
ax.legend(loc="lower right")

# %%
# Next, correct what you find and fit again. In the page of ``bayespoint label`` the most
# improbable labels are shown while you work. :class:`~bayespoint.BayesPointClassifier` tells
# when ``loo_proba_`` exists.
