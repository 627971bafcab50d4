"""
Watching a promise after deployment
===================================

A promise holds for rows like those that it was made with. After deployment the world may
change. A certificate collects the evidence against the promise as true classes become known.
You may look at it after every row: a false alarm, ever, has a probability of at most 5 %.
"""

# %%
# A classifier of noisy moons promises that at most 5 % of its answers are wrong.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from bayespoint import BayesPointClassifier, RejectOptionClassifier

X, y = make_moons(1500, noise=0.25, random_state=0)
model = RejectOptionClassifier(
    BayesPointClassifier("rbf", gamma=1.5, softness=0.2, solver="regression"),
    max_error=0.05,
    calibration_size=1000,
    random_state=0,
).fit(X, y)
print(f"{model.coverage_:.0%} of the rows get an answer")

# %%
# Two futures
# -----------
#
# In one, rows go on as before. In the other, the noise grows slowly after row 2,000. True
# classes come in portions of fifty rows, in their order.

N_ROWS, PORTION = 5000, 50


def draw_future(drifts, seed):
    X, y = make_moons(N_ROWS, noise=0.25, random_state=seed)
    rng = np.random.default_rng(seed)
    late = np.clip((np.arange(N_ROWS) - 2000) / 3000, 0, 1) * drifts
    return X + 0.5 * late[:, None] * rng.standard_normal(X.shape), y


def watch(X, y):
    """Return the evidence against the promise, and the error of the answers, after each portion."""
    certificate, evidence, wrong = model.certificate(), [], []
    for start in range(0, N_ROWS, PORTION):
        rows = slice(start, start + PORTION)
        answers = model.predict(X[rows])
        certificate.update(y[rows], answers)
        evidence.append(certificate.watched()[0].evidence)
        wrong.append(100 * np.mean((answers != y[rows])[answers != -1]))
    return np.array(evidence), np.array(wrong), certificate


fig, (top, bottom) = plt.subplots(2, 1, figsize=(8, 6), sharex=True, layout="constrained")
places = np.arange(PORTION, N_ROWS + 1, PORTION)
for name, drifts, color in [("as before", 0, "C0"), ("noise grows", 1, "C3")]:
    evidence, wrong, certificate = watch(*draw_future(drifts, seed=1))
    mean = np.convolve(wrong, np.ones(10) / 10, mode="valid")
    top.plot(places[9:], mean, color=color, label=name)
    bottom.plot(places, evidence, color=color)
    verdict = "holds"
    if not certificate.holds:
        alarm = places[np.argmax(evidence >= 20)]
        bottom.plot(alarm, evidence[evidence >= 20][0], "o", ms=11, color=color, mec="black")
        verdict = f"is broken, known after {alarm:,} rows"
    print(f"{name}: the promise {verdict}")
top.axhline(5, color="black", ls="--", lw=1.5)
top.axvline(2000, color="0.5", lw=1.2)
top.set(ylabel="Wrong answers (%)", title="What happens, mean of 500 rows", ylim=(0, None))
top.legend(loc="upper left")
bottom.axhline(20, color="black", ls="--", lw=1.5)
bottom.axvline(2000, color="0.5", lw=1.2)
bottom.set(yscale="log", ylim=(0.5, 1e4), xlabel="Rows since deployment")
bottom.set(ylabel="Evidence", title="What the certificate says; alarm at 20")

# %%
# How many false alarms?
# ----------------------
#
# Twenty futures in which nothing changes, each watched all the time:

alarms = [not watch(*draw_future(0, seed))[2].holds for seed in range(10, 30)]
print(f"false alarms: {sum(alarms)} of {len(alarms)}")

# %%
# Next, keep the certificate between runs with ``certificate.to_dict()`` and
# ``Certificate.from_dict``: :class:`~bayespoint.Certificate`. With ``groups``, each group is
# watched by itself.
