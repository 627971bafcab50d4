"""The report as a file: what it says, what it survives, and that it is safe to send."""

import base64
import hashlib
import json
import os
import re

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import Bunch

from bayespoint import (
    AdaptiveMarginSVC,
    BayesPointClassifier,
    LinearBayesPointClassifier,
    RejectOptionClassifier,
    solvers,
    write_report,
)
from bayespoint.evaluation.measure import evaluate_probabilities
from bayespoint.evaluation.report import charts
from bayespoint.evaluation.report.columns import Table
from bayespoint.evaluation.report.diagnosis import diagnose
from bayespoint.evaluation.report.markup import Markup, join, tag
from bayespoint.evaluation.report.page import assemble
from bayespoint.evaluation.report.words import percent
from report_helpers import Constant, Page, Reject

pd = pytest.importorskip("pandas")


def test_says_what_the_evaluation_are(iris, write):
    X, y, X_test, y_test = iris
    model = make_pipeline(StandardScaler(), LinearBayesPointClassifier()).fit(X, y)
    evaluation, page = write(
        model, X_test, y_test, title="My <title>", target="species", baselines=True,
        train_summary={"training rows": 75, "by": "Ann & Bob"},
    )  # fmt: skip
    wrong = np.count_nonzero(model.predict(X_test) != y_test)
    assert evaluation.error.number == wrong
    expected = [
        "My <title>", f"wrong on {100 * wrong / 75:.1f}%", "A linear Bayes point machine",
        "logistic regression", "random forest", "cross-validated on 75 of these rows", "always “0”",
        "sepal length (cm)", "Ann & Bob", "StandardScaler", "species", "Brier score",
        f"{evaluation.log_loss:.3f}", f"{evaluation.brier:.4f}",
    ]  # fmt: skip
    for words in expected:
        assert words in page.text
    assert page.tags.count("h1") == 1
    # Every row of the confusion matrix, as numbers in a row
    for row in evaluation.confusion:
        assert " ".join(map(str, row)) in page.text


def test_needs_nothing_from_outside(iris, tmp_path):
    X, y, X_test, y_test = iris
    model = LogisticRegression(max_iter=1000).fit(X, y)
    write_report(model, X_test, y_test, tmp_path / "a.html", baselines=False)
    source = (tmp_path / "a.html").read_text(encoding="utf-8")
    page = Page(source)
    assert not re.search(r"https?:|//[a-z]|@import|url\(|\bfetch\b|XMLHttp|\beval\b", source)
    links = [value for name, value in page.attributes if name in ("src", "href", "action", "data")]
    assert all(link.startswith("#") or link == "data:," for link in links)
    # The policy forbids handlers and styles in attributes; the page must have none.
    assert not [name for name, _ in page.attributes if name == "style" or name.startswith("on")]
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', source)[1]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    for element in ("style", "script"):
        inside = re.search(rf"<{element}>(.*?)</{element}>", source, re.S)[1]
        digest = base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()
        assert f"{element}-src 'sha256-{digest}'" in policy


def test_texts_of_users_are_escaped(write):
    bad = "<script>alert(1)</script>"
    X = pd.DataFrame({bad: [bad, "b", "c"], '"><b>': [1.0, 2.0, 3.0], "${body}": [None, bad, bad]})
    X.index = [bad, "$title", "c"]
    model = Constant([[0.9, 0.1], [0.2, 0.8], [0.7, 0.3]], [bad, "$style"])
    _, page = write(
        model,
        X,
        [bad, "$style", "$style"],
        title=bad,
        target=bad,
        train_summary={bad: "\ud800 half"},
    )
    assert page.tags.count("script") == 2
    assert "b" not in page.tags
    assert page.text.count(bad) > 8
    assert "${body}" in page.text
    assert "? half" in page.text


