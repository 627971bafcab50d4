"""
How softness changes the boundary
=================================

``softness`` says how much noise near the boundary a classifier should expect. Zero insists on
every label and bends the boundary around each odd point; too much makes it smooth and timid.
You see what lies between, and how the default finds a good value without a validation set.
"""

# %%
# Two half moons that overlap, and one kernel for all pictures.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from bayespoint import BayesPointClassifier, DecisionConfidenceDisplay

X, y = make_moons(2150, noise=0.28, random_state=3)
X_train, X_test, y_train, y_test = train_test_split(X, y, train_size=150, random_state=0)


def fit(softness):
    model = BayesPointClassifier("rbf", gamma=2.0, softness=softness, solver="ep")
    return model.fit(X_train, y_train)


# %%
# From hard to soft
# -----------------
#
# Strong colors are certain predictions, white is where the two classes are equally probable. A
# hard boundary bends around single points; a very soft one is never sure of anything.

fig, axes = plt.subplots(2, 2, figsize=(8, 7), sharex=True, sharey=True, layout="constrained")
for ax, softness in zip(axes.flat, [0, "auto", 1, 10], strict=True):
    model = fit(softness)
    DecisionConfidenceDisplay.from_estimator(model, X_train, y_train, ax=ax, legend=False)
    name = f"{softness:g}" if softness != "auto" else f'"auto" ({model.softness_:.2g})'
    loss = log_loss(y_test, model.predict_proba(X_test))
    ax.set(title=f"softness={name}: log loss {loss:.2f}", xlabel="", ylabel="")

# %%
# How "auto" knows
# ----------------
#
# The evidence is the probability of the training labels under all hypotheses together. Hard
# boundaries fit the labels only with hypotheses that are rare beforehand, and very soft ones
# make every labeling about equally probable. No test data are needed to see where the best
# value is.

values = np.geomspace(0.003, 30, 13)
models = [fit(value) for value in values]
evidence = [model.log_evidence_ / len(y_train) for model in models]
losses = [log_loss(y_test, model.predict_proba(X_test)) for model in models]
chosen = fit("auto").softness_

fig, (top, bottom) = plt.subplots(2, 1, figsize=(8, 5.6), sharex=True, layout="constrained")
top.plot(values, evidence, "o-", color="C0")
top.set(ylabel="Log evidence per label", title="What the training labels say")
bottom.plot(values, losses, "o-", color="C3")
bottom.set(ylabel="Log loss on test points", title="What the test points say")
bottom.set(xscale="log", xlabel="softness")
for ax in (top, bottom):
    ax.axvline(chosen, color="0.5", ls="--", lw=1.5)
top.annotate('softness="auto"', (chosen, min(evidence)), xytext=(8, 4), textcoords="offset points")

best = np.argmin(losses)
print(
    f'softness="auto" chose {chosen:.2g}; the best value for the test points is {values[best]:.2g}'
)

# %%
# Next, let the evidence choose gamma as well: ``gamma="auto"`` is the default of
# :class:`~bayespoint.BayesPointClassifier`. If labels are wrong everywhere and not only near
# the boundary, ``label_noise`` is the better answer.
