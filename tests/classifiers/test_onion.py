import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris, make_moons
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import StratifiedKFold
from sklearn.utils import Bunch
from sklearn.utils.estimator_checks import _enforce_estimator_tags_y, parametrize_with_checks

from bayespoint import BayesPointClassifier, load, save
from bayespoint.classifiers import onion as module
from bayespoint.classifiers.onion import OnionClassifier
from bayespoint.geometry.conflicts import NoVersionSpaceError
from bayespoint.solvers import Billiard
from bayespoint.solvers.onion import peel_onion
from helpers import angle_between


@parametrize_with_checks(
    [OnionClassifier(n_bounces=20_000), OnionClassifier(kernel="linear", softness=0.5)]
)
@pytest.mark.filterwarnings("ignore:softness=:UserWarning")
def test_scikit_learn_contract(estimator, check):
    # scikit-learn 1.6 makes two classes of three by the first label, which differs where rows
    # are shuffled: its weighted and its repeated rows have different labels.
    by_first_label = _enforce_estimator_tags_y(estimator, np.array([1, 0, 2]))[1] != 0
    if by_first_label and "sample_weight_equivalence" in str(check):
        pytest.skip("this version of the check compares different labels")
    check(estimator)


@pytest.fixture(scope="module")
def moons():
    X, y = make_moons(80, noise=0.25, random_state=0)
    return X, np.array(["left", "right"])[y]


@pytest.fixture(scope="module")
def model(moons):
    return OnionClassifier(softness=0.1, max_errors=3, random_state=0).fit(*moons)


def test_table(model):
    table = model.table_
    assert np.all(table.time_share >= 0)
    # Rays continue into cells with more errors, which are not in the table.
    assert 0 < table.time_share.sum() < 1
    met = table.time_share > 0
    assert np.all((table.resultant[met] > 0) & (table.resultant[met] <= 1))
    assert np.all(np.isfinite(model.coef_[met]))
    assert np.all(np.isnan(model.coef_[~met]))
    assert table.margin[0, 0] > 0
    assert "cv_error" not in table


def test_without_errors_it_is_the_bayes_point(model, moons):
    X, y = moons
    solver = Billiard(tol=0.01)
    other = BayesPointClassifier(softness=0.1, solver=solver, random_state=1).fit(X, y)
    # Outputs at unit points differ by at most the angle between the two directions.
    error = np.hypot(model.table_.angle[0, 0], other.diagnostics_.angle[0])
    difference = model.decision_function(X) - other.decision_function(X)
    assert np.abs(difference).max() <= 3 * error


def test_every_entry_classifies(model, moons):
    X, y = moons
    negative, positive = model.count_errors(X, y)
    np.testing.assert_array_equal(negative, model.table_.negative_errors)
    np.testing.assert_array_equal(positive, model.table_.positive_errors)
    for i, j in np.argwhere(model.table_.time_share > 0):
        wrong = model.classifier(i, j).predict(X) != y
        assert np.sum(wrong & (y == "left")) == negative[i, j]
        assert np.sum(wrong & (y == "right")) == positive[i, j]
    assert model.errors_ == (0, 0)
    assert model.classifier(0, 2).errors_ == (0, 2)


def test_errors_on_a_class_are_allowed_where_they_are_asked_for(model, moons):
    # Hypotheses with errors only on negative points have larger outputs at these points.
    X, y = moons
    left, right = (
        model.classifier(*entry).decision_function(X[y == "left"]).mean()
        for entry in [(2, 0), (0, 2)]
    )
    assert left > right


def test_cross_validation(moons, monkeypatch):
    X, y = moons

    def same_seed(space, start, rng, **limits):
        return peel_onion(space, start, np.random.default_rng(0), **limits)

    monkeypatch.setattr(module, "peel_onion", same_seed)
    cv = StratifiedKFold(4, shuffle=True, random_state=0)
    options = {"softness": 0.1, "gamma": 0.5, "max_errors": 2, "n_bounces": 10_000}
    model = OnionClassifier(errors="cv", cv=cv, **options).fit(X, y)
    total = np.zeros((3, 3))
    for train, test in cv.split(X, y):
        fold = OnionClassifier(**options).fit(X[train], y[train])
        total += np.sum(fold.count_errors(X[test], y[test]), axis=0)
    np.testing.assert_allclose(model.table_.cv_error, total / len(X))
    assert model.table_.cv_error[model.errors_] == model.table_.cv_error.min()


def test_entries_that_were_never_met_are_not_chosen():
    model = OnionClassifier(max_errors=1)
    model.table_ = Bunch(time_share=np.array([[0.5, 0.0], [0.2, 0.1]]))
    assert model._best(np.array([[0.3, 0.1], [np.nan, 0.2]])) == (1, 1)
    assert model._best(np.array([[0.2, 0.1], [0.2, 0.2]])) == (0, 0)


