"""
Expectation propagation against the exact sampler
=================================================

The billiard samples version space exactly, with an error that falls slowly. Expectation
propagation (EP) replaces each wall by a Gaussian factor: an approximation, but one that takes
no samples. How close is it, how fast, and does it matter for predictions?
"""

# %%
# We train both on half of a data set of tumors, with the same kernel, and with a hard boundary.

import time

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from bayespoint import BayesPointClassifier
from bayespoint.solvers import Billiard

X, y = load_breast_cancer(return_X_y=True)
X = StandardScaler().fit_transform(X)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0)

settings = {"kernel": "rbf", "gamma": 0.02, "softness": 0, "random_state": 0}
models, seconds = {}, {}
for name, solver in [("EP", "ep"), ("billiard", Billiard(tol=0.02))]:
    BayesPointClassifier(solver=solver, **settings).fit(X_train[:50], y_train[:50])  # compile
    began = time.process_time()
    models[name] = BayesPointClassifier(solver=solver, **settings).fit(X_train, y_train)
    seconds[name] = time.process_time() - began
    print(f"{name:8} error {1 - models[name].score(X_test, y_test):.2%}")

# %%
# Where they differ, and what accuracy costs
# ------------------------------------------
#
# On the left, the difference of the two mean outputs at each test point. The gray band is two
# typical standard errors of the billiard itself, which come from the disagreement of its balls.
#
# On the right, the price. Half the error costs a billiard four times the time, but it can be
# made as exact as you like. EP has one price and one accuracy. A long run stands for the truth.

exact = models["billiard"].decision_function(X_test)
error = models["billiard"].decision_std_error(X_test)
approximate = models["EP"].decision_function(X_test)
changed = np.mean((exact > 0) != (approximate > 0))
print(f"correlation {np.corrcoef(exact, approximate)[0, 1]:.6f}")
print(f"{changed:.1%} of the test points change their class")

long_run = BayesPointClassifier(solver=Billiard(tol=0.006, n_bounces=10**8), **settings)
truth = long_run.fit(X_train, y_train).decision_function(X_test)


def difference(output):
    """Return the root mean square difference to the long run, in percent of the outputs."""
    return 100 * np.sqrt(np.mean((output - truth) ** 2) / np.mean(truth**2))


fig, (left, right) = plt.subplots(1, 2, figsize=(8, 4.2), layout="constrained")
left.axhspan(*(2 * np.median(error) * np.array([-1, 1])), color="0.9", lw=0)
for label, name, color, marker in [(0, "malignant", "C3", "s"), (1, "benign", "C0", "o")]:
    shown = y_test == label
    gap = (approximate - exact)[shown]
    left.plot(exact[shown], gap, marker, ms=5, color=color, mec="white", mew=0.5, label=name)
left.set(xlabel="Output of the billiard", ylabel="EP minus billiard")
left.set_title("Differences at the test points")
left.legend(loc="upper left")

for tol in [0.05, 0.03, 0.02, 0.01]:
    began = time.process_time()
    model = BayesPointClassifier(solver=Billiard(tol=tol), **settings).fit(X_train, y_train)
    at = time.process_time() - began, difference(model.decision_function(X_test))
    right.plot(*at, "o", color="C0", ms=8)
    right.annotate(f"tol={tol:g}", at, xytext=(7, 4), textcoords="offset points", color="C0")
at = seconds["EP"], difference(approximate)
right.plot(*at, "D", color="C3", ms=10)
right.annotate("EP", at, xytext=(9, 4), textcoords="offset points", color="C3")
right.margins(0.25)
right.set(xlim=(0, None), ylim=(0, None), xlabel="CPU seconds of a fit")
right.set(ylabel="Difference to a long run (%)", title="The price of accuracy")

# %%
# Next, pass ``label_noise=0.05``: both solvers support it, and the posterior becomes harder to
# approximate. :class:`~bayespoint.BayesPointClassifier` takes ``solver="ep"`` for named kernels
# by itself.
