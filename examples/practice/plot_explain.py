"""
Explaining a prediction
=======================

Why did the classifier say "malignant"? Three answers to three questions: which columns matter
at all, what would have to be different for this row, and how sure we are of each reason.
"""

# %%
# Thirty measurements of tumors. We leave out a third of them, and explain the row that is
# hardest to decide.

# sphinx_gallery_thumbnail_number = 3

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from bayespoint import BayesPointClassifier, LinearBayesPointClassifier
from bayespoint.evaluation.importance import importances

data = load_breast_cancer(as_frame=True)
X, y = data.data, data.target_names[data.target]
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=1 / 3, random_state=0)
model = BayesPointClassifier(random_state=0).fit(X_train, y_train)

malignant = list(model.classes_).index("malignant")
probability = model.predict_proba(X_test)[:, malignant]
row = np.argmin(np.abs(probability - 0.5))
patient = X_test.iloc[[row]]
print(f"probability of malignant: {probability[row]:.0%}; it is {y_test[row]}")

# %%
# Which columns matter?
# ---------------------
#
# Shuffle a column of the test rows, and see how much worse the predictions become. Columns that
# say the same as others look unimportant, because the others still say it.

found = importances(model, X_test, y_test)[:8]
fig, ax = plt.subplots(figsize=(8, 4.2), layout="constrained")
names = [X.columns[one.column] for one in found]
increase, error = np.transpose([(one.log_loss, 2 * one.deviation) for one in found])
ax.barh(names, increase, height=0.65, xerr=error, error_kw={"ecolor": "0.3", "lw": 1.5})
ax.invert_yaxis()
ax.set(xlabel="Increase of the log loss, two standard errors", title="Columns that matter most")
ax.grid(False, axis="y")

# %%
# What if?
# --------
#
# Change one measurement of this patient at a time, from the smallest to the largest value that
# others have. A dot is the value as it was measured.

shares = np.linspace(0.01, 0.99, 60)
fig, ax = plt.subplots(figsize=(8, 4.8), layout="constrained")
for one, color in zip(found[:5], ["C0", "C1", "C2", "C3", "C4"], strict=True):
    name = X.columns[one.column]
    changed = patient.loc[patient.index.repeat(len(shares))].copy()
    changed[name] = X_train[name].quantile(shares).to_numpy()
    curve = model.predict_proba(changed)[:, malignant]
    ax.plot(100 * shares, 100 * curve, color=color, label=name)
    rank = 100 * np.mean(X_train[name] < patient[name].iloc[0])
    ax.plot(rank, 100 * probability[row], "o", ms=10, color=color, mec="black", zorder=3)
ax.axhline(50, color="0.4", lw=1.2, ls="--")
ax.set(xlabel="Rank of the value among all patients (%)", ylabel="Probability of malignant (%)")
ax.set(title="If one measurement were different", xlim=(0, 100), ylim=(0, 100))
ax.legend(loc="upper left")

# %%
# How sure are the reasons?
# -------------------------
#
# In a linear classifier each column adds its weight times its value. The weights have a
# posterior, so each reason has an error bar. Its biggest reasons, compared with the average
# patient:

linear = LinearBayesPointClassifier().fit(X_train, y_train)
weights = linear.sample_coef(1000, random_state=0)[:, :-1]
if linear.classes_[1] != "malignant":
    weights = -weights
reasons = weights * (patient - X_train.mean()).to_numpy()
order = np.argsort(-np.abs(reasons.mean(axis=0)))[:8]
low, middle, high = np.quantile(reasons[:, order], [0.05, 0.5, 0.95], axis=0)

fig, ax = plt.subplots(figsize=(8, 4.2), layout="constrained")
ax.barh(X.columns[order], middle, color=np.where(middle > 0, "C3", "C0"), height=0.65)
ax.hlines(X.columns[order], low, high, color="0.3", lw=1.5)
ax.axvline(0, color="0.3", lw=1)
ax.invert_yaxis()
ax.set(xlabel="for benign   ←   contribution, with 90 % interval   →   for malignant")
ax.set_title("Reasons for this patient")
ax.grid(False, axis="y")

# %%
# Next, try ``bayespoint explain MODEL DATA`` on a model file, or ``write_report``, which has a
# page with the columns that matter: :func:`bayespoint.write_report`.
