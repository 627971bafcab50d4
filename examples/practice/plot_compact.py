"""
Compact models
==============

A kernel machine carries its training points along, and goes through them for each prediction.
:meth:`~bayespoint.BayesPointClassifier.compact` finds a few of them that say the same, up to a
tolerance that you choose. You see where they are, and what you get for how little.
"""

# %%
# A smooth kernel on a problem with two features: a good case.

import tempfile
import time
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits, make_moons

import bayespoint
from bayespoint import BayesPointClassifier, DecisionConfidenceDisplay

X, y = make_moons(600, noise=0.25, random_state=0)
model = BayesPointClassifier("rbf", gamma=2.0, softness=0.3, solver="regression").fit(X, y)
small = model.compact(tol=0.005)

fig, axes = plt.subplots(1, 2, figsize=(8, 4.2), sharey=True, layout="constrained")
for ax, shown, name in [(axes[0], model, "As fitted"), (axes[1], small, "Compact")]:
    DecisionConfidenceDisplay.from_estimator(shown, X, ax=ax, legend=False)
    ax.plot(*X[shown.support_].T, "o", color="white", mec="black", ms=5)
    ax.set(title=f"{name}: {len(shown.support_)} points", xlabel="", ylabel="")
print(f"largest change of a probability: {small.compaction_.change:.4f}")

# %%
# What you get, and what it costs
# -------------------------------
#
# Images of digits have 64 features, and the default machine has rough kernels besides the
# smooth one. Far fewer points can be left out there. Files and predictions become smaller and
# faster all the same, because they need only single precision.

X, y = load_digits(return_X_y=True)
machines = {
    "two moons, rbf": (model, make_moons(20_000, noise=0.25, random_state=1)[0]),
    "digits, rbf": (BayesPointClassifier("rbf", solver="regression", softness=0.05), X[1000:]),
    "digits, default": (BayesPointClassifier(random_state=0), X[1000:]),
}


def measure(shown, X_new):
    """Return the size of the file in kB, and the CPU milliseconds of a prediction."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.bayespoint"
        bayespoint.save(shown, path)
        size = path.stat().st_size / 1000
    seconds = []
    for _ in range(3):
        began = time.process_time()
        shown.predict_proba(X_new)
        seconds.append(time.process_time() - began)
    return size, 1000 * min(seconds)


fig, (left, right) = plt.subplots(1, 2, figsize=(8, 4.2), layout="constrained")
tolerances = [0.001, 0.01, 0.03, 0.1]
print(f"{'':16} {'points':>12} {'kB':>12} {'CPU ms':>12}")
for color, (name, (machine, X_new)) in zip(["C3", "C0", "C2"], machines.items(), strict=True):
    whole = machine if hasattr(machine, "support_") else machine.fit(X[:1000], y[:1000])
    compact = [whole.compact(tol) for tol in tolerances]
    kept = [100 * len(one.support_) / len(whole.support_) for one in compact]
    changed = [100 * np.mean(one.predict(X_new) != whole.predict(X_new)) for one in compact]
    left.plot(tolerances, kept, "o-", color=color, label=name)
    right.plot(tolerances, changed, "o-", color=color)
    before, after = measure(whole, X_new), measure(compact[1], X_new)
    points = f"{len(whole.support_)} → {len(compact[1].support_)}"
    size, speed = (f"{b:.0f} → {a:.0f}" for b, a in zip(before, after, strict=True))
    print(f"{name:16} {points:>12} {size:>12} {speed:>12}   (tol=0.01)")
left.set(xscale="log", xlabel="tol", title="Points that are kept (%)", ylim=(0, 105))
right.set(xscale="log", xlabel="tol", title="Answers that change (%)")
right.set_ylim(bottom=0)
left.legend(loc="center left")

# %%
# Next, ``bayespoint.save(small, "small.bayespoint")`` writes a file that runs no code when it
# is loaded, and :func:`bayespoint.to_onnx` one that needs no Python.
