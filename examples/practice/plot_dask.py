"""
Learning on a Dask cluster
==========================

When rows are on many machines, or do not fit into memory, :func:`bayespoint.distributed.fit`
learns where they are. The answer is the one that a single machine would find. You see that it
is, and how the weights settle as rows come in.
"""

# %%
# A small cluster, in threads of this process so that it starts at once. ``Client()`` without
# arguments starts processes, and with an address it takes your cluster.

import dask
import matplotlib.pyplot as plt
import numpy as np
from dask.distributed import Client

from bayespoint import LinearBayesPointClassifier, distributed

dask.config.set({"distributed.worker.memory.terminate": False})
client = Client(processes=False, n_workers=2, threads_per_worker=1, dashboard_address=":0")

# %%
# Data in twenty parts. Each worker makes its parts when it needs them, as it would read files.
# Dask arrays and data frames work in the same way.

N_ROWS, N_FEATURES = 2_000, 12
truth = np.linspace(-1.5, 1.5, N_FEATURES)


def read_part(number):
    rng = np.random.default_rng(number)
    X = rng.standard_normal((N_ROWS, N_FEATURES))
    return X, X @ truth + 2 * rng.standard_normal(N_ROWS) > 0


def lazily(n_parts):
    parts = [dask.delayed(read_part, nout=2)(number) for number in range(n_parts)]
    return [X for X, _ in parts], [y for _, y in parts]


# %%
# The same answer
# ---------------

cluster = distributed.fit(LinearBayesPointClassifier(), *lazily(20))

X, y = (np.concatenate(parts) for parts in zip(*map(read_part, range(20)), strict=True))
alone = LinearBayesPointClassifier().fit(X, y)
gap = np.abs(cluster.coef_ - alone.coef_) / np.sqrt(alone.coef_variance_)
print(f"largest difference of a weight: {gap.max():.4f} standard deviations")
print(f"different predictions: {np.sum(cluster.predict(X) != alone.predict(X))} of {len(y):,}")

# %%
# How much more rows tell
# -----------------------
#
# The same call on one, five and twenty parts. Weights are known up to a common factor, so they
# are shown for a length of one, with two standard deviations.

fig, ax = plt.subplots(figsize=(8, 5), layout="constrained")
places = np.arange(N_FEATURES)
for shift, n_parts, color in [(-0.22, 1, "C5"), (0, 5, "C1"), (0.22, 20, "C3")]:
    model = distributed.fit(LinearBayesPointClassifier(), *lazily(n_parts))
    length = np.linalg.norm(model.coef_[0])
    error = 2 * np.sqrt(model.coef_variance_[0]) / length
    label = f"{n_parts * N_ROWS:,} rows"
    look = {"fmt": "o", "ms": 6, "lw": 2.5, "color": color, "label": label}
    ax.errorbar(places + shift, model.coef_[0] / length, yerr=error, **look)
direction = truth / np.linalg.norm(truth)
ax.hlines(direction, places - 0.4, places + 0.4, color="black", lw=1.5, label="truth")
ax.set(xlabel="Feature", ylabel="Weight", title="Weights from a cluster", xticks=places)
ax.grid(False, axis="x")
ax.legend()

client.close()

# %%
# Next, pass a :class:`~bayespoint.BayesPointClassifier`, which needs more than 10,000 rows, and
# ``dask.dataframe.read_parquet("folder")``. If a worker dies, its parts are learned again.
