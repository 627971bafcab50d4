"""
Version space of a text classifier
==================================

Very many linear classifiers get every training message right: each word can have many weights.
What do they have in common? You draw the version space of three words, and then ask all
consistent classifiers of a larger vocabulary which words they agree on.
"""

# %%
# Short messages about space and about medicine, made by a small generator. Each has at least
# one telling word; most other words are said in both.

# sphinx_gallery_thumbnail_number = 2

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

from bayespoint import BayesPointClassifier, VersionSpaceDisplay
from bayespoint.solvers import Billiard

WORDS = {
    "space": "orbit rocket moon launch satellite telescope",
    "medicine": "patient doctor dose disease nurse hospital",
    "both": "study new report people time cost year question risk",
}


def write_messages(n_messages, n_words, rng):
    topics = rng.choice(["space", "medicine"], n_messages)
    messages = []
    for topic in topics:
        sources = [topic, *rng.choice([topic, "both"], n_words - 1, p=[0.3, 0.7])]
        messages.append(" ".join(rng.choice(WORDS[source].split()) for source in sources))
    return messages, topics


messages, topics = write_messages(120, 6, np.random.default_rng(1))
for topic, message in list(zip(topics, messages, strict=True))[:4]:
    print(f"{topic:8} | {message}")

# %%
# Three words
# -----------
#
# Count three words only, and a hypothesis is a point on the sphere: one weight for each word.
# Every message that has "moon" or "nurse" is a wall. "new" is said in both, so its weight can
# be anything that the others allow.

three = CountVectorizer(vocabulary=["moon", "nurse", "new"])
X = three.transform(messages).toarray().astype(float)
telling = X[:, :2].any(axis=1)

small = BayesPointClassifier(
    "linear", fit_intercept=False, softness=0, solver=Billiard(tol=0.01), random_state=0
).fit(X[telling], topics[telling])
fig, ax = plt.subplots(figsize=(6.4, 5), layout="constrained")
VersionSpaceDisplay.from_estimator(small, X[telling], topics[telling], n_bounces=0, ax=ax)
ax.set_title('Weights of "moon", "nurse", "new"')
for word, weight in zip(three.vocabulary, small.decision_function(np.eye(3)), strict=True):
    print(f"{word:8} {weight:+.2f}")

# %%
# All words
# ---------
#
# The billiard keeps draws of hypotheses. Their output for a message of a single word is the
# weight of this word, so we see how all consistent classifiers judge it. A word is settled if
# 97.5 % of them are on the same side.

vectorizer = CountVectorizer()
X = vectorizer.fit_transform(messages).toarray().astype(float)
words = vectorizer.get_feature_names_out()
model = BayesPointClassifier(
    "linear", fit_intercept=False, softness=0, solver=Billiard(tol=0.02), random_state=0
).fit(X, topics)

weights = model.sample_decision(np.eye(len(words)))
order = np.argsort(weights.mean(axis=0))
low, middle, high = np.quantile(weights[:, order], [0.025, 0.5, 0.975], axis=0)
side = np.where(low > 0, 1, np.where(high < 0, -1, 0))

fig, ax = plt.subplots(figsize=(8, 6.4), layout="constrained")
ax.axvline(0, color="0.3", lw=1)
for value, color, label in [(1, "C0", "space"), (0, "0.6", "not settled"), (-1, "C3", "medicine")]:
    chosen = np.flatnonzero(side == value)
    ax.hlines(chosen, low[chosen], high[chosen], color=color, lw=5, alpha=0.5)
    ax.plot(middle[chosen], chosen, "o", color=color, label=label)
ax.set_yticks(range(len(words)), words[order])
ax.set(xlabel="Weight in 95 % of all consistent classifiers", title="What 120 messages settle")
ax.legend(loc="lower right")
ax.grid(False, axis="y")

test, truth = write_messages(2000, 6, np.random.default_rng(2))
test = vectorizer.transform(test).toarray().astype(float)
print(f"{np.sum(side != 0)} of {len(words)} words are settled by {len(X)} messages")
print(f"error of the Bayes point on new messages: {1 - model.score(test, truth):.1%}")
print(f"mean error of single consistent classifiers: {model.draw_errors(test, truth).mean():.1%}")

# %%
# Next, take your own texts: :class:`~bayespoint.LinearBayesPointClassifier` learns from sparse
# matrices of many words, and ``sample_coef`` draws their weights.
