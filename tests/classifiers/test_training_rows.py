"""Weights of rows: removal, numbering, and what a user may pass."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import get_scorer
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bayespoint import BayesPointClassifier
from bayespoint.classifiers._training_rows import UsedRows, weigh_rows

X, Y = make_classification(60, 3, n_informative=3, n_redundant=0, flip_y=0.1, random_state=0)
KEPT = np.random.default_rng(0).random(60) < 0.7
ZEROS = KEPT.astype(float)
FITTED = ("dual_coef_", "draw_coef_", "intercept_", "origin_", "gamma_", "softness_", "constant_")


def assert_same_fit(one, other):
    for name in FITTED:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def test_without_weights_all_rows_are_used():
    assert weigh_rows(X, Y, None, None) == UsedRows()
    rows = weigh_rows(X, Y, np.ones(60), {0: 1, 1: 1.0})
    assert rows == UsedRows()
    assert rows.take(X) is X


@pytest.mark.parametrize("kind", [list, np.array, pd.DataFrame, sparse.csr_array, sparse.coo_array])
def test_take_returns_the_used_rows_of_any_table(kind):
    rows = weigh_rows(X, Y, ZEROS, None)
    found = rows.take(kind(X))
    found = found.toarray() if sparse.issparse(found) else np.array(found)
    np.testing.assert_array_equal(found, X[KEPT])
    assert rows.weight is None
    assert rows.n_removed == np.sum(~KEPT)


@pytest.mark.parametrize("solver", ["ep", "billiard", "perceptron", "nystroem"])
def test_zero_is_exactly_removal(solver):
    parameters = {"solver": solver, "random_state": 0}
    weighted = BayesPointClassifier(**parameters).fit(X, Y, ZEROS)
    removed = BayesPointClassifier(**parameters).fit(X[KEPT], Y[KEPT])
    assert_same_fit(weighted, removed)
    np.testing.assert_array_equal(weighted.predict_proba(X), removed.predict_proba(X))


def test_results_have_the_numbers_of_the_rows_that_were_given():
    weighted = BayesPointClassifier("rbf", random_state=0).fit(X, Y, ZEROS)
    removed = BayesPointClassifier("rbf", random_state=0).fit(X[KEPT], Y[KEPT])
    numbers = np.flatnonzero(KEPT)
    np.testing.assert_array_equal(weighted.support_, numbers[removed.support_])
    np.testing.assert_array_equal(weighted.support_vectors_, X[weighted.support_])
    np.testing.assert_array_equal(weighted.loo_proba_[KEPT], removed.loo_proba_)
    assert np.isnan(weighted.loo_proba_[~KEPT]).all()
    np.testing.assert_array_equal(weighted.diagnostics_.hits[:, KEPT], removed.diagnostics_.hits)
    assert not weighted.diagnostics_.hits[:, ~KEPT].any()
    hardest, _ = weighted.hardest_examples(5)
    np.testing.assert_array_equal(hardest, numbers[removed.hardest_examples(5)[0]])


def test_zero_removes_a_row_and_a_column_of_a_precomputed_kernel():
    K, K_new = rbf_kernel(X), rbf_kernel(X[:5] + 0.1, X)
    parameters = {"kernel": "precomputed", "random_state": 0}
    weighted = BayesPointClassifier(**parameters).fit(K, Y, ZEROS)
    removed = BayesPointClassifier(**parameters).fit(K[np.ix_(KEPT, KEPT)], Y[KEPT])
    assert_same_fit(weighted, removed)
    assert weighted.n_features_in_ == 60
    np.testing.assert_array_equal(
        weighted.predict_proba(K_new), removed.predict_proba(K_new[:, KEPT])
    )


def test_a_class_or_category_without_weight_disappears():
    y = np.where(np.arange(60) % 5 == 0, 2, Y)
    table = pd.DataFrame({"a": X[:, 0], "b": np.where(y == 2, "rare", "often")})
    model = BayesPointClassifier(random_state=0).fit(table, y, (y != 2).astype(float))
    np.testing.assert_array_equal(model.classes_, [0, 1])
    assert model.columns_.categories[1].tolist() == ["often"]
    by_class = BayesPointClassifier(random_state=0, class_weight={2: 0}).fit(table, y)
    assert_same_fit(model, by_class)


def assert_repeats(weighted, repeated, copy, new, new_repeated, close=1e-8):
    """Check that a fit with weights is the fit of repeated rows, up to rounding."""
    of_copies = np.zeros(weighted.diagnostics_.hits.shape)
    for total, part in zip(of_copies, repeated.diagnostics_.hits, strict=True):
        np.add.at(total, copy, part)
    np.testing.assert_allclose(weighted.diagnostics_.hits, of_copies, atol=close)
    np.testing.assert_allclose(weighted.log_evidence_, repeated.log_evidence_, rtol=close)
    np.testing.assert_allclose(weighted.loo_proba_[copy], repeated.loo_proba_, atol=close)
    for method in ("decision_function", "predict_proba"):
        one, two = getattr(weighted, method)(new), getattr(repeated, method)(new_repeated)
        np.testing.assert_allclose(one, two, atol=close)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"kernel": "rbf"},
        {"kernel": "laplacian", "solver": "ep"},
        {"kernel": "linear", "solver": "ep", "label_noise": 0.05, "softness": 0.3},
        {"kernel": "poly", "gamma": "scale", "solver": "ep"},
        {"standardize": True, "kernel": "rbf"},
    ],
    ids=str,
)
def test_whole_weights_are_repeated_rows(parameters, n_classes):
    y = np.where(np.arange(60) % 7 == 0, 2, Y) if n_classes == 3 else Y
    weight = np.random.default_rng(1).integers(0, 5, 60)
    copy = np.repeat(np.arange(60), weight)
    model = BayesPointClassifier(random_state=0, **parameters)
    weighted, repeated = clone(model).fit(X, y, weight), clone(model).fit(X[copy], y[copy])
    assert weighted.softness_ == pytest.approx(repeated.softness_, rel=1e-6)
    # The trajectories are the same; their steps amplify rounding errors of 1e-16 by less than 1e8.
    assert_repeats(weighted, repeated, copy, X + 0.1, X + 0.1)
    if parameters.get("solver") == "ep":
        total = np.zeros((len(weighted.dual_coef_), 60))
        for output, coef in zip(total, repeated.dual_coef_, strict=True):
            np.add.at(output, copy[repeated.support_], coef)
        np.testing.assert_allclose(weighted.dual_coef_, total[:, weighted.support_], atol=1e-8)


def test_whole_weights_are_repeated_rows_and_columns_of_a_precomputed_kernel():
    weight = np.random.default_rng(1).integers(0, 5, 60)
    copy = np.repeat(np.arange(60), weight)
    K, new = rbf_kernel(X), rbf_kernel(X + 0.1, X)
    model = BayesPointClassifier("precomputed", random_state=0)
    weighted = clone(model).fit(K, Y, weight)
    repeated = clone(model).fit(K[np.ix_(copy, copy)], Y[copy])
    assert_repeats(weighted, repeated, copy, new, new[:, copy])


@pytest.mark.parametrize("solver", ["regression", "ep", "nystroem"])
def test_class_weights_are_sample_weights_once_parameters_are_chosen(solver):
    y = np.where(np.arange(60) < 15, 1, 0)
    model = BayesPointClassifier("rbf", gamma=0.3, softness=0.3, solver=solver, random_state=0)
    by_class = clone(model).set_params(class_weight="balanced").fit(X, y)
    by_row = clone(model).fit(X, y, np.where(y == 1, 2.0, 2 / 3))
    # Class weights multiply sample weights, and balance what these leave.
    tripled = np.where(y == 1, 3.0, 1.0)
    doubled = clone(model).set_params(class_weight={1: 2.0}).fit(X, y, tripled)
    product = clone(model).fit(X, y, 2 * tripled - (y == 0))
    again = clone(model).set_params(class_weight="balanced").fit(X, y, tripled)
    for one, other in [
        (by_class, by_row),
        (doubled, product),
        (again, clone(model).fit(X, y, tripled)),
    ]:
        np.testing.assert_allclose(one.dual_coef_, other.dual_coef_, atol=1e-12)
        np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(X), atol=1e-12)


@pytest.mark.parametrize("solver", ["auto", "ep"])
def test_class_weights_find_more_of_a_rare_class_with_the_same_parameters(solver):
    many, y = make_classification(1200, 6, n_informative=4, weights=[0.92], random_state=0)
    plain = BayesPointClassifier(solver=solver, random_state=0).fit(many[:300], y[:300])
    balanced = clone(plain).set_params(class_weight="balanced").fit(many[:300], y[:300])
    assert balanced.softness_ == plain.softness_
    np.testing.assert_array_equal(balanced.mixture_.weights, plain.mixture_.weights)
    found = [np.mean(m.predict(many[300:])[y[300:] == 1] == 1) for m in (plain, balanced)]
    assert found[1] > found[0]


@pytest.mark.parametrize("solver", ["billiard", "gibbs", "corners", "perceptron", "ep"])
def test_solvers_that_ignore_weights_say_so(solver):
    # With softness=0, "ep" and "perceptron" have a hard boundary: a row is there or not.
    y = (X[:, 0] > 0).astype(int)
    softness = 0.0 if solver in ("ep", "perceptron") else 0.5
    model = BayesPointClassifier("rbf", gamma=1.0, softness=softness, solver=solver, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        plain = clone(model).fit(X, y)
        equal = clone(model).fit(X, y, np.full(60, 2.0))
        with pytest.warns(UserWarning, match=r"ignores positive weights.*ep"):
            weighted = clone(model).fit(X, y, np.arange(1.0, 61.0))
    for other in (equal, weighted):
        np.testing.assert_array_equal(other.dual_coef_, plain.dual_coef_)


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (-ZEROS, "[Nn]egative"),
        (np.full(60, np.nan), "NaN"),
        (np.full(60, np.inf), "infinity"),
        (np.full(60, -np.inf), "infinity"),
        (np.ones(59), "shape"),
        (np.ones((60, 2)), "1D"),
        (np.zeros(60), "non-zero|zero"),
        (["a"] * 60, "could not convert"),
        (np.where(Y == 0, 1.0, 0.0), "class"),
        (np.ones(60) * 1j, "[Cc]omplex"),
    ],
)
def test_hostile_weights_are_refused_with_a_reason(weight, message):
    with pytest.raises(ValueError, match=message):
        BayesPointClassifier().fit(X, Y, sample_weight=weight)


@pytest.mark.parametrize("wrong", ["even", [1, 2], 3.0])
def test_hostile_class_weights_are_refused(wrong):
    with pytest.raises(ValueError, match="class_weight"):
        BayesPointClassifier(class_weight=wrong).fit(X, Y)


def test_weights_are_routed_through_pipelines_and_searches():
    with config_context(enable_metadata_routing=True):
        model = BayesPointClassifier(random_state=0, gamma=0.3).set_fit_request(sample_weight=True)
        scaler = StandardScaler().set_fit_request(sample_weight=True)
        grid = {"bayespointclassifier__softness": [0.1, 1.0]}
        scorer = get_scorer("neg_log_loss").set_score_request(sample_weight=True)
        search = GridSearchCV(make_pipeline(scaler, model), grid, cv=3, scoring=scorer)
        search.fit(X, Y, sample_weight=ZEROS)
    by_hand = make_pipeline(StandardScaler(), BayesPointClassifier(random_state=0, gamma=0.3))
    by_hand.set_params(**search.best_params_).fit(X[KEPT], Y[KEPT])
    np.testing.assert_allclose(search.predict_proba(X), by_hand.predict_proba(X), rtol=1e-8)