def test_markup_escapes_whatever_is_not_markup():
    assert tag("p", "<b>", title='"&') == '<p title="&quot;&amp;">&lt;b&gt;</p>'
    assert tag("p", tag("b", "x"), None, 1) == "<p><b>x</b>1</p>"
    assert tag("input", hidden=True, value=None) == "<input hidden>"
    assert isinstance(join("<"), Markup)


def test_charts_put_numbers_where_their_axes_say():
    rng = np.random.default_rng(0)
    right = rng.uniform(0.5, 1, size=300)
    y = (rng.random(300) < right).astype(int)
    evaluation = evaluate_probabilities(y, np.column_stack([1 - right, right]), [0, 1])
    chart, places = charts.rejection(evaluation)
    # Where the labels 0 % and 100 % of the axes are, from the chart itself; y has no 100 %.
    labels = re.findall(r'<text x="([\d.]+)" y="([\d.]+)"[^>]*>([\d.]+)%<', chart)
    across = {float(v): float(x) for x, y, v in labels if y == labels[0][1]}
    up = {float(v): float(y) for x, y, v in labels if y != labels[0][1]}
    curve = evaluation.rejection
    refused, error = 1 - curve.accepted / 300, curve.errors / curve.accepted
    top = max(up)
    expected_x = across[0] + (across[100] - across[0]) * refused
    expected_y = up[0] + (up[top] - up[0]) * np.minimum(100 * error / top, 1)
    np.testing.assert_allclose(places, np.column_stack([expected_x, expected_y]), atol=0.11)
    line = re.search(r'<path class="curve" d="M([^"]*)"', chart)[1]
    drawn = [[float(v) for v in point.split(" ")] for point in line.split("L")]
    np.testing.assert_array_equal(drawn, places)


def test_data_cannot_end_the_script():
    source = assemble("t", join("b"), [["</script><b>"]])
    assert "b" not in Page(source).tags
    inside = re.search(r'id="rejection-data">(.*?)</script>', source)[1]
    assert json.loads(inside) == [["</script><b>"]]


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ({"max_error": 0.05, "calibration_confidence_": np.ones(500)}, "At most 5% of the answers"),
        ({"max_error": 0.05, "calibration_confidence_": np.ones(500)}, "500 rows held out"),
        ({"max_error": 0.05, "cv": 5}, "not a strict promise"),
        ({"max_error": 0.5, "threshold_": -np.inf}, "need not refuse anything"),
        ({"reject_rate": 0.25}, "to refuse 25%. That is no promise about the error"),
        ({"reject_rate": 0.25, "threshold_": np.inf}, "answers none of the rows"),
        ({"max_error": 0.05, "threshold_": np.inf}, "No threshold can promise that"),
        ({"max_error": 0.0001}, "more than was promised"),
    ],
)
def test_reject_option(write, told, words):
    rng = np.random.default_rng(0)
    right = rng.uniform(0.5, 1, size=400)
    y = (rng.random(400) < right).astype(int)
    model = Reject(np.column_stack([1 - right, right]), [0, 1], 0.8, **told)
    evaluation, page = write(model, rng.normal(size=(400, 2)), y)
    assert words in page.text
    assert evaluation.promise.error == evaluation.at(model.threshold_)
    if model.threshold_ < np.inf:
        # The slider starts where the model does.
        accepted = np.count_nonzero(right >= model.threshold_)
        assert f"answered {accepted} of 400 rows" in page.text
    else:
        assert "with rejection –" in page.text


def test_the_real_reject_option(write):
    X, y = load_breast_cancer(return_X_y=True)
    X, y, X_test, y_test = X[::2], y[::2], X[1::2], y[1::2]
    inner = make_pipeline(StandardScaler(), LinearBayesPointClassifier())
    model = RejectOptionClassifier(inner, max_error=0.1, random_state=0).fit(X, y)
    evaluation, page = write(model, X_test, y_test)
    assert evaluation.promise.error.total == np.count_nonzero(model.accept(X_test))
    wrong = (model.predict(X_test) != y_test) & model.accept(X_test)
    assert evaluation.promise.error.number == np.count_nonzero(wrong)
    assert "At most 10% of the answers" in page.text
    assert "57 rows held out" in page.text
    assert "A linear Bayes point machine" in page.text
    assert "StandardScaler" in page.text
    model = RejectOptionClassifier(FrozenEstimator(model.estimator_)).fit(X, y)
    evaluation, page = write(model, X_test, y_test)
    assert evaluation.promise is None
    assert "The model answers every row" in page.text
    assert "A linear Bayes point machine" in page.text


