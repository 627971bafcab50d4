"""Predictions for Dask collections, computed where the rows are, when they are needed."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..classifiers.reject.answering import may_reject
from ..classifiers.reject.labels import choose_reject_label, mark_rejected
from ..classifiers.reject.option import RejectOptionClassifier


def predict(model, X):
    """Return the classes of the rows of a Dask collection, lazily.

    Parameters
    ----------
    model : classifier
        Any fitted classifier of this library. A `RejectOptionClassifier` returns its reject label
        for rows that are not certain enough.
    X : dask array, dask dataframe, or list of delayed partitions
        Rows. Chunks may have unknown sizes.

    Returns
    -------
    dask array, dask series, or list of delayed arrays
        Class labels, with the index of a data frame. If a reject label is possible, the type of
        labels has room for it.

    Examples
    --------
    >>> import dask.array as da
    >>> from sklearn.datasets import load_iris
    >>> from bayespoint import BayesPointClassifier, distributed
    >>> X, y = load_iris(return_X_y=True)
    >>> model = BayesPointClassifier(random_state=0).fit(X, y)
    >>> distributed.predict(model, da.from_array(X, chunks=50))[:2].compute()
    array([0, 0])
    """
    check_is_fitted(model)
    return _apply(model, X, _Answer("predict", _dtype_of_labels(model), None))


def predict_proba(model, X):
    """Return the probability of each class for the rows of a Dask collection, lazily.

    Parameters
    ----------
    model, X
        As in `predict`.

    Returns
    -------
    dask array, dask dataframe, or list of delayed arrays
        A column for each class, in the order of `classes_`.

    Examples
    --------
    >>> import dask.array as da
    >>> from sklearn.datasets import load_iris
    >>> from bayespoint import LinearBayesPointClassifier, distributed
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LinearBayesPointClassifier().fit(X, y)
    >>> distributed.predict_proba(model, da.from_array(X, chunks=50)).shape
    (150, 3)
    """
    check_is_fitted(model)
    return _apply(model, X, _Answer("predict_proba", np.dtype(float), model.classes_))


def decision_function(model, X):
    """Return the outputs for the rows of a Dask collection, lazily.

    Parameters
    ----------
    model, X
        As in `predict`.

    Returns
    -------
    dask array, dask series or dataframe, or list of delayed arrays
        One number for each row with two classes, otherwise one for each class.

    Examples
    --------
    >>> import dask.array as da
    >>> from sklearn.datasets import load_iris
    >>> from bayespoint import LinearBayesPointClassifier, distributed
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LinearBayesPointClassifier().fit(X, y)
    >>> outputs = distributed.decision_function(model, da.from_array(X, chunks=50))
    >>> outputs[:3].compute().argmax(axis=1)
    array([0, 0, 0])
    """
    check_is_fitted(model)
    columns = None if len(model.classes_) == 2 else model.classes_
    return _apply(model, X, _Answer("decision_function", np.dtype(float), columns))


def accept(model, X):
    """Return which rows of a Dask collection are certain enough, lazily.

    Parameters
    ----------
    model : RejectOptionClassifier
        A fitted classifier.
    X : dask array, dask dataframe, or list of delayed partitions
        Rows.

    Returns
    -------
    dask array, dask series, or list of delayed arrays
        True for rows that `predict` gives a class.

    Examples
    --------
    >>> import dask.array as da
    >>> from sklearn.datasets import load_iris
    >>> from bayespoint import LinearBayesPointClassifier, RejectOptionClassifier, distributed
    >>> X, y = load_iris(return_X_y=True)
    >>> option = RejectOptionClassifier(LinearBayesPointClassifier(), reject_rate=0.2)
    >>> option = option.set_params(random_state=0).fit(X, y)
    >>> distributed.accept(option, da.from_array(X, chunks=50))[:2].compute()
    array([ True,  True])
    """
    check_is_fitted(model)
    return _apply(model, X, _Answer("accept", np.dtype(bool), None))


class _Answer(NamedTuple):
    """The method of a model that gives the answers, and what they look like."""

    method: str
    dtype: np.dtype
    columns: np.ndarray | None  # None if there is one value for each row

    def of(self, X, model) -> Any:
        """Return the answers for a block of rows, which may be empty."""
        n, width = X.shape[0], () if self.columns is None else (len(self.columns),)
        found = getattr(model, self.method)(X) if n else np.empty((0, *width))
        return self._like(X, np.asarray(found).astype(self.dtype))

    def _like(self, X, found: np.ndarray) -> Any:
        """Return a series or a data frame if X is a data frame."""
        if not hasattr(X, "iloc"):
            return found
        import pandas as pd

        if self.columns is None:
            return pd.Series(found, index=X.index)
        return pd.DataFrame(found, index=X.index, columns=self.columns)


def _dtype_of_labels(model) -> np.dtype:
    """Return a type for all labels that a model may predict."""
    if not isinstance(model, RejectOptionClassifier) or not may_reject(model):
        return model.classes_.dtype
    label = choose_reject_label(model.reject_label, model.classes_)
    return mark_rejected(model.classes_, np.ones(len(model.classes_), dtype=bool), label).dtype


def _apply(model, X, answer: _Answer) -> Any:
    """Apply a method of the model to each block of rows."""
    if isinstance(X, (list, tuple)):
        from dask import delayed

        shared = delayed(model, traverse=False)
        return [delayed(answer.of)(part, shared) for part in X]
    if hasattr(X, "map_blocks"):
        return _apply_to_array(model, X, answer)
    if hasattr(X, "map_partitions"):
        from dask.dataframe import from_delayed

        # Dask 2025.1 does not give a delayed model to `map_partitions`.
        like = answer.of(X._meta.iloc[:0], model)
        parts = _apply(model, X.to_delayed(), answer)
        return from_delayed(parts, meta=like, divisions=X.divisions)
    raise TypeError(
        "X should be a dask array, a dask dataframe or a list of delayed partitions, but is of "
        f"type {type(X).__name__}. For data in memory, use the method {answer.method} of the model."
    )


def _apply_to_array(model, X, answer: _Answer) -> Any:
    from dask import delayed

    X = X.rechunk({1: -1}) if X.numblocks[1] > 1 else X
    shape: dict[str, Any] = {"drop_axis": 1}
    if answer.columns is not None:
        shape = {"chunks": (X.chunks[0], (len(answer.columns),))}
    meta = np.empty((0,) * (1 if answer.columns is None else 2), dtype=answer.dtype)
    return X.map_blocks(
        answer.of, model=delayed(model, traverse=False), dtype=answer.dtype, meta=meta, **shape
    )