def test_precomputed_and_sparse(model, moons):
    X, y = moons
    options = {"softness": 0.1, "max_errors": 3, "random_state": 0}
    K = rbf_kernel(X, gamma=model.gamma_)
    same = OnionClassifier(kernel="precomputed", **options).fit(K, y)
    # Trajectories amplify rounding; both models have the error bar of `model`.
    error = 3 * np.sqrt(2) * model.table_.angle[0, 0]
    np.testing.assert_allclose(same.decision_function(K), model.decision_function(X), atol=error)
    dense = OnionClassifier(kernel="linear", **options).fit(X, y)
    csr = OnionClassifier(kernel="linear", **options).fit(sparse.csr_matrix(X), y)
    error = 3 * np.sqrt(2) * dense.table_.angle[0, 0]
    np.testing.assert_allclose(
        csr.decision_function(sparse.csr_matrix(X)), dense.decision_function(X), atol=error
    )


def test_duplicate_entries_of_a_sparse_matrix_add_up(moons):
    X, y = moons
    twice = sparse.csr_matrix(
        (
            np.repeat(X.ravel() / 2, 2),
            np.tile([0, 0, 1, 1], len(X)),
            np.arange(0, 4 * len(X) + 1, 4),
        )
    )
    options = {"softness": 0.1, "n_bounces": 100, "random_state": 0}
    one, other = (OnionClassifier(**options).fit(Z, y) for Z in (sparse.csr_matrix(X), twice))
    # 100 bounces amplify rounding by the inverse of small margins, about 1e4.
    np.testing.assert_allclose(one.decision_function(X), other.decision_function(X), atol=1e-9)
    np.testing.assert_allclose(one.decision_function(twice), one.decision_function(X), atol=1e-9)


def test_same_seed_same_answer(model, moons):
    again = clone(model).fit(*moons)
    np.testing.assert_array_equal(again.coef_, model.coef_)
    assert not np.array_equal(
        clone(model).set_params(random_state=1).fit(*moons).coef_, again.coef_
    )
    loaded = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(loaded.predict(moons[0]), model.predict(moons[0]))


def test_a_single_hypothesis():
    X, y = np.array([[-1.0], [-2.0], [3.0]]), [0, 0, 1]
    model = OnionClassifier(kernel="linear", fit_intercept=False, softness=0.0).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), y)
    with pytest.raises(ValueError, match=r"These exist: \(0, 0\)\."):
        model.classifier(1, 0)


def test_count_errors_wants_known_classes(model, moons):
    with pytest.raises(ValueError, match="holds \\['up'\\]"):
        model.count_errors(moons[0][:2], ["left", "up"])
    with pytest.raises(ValueError, match="inconsistent numbers"):
        model.count_errors(moons[0][:2], ["left"])


@pytest.mark.parametrize("entry", [(4, 0), (0, -1), (1,), (0.5, 0)])
def test_entries_that_do_not_exist(model, entry, moons):
    with pytest.raises(ValueError, match=r"These exist: \(0, 0\), \(0, 1\)"):
        clone(model).set_params(errors=entry).fit(*moons)


def test_refuses():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="Only binary"):
        OnionClassifier().fit(X, y)
    with pytest.raises(NoVersionSpaceError):
        OnionClassifier(kernel="linear", softness=0.0).fit([[0.0], [1.0], [2.0]], [0, 1, 0])
    with pytest.raises(ValueError, match="square"):
        OnionClassifier(kernel="precomputed").fit(X[:100], y[:100])
    with pytest.raises(ValueError, match="both classes"):
        OnionClassifier(errors="cv", cv=[([0, 1], [2, 3])], softness=0.1).fit(X[48:52], y[48:52])


def test_weights_only_say_whether_a_row_is_there(moons, rng):
    X, y = moons
    weight = np.where(rng.random(80) < 0.3, 0.0, rng.uniform(0.1, 5.0, 80))
    onion = OnionClassifier(softness=0.1, max_errors=2, n_bounces=5000, random_state=0)
    weighted = clone(onion).fit(X, y, sample_weight=weight)
    rows = rng.permutation(np.repeat(np.flatnonzero(weight), 2))
    repeated = clone(onion).fit(X[rows], y[rows])
    np.testing.assert_array_equal(weighted.coef_, repeated.coef_)
    np.testing.assert_array_equal(X[weighted.support_], X[rows][repeated.support_])
    assert weight[weighted.support_].min() > 0
    for name, values in weighted.table_.items():
        np.testing.assert_array_equal(values, repeated.table_[name])
    # Without the removed rows the answer is another one.
    assert not np.allclose(weighted.decision_function(X), onion.fit(X, y).decision_function(X))