def test_perfect_and_hopeless(write):
    X = np.arange(20.0)[:, None]
    y = np.arange(20) % 2
    evaluation, page = write(Constant(np.eye(2)[y], [0, 1]), X, y)
    assert evaluation.error.number == 0
    assert "No row is answered wrongly" in page.text
    assert "every row of this evaluation is answered correctly" in page.text
    evaluation, page = write(Constant(np.eye(2)[1 - y], [0, 1]), X, y)
    assert evaluation.error.number == 20
    assert "too sure of itself" in page.text


@pytest.mark.parametrize("n_rows", [1, 2, 12])
def test_few_rows(write, n_rows):
    y = np.arange(n_rows) % 2
    probability = np.tile([0.3, 0.7], (n_rows, 1))
    _, page = write(Constant(probability, [0, 1]), np.zeros((n_rows, 1)), y, baselines=True)
    assert "always 0" in page.text  # a constant column
    if n_rows < 10:
        assert "too few rows" in page.text


def test_one_class_in_the_rows(write):
    _, page = write(
        Constant([[0.3, 0.7]] * 9, ["a", "b"]), np.zeros((9, 1)), ["a"] * 9, baselines=True
    )
    assert "always “a”" in page.text


def test_a_class_that_the_model_does_not_know(write):
    evaluation, page = write(
        Constant([[0.3, 0.7]] * 3, ["a", "b"]), np.zeros((3, 1)), ["a", "b", "new"]
    )
    assert "1 row of classes that the model has never seen (“new”)" in page.text
    assert evaluation.error.number == 2


@pytest.mark.parametrize("n_classes", [20, 26, 150])
def test_many_classes(write, n_classes):
    rng = np.random.default_rng(0)
    names = np.array([f"class {i:03}" for i in range(n_classes)])
    probability = rng.dirichlet(np.ones(n_classes), size=1000)
    evaluation, page = write(
        Constant(probability, names), rng.normal(size=(1000, 3)), rng.choice(names, 1000)
    )
    assert ("true ↓ answer →" in page.text) == (n_classes <= 20)
    off = evaluation.confusion - np.diag(np.diag(evaluation.confusion))
    i, j = np.unravel_index(off.argmax(), off.shape)
    assert re.search(f"of the class {names[i]} {names[j]} {off[i, j]} ", page.text)


def test_wide_and_long_tables_stay_small(write):
    rng = np.random.default_rng(0)
    wide = pd.DataFrame(rng.normal(size=(50, 5000)), columns=[f"{i}" * 100 for i in range(5000)])
    y = rng.integers(0, 2, 50)
    _, page = write(Constant(rng.dirichlet([1, 1], 50), [0, 1]), wide, y)
    assert "The first 40 of 5,000 columns" in page.text
    long = sparse.random_array((100_000, 300), density=0.001, format="csr", random_state=rng)
    probability = rng.dirichlet([1, 1], 100_000)
    _, page = write(Constant(probability, [0, 1]), long, rng.integers(0, 2, 100_000))
    assert "100,000" in page.text


