"""Fitted models as ONNX graphs: the same labels and probabilities without Python."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onnx import ModelProto

__all__ = ["to_onnx"]


def to_onnx(model) -> ModelProto:
    """Return a fitted model as an ONNX model, which needs no Python.

    Parameters
    ----------
    model : estimator
        A fitted classifier of this package, a pipeline that ends with one, or either in a
        `RejectOptionClassifier`. A pipeline may contain `ColumnTransformer`, `SimpleImputer`,
        `StandardScaler`, `MaxAbsScaler` and `OneHotEncoder`. A `BayesPointClassifier` that was
        fitted on a table with text needs column names.

    Returns
    -------
    onnx.ModelProto
        Inputs: each column of the table that the model was fitted on, by name, of shape
        (rows, 1), in double precision or as strings. A model that was fitted on an array
        has one input, the matrix `X` in double precision. NaN is a missing number, an empty
        string a missing category. Outputs: `label`; `probabilities`, or `scores` (the
        decision function) for classifiers without probabilities; and `accept` for models
        that reject.

    Notes
    -----
    The model uses operators of opset 21, without extensions, in double precision. Its
    probabilities differ from `predict_proba` by rounding, up to 1e-11 (1e-9 for
    `LinearBayesPointClassifier` with more than two classes), and with solver="perceptron" by
    the single precision of `predict_proba` itself. ONNX cannot raise errors where Python
    does: it treats unknown categories as handle_unknown="ignore" does, and numbers that are
    not finite may give NaN as probabilities.

    All rows of a call are computed at once, with about 8 bytes for each row and support
    vector: pass a few thousand rows at a time.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from bayespoint import BayesPointClassifier, to_onnx
    >>> X, y = load_iris(return_X_y=True)
    >>> exported = to_onnx(BayesPointClassifier(softness=0.1, gamma=0.1).fit(X, y))
    >>> [output.name for output in exported.graph.output]
    ['label', 'probabilities']
    """
    try:
        from .export import export
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "onnx":
            raise
        raise ImportError(
            "to_onnx needs the package onnx, which is not installed: "
            "pip install 'bayespoint[onnx]'."
        ) from error
    return export(model)