def test_zero_weights_leave_rows_out_of_kernel_matrices_and_folds(moons, rng):
    X, y = moons
    weight = np.where(rng.random(80) < 0.3, 0.0, 1.0)
    used, K = weight > 0, rbf_kernel(X)
    onion = OnionClassifier(
        "precomputed", softness=0.1, errors="cv", max_errors=2, n_bounces=5000, random_state=0
    )
    folds = [(np.arange(80)[k::2], np.arange(80)[1 - k :: 2]) for k in (0, 1)]
    weighted = clone(onion).set_params(cv=folds).fit(K, y, sample_weight=weight)
    number = np.cumsum(used) - 1
    folds = [tuple(number[rows[used[rows]]] for rows in fold) for fold in folds]
    removed = clone(onion).set_params(cv=folds).fit(K[np.ix_(used, used)], y[used])
    np.testing.assert_array_equal(
        weighted.decision_function(K), removed.decision_function(K[:, used])
    )
    np.testing.assert_array_equal(weighted.table_.cv_error, removed.table_.cv_error)


def test_refuses_wrong_weights(moons):
    X, y = moons
    with pytest.raises(ValueError, match="Negative values"):
        OnionClassifier().fit(X, y, sample_weight=-np.ones(80))
    with pytest.raises(ValueError, match="one class"):
        OnionClassifier().fit(X, y, sample_weight=(y == "left").astype(float))


# Means over entries


def weighted_by_hand(X, signs, ratio, rng):
    """Return the mean of hypotheses on the sphere, and the standard error of its direction.

    Kept are hypotheses that see version space in a random direction, with few errors.
    """
    w, v = rng.standard_normal((2, 100_000, 3))
    w /= np.linalg.norm(w, axis=1, keepdims=True)
    v -= np.sum(v * w, axis=1, keepdims=True) * w
    d, u = (side @ (signs[:, None] * X).T for side in (w, v / np.linalg.norm(v, axis=1)[:, None]))
    # A margin d cos t + u sin t has one zero in (0, pi), and is positive before or after it.
    zero = np.arctan2(np.abs(d), -u * np.sign(d))
    enter, leave = np.where(d < 0, zero, 0.0).max(axis=1), np.where(d > 0, zero, np.pi).min(axis=1)
    counts = np.stack([np.sum(d[:, signs == sign] < 0, axis=1) for sign in (-1, 1)])
    kept = (enter < leave) & (counts <= 2).all(axis=0)
    weight = ratio ** counts.sum(axis=0)[kept]
    mean = weight @ w[kept]
    return mean, np.linalg.norm(weight) / np.linalg.norm(mean)  # no hypothesis is longer than one


@pytest.mark.parametrize("ratio", [0.5, 1.0])
def test_weights_are_a_posterior(ratio, rng):
    X = np.random.default_rng(0).standard_normal((6, 3))
    signs = np.where(X @ [1, 2, -1] > 0, 1, -1)
    onion = OnionClassifier(
        "linear", fit_intercept=False, softness=0.0, max_errors=2, n_bounces=40_000, random_state=0
    ).fit(X, signs)
    i, j = np.indices((3, 3))
    weights = ratio ** (i + j)
    by_hand, error = weighted_by_hand(X, signs, ratio, rng)
    table = onion.table_
    met = table.time_share > 0
    mean = weights[met] * table.time_share[met] * table.resultant[met]
    length = (weights * table.time_share).sum() * np.linalg.norm(
        onion.weigh(weights).decision_function(np.eye(3))
    )
    # The means of entries are off by their angles; at worst they are off in the same direction.
    allowed = 4 * error + np.sum(4 * table.angle[met] * mean) / length

    def distance(weights):
        return angle_between(onion.weigh(weights).decision_function(np.eye(3)), by_hand)

    assert distance(weights) < allowed
    # Without weights, or if entries counted alike whatever their size, it is another direction.
    assert distance(i + j == 0) > allowed
    assert distance(weights / np.where(met, table.time_share, np.inf)) > allowed


def test_one_weight_is_one_entry(model, moons):
    X, y = moons
    weights = np.zeros((4, 4))
    weights[1, 2] = 3.0
    weighed = model.weigh(weights)
    entry = model.classifier(1, 2)
    np.testing.assert_allclose(weighed.decision_function(X), entry.decision_function(X), atol=1e-12)
    assert weighed.errors_ is None
    back = weighed.classifier(0, 0)
    np.testing.assert_array_equal(back.predict(X), model.predict(X))
    assert weighed.fit(X, y).errors_ == (0, 0)


def test_weights_are_kept_in_files(model, moons, tmp_path):
    X, _ = moons
    weighed = model.weigh(np.arange(16.0).reshape(4, 4))
    save(weighed, tmp_path / "onion.bayespoint")
    loaded = load(tmp_path / "onion.bayespoint")
    np.testing.assert_array_equal(loaded.decision_function(X), weighed.decision_function(X))
    assert loaded.errors_ is None


def test_weights_that_are_not(model):
    for weights in (np.ones((2, 2)), -np.ones((4, 4)), np.full((4, 4), np.nan), np.zeros((4, 4))):
        with pytest.raises(ValueError, match=r"weights should have shape \(4, 4\)"):
            model.weigh(weights)
