"""
A table as it comes
===================

Texts, numbers in different units, missing values: a real table is not a matrix. A Bayes point
machine takes a data frame as it is, and has nothing to tune. You see how it compares with
pipelines for the same table when there are few rows, and when there are many.
"""

# %%
# Customers who stay or leave. One value in five of a column is missing, the plan and the city
# are texts, and money is in thousands.

import time

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from bayespoint import BayesPointClassifier

CITIES = ["Accra", "Lima", "Oslo", "Pune", "Turin"]


def draw_customers(n_rows, rng):
    table = pd.DataFrame(
        {
            "plan": rng.choice(["basic", "plus", "pro"], n_rows, p=[0.5, 0.3, 0.2]),
            "city": rng.choice(CITIES, n_rows),
            "months": rng.integers(1, 60, n_rows).astype(float),
            "spending": rng.lognormal(7, 1, n_rows),
            "complaints": rng.poisson(1.0, n_rows).astype(float),
        }
    )
    pull = (
        1.5 * table.complaints.clip(upper=4)
        - 2.0 * np.log(table.spending / 1100) * (table.plan != "basic")
        - 1.6 * np.cos(table.months / 8)
        + 1.5 * (table.city == "Lima")
        - 1.5
    )
    y = np.where(rng.random(n_rows) < 1 / (1 + np.exp(-pull)), "leaves", "stays")
    table.loc[rng.random(n_rows) < 0.2, "spending"] = np.nan
    return table, y


rng = np.random.default_rng(0)
X_test, y_test = draw_customers(5000, rng)
print(X_test.head(4).to_string())

# %%
# Fit the table
# -------------
#
# No encoder, no scaler, no imputer:

X, y = draw_customers(300, rng)
model = BayesPointClassifier(random_state=0).fit(X, y)
print(f"{X_test.isna().sum().sum()} missing values, accuracy {model.score(X_test, y_test):.1%}")

# %%
# The others need a pipeline, or at least another type for texts.

numbers = make_pipeline(SimpleImputer(add_indicator=True), StandardScaler())
encoded = make_column_transformer(
    (OneHotEncoder(handle_unknown="ignore"), ["plan", "city"]),
    (numbers, make_column_selector(dtype_include="number")),
)
models = {
    "Bayes point machine": BayesPointClassifier(random_state=0),
    "Logistic regression": make_pipeline(encoded, LogisticRegression()),
    "Gradient boosting": HistGradientBoostingClassifier(random_state=0),
}


def as_needed(name, table):
    """Boosting wants categories instead of texts."""
    if name != "Gradient boosting":
        return table
    kinds = {
        "plan": pd.CategoricalDtype(["basic", "plus", "pro"]),
        "city": pd.CategoricalDtype(CITIES),
    }
    return table.astype(kinds)


# %%
# Few rows and many
# -----------------

sizes = [50, 100, 200, 400, 800, 1600]
X, y = draw_customers(max(sizes), rng)
fig, ax = plt.subplots(figsize=(8, 4.8), layout="constrained")
for color, (name, model) in zip(["C3", "C1", "C2"], models.items(), strict=True):
    losses, began = [], time.perf_counter()
    for size in sizes:
        model.fit(as_needed(name, X[:size]), y[:size])
        losses.append(log_loss(y_test, model.predict_proba(as_needed(name, X_test))))
    ax.plot(sizes, losses, "o-", color=color, label=name)
    seconds = time.perf_counter() - began
    few, many = (f"{losses[i]:.2f} with {sizes[i]} rows" for i in (0, -1))
    print(f"{name:20} log loss {few}, {many}; {seconds:.1f} s")
ax.set(
    xscale="log",
    xlabel="Training rows",
    ylabel="Log loss on test rows",
    title="A table of five columns",
)
ax.set_xticks(sizes, sizes)
ax.minorticks_off()
ax.legend()

# %%
# Next, ask ``model.columns_`` what became of each column, or give the same file to the command:
# ``bayespoint train customers.csv --target column``. :class:`~bayespoint.BayesPointClassifier`
# describes how missing values and new categories are treated.
