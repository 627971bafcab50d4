"""Preprocessors that turn columns into features for a classifier."""

from __future__ import annotations

from typing import Any

from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, OneHotEncoder, StandardScaler

from .columns import Columns

# Categories with fewer rows share one feature.
MIN_ROWS_PER_CATEGORY = 5
# Use this many words of a column of free text, the most frequent ones.
MAX_WORDS = 200


def make_preprocessor(columns: Columns) -> ColumnTransformer:
    """Return a transformer that scales numbers, encodes categories and words, and fills gaps."""
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
    categories = OneHotEncoder(
        handle_unknown="infrequent_if_exist", min_frequency=MIN_ROWS_PER_CATEGORY
    )
    parts: list[tuple[str, Any, Any]] = [("numbers", numbers, columns.number_features)]
    parts += [("categories", categories, columns.categories)]
    parts += [(f"words of {name}", _words(), name) for name in columns.texts]
    # A word can have the name of a column.
    named = bool(columns.texts)
    return ColumnTransformer([part for part in parts if part[2]], verbose_feature_names_out=named)


def _words() -> TfidfVectorizer:
    """Return a transformer that weighs the words of a text, also words of one letter."""
    return TfidfVectorizer(max_features=MAX_WORDS, sublinear_tf=True, token_pattern=r"(?u)\b\w+\b")


def make_sparse_preprocessor() -> MaxAbsScaler:
    """Return a transformer that scales columns without names and keeps zeros."""
    return MaxAbsScaler()
