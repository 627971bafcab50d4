"""
Rows unlike anything seen
=========================

A classifier can be sure and have no reason to be: far from all training rows, its probabilities
are mere extrapolation. ``novelty`` says how strange a row is, and a reject option can refuse
strange rows however sure the classifier is. You see both in the plane, and then for digits that
the classifier has never met.
"""

# %%
# Sure, or just far away?
# -----------------------
#
# On the left, how sure the classifier is; on the right, how strange each place is to it. A
# novelty of 0.95 means stranger than 95 % of the training rows.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits, make_moons
from sklearn.model_selection import train_test_split

from bayespoint import BayesPointClassifier, DecisionConfidenceDisplay, RejectOptionClassifier

X, y = make_moons(200, noise=0.15, random_state=0)
model = BayesPointClassifier(random_state=0).fit(X, y)
corners = np.array([[-2.2, -1.7], [3.2, 2.2]])  # of the picture

fig, (left, right) = plt.subplots(1, 2, figsize=(8, 3.9), layout="constrained", sharey=True)
display = DecisionConfidenceDisplay.from_estimator(
    model, np.vstack([X, corners]), ax=left, legend=False
)
left.set(title="How sure", xlabel="", ylabel="")

grid = display.grid
novelty = model.novelty(np.column_stack([part.ravel() for part in grid])).reshape(grid[0].shape)
levels = [0, 0.5, 0.9, 0.99, 0.999, 1]
shades = plt.get_cmap("cividis_r")(np.linspace(0.05, 0.95, 5))
right.contourf(*grid, novelty, levels, colors=shades)
for level, shade in zip(levels[1:], shades, strict=True):
    right.plot([], [], "s", ms=11, color=shade, label=f"up to {level:g}")
right.legend(loc="upper right", fontsize=9, frameon=True)
right.set_title("How strange")
for ax in (left, right):
    ax.plot(*X.T, "o", color="white", mec="black", mew=0.6, ms=4)
    ax.grid(False)

# %%
# A digit it has never seen
# -------------------------
#
# The classifier learns nine digits; the tenth, the nine, turns up only afterwards.

X, y = load_digits(return_X_y=True)
known, unknown = y != 9, y == 9
X_train, X_test, y_train, y_test = train_test_split(
    X[known], y[known], train_size=800, stratify=y[known], random_state=0
)
digits = BayesPointClassifier(random_state=0).fit(X_train, y_train)

rows = {"known digits, new images": X_test, "nines, never seen": X[unknown]}
fig, (top, bottom) = plt.subplots(2, 1, figsize=(8, 5.4), layout="constrained")
for ax, measure, name in [
    (top, lambda X: digits.predict_proba(X).max(axis=1), "Largest probability"),
    (bottom, digits.novelty, "Novelty"),
]:
    for (label, table), color in zip(rows.items(), ["C0", "C1"], strict=True):
        weights = np.full(len(table), 100 / len(table))
        ax.hist(
            measure(table),
            np.linspace(0, 1, 26),
            weights=weights,
            color=color,
            alpha=0.7,
            label=label,
        )
    ax.set(xlabel=name, ylabel="Images (%)", xlim=(0, 1))
top.legend(loc="upper left")
top.set_title("Two signs that something is wrong")

# %%
# Refuse what is strange
# ----------------------
#
# ``max_novelty`` comes on top of the promise about errors, which holds for rows like the
# training rows.

for max_novelty in [None, 0.99, 0.95]:
    option = RejectOptionClassifier(
        BayesPointClassifier(random_state=0),
        max_error=0.03,
        max_novelty=max_novelty,
        calibration_size=0.3,
        random_state=0,
    ).fit(X_train, y_train)
    answered = [f"{option.accept(table).mean():.0%} of {name}" for name, table in rows.items()]
    print(f"max_novelty={max_novelty!s:5} answers", " and ".join(answered))

# %%
# The nines that look most familiar, with the answer they get, and below those that look
# strangest:

nines = X[unknown]
order = np.argsort(digits.novelty(nines))
fig, axes = plt.subplots(2, 8, figsize=(8, 2.9), layout="constrained")
for ax, row in zip(axes.flat, [*order[:8], *order[-8:]], strict=True):
    ax.imshow(nines[row].reshape(8, 8), cmap="gray_r")
    ax.set_title(f"{digits.predict(nines[[row]])[0]}?", fontsize=11)
    ax.axis("off")

# %%
# Next, try ``novelty`` on rows of next month: many strange ones mean that the data have
# changed. :class:`~bayespoint.BayesPointClassifier` and
# :class:`~bayespoint.LinearBayesPointClassifier` have it.