def test_examples_are_the_hardest_and_can_be_left_out(write):
    X = pd.DataFrame({"secret": [f"s{i}" for i in range(40)]})
    confidence = np.linspace(0.5, 0.99, 40)
    y = np.where(np.arange(40) % 3 == 0, 1, 0)  # wrong where it is one
    model = Constant(np.column_stack([confidence, 1 - confidence]), [0, 1])
    _, page = write(model, X, y, n_examples=2)
    assert re.search(r"greatest confidence.* 40 1 0 99.0% s39 37 1 0 95.\d% s36 Least", page.text)
    assert re.search(r"Least certain .* 1 1 0 50.0% s0 2 0 0 51.3% s1 ", page.text)
    _, page = write(model, X, y, n_examples=0)
    assert "Rows to look at" not in page.text
    assert "s39" not in page.text


def test_columns_of_all_kinds():
    n = 30
    X = pd.DataFrame(
        {
            "constant": 1.0,
            "missing": np.nan,
            "infinite": [np.inf, -np.inf, *[1e308, -1e308] * 14],
            "date": pd.date_range("2024-01-01", periods=n),
            "bool": [True, False] * 15,
            "nullable": pd.array([1, None] * 15, dtype="Int64"),
            "text": ["a", "b", None] * 10,
            "category": pd.Categorical(["u", "v"] * 15),
            "lists": [[1], [2]] * 15,
            "many": [f"v{i}" for i in range(n)],
        }
    )
    table = Table(X)
    told = {c.name: (c.kind, c.n_missing, c.words) for c in table.describe(40)}
    assert told["constant"] == ("numbers", 0, "always 1")
    assert told["missing"] == ("–", n, "all values are missing")
    assert told["infinite"][2].endswith("2 infinities")
    assert told["date"][0] == "dates"
    assert told["bool"] == ("categories", 0, "True (50.0%), False (50.0%)")
    assert told["nullable"] == ("numbers", 15, "always 1")
    assert told["text"] == ("categories", 10, "a (50.0%), b (50.0%)")
    assert told["category"][0] == told["lists"][0] == "categories"
    assert told["many"][2].startswith("30 values: ")
    assert table.cell(1, 5) == table.cell(0, 1) == "missing"
    assert [table.row_name(0), Table(X[3:]).row_name(0)] == ["1", "3"]


def test_histograms_count_all_rows():
    values = np.random.default_rng(0).normal(size=500)
    (column,) = Table(values[:, None]).describe(40)
    np.testing.assert_array_equal(column.bars, np.histogram(values, bins=16)[0])


@pytest.mark.parametrize(
    ("solver", "method"),
    [
        ("ep", "expectation propagation"),
        ("billiard", "billiard"),
        ("perceptron", "perceptrons"),
        ("gibbs", "Gibbs sampling"),
        ("corners", "corners"),
        ("nystroem", "expectation propagation"),
        ("cells", "expectation propagation in cells"),
    ],
)
def test_every_solver_is_explained(iris, write, solver, method):
    X, y, X_test, y_test = iris
    model = BayesPointClassifier(gamma=0.1, softness=0.5, solver=solver, random_state=0).fit(X, y)
    _, page = write(model, X_test, y_test)
    assert f"by {'the ' * (solver == 'corners')}{method}" in page.text
    found = {finding.name: finding for finding in diagnose(model)}
    assert found["softness"].value == "0.5"
    assert found["the solver"].fine is True
    if solver in ("billiard", "gibbs"):
        assert found["R-hat"].fine
    assert ("R-hat" in found) == (solver in ("billiard", "gibbs"))
    assert not any(finding.value == "nan" for finding in found.values())
    if solver in ("ep", "nystroem", "cells"):
        assert found["residual"].fine


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_bad_training_is_told(iris):
    X, y, _, _ = iris
    solver = solvers.Billiard(n_bounces=50)
    model = BayesPointClassifier(gamma=0.1, softness=0.1, solver=solver, random_state=0).fit(X, y)
    found = {finding.name: finding for finding in diagnose(model)}
    assert found["the solver"].fine is False
    assert found["sampling error"].fine is False
    model = LinearBayesPointClassifier(max_iter=1).fit(X, y)
    found = {finding.name: finding for finding in diagnose(make_pipeline(StandardScaler(), model))}
    assert found["iterations"].fine is False


