"""The whole report: its numbers, unusual input, and safety for sharing."""

import base64
import hashlib
import os
import re

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bayespoint import AdaptiveMarginSVC, LinearBayesPointClassifier, write_report
from report_helpers import Constant, Page

pd = pytest.importorskip("pandas")


def test_says_what_the_evaluation_says(iris, write):
    X, y, X_test, y_test = iris
    model = make_pipeline(StandardScaler(), LinearBayesPointClassifier()).fit(X, y)
    evaluation, page = write(
        model, X_test, y_test, title="My <title>", target="species", baselines=True, train=(X, y),
        train_summary={"training rows": 75, "by": "Ann & Bob"},
    )  # fmt: skip
    wrong = np.count_nonzero(model.predict(X_test) != y_test)
    assert evaluation.error.number == wrong
    expected = [
        "My <title>", f"wrong on {100 * wrong / 75:.1f}%", "that it had not seen",
        "A linear Bayes point machine",
        "logistic regression", "random forest", "learned from the same 75 training rows",
        "always “0”",
        "sepal length (cm)", "Ann & Bob", "StandardScaler", "species", "Brier score",
        f"{evaluation.log_loss:.3f}", f"{evaluation.brier:.4f}",
    ]  # fmt: skip
    for words in expected:
        assert words in page.text
    assert page.tags.count("h1") == 1
    # Every row of the confusion matrix, as numbers in a row
    for row in evaluation.confusion:
        assert " ".join(map(str, row)) in page.text


def test_says_that_rows_are_new_only_if_they_are(iris, write):
    X, y, X_test, y_test = iris
    model = LogisticRegression(max_iter=1000).fit(X, y)
    mixed, mixed_y = pd.concat([X[:46], X_test[:11]]), pd.concat([y[:46], y_test[:11]])
    # 46 of 57 rows trained the model: the others are judged.
    evaluation, page = write(model, mixed, mixed_y, train=(X, y))
    assert evaluation.n_rows == 11
    assert "seen 46 of the 57 rows in training" in page.text
    assert "On 11 rows that it had not seen" in page.text
    # Without the training rows nobody can tell.
    evaluation, page = write(model, mixed, mixed_y)
    assert evaluation.n_rows == 57
    assert "that it had not seen" not in page.text
    assert "nobody can tell here whether these rows are new" in page.text
    # Nothing else is left to judge.
    evaluation, page = write(model, X, y, train=(X, y))
    assert evaluation.n_rows == len(y)
    assert "that it had not seen" not in page.text
    assert "Expect more errors on new rows" in page.text


def test_importance_segments_and_drift(write):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(900, 3)), columns=["size", "age", "noise"])
    X["town"] = rng.choice(["Ulm", "Bonn"], 900)
    hard = X["town"] == "Bonn"
    y = np.where(np.where(hard, rng.normal(size=900), X["size"]) > 0, "big", "small")
    train = (X[:400].drop(columns="town"), y[:400])
    model = LogisticRegression().fit(*train)
    _, page = write(model, X[400:].drop(columns="town").add([0, 3, 0]), y[400:], train=train)
    assert "1 column of 3 differs from training by more than chance explains: age" in page.text
    assert re.search(r"if a column is shuffled .* column log loss error size \+", page.text)
    _, page = write(_Ignoring(model, "town"), X[400:], y[400:])
    assert re.search(r"rows where .* town = Bonn \(\d+ rows\)", page.text)


class _Ignoring:
    """Take a table with one more column to a classifier."""

    def __init__(self, model, column):
        self.model, self.column, self.classes_ = model, column, model.classes_

    def predict_proba(self, X):
        return self.model.predict_proba(X.drop(columns=self.column))


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


def test_perfect_and_hopeless(write):
    X = np.arange(20.0)[:, None]
    y = np.arange(20) % 2
    evaluation, page = write(Constant(np.eye(2)[y], [0, 1]), X, y)
    assert evaluation.error.number == 0
    assert "No row is answered wrongly" in page.text
    assert "every row is answered correctly" in page.text
    evaluation, page = write(Constant(np.eye(2)[1 - y], [0, 1]), X, y)
    assert evaluation.error.number == 20
    assert "too sure of itself" in page.text


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
