import numpy as np
import pandas as pd
import pytest

from bayespoint.cli.trained import _same_classes, open_model, read_labeled, read_parts
from bayespoint.io.models.model_file import read, save
from bayespoint.io.tables.read_options import ReadOptions


def test_classes_that_differ_in_case_or_a_period_are_replaced(capsys):
    known = np.array(["no", "yes"])
    found = _same_classes(np.array(["NO.", "yes", "Yes", "maybe"]), known)
    assert found.tolist() == ["no", "yes", "yes", "maybe"]
    assert "'NO.' is read as the class 'no', and others likewise" in capsys.readouterr().err


def test_ambiguous_classes_stay_as_they_are(capsys):
    y = np.array(["NO", "no."])
    assert _same_classes(y, np.array(["no", "No"])) is y
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(("model", "columns"), [("linear.bpm", True), ("sparse.bpm", False)])
def test_a_model_comes_with_its_columns_and_its_training(world, model, columns):
    trained = open_model(world / model)
    assert (trained.columns is not None) == columns
    assert trained.pipeline[-1] is trained.classifier
    assert trained.info["n_rows"] > 0


def test_a_limit_of_novelty_leaves_the_other_limits_as_they_are(world, tmp_path):
    path = tmp_path / "m"
    model, info = read(world / "linear.bpm")
    save(model.at(reject_rate=0.3), path, info)
    found = open_model(path, {"max_novelty": 0.9}).model
    assert (found.reject_rate, found.max_novelty) == (0.3, 0.9)
    assert open_model(path, {"reject_rate": 0.2, "max_novelty": 0.9}).model.reject_rate == 0.2


def test_rejection_is_set_when_the_model_is_opened(world):
    model = open_model(world / "linear.bpm", {"reject_rate": 0.2}).model
    assert model.reject_rate == 0.2
    assert np.isfinite(model.threshold_)


def test_parts_hold_all_rows_and_the_columns_to_keep(world):
    trained, path = open_model(world / "linear.bpm"), str(world / "test.csv")
    (part,) = read_parts(trained, path, ReadOptions(), keep=["town"])
    assert part.y is None
    assert part.kept.column_names == ["town"]
    assert len(part.X) == part.kept.num_rows == 150
    X, y = read_labeled(trained, path, None, ReadOptions())
    pd.testing.assert_frame_equal(X, part.X)
    assert y.tolist() == pd.read_csv(path)["kind"].tolist()
