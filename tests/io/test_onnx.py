import sys

import pytest

from bayespoint import LinearBayesPointClassifier, to_onnx


def test_says_how_to_get_onnx(monkeypatch):
    model = LinearBayesPointClassifier().fit([[0.0], [1.0]], [0, 1])
    for name in [name for name in sys.modules if name.startswith("bayespoint.io.onnx.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match=r"bayespoint\[onnx\]"):
        to_onnx(model)


def test_other_missing_modules_are_not_taken_for_onnx(monkeypatch):
    for name in [name for name in sys.modules if name.startswith("bayespoint.io.onnx.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "bayespoint.io.onnx.graph", None)
    with pytest.raises(ModuleNotFoundError, match="graph"):
        to_onnx(None)
