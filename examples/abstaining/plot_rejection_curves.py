"""
Rejection curves: what refusing buys
====================================

A classifier that may say "I do not know" makes fewer errors on the rest, if its confidence is
worth something. A rejection curve shows how the error falls as more of the least certain
predictions are refused. It compares classifiers by what matters here: whether their errors come
last in the line.
"""

# %%
# Handwritten digits, with few of them to train on, so that there are errors to refuse.

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from bayespoint import BayesPointClassifier, RejectionCurveDisplay, RejectOptionClassifier

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(
    X, y, train_size=250, stratify=y, random_state=0
)

models = {
    "Bayes point machine": BayesPointClassifier(random_state=0),
    "SVC": SVC(),  # by the difference between its two largest outputs
    "Random forest": RandomForestClassifier(300, random_state=0),
    "Logistic regression": make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
}

# %%
# All curves
# ----------
#
# At the left nothing is refused: the usual error. The mean error in the legend is the area
# under the curve, over all shares that could be refused.

fig, ax = plt.subplots(figsize=(8, 5), layout="constrained")
displays = {}
for color, (name, model) in zip(["C3", "C0", "C2", "C1"], models.items(), strict=True):
    model.fit(X_train, y_train)
    displays[name] = RejectionCurveDisplay.from_estimator(
        model, X_test, y_test, name=name, ax=ax, color=color
    )
ax.set(xlim=(0, 0.5), title="Digits, 250 images to train with")

print(f"{'refused':20} {'0 %':>6} {'5 %':>6} {'10 %':>6} {'20 %':>6}")
for name, display in displays.items():
    rate, error = display.curve.reject_rate, display.curve.error
    row = [error[rate.searchsorted(share)] for share in (0, 0.05, 0.1, 0.2)]
    print(f"{name:20} " + " ".join(f"{value:6.1%}" for value in row))

# %%
# Refuse a share
# --------------
#
# To use a point of the curve, wrap the classifier. Some training rows are held out to set the
# threshold; a refused digit gets the label -1.

careful = RejectOptionClassifier(models["Bayes point machine"], reject_rate=0.1, random_state=0)
careful.fit(X_train, y_train)
answers = careful.predict(X_test)
refused = answers == -1
print(
    f"refused: {refused.mean():.1%}, error of the others: {1 - careful.score(X_test, y_test):.2%}"
)

# %%
# These are refused first: the least certain of all test digits, with the answer that they would
# have got.

confidence = careful.confidence(X_test)
fig, axes = plt.subplots(2, 8, figsize=(8, 2.9), layout="constrained")
for ax, row in zip(axes.flat, confidence.argsort(), strict=False):
    ax.imshow(X_test[row].reshape(8, 8), cmap="gray_r")
    ax.set_title(
        f"{careful.estimator_.predict(X_test[[row]])[0]}? ({confidence[row]:.0%})", fontsize=10
    )
    ax.axis("off")

# %%
# Next, do not choose a share but promise an error: ``max_error=0.01`` of
# :class:`~bayespoint.RejectOptionClassifier`. :class:`~bayespoint.RejectionCurveDisplay` takes
# any classifier of scikit-learn.
