"""
Flipped labels: label noise or softness?
========================================

Some labels are wrong because the classes overlap; some because somebody made a mistake,
anywhere. ``softness`` expects the first kind, ``label_noise`` the second. You see what each of
them does with mistakes far from the boundary, and what it costs to expect the wrong kind.
"""

# %%
# Two half moons that hardly overlap. Then one label in seven is flipped, wherever its point is.

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import entropy
from sklearn.datasets import make_moons
from sklearn.metrics import log_loss
from sklearn.svm import SVC

from bayespoint import BayesPointClassifier, DecisionConfidenceDisplay


def draw_points(n_points, share_flipped, seed):
    X, y = make_moons(n_points, noise=0.12, random_state=seed)
    flipped = np.random.default_rng(seed).random(n_points) < share_flipped
    return X, np.where(flipped, 1 - y, y), y


X_train, y_train, y_true = draw_points(250, 1 / 7, seed=1)

# %%
# The same points, two explanations
# ---------------------------------
#
# Rings mark the flipped labels. Softness explains a mistake by a boundary that passes nearby,
# and becomes unsure around it. Label noise explains it by a slip of the pen: it is as sure as
# the share of mistakes allows wherever the other labels agree, and has a sharp boundary.

models = {
    'softness="auto"': BayesPointClassifier("rbf", solver="ep"),
    'label_noise="auto"': BayesPointClassifier("rbf", solver="ep", label_noise="auto"),
}
fig, axes = plt.subplots(1, 2, figsize=(8, 4.4), sharey=True, layout="constrained")
for ax, (name, model) in zip(axes, models.items(), strict=True):
    model.fit(X_train, y_train)
    DecisionConfidenceDisplay.from_estimator(model, X_train, y_train, ax=ax, legend=False)
    ax.plot(*X_train[y_train != y_true].T, "o", mfc="none", mec="black", ms=12, mew=1.4)
    ax.set(title=name, xlabel="", ylabel="")

found = models['label_noise="auto"'].label_noise_
print(f"flipped: {np.mean(y_train != y_true):.1%}, found: {found:.1%}")

# %%
# The more mistakes
# -----------------
#
# Test points have mistakes too, in the same share, so that probabilities can be judged: the
# best possible log loss is the entropy of the mistakes, and the right panel shows what comes on
# top of it. All numbers are means over three training sets. The support vector machine has the
# same kernel; it says nothing about probabilities.

shares = np.array([0, 0.07, 0.14, 0.2])
names = ['softness="auto"', "label_noise=0.1, a guess", "label_noise as it is", "SVC"]
scores = {name: [] for name in names}
for share in shares:
    results = {name: [] for name in names}
    for seed in range(3):
        X, y, _ = draw_points(200, share, seed)
        X_test, y_test, clean = draw_points(3000, share, seed + 100)
        for name, noise in zip(names, [0, 0.1, share, None], strict=True):
            if noise is None:
                model, excess = SVC(gamma=1.0).fit(X, y), np.nan
            else:
                model = BayesPointClassifier("rbf", gamma=1.0, solver="ep", label_noise=noise)
                probability = model.fit(X, y).predict_proba(X_test)
                excess = log_loss(y_test, probability) - entropy([share, 1 - share])
            results[name].append([np.mean(model.predict(X_test) != clean), excess])
    for name, values in results.items():
        scores[name].append(np.mean(values, axis=0))

fig, (left, right) = plt.subplots(1, 2, figsize=(8, 4.4), layout="constrained")
for color, (name, values) in zip(["C0", "C3", "C1", "C2"], scores.items(), strict=True):
    error, excess = np.transpose(values)
    left.plot(100 * shares, 100 * error, "o-", color=color, label=name)
    right.plot(100 * shares, excess, "o-", color=color)
    print(f"{name:25} error {error[-1]:.1%} with {shares[-1]:.0%} of the labels flipped")
left.set(xlabel="Flipped labels (%)", title="Errors on true labels (%)")
right.set(xlabel="Flipped labels (%)", title="Log loss above the best possible")
for ax in (left, right):
    ax.set_ylim(bottom=0)
fig.legend(loc="outside lower center", ncols=2)

# %%
# Next, look for single mistakes: rows whose label is improbable when they are left out
# (``loo_proba_``). Both parameters are in :class:`~bayespoint.BayesPointClassifier`, and both
# can be "auto" together.
