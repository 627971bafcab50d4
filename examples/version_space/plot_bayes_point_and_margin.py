"""
The Bayes point and the largest margin
======================================

Many straight lines separate two classes of points without an error. A support vector machine
takes the one that stays farthest from the points; a Bayes point machine takes the mean of all.
You see both in the plane, on the sphere where every line is a single point, and in the errors
that they make on new points.
"""

# %%
# Fifteen points, labeled by a line that the classifiers do not know. ``softness=0`` asks for
# classifiers without training errors, and the billiard visits all of them.

import matplotlib.pyplot as plt
import numpy as np

from bayespoint import BayesPointClassifier, VersionSpaceDisplay
from bayespoint.solvers import Billiard, LargestBall


def draw_points(seed, n_points=2015):
    rng = np.random.default_rng(seed)
    angle, offset = rng.uniform(0, 2 * np.pi), rng.uniform(-0.3, 0.3)
    X = rng.uniform(-1, 1, (n_points, 2))
    return X, np.where(X @ [np.cos(angle), np.sin(angle)] > offset, "plus", "minus")


X, y = draw_points(seed=27)
X_train, y_train = X[:15], y[:15]

hard = {"kernel": "linear", "softness": 0, "random_state": 0}
bayes = BayesPointClassifier(solver=Billiard(tol=0.01), **hard).fit(X_train, y_train)
margin = BayesPointClassifier(solver=LargestBall(), **hard).fit(X_train, y_train)

# %%
# In the plane and on the sphere
# ------------------------------
#
# On the left, each thin line is a hypothesis that the billiard met. All of them are right about
# the training points, but they disagree about the space between the classes.
#
# A line has three numbers, two weights and an offset, and their common scale does not matter.
# So it is a point on the sphere, on the right. Each training point is a wall there, and what
# the walls leave is version space. The largest margin is the center of the largest ball inside;
# the Bayes point is the center of mass. The seed was chosen so that version space is long,
# where the two differ most.

side = np.linspace(-1.1, 1.1, 150)
grid = np.meshgrid(side, side)
pixels = np.column_stack([part.ravel() for part in grid])

fig, (plane, sphere) = plt.subplots(1, 2, figsize=(8, 4.6), layout="constrained")
for output in bayes.sample_decision(pixels, 60):
    plane.contour(*grid, output.reshape(150, 150), [0], colors="0.72", linewidths=0.7)
for model, color in [(bayes, "C3"), (margin, "C0")]:
    output = model.decision_function(pixels).reshape(150, 150)
    plane.contour(*grid, output, [0], colors=color, linewidths=3)
for label, color, marker in [("minus", "C5", "o"), ("plus", "C1", "s")]:
    plane.plot(*X_train[y_train == label].T, marker, ms=9, mec="black", color=color, label=label)
plane.plot([], [], color="0.72", label="other lines")
plane.set(title="Lines without a training error", xticks=[], yticks=[], aspect="equal")

VersionSpaceDisplay.from_estimator(bayes, X_train, y_train, n_bounces=0, ax=sphere, legend=False)
sphere.set(title="The same lines as points of a sphere", anchor="C")
fig.legend(loc="outside lower center", ncols=3)

# %%
# On new points
# -------------
#
# Nobody knows the true line, but the Bayes point is in the middle of those that could be true.
# How much this helps differs from problem to problem, so here are sixty of them.

errors = {"Bayes point": [], "largest margin": []}
for seed in range(60):
    X, y = draw_points(seed)
    if len(set(y[:15])) == 2:
        for name, solver in [("Bayes point", "ep"), ("largest margin", LargestBall())]:
            model = BayesPointClassifier(solver=solver, **hard).fit(X[:15], y[:15])
            errors[name].append(100 * (1 - model.score(X[15:], y[15:])))

ours, theirs = np.array(errors["Bayes point"]), np.array(errors["largest margin"])
for name, values in errors.items():
    print(f"{name:15} makes {np.mean(values):.1f} % errors on average")

fig, ax = plt.subplots(figsize=(6, 5), layout="constrained")
ax.axline((0, 0), slope=1, color="0.5", lw=1)
ax.scatter(theirs, ours, s=60, color=np.where(ours < theirs, "C3", "C0"), edgecolors="white")
ax.text(12, 1.5, f"Bayes point better: {np.sum(ours < theirs)}", color="C3")
ax.text(0, 19.5, f"largest margin better: {np.sum(ours > theirs)}", color="C0")
ax.set(aspect="equal", title=f"{len(ours)} problems, one dot each")
ax.set(xlabel="Errors of the largest margin (%)", ylabel="Errors of the Bayes point (%)")

# %%
# Next, raise the number of training points and see how both approach the truth. Or let the
# walls give way: ``softness="auto"``, the default of :class:`~bayespoint.BayesPointClassifier`,
# expects noisy labels.
