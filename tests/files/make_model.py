"""Make model_vN.bayespoint and its predictions for a new version N of the file format.

Run `python tests/files/make_model.py` with the version to be released, commit both files,
and never change them: `test_model_file.py` loads all of them.
"""

import json
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import bayespoint
from bayespoint.io.models.model_file import VERSION
from bayespoint.solvers import EP


def make_table(n: int, seed: int) -> pd.DataFrame:
    """Return numbers and categories with missing values."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "width": rng.normal(size=n),
            "height": rng.normal(size=n),
            "color": rng.choice(["red", "green", "blue", "rare"], n, p=[0.4, 0.3, 0.25, 0.05]),
        }
    )
    table["color"] = table["color"].astype(object)
    table.loc[3, "width"] = np.nan
    table.loc[5, "color"] = np.nan
    return table


def make_pipeline(classifier, sparse_output: bool = False) -> Pipeline:
    """Return the pipeline that the command builds for a table with such columns."""
    numbers = Pipeline(
        [
            ("impute", SimpleImputer(strategy="median", add_indicator=True)),
            ("scale", StandardScaler()),
        ]
    )
    categories = OneHotEncoder(
        handle_unknown="infrequent_if_exist", min_frequency=5, sparse_output=sparse_output
    )
    parts = [("numbers", numbers, ["width", "height"]), ("categories", categories, ["color"])]
    prepare = ColumnTransformer(parts, verbose_feature_names_out=False)
    return Pipeline([("prepare", prepare), ("classify", classifier)])


def labels_of(table: pd.DataFrame, classes) -> np.ndarray:
    score = table["width"].fillna(0) + (table["color"] == "red")
    return np.asarray(classes)[np.digitize(score, np.linspace(0, 1, len(classes) + 1)[1:-1])]


def main() -> None:
    table = make_table(40, seed=0)
    classifier = bayespoint.BayesPointClassifier(solver=EP(n_draws=8), random_state=0)
    model = make_pipeline(classifier).fit(table, labels_of(table, ["no", "perhaps", "yes"]))
    new = make_table(20, seed=1)
    place = Path(__file__).with_name(f"model_v{VERSION}.bayespoint")
    bayespoint.save(model, place, {"made_by": "tests/files/make_model.py"})
    expected = {
        "table": json.loads(new.to_json(orient="split")),
        "predict": model.predict(new).tolist(),
        "predict_proba": model.predict_proba(new).tolist(),
    }
    place.with_suffix(".json").write_text(json.dumps(expected, indent=1) + "\n")


if __name__ == "__main__":
    main()
