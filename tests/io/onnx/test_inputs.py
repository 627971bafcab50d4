import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from bayespoint import LinearBayesPointClassifier, to_onnx
from bayespoint.io.onnx import inputs
from onnx_helpers import prepared, texts_and_labels


def test_names_of_inputs():
    names = inputs.input_names(["label", "column 0 label", "", "a", "a", "accept"])
    assert len(set(names)) == 6
    assert names[1] == "column 0 label"
    assert names[3] == "a"
    assert not set(names) & {"", "label", "accept"}


def test_texts_without_names():
    X, y = texts_and_labels()
    model = make_pipeline(OneHotEncoder(), LinearBayesPointClassifier())
    with pytest.raises(ValueError, match="fit the model on a DataFrame"):
        to_onnx(model.fit(X.fillna("").to_numpy(), y))


def test_numbers_that_are_also_texts(table):
    X, y = table
    model = prepared(LinearBayesPointClassifier()).fit(X, y)
    prepare = model[0]
    prepare.transformers_[0] = ("numbers", prepare.transformers_[0][1], ["label", "_1"])
    with pytest.raises(ValueError, match="'label' is used both as numbers and as text"):
        to_onnx(model)
