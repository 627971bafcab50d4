"""partial_fit and forget find what a fit on all rows finds, with the same parameters."""

import copy
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris, make_moons

import bayespoint
from bayespoint import BayesPointClassifier
from bayespoint._runtime.progress import Progress
from bayespoint.classifiers import _incremental
from bayespoint.classifiers._results import store_answer
from bayespoint.fitting import growing_fit
from bayespoint.fitting.dispatch import solve_task
from bayespoint.solvers import EP, Cells, Regression

EXACT_EP = EP(tol=1e-9, max_iter=1000)
# Coefficients, evidence and probabilities of the regression are those of a fresh fit up to the
# error that its inverse may have; EP matches moments to 1e-9, times the condition of the problem.
TOLERANCE = {"regression": 1e-7, "ep": 1e-5}
SOLVERS = {"regression": "regression", "ep": EXACT_EP}
NAMES = ("dual_coef_", "intercept_", "log_evidence_", "loo_proba_", "probit_scale_")


def iris(n_classes=3):
    X, y = load_iris(return_X_y=True)
    X, y = X[y < n_classes], y[y < n_classes]
    order = np.random.default_rng(0).permutation(len(y))
    return X[order], y[order]


def solved_anew(model):
    """Return the fresh fit with the same parameters that `_learned_task` defines."""
    fresh = copy.deepcopy(model)
    rows = fresh._used_rows()
    task = fresh._learned_task(rows)
    store_answer(fresh, task, solve_task(task, lambda n: Progress(fresh, n, 0)), rows)
    return fresh


