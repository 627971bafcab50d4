"""
Probabilities you can trust, without a second model
===================================================

If a classifier says 80 %, it should be right four times out of five. Support vector machines
need a second model for this, forests and boosting often need one. A Bayes point machine gets
its probabilities from the spread of the hypotheses, in the same fit. You see how true they are.
"""

# %%
# A noisy problem with ten features and few rows: 300 to train with, and 8,000 to judge.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.calibration import CalibratedClassifierCV, calibration_curve
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.metrics import brier_score_loss, log_loss
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from bayespoint import BayesPointClassifier

X, y = make_classification(
    8300,
    n_features=10,
    n_informative=5,
    n_clusters_per_class=3,
    flip_y=0.1,
    class_sep=0.8,
    random_state=1,
)
X_train, X_test, y_train, y_test = train_test_split(X, y, train_size=300, random_state=0)

svc = make_pipeline(StandardScaler(), SVC())
models = {
    "Bayes point machine": BayesPointClassifier(random_state=0),
    "SVC, calibrated": CalibratedClassifierCV(svc, ensemble=False),
    "Random forest": RandomForestClassifier(300, random_state=0),
    "Gradient boosting": HistGradientBoostingClassifier(random_state=0),
}

# %%
# Reliability
# -----------
#
# Test rows are sorted by their predicted probability into ten groups. On the diagonal the share
# of positive rows is what was predicted. Bars show how many rows each group has: honest
# probabilities that are near 0 or 1 are worth more than honest ones near one half.

fig, axes = plt.subplots(2, 2, figsize=(7.4, 7.4), sharex=True, sharey=True, layout="constrained")
colors = ["C3", "C0", "C2", "C1"]
for ax, color, (name, model) in zip(axes.flat, colors, models.items(), strict=True):
    probability = model.fit(X_train, y_train).predict_proba(X_test)[:, 1]
    observed, predicted = calibration_curve(y_test, probability, n_bins=10)
    counts, edges = np.histogram(probability, bins=10, range=(0, 1))
    ax.bar(edges[:-1], counts / len(y_test), 0.1, align="edge", color="0.88", edgecolor="white")
    ax.axline((0, 0), slope=1, color="0.5", lw=1.2, ls="--")
    ax.plot(predicted, observed, "o-", color=color, clip_on=False)
    ax.set_title(f"{name}\nlog loss {log_loss(y_test, probability):.3f}")
    ax.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
fig.supxlabel("Predicted probability")
fig.supylabel("Share of positive rows")

# %%
# Numbers, for those who do not trust pictures: the smaller, the better.

print(f"{'':20} {'error':>7} {'Brier':>7} {'log loss':>9}")
for name, model in models.items():
    probability = model.predict_proba(X_test)[:, 1]
    error = np.mean(model.predict(X_test) != y_test)
    brier, loss = brier_score_loss(y_test, probability), log_loss(y_test, probability)
    print(f"{name:20} {error:7.1%} {brier:7.3f} {loss:9.3f}")

# %%
# Next, look at ``model.loo_proba_`` of a :class:`~bayespoint.BayesPointClassifier`: the
# probabilities of training rows as if each had been left out. They tell you the log loss
# without any test rows:

bayes = models["Bayes point machine"]
print(f"expected from training rows: {log_loss(y_train, bayes.loo_proba_):.3f}")
print(f"found on test rows:          {log_loss(y_test, bayes.predict_proba(X_test)):.3f}")
