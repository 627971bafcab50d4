"""From a fitted model to an ONNX model: inputs, preprocessors, classifier, outputs."""

from __future__ import annotations

import json

import numpy as np
import onnx
from onnx import TensorProto, helper
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from ... import __version__
from ...classifiers.reject.answering import may_reject
from ...classifiers.reject.novelty import refuses_novel_rows
from ...classifiers.reject.option import RejectOptionClassifier
from ...classifiers.reject.setting import makes_promises
from .classify import Prediction, by_costs, classify, confidence
from .columns import table_points
from .graph import DOUBLE, IR_VERSION, OPSET, Graph
from .inputs import MATRIX_INPUT, OUTPUT_NAMES, Columns, Matrix, Source, Table, input_names
from .prepare import prepare

# The threshold equals the confidence of one row, often of many rows. Lower it by this share, so
# that rounding does not reject these rows.
THRESHOLD_ROUNDING = 1e-9


def export(model) -> onnx.ModelProto:
    """Return a fitted model as an ONNX model; see `to_onnx`."""
    check_is_fitted(model)
    inner = _unwrap(model)
    names = list(getattr(inner, "feature_names_in_", []))
    columns = input_names(names)
    graph = Graph(reserved=[*columns, *OUTPUT_NAMES, MATRIX_INPUT])
    prediction = _predict(inner, _source(graph, inner, names))
    costs = getattr(model, "costs", None)
    if costs is not None:
        prediction = by_costs(prediction, np.asarray(costs, dtype=float))
    _declare_outputs(graph, prediction, inner.classes_)
    if isinstance(model, RejectOptionClassifier) and _may_reject(model):
        _check_groups(model)
        _check_novelty(model)
        threshold = model.threshold_
        if threshold < np.inf:
            threshold -= THRESHOLD_ROUNDING * max(abs(threshold), 1.0)
        certain = confidence(prediction, len(inner.classes_), by_answer=costs is not None)
        accept = certain >= float(threshold)
        graph.output("accept", accept, TensorProto.BOOL, ["rows"])
    return _finish(graph, inner, dict(zip(columns, names, strict=True)))


def _may_reject(model: RejectOptionClassifier) -> bool:
    """Tell whether the model has a threshold, or was asked for one that rejects nothing."""
    asked = model.reject_rate is not None or makes_promises(model)
    return asked or may_reject(model)


def _check_groups(model: RejectOptionClassifier) -> None:
    if getattr(model, "group_thresholds_", None) is not None:
        raise NotImplementedError(
            f"A threshold for each group (groups={model.groups!r}) cannot be exported to ONNX. "
            "Export model.at(reject_rate=...) or model.at(), or fit without groups."
        )


def _check_novelty(model: RejectOptionClassifier) -> None:
    """Raise if the graph would accept rows that the model refuses for their novelty."""
    if refuses_novel_rows(model):
        raise NotImplementedError(
            f"Novelty (max_novelty={model.max_novelty}) cannot be exported to ONNX. Export "
            "model.at(max_novelty=1, ...), which accepts novel rows, or use the model in Python."
        )


def _unwrap(model):
    """Return the pipeline or classifier that predicts."""
    if isinstance(model, RejectOptionClassifier):
        return _unwrap(model.estimator_)
    return _unwrap(model.estimator) if isinstance(model, FrozenEstimator) else model


def _source(graph: Graph, model, names: list[str]) -> Source:
    """Return the input of the model."""
    if names:
        return Columns(Table(graph, names), range(len(names)))
    n_features = model.n_features_in_
    return Matrix(graph.input(MATRIX_INPUT, DOUBLE, n_features), n_features)


def _predict(model, X: Source) -> Prediction:
    if not isinstance(model, Pipeline):
        columns = getattr(model, "columns_", None)
        return classify(model, X.matrix() if columns is None else table_points(columns, X))
    for _, step in model.steps[:-1]:
        X = prepare(step, X)
    return _predict(model.steps[-1][1], X)


def _declare_outputs(graph: Graph, prediction: Prediction, classes: np.ndarray) -> None:
    kind, classes = _labels(classes)
    graph.output("label", graph.op("Gather", classes, prediction.winner), kind, ["rows"])
    name = "probabilities" if prediction.has_probabilities else "scores"
    two_scores = len(classes) == 2 and not prediction.has_probabilities
    graph.output(name, prediction.scores, DOUBLE, ["rows", len(classes)][: 2 - two_scores])


def _labels(classes: np.ndarray) -> tuple[int, np.ndarray]:
    """Return the ONNX type of labels, and the classes as that type."""
    if classes.dtype.kind == "O" and not all(isinstance(c, str) for c in classes):
        classes = np.array(list(classes))
    kinds = {"b": np.bool_, "i": np.int64, "u": np.int64, "f": np.float64, "U": object}
    kinds |= {"O": object, "T": object}
    if classes.dtype.kind not in kinds:
        raise ValueError(
            "Classes should be strings, numbers or booleans to be exported to ONNX, but are "
            f"{classes}."
        )
    classes = classes.astype(kinds[classes.dtype.kind])
    if classes.dtype == object:
        return TensorProto.STRING, classes
    return helper.np_dtype_to_tensor_dtype(classes.dtype), classes


def _finish(graph: Graph, model, columns: dict[str, str]) -> onnx.ModelProto:
    """Return the ONNX model with its metadata."""
    order = {name: i for i, name in enumerate(columns)}
    graph.inputs.sort(key=lambda info: order.get(info.name, 0))
    exported = helper.make_model(
        graph.proto(),
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=IR_VERSION,
        producer_name="bayespoint",
        producer_version=__version__,
    )
    used = {info.name: str(columns[info.name]) for info in graph.inputs if info.name in columns}
    last = model.steps[-1][1] if isinstance(model, Pipeline) else model
    helper.set_model_props(
        exported,
        {
            "producer": "bayespoint",
            "version": __version__,
            "estimator": type(last).__name__,
            "classes": json.dumps(model.classes_.tolist()),
            "columns": json.dumps(used),
        },
    )
    return exported