def assert_same_answer(model, fresh, X, atol):
    for name in NAMES:
        np.testing.assert_allclose(getattr(model, name), getattr(fresh, name), atol=atol, rtol=atol)
    for name in ("link_power_", "link_floor_"):
        # They are rounded to four digits of their logarithms.
        assert hasattr(model, name) == hasattr(fresh, name)
        assert getattr(model, name, 1.0) == pytest.approx(getattr(fresh, name, 1.0), rel=2e-4)
    np.testing.assert_allclose(
        model.predict_proba(X), fresh.predict_proba(X), atol=max(atol, 1e-4 * (atol > 1e-6))
    )
    np.testing.assert_array_equal(model.support_, fresh.support_)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("kernel", ["auto", "rbf"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_rows_one_by_one_are_a_fresh_fit(solver, kernel, n_classes):
    X, y = iris(n_classes)
    model = BayesPointClassifier(kernel, solver=SOLVERS[solver]).fit(X[:30], y[:30])
    for i in range(30, 40):
        model.partial_fit(X[i : i + 1], y[i : i + 1], choose=False)
    model.forget([3, 35, 7], choose=False).forget(0, choose=False)
    assert model._session_learner is not None
    assert model.loo_proba_.shape == (36, n_classes)
    assert_same_answer(model, solved_anew(model), X, TOLERANCE[solver])


@pytest.mark.parametrize("solver", SOLVERS)
def test_it_is_a_plain_fit_if_nothing_is_chosen(solver):
    """An independent way to say "the same parameters": give them all."""
    X, y = iris()
    given = {"kernel": "rbf", "gamma": 0.3, "softness": 0.2, "solver": SOLVERS[solver]}
    model = BayesPointClassifier(**given).fit(X[:20], y[:20])
    for i in range(20, 60, 4):
        model.partial_fit(X[i : i + 4], y[i : i + 4], choose=False)
    model.forget(np.arange(5, 15), choose=False)
    kept = np.delete(np.arange(60), np.arange(5, 15))
    fresh = BayesPointClassifier(**given).fit(X[kept], y[kept])
    assert_same_answer(model, fresh, X, TOLERANCE[solver])


STEPS = st.lists(st.tuples(st.booleans(), st.integers(1, 3), st.integers(0, 10**6)), max_size=12)


@settings(deadline=None, max_examples=15)
@given(STEPS, st.sampled_from(sorted(SOLVERS)), st.sampled_from([2, 3]), st.booleans())
def test_any_order_of_learning_and_forgetting(steps, solver, n_classes, weighted):
    X, y = iris(n_classes)
    weight = np.random.default_rng(1).choice([0.0, 0.5, 1.0, 2.0], len(y))
    weight[:20] = np.maximum(weight[:20], 0.5)
    given = {"kernel": "rbf", "gamma": 0.3, "softness": 0.2, "solver": SOLVERS[solver]}
    rows, spare = list(range(20)), list(range(20, 100))

    def weights(some):
        return weight[some] if weighted else None

    model = BayesPointClassifier(**given).fit(X[:20], y[:20], weights(rows))
    for is_new, n, seed in steps:
        if is_new:
            new, spare = spare[:n], spare[n:]
            if weighted and not weight[new].any():
                weight[new] = 1.0
            model.partial_fit(X[new], y[new], sample_weight=weights(new), choose=False)
            rows += new
        else:
            gone = np.random.default_rng(seed).choice(len(rows), n, replace=False)
            left = np.delete(rows, gone)
            if len(np.unique(y[left])) < n_classes or (weighted and weight[left].sum() < 5):
                continue
            model.forget(gone, choose=False)
            rows = [row for i, row in enumerate(rows) if i not in gone]
    if len(np.unique(y[[r for r in rows if not weighted or weight[r] > 0]])) < n_classes:
        return
    fresh = BayesPointClassifier(**given).fit(X[rows], y[rows], weights(rows))
    assert_same_answer(model, fresh, X, TOLERANCE[solver])


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_learner_that_skips_rows_is_not_a_fresh_fit(solver, monkeypatch):
    X, y = iris()
    given = {"kernel": "rbf", "gamma": 0.3, "softness": 0.2, "solver": SOLVERS[solver]}
    model = BayesPointClassifier(**given).fit(X[:20], y[:20])
    model.partial_fit(X[20:21], y[20:21], choose=False)
    right = growing_fit.UnitRows.add

    def wrong(self, task):
        across, corner = right(self, task)
        return 0 * across, corner

    monkeypatch.setattr(growing_fit.UnitRows, "add", wrong)
    model.partial_fit(X[21:22], y[21:22], choose=False)
    fresh = BayesPointClassifier(**given).fit(X[:22], y[:22])
    with pytest.raises(AssertionError):
        assert_same_answer(model, fresh, X, TOLERANCE[solver])


# Beginnings


def test_the_first_call_is_a_fit():
    X, y = iris()
    one = BayesPointClassifier(random_state=0).fit(X, y)
    other = BayesPointClassifier(random_state=0).partial_fit(X, y)
    for name in (*NAMES, "draw_coef_", "support_vectors_"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


@pytest.mark.parametrize("options", [{}, {"solver": "ep"}, {"kernel": "rbf"}, {"kernel": "linear"}])
def test_begin_with_one_row(options):
    X, y = load_digits(return_X_y=True)
    model = BayesPointClassifier(**options).partial_fit(X[:1], y[:1], classes=np.arange(10))
    probability = model.predict_proba(X[:20])
    assert np.isfinite(probability).all()
    assert (model.predict(X[:20]) == y[0]).all()
    assert probability[:, 1:].max() < 0.5
    for i in range(1, 60):
        model.partial_fit(X[i : i + 1], y[i : i + 1])
    assert model.score(X[60:], y[60:]) > 0.6


def test_a_class_without_rows_is_improbable():
    X, y = iris(2)
    model = BayesPointClassifier().partial_fit(X, y, classes=[0, 1, 2])
    assert model.predict_proba(X).shape == (100, 3)
    assert model.predict_proba(X)[:, 2].max() < 0.05
    assert set(model.predict(X)) == {0, 1}


def test_one_class_alone_needs_another():
    X, y = iris()
    with pytest.raises(ValueError, match="at least two classes"):
        BayesPointClassifier().partial_fit(X[:1], y[:1])


def test_new_classes_have_to_be_announced():
    X, y = iris()
    model = BayesPointClassifier().fit(X[y < 2], y[y < 2])
    with pytest.raises(ValueError, match=r"Announce new classes with classes=\[2\]"):
        model.partial_fit(X[y == 2], y[y == 2])
    assert list(model.classes_) == [0, 1]
    model.partial_fit(X[y == 2][:25], y[y == 2][:25], classes=[2])
    assert list(model.classes_) == [0, 1, 2]
    assert not model.choice_due_  # the first row of a class makes a new choice
    assert model.score(X, y) > 0.9


def test_new_classes_with_the_same_parameters():
    X, y = iris()
    y = np.array(["b", "c", "a"])[y]  # a new class may come first
    model = BayesPointClassifier().fit(X[y != "a"], y[y != "a"])
    model.partial_fit(X[y == "a"], y[y == "a"], classes=["a"], choose=False)
    assert model.choice_due_
    assert_same_answer(model, solved_anew(model), X, 1e-7)
    assert model.score(X, y) > 0.9


def test_classes_of_another_type_are_refused():
    X, y = iris()
    with pytest.raises(ValueError, match="type of the known classes"):
        BayesPointClassifier().fit(X, y).partial_fit(X, y, classes=["a"])


# When parameters are chosen anew


def test_the_choice_is_that_of_a_fit():
    X, y = iris()
    model = BayesPointClassifier(random_state=0).fit(X[:30], y[:30])
    for i in range(30, 45):
        model.partial_fit(X[i : i + 1], y[i : i + 1])
    fresh = BayesPointClassifier(random_state=0).fit(X[:45], y[:45])
    assert model.softness_ == fresh.softness_
    np.testing.assert_array_equal(model.dual_coef_, fresh.dual_coef_)


def test_the_choice_can_wait():
    X, y = iris()
    model = BayesPointClassifier(random_state=0).fit(X[:30], y[:30])
    mixture = model.mixture_
    assert not model.choice_due_
    model.partial_fit(X[30:60], y[30:60], choose=False)
    assert model.choice_due_
    assert model.mixture_ is mixture
    model.choose_again()
    assert not model.choice_due_
    fresh = BayesPointClassifier(random_state=0).fit(X[:60], y[:60])
    np.testing.assert_array_equal(model.dual_coef_, fresh.dual_coef_)


def test_the_same_calls_give_the_same_model():
    X, y = iris()
    models = []
    for _ in range(2):
        model = BayesPointClassifier(random_state=0).partial_fit(X[:10], y[:10], classes=[0, 1, 2])
        for i in range(10, 40):
            model.partial_fit(X[i : i + 1], y[i : i + 1])
        models.append(model.forget([1, 2]))
    for name in (*NAMES, "draw_coef_"):
        np.testing.assert_array_equal(*(getattr(model, name) for model in models))


# Tables of all kinds


def mixed_table(rng, n, colors):
    height = rng.normal(170, 10, n)
    table = pd.DataFrame({"height": height, "color": rng.choice(colors, n)})
    return table, np.where((height > 170) ^ (table.color == "red"), "yes", "no")


def test_tables_with_categories_and_missing_values():
    rng = np.random.default_rng(0)
    X, y = mixed_table(rng, 30, ["red", "blue"])
    model = BayesPointClassifier(random_state=0).fit(X, y)
    more, labels = mixed_table(rng, 30, ["red", "green"])  # a new color
    more.loc[3, "height"] = np.nan
    n_features = len(model.columns_.groups)
    model.partial_fit(more.iloc[:5], labels[:5], choose=False)
    assert len(model.columns_.groups) == n_features
    model.partial_fit(more.iloc[5:], labels[5:])
    fresh = BayesPointClassifier(random_state=0).fit(
        pd.concat([X, more], ignore_index=True), np.r_[y, labels]
    )
    assert len(model.columns_.groups) == len(fresh.columns_.groups) == n_features + 2
    np.testing.assert_array_equal(model.dual_coef_, fresh.dual_coef_)
    with pytest.raises(ValueError, match="feature names"):
        model.partial_fit(more.rename(columns={"height": "size"}), labels)


def test_sparse_points():
    X, y = load_digits(return_X_y=True)
    given = {"kernel": "rbf", "gamma": 0.001, "softness": 0.1}
    model = BayesPointClassifier(**given).fit(sparse.csr_matrix(X[:60]), y[:60])
    model.partial_fit(sparse.csr_matrix(X[60:70]), y[60:70], choose=False).forget(3, choose=False)
    assert_same_answer(model, solved_anew(model), sparse.csr_matrix(X[:200]), 1e-2)
    assert sparse.issparse(model.choose_again().support_vectors_)


def test_class_weights_of_all_rows():
    X, y = iris(2)
    model = BayesPointClassifier(class_weight="balanced", softness=0.1).fit(X[:40], y[:40])
    model.partial_fit(X[40:45], y[40:45], choose=False).forget([0], choose=False)
    assert_same_answer(model, solved_anew(model), X, 1e-7)
    ignored = BayesPointClassifier(class_weight={0: 1.0, 1: 0.0, 2: 1.0})
    X, y = iris()
    ignored.fit(X[:40], y[:40]).partial_fit(X[40:60], y[40:60], choose=False)
    assert len(ignored.support_) == np.sum(y[:60] != 1)
    assert_same_answer(ignored, solved_anew(ignored), X, 1e-7)


# Hard to break


def test_a_failure_changes_nothing(monkeypatch):
    X, y = iris()
    model = BayesPointClassifier(random_state=0).fit(X[:30], y[:30])
    model.partial_fit(X[30:31], y[30:31], choose=False)
    before = {name: value for name, value in vars(model).items() if name[:9] != "_session_"}

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(_incremental, "quality_of", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.partial_fit(X[31:32], y[31:32])
    with pytest.raises(KeyboardInterrupt):
        model.forget(0)
    monkeypatch.undo()
    assert all(vars(model)[name] is value for name, value in before.items())
    model.partial_fit(X[31:32], y[31:32], choose=False)
    assert_same_answer(model, solved_anew(model), X, 1e-7)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (30, "from 0 to 29"),
        (-1, "from 0 to 29"),
        ([1, 1], "different"),
        ([0.5], "whole numbers"),
        ([True] * 30, "whole numbers"),
        (np.arange(30), "at least one row"),
    ],
)
def test_rows_that_cannot_be_forgotten(rows, message):
    X, y = iris()
    model = BayesPointClassifier(random_state=0).fit(X[:30], y[:30])
    with pytest.raises(ValueError, match=message):
        model.forget(rows)
    assert len(model.support_) == 30


def test_forgetting_nothing_and_nearly_everything():
    X, y = iris()
    model = BayesPointClassifier(random_state=0).fit(X[:30], y[:30])
    coef = model.dual_coef_
    np.testing.assert_allclose(model.forget([]).dual_coef_, coef, atol=1e-9)
    model.forget(np.arange(29))
    assert (model.predict(X) == y[29]).all()


@pytest.mark.parametrize(
    "options", [{"solver": "billiard"}, {"solver": Cells()}, {"kernel": "precomputed"}]
)
def test_other_solvers_say_what_to_do(options):
    with pytest.raises(AttributeError, match="partial_fit"):
        _ = BayesPointClassifier(**options).partial_fit
    assert not hasattr(BayesPointClassifier(**options), "forget")
    assert hasattr(BayesPointClassifier(solver=Regression()), "choose_again")


def test_a_solver_that_auto_chose_cannot_learn_more():
    X, y = make_moons(2100, noise=0.2, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = BayesPointClassifier("rbf", random_state=0, max_time=1.0).fit(X, y)
    with pytest.raises(ValueError, match="Call fit with all rows"):
        model.partial_fit(X, y)


def test_too_many_rows(monkeypatch):
    X, y = iris()
    model = BayesPointClassifier(random_state=0).fit(X[:30], y[:30])
    monkeypatch.setattr(_incremental, "MAX_LEARNED_ROWS", 30)
    with pytest.raises(ValueError, match="up to 30 rows"):
        model.partial_fit(X[30:31], y[30:31])


@pytest.mark.parametrize("options", [{}, {"softness": 0, "kernel": "rbf"}])
def test_a_fit_on_all_rows_where_rows_cannot_be_added(options, monkeypatch):
    """Beyond 2000 rows, and for a hard boundary."""
    X, y = iris(2)
    model = BayesPointClassifier(random_state=0, **options).fit(X[:30], y[:30])
    monkeypatch.setattr(growing_fit, "MAX_COPIED_POINTS", 10)
    model.partial_fit(X[30:35], y[30:35], choose=False)
    assert model._session_learner is None
    assert_same_answer(model, solved_anew(model), X, 1e-9)


def test_points_at_the_origin():
    X, y = iris(2)
    X = X - X.mean(axis=0)
    X[31] = 0
    model = BayesPointClassifier("linear", fit_intercept=False).fit(X[:30], y[:30])
    with pytest.warns(UserWarning, match="origin"):
        model.partial_fit(X[30:35], y[30:35], choose=False)
    with pytest.warns(UserWarning, match="origin"):
        fresh = solved_anew(model)
    assert_same_answer(model, fresh, X, 1e-9)


# Copies, files, draws


def test_copies_and_files_go_on(tmp_path):
    X, y = iris()
    model = BayesPointClassifier(random_state=0).fit(X[:40], y[:40])
    model.partial_fit(X[40:41], y[40:41], choose=False)
    bayespoint.save(model, tmp_path / "m.bayespoint")
    copies = [
        copy.deepcopy(model),
        pickle.loads(pickle.dumps(model)),
        bayespoint.load(tmp_path / "m.bayespoint"),
    ]
    draws = model.draw_coef_
    model.partial_fit(X[41:50], y[41:50], choose=False).forget(3, choose=False)
    for other in copies:
        assert "_session_learner" not in vars(other)
        np.testing.assert_array_equal(other.draw_coef_, draws)
        other.partial_fit(X[41:50], y[41:50], choose=False).forget(3, choose=False)
        assert_same_answer(other, model, X, 1e-7)
    # A file has the points, not the table: columns keep their units.
    columns = copies[2].columns_
    copies[2].choose_again()
    assert copies[2].columns_ is columns
    assert copies[2].score(X, y) > 0.9
    assert not hasattr(clone(model), "classes_")


def test_rows_without_weight_in_a_file(tmp_path):
    X, y = iris()
    weight = np.where(np.arange(40) % 4, 1.0, 0.0)
    model = BayesPointClassifier(random_state=0).fit(X[:40], y[:40], weight)
    bayespoint.save(model, tmp_path / "m.bayespoint")
    model = bayespoint.load(tmp_path / "m.bayespoint")
    model.partial_fit(X[40:50], y[40:50], choose=False).choose_again()
    assert model.loo_proba_.shape == (50, 3)
    assert np.isnan(model.loo_proba_[::4][:10]).all()


def test_the_user_may_change_the_table_afterwards():
    X, y = (part.copy() for part in iris())
    model = BayesPointClassifier("rbf", random_state=0).partial_fit(X[:30], y[:30])
    row, label = X[30:31].copy(), y[30:31].copy()
    model.partial_fit(row, label, choose=False)
    expected = BayesPointClassifier("rbf", random_state=0).fit(X[:31], y[:31])
    X[:], y[:], row[:], label[:] = 0, 0, 0, 0
    np.testing.assert_array_equal(model.choose_again().dual_coef_, expected.dual_coef_)


@pytest.mark.parametrize("solver", SOLVERS)
def test_draws_are_made_when_needed(solver):
    X, y = iris()
    model = BayesPointClassifier(solver=SOLVERS[solver], random_state=0).fit(X[:40], y[:40])
    model.partial_fit(X[40:45], y[40:45], choose=False)
    assert "draw_coef_" not in vars(model)
    mean = model.sample_decision(X).mean(axis=0)
    assert "draw_coef_" in vars(model)
    fresh = solved_anew(model)
    error = fresh.sample_decision(X).std(axis=0) / np.sqrt(fresh.draw_coef_.shape[1])
    # Both are means of as many draws from one posterior.
    z = (mean - fresh.sample_decision(X).mean(axis=0)) / (np.sqrt(2) * error)
    assert np.abs(z).max() < 5
    assert model.predict_vote(X).shape == (150,)
    with pytest.raises(AttributeError, match="draw_coef_"):
        _ = BayesPointClassifier().draw_coef_


@pytest.mark.parametrize("case", ["many classes", "two classes", "weights", "single precision"])
def test_a_fit_draws_when_asked_with_the_same_bits(case, tmp_path, monkeypatch):
    X, y = iris()
    given = {"sample_weight": np.arange(150.0) % 4} if case == "weights" else {}
    if case == "two classes":
        y = y == y[0]
    if case == "single precision":
        X = X.astype(np.float32)
    arguments = {"random_state": 3, "class_weight": "balanced" if given else None}
    model = BayesPointClassifier(**arguments).fit(X, y, **given)
    assert "draw_coef_" not in vars(model)
    bayespoint.save(model, tmp_path / "m.bayespoint")
    models = [model, pickle.loads(pickle.dumps(model)), bayespoint.load(tmp_path / "m.bayespoint")]
    # The twin draws during its fit.
    monkeypatch.setattr(BayesPointClassifier, "_can_keep_rows", lambda *_: False)
    twin = BayesPointClassifier(**arguments).fit(X, y, **given)
    expected = vars(twin)["draw_coef_"]
    np.testing.assert_array_equal(model.support_, twin.support_)
    for found in models:
        np.testing.assert_array_equal(found.draw_coef_, expected)


def test_points_at_the_origin_have_draws_at_once():
    X = np.array([[0.0], [1.0], [-1.0], [2.0], [-2.0]])
    arguments = {"solver": "regression", "fit_intercept": False, "softness": 0.1, "random_state": 0}
    model = BayesPointClassifier("linear", **arguments).fit(X, [0, 1, 0, 1, 0])
    assert 0 not in model.support_
    assert vars(model)["draw_coef_"].shape[2] == 4
