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
        A fitted classifier of this package; a pipeline that ends with one; or either in a
        `RejectOptionClassifier`. A pipeline may have `ColumnTransformer`, `SimpleImputer`,
        `StandardScaler`, `MaxAbsScaler` and `OneHotEncoder`.

    Returns
    -------
    onnx.ModelProto
        Inputs: the columns of the table that the model was fitted on, by name, each of
        shape (rows, 1), of double precision or texts; or, if it was fitted on an array, a
        matrix `X` in double precision. NaN is a missing number, an empty text a missing
        category. Outputs: `label`; `probabilities`, or `scores` (the decision function) of
        classifiers without probabilities; and `accept`, where a model rejects.

    Notes
    -----
    Operators are those of opset 21, without extensions, in double precision. Probabilities
    differ from those of the model by rounding, up to 1e-11 (1e-9 with more than two classes
    of `LinearBayesPointClassifier`), and by the single precision of `predict_proba` itself
    with solver="perceptron". Where Python raises an error, for texts that are no category or
    numbers that are not finite, ONNX cannot: categories are treated as "ignore" does, and
    probabilities may be NaN.

    All rows of a call are worked on at once, with 8 bytes for each row and support vector
    or so: pass some thousand rows at a time.

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
