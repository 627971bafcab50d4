"""Preprocessors that turn columns into features for a classifier."""

from __future__ import annotations

from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, OneHotEncoder, StandardScaler

from .columns import Columns

# Categories with fewer rows share one feature.
MIN_ROWS_PER_CATEGORY = 5


def make_preprocessor(columns: Columns) -> ColumnTransformer:
    """Return a transformer that scales numbers, encodes text and fills in missing values."""
    numbers = Pipeline(
        [
            (
                "impute",
                SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True),
            ),
            ("scale", StandardScaler()),
        ]
    )
    # Missing text is a category of its own.
    texts = OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=MIN_ROWS_PER_CATEGORY)
    parts = [("numbers", numbers, columns.numbers), ("categories", texts, columns.categories)]
    return ColumnTransformer([part for part in parts if part[2]], verbose_feature_names_out=False)


def make_sparse_preprocessor() -> MaxAbsScaler:
    """Return a transformer that scales columns without names and keeps zeros."""
    return MaxAbsScaler()