@pytest.mark.parametrize(("r_hat", "fine"), [(1.01, True), (1.3, False)])
def test_chains_that_disagree_are_told(r_hat, fine):
    model = Constant([], [0, 1])
    model.diagnostics_ = Bunch(
        stop=np.array(["tol", "tol"]), r_hat=np.array([1.0, r_hat]), angle=np.array([0.1, 0.2]),
        mixed=np.array([True, fine]), ess=np.array([100.0, 20.0]), n_bounces=np.array([10, 10]),
    )  # fmt: skip
    found = {finding.name: finding for finding in diagnose(model)}
    assert found["R-hat"].value == f"{r_hat:.3f}"
    assert found["R-hat"].fine is found["sampling error"].fine is fine
    assert found["sampling error"].value == "11°"
    assert found["effective draws"].value == "20"


def test_baselines_that_cannot_be_trained_are_told(write):
    X = pd.DataFrame({"text": ["a", "b"] * 10})
    model = Constant([[0.3, 0.7]] * 20, [0, 1])
    _, page = write(model, X, [0, 1] * 10, baselines=True)
    assert "could not be trained" in page.text


def test_certificate_where_it_is_valid(write):
    X, y = load_breast_cancer(return_X_y=True)
    X = X / X.max(axis=0)
    train = X[::2], y[::2]
    model = BayesPointClassifier(gamma=1.0, softness=0.5, random_state=0).fit(*train)
    _, page = write(model, X[1::2], y[1::2], train=train)
    assert "From the training rows alone: at most" in page.text
    scaled = make_pipeline(StandardScaler(), model).fit(*train)
    _, page = write(scaled, X[1::2], y[1::2], train=train)
    assert "which makes it invalid" in page.text
    tuned = BayesPointClassifier(random_state=0).fit(*train)
    _, page = write(tuned, X[1::2], y[1::2], train=train)
    assert "n_tuned is needed" in page.text


def test_one_sided_limit(write):
    # No errors among n rows: the limit p has (1 - p)^n = 5 %.
    y = np.zeros(59, dtype=int)
    _, page = write(Constant([[0.9, 0.1]] * 59, [0, 1]), np.zeros((59, 1)), y)
    assert f"At most {percent(1 - 0.05 ** (1 / 59))} of all rows" in page.text


def test_a_failure_leaves_the_old_file_alone(iris, tmp_path, monkeypatch):
    X, y, X_test, y_test = iris
    model = LogisticRegression(max_iter=1000).fit(X, y)
    path = tmp_path / "report.html"
    path.write_text("old")

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        write_report(model, X_test, y_test, path, baselines=False)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["report.html"]


def test_clear_errors(iris, tmp_path):
    X, y, X_test, y_test = iris
    path = tmp_path / "report.html"
    with pytest.raises(TypeError, match="RidgeClassifier has none"):
        write_report(RidgeClassifier().fit(X, y), X_test, y_test, path)
    margin = AdaptiveMarginSVC().fit(X, y)
    if not hasattr(margin, "predict_proba"):
        with pytest.raises(TypeError, match="AdaptiveMarginSVC has none"):
            write_report(margin, X_test, y_test, path)
    model = LogisticRegression(max_iter=1000).fit(X, y)
    with pytest.raises(ValueError, match="right column"):
        write_report(model, X_test, y_test.astype(str), path)
    with pytest.raises(FileNotFoundError):
        write_report(model, X_test, y_test, tmp_path / "nowhere" / "report.html", baselines=False)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("value", [0, 1, 0.5, 0.146, 0.0004, 3e-5, 1e-9, 0.99996, 1 - 1e-9])
def test_percentages_are_never_wrong_by_rounding_to_none_or_all(value):
    words = percent(value)
    assert (words == "0%") == (value == 0)
    assert (words == "100%") == (value == 1)
    assert float(words.strip("<>%")) == pytest.approx(100 * value, abs=0.05001)
