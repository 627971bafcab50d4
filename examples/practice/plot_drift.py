"""
A stream that drifts
====================

Tastes change, machines wear out, and a model that learned everything with equal weight is left
behind. :class:`~bayespoint.LinearBayesPointClassifier` learns from a stream, batch by batch,
and ``forgetting`` tells how fast old rows should fade. You see what is right when the world
turns slowly, and when it jumps.
"""

# %%
# Sixty days with a hundred rows each. The true direction turns slowly for thirty days, then
# jumps, then stays.

import matplotlib.pyplot as plt
import numpy as np

from bayespoint import LinearBayesPointClassifier

N_DAYS, N_ROWS, N_FEATURES = 60, 100, 10
rng = np.random.default_rng(0)
turn = np.where(np.arange(N_DAYS) < 30, np.arange(N_DAYS) / 40, 30 / 40 + 1.6)


def draw_day(day):
    X = rng.standard_normal((N_ROWS, N_FEATURES))
    output = np.cos(turn[day]) * X[:, 0] + np.sin(turn[day]) * X[:, 1]
    return X, output + 0.3 * rng.standard_normal(N_ROWS) > 0


days = [draw_day(day) for day in range(N_DAYS)]

# %%
# Test first, then learn
# ----------------------
#
# Each day's rows are predicted before they are learned, so every row is a test row once.

curves, models = {}, {}
for forgetting in [0.0, 0.1, 0.5]:
    model = LinearBayesPointClassifier(prior_variance=1.0, forgetting=forgetting)
    errors = []
    for day, (X, y) in enumerate(days):
        if day:
            errors.append(100 * np.mean(model.predict(X) != y))
        model.partial_fit(X, y, classes=[False, True])
    curves[forgetting], models[forgetting] = np.array(errors), model
    print(f"forgetting={forgetting:3}: {np.mean(errors):.1f} % errors")

fig, ax = plt.subplots(figsize=(8, 4.6), layout="constrained")
window = np.ones(5) / 5
for (forgetting, errors), color in zip(curves.items(), ["C0", "C3", "C2"], strict=True):
    smooth = np.convolve(errors, window, mode="valid")
    ax.plot(np.arange(3, N_DAYS - 2), smooth, color=color, label=f"forgetting={forgetting:g}")
ax.axvspan(0, 29.5, color="0.93", lw=0)
ax.axvline(29.5, color="0.4", lw=1.2)
top = ax.get_ylim()[1]
for x, text in [(14, "turns slowly"), (29.5, "jumps"), (45, "stays as it is")]:
    ax.annotate(
        text, (x, top), xytext=(0, 5), textcoords="offset points", ha="center", color="0.35"
    )
ax.set(
    xlabel="Day", ylabel="Errors on the next day (%), mean of five", xlim=(0, N_DAYS), ylim=(0, top)
)
ax.legend(loc="upper right")

# %%
# What the models believe
# -----------------------
#
# Weights of the two features that matter, with two standard deviations. Who forgets more,
# believes less firmly.

fig, ax = plt.subplots(figsize=(8, 3.2), layout="constrained")
for shift, (forgetting, model), color in zip(
    [0.2, 0, -0.2], models.items(), ["C0", "C3", "C2"], strict=True
):
    length = np.linalg.norm(model.coef_[0])
    mean, deviation = model.coef_[0, :2] / length, np.sqrt(model.coef_variance_[0, :2]) / length
    look = {"fmt": "o", "ms": 8, "lw": 2.5, "color": color, "label": f"forgetting={forgetting:g}"}
    ax.errorbar(mean, [1 + shift, shift], xerr=2 * deviation, **look)
for place, truth in [(1, np.cos(turn[-1])), (0, np.sin(turn[-1]))]:
    ax.plot(truth, place, "|", ms=60, mew=2, color="black")
ax.set(yticks=[1, 0], yticklabels=["first", "second"], xlabel="Weight; black: the truth")
ax.set(title="After sixty days", ylim=(-0.6, 1.6))
ax.legend(loc="center left", bbox_to_anchor=(1, 0.5))

# %%
# Next, read a large file in pieces with ``bayespoint.chunks.read_chunks``, and watch
# ``log_evidence_``: after ``partial_fit`` it is the log probability of the last batch before it
# was learned.
