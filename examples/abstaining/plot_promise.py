"""
A promise kept
==============

"At most 5 % of my answers are wrong." A :class:`~bayespoint.RejectOptionClassifier` refuses as
many rows as it must to say so, and is right about it with a probability of 95 %, whatever the
classifier inside. You see two hundred such promises kept, and then one for each group of
people.
"""

# %%
# Two classes that overlap so much that 5 % cannot be reached by answering everything.

# sphinx_gallery_thumbnail_number = 2

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline

from bayespoint import BayesPointClassifier, DecisionConfidenceDisplay, RejectOptionClassifier


def draw_people(n_rows, rng):
    """Return measurements, true classes, and the region that people live in."""
    region = rng.choice(["north", "south"], n_rows, p=[0.7, 0.3])
    y = rng.integers(0, 2, n_rows)
    spread = np.where(region == "north", 0.57, 0.85)
    X = np.column_stack([2 * y - 1, 0.6 * y]) + spread[:, None] * rng.standard_normal((n_rows, 2))
    return X, y, region


rng = np.random.default_rng(0)
X, y, _ = draw_people(300, rng)
model = BayesPointClassifier("rbf", solver="ep").fit(X, y)

# %%
# The threshold
# -------------
#
# The fitted classifier stays as it is; 1,000 new rows set the threshold. The hatched band is
# refused.

X, y, _ = draw_people(1000, rng)
careful = RejectOptionClassifier(FrozenEstimator(model), max_error=0.05).fit(X, y)

fig, ax = plt.subplots(figsize=(8, 5), layout="constrained")
DecisionConfidenceDisplay.from_estimator(careful, X[:400], y[:400], ax=ax)
ax.set(title=f"{careful.coverage_:.0%} of the rows get an answer", xlabel="", ylabel="")

# %%
# Two hundred promises
# --------------------
#
# Every time, other rows set the threshold. The true error among the answers is counted on
# 20,000 rows. A naive threshold, which is right for the held-out rows themselves, promises too
# much.

X_new, y_new, region_new = draw_people(20_000, rng)
confidence_new = careful.confidence(X_new)
wrong_new = model.predict(X_new) != y_new


def naive_threshold(confidence, wrong, max_error):
    order = np.argsort(-confidence)
    error = np.cumsum(wrong[order]) / np.arange(1, len(order) + 1)
    return confidence[order][np.flatnonzero(error <= max_error)[-1]]


errors = {"promised": [], "naive": []}
for _ in range(200):
    X, y, _ = draw_people(1000, rng)
    careful.fit(X, y)
    naive = naive_threshold(careful.calibration_confidence_, ~careful.calibration_correct_, 0.05)
    for name, threshold in [("promised", careful.threshold_), ("naive", naive)]:
        errors[name].append(100 * wrong_new[confidence_new >= threshold].mean())

fig, axes = plt.subplots(2, 1, figsize=(8, 5), sharex=True, sharey=True, layout="constrained")
bins = np.linspace(1, 7, 49)
for ax, (name, values), color in zip(axes, errors.items(), ["C0", "C1"], strict=True):
    broken = np.mean(np.array(values) > 5)
    ax.hist(values, bins, color=color)
    ax.axvline(5, color="black", ls="--", lw=1.5)
    ax.set(title=f"{name}: broken {broken:.1%} of the time", ylabel="Thresholds")
axes[1].set_xlabel("True error among the answers (%)")

# %%
# For each group
# --------------
#
# A promise on average can be broken for the few: measurements in the south are noisier. With
# ``groups``, each region gets a threshold of its own, and the promise holds in both together.
# The classifier itself still does not look at the region.

X, y, region = draw_people(3000, rng)
table = pd.DataFrame(X, columns=["first", "second"]).assign(region=region)
new = pd.DataFrame(X_new, columns=["first", "second"]).assign(region=region_new)
measurements = make_column_transformer(("passthrough", ["first", "second"]))
blind = make_pipeline(measurements, BayesPointClassifier("rbf", solver="ep"))
blind.fit(table[:300], y[:300])

options = {"together": {}, "by region": {"groups": "region"}}
fig, ax = plt.subplots(figsize=(8, 3.4), layout="constrained")
for row, groups in enumerate(options.values()):
    option = RejectOptionClassifier(FrozenEstimator(blind), max_error=0.05, **groups)
    option.fit(table[300:], y[300:])
    answers = option.predict(new)
    answered = answers != -1
    for shift, place, color in [(-0.13, "north", "C5"), (0.13, "south", "C1")]:
        chosen = answered & (region_new == place)
        error = 100 * np.mean(answers[chosen] != y_new[chosen])
        share = chosen.sum() / np.sum(region_new == place)
        ax.barh(row + shift, error, 0.24, color=color, label=place if row == 0 else None)
        ax.text(0.1, row + shift, f"{share:.0%} answered", va="center", fontsize=11)
ax.axvline(5, color="black", ls="--", lw=1.5)
ax.set(xlabel="True error among the answers (%)", title="Who gets the errors")
ax.set_yticks(range(2), options)
ax.grid(False, axis="y")
ax.legend(loc="upper right")

# %%
# Next, watch the promise after deployment: ``careful.certificate()`` says, with every true
# class that becomes known, whether it still holds. :class:`~bayespoint.RejectOptionClassifier`
# can also promise false positives, false negatives and costs.
