import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.datasets import make_classification, make_moons
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold, ShuffleSplit, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from bayespoint import (
    BayesPointClassifier,
    LinearBayesPointClassifier,
    LinearMarginSVC,
    LinearProgramSVC,
    RejectOptionClassifier,
)
from bayespoint.classifiers.reject.calibration import hold_out
from bayespoint.classifiers.reject.thresholds import certified_threshold, reject_threshold


@parametrize_with_checks(
    [
        RejectOptionClassifier(LogisticRegression()),
        RejectOptionClassifier(LinearSVC(), reject_rate=0.0, random_state=0),
        RejectOptionClassifier(LogisticRegression(), cv=2),
    ]
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def moons():
    return make_moons(600, noise=0.35, random_state=0)


def wrap(estimator=None, **parameters):
    estimator = GaussianNB() if estimator is None else estimator
    return RejectOptionClassifier(estimator, random_state=0, **parameters)


@pytest.mark.parametrize(
    "estimator",
    [
        BayesPointClassifier(gamma=1.0, softness=0.3),
        LinearBayesPointClassifier(),
        RandomForestClassifier(20, random_state=0),
        LinearSVC(),
        SVC(),
        make_pipeline(StandardScaler(), LogisticRegression()),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_any_classifier(estimator, n_classes):
    X, y = make_classification(
        700, n_informative=4, n_classes=n_classes, flip_y=0.1, random_state=0
    )
    model = wrap(estimator, reject_rate=0.25, calibration_size=100).fit(X[:400], y[:400])
    X, y = X[400:], y[400:]
    accepted, labels = model.accept(X), model.predict(X)
    np.testing.assert_array_equal(labels == -1, ~accepted)
    np.testing.assert_array_equal(labels[accepted], model.estimator_.predict(X)[accepted])
    np.testing.assert_array_equal(accepted, model.confidence(X) >= model.threshold_)
    assert model.score(X, y) == np.mean(labels[accepted] == y[accepted])
    # A hundred rows decide, so allow four standard errors.
    assert abs(np.mean(accepted) - 0.75) < 4 * np.sqrt(0.25 * 0.75 * (1 / 100 + 1 / 300))
    if n_classes == 2 and not hasattr(estimator, "predict_proba"):
        np.testing.assert_array_equal(model.confidence(X), np.abs(model.decision_function(X)))


def test_without_a_rate_or_an_error_everything_is_accepted(moons):
    model = wrap().fit(*moons)
    assert model.threshold_ == -np.inf
    assert model.coverage_ == 1
    assert model.accept(moons[0]).all()
    assert np.isnan(model.certified_error_)


def test_thresholds(moons):
    X, y = moons
    model = wrap(max_error=0.2).fit(X, y)
    confidence, correct = model.calibration_confidence_, model.calibration_correct_
    assert model.threshold_ == certified_threshold(confidence, correct, 0.2, 0.95)
    assert model.certified_error_ == 0.2
    assert model.coverage_ == np.mean(confidence >= model.threshold_)
    assert wrap(reject_rate=0.2).fit(X, y).threshold_ == reject_threshold(confidence, 0.2)


def test_at_is_a_fit_with_other_parameters(moons):
    X, y = moons
    model = wrap().fit(X, y)
    for parameters in ({"reject_rate": 0.3}, {"max_error": 0.25, "confidence_level": 0.8}, {}):
        other, anew = model.at(**parameters), wrap(**parameters).fit(X, y)
        assert other.threshold_ == anew.threshold_
        assert repr(other) == repr(anew)
        np.testing.assert_array_equal(other.predict(X), anew.predict(X))
        assert other.estimator_ is model.estimator_
    assert model.threshold_ == -np.inf
    assert model.reject_rate is None
    with pytest.raises(ValueError, match="only one of them"):
        model.at(reject_rate=0.1, max_error=0.1)
    with pytest.raises(ValueError, match="'reject_rate' parameter"):
        model.at(reject_rate=1.5)


def test_nothing_can_be_promised(moons):
    model = wrap(max_error=0.01)
    with pytest.warns(UserWarning, match="There are 120 calibration rows, but at least 332 are"):
        model.fit(*moons)
    assert model.threshold_ == np.inf
    assert model.coverage_ == 0
    assert np.isnan(model.certified_error_)
    assert np.all(model.predict(moons[0]) == -1)
    assert np.isnan(model.score(*moons))


def table(rng, n=300):
    X = pd.DataFrame({"size": rng.standard_normal(n), "color": rng.choice(["red", "blue"], n)})
    return X, np.where(X["size"] + (X["color"] == "red") > 0.3, "in", "out")


def test_tables_pass_by_name(rng):
    X, y = table(rng)
    prepare = ColumnTransformer(
        [("numbers", StandardScaler(), ["size"]), ("categories", OneHotEncoder(), ["color"])]
    )
    model = wrap(make_pipeline(prepare, LinearBayesPointClassifier()), reject_rate=0.1)
    model.fit(X, y)
    expected = model.predict(X)
    np.testing.assert_array_equal(model.predict(X[["color", "size"]]), expected)
    assert list(model.feature_names_in_) == ["size", "color"]
    assert model.n_features_in_ == 2
    assert set(expected) == {"in", "out", "reject"}
    pd_y = pd.Series(y, index=np.arange(300)[::-1])  # rows match by position, not by index
    np.testing.assert_array_equal(clone(model).fit(X, pd_y).predict(X), expected)
    with pytest.raises(ValueError, match="color"):
        model.predict(X[["size"]])


def test_rows_that_are_texts():
    texts = ["good day", "good night", "bad day", "bad night"] * 20
    y = pd.Series(["+", "+", "-", "-"] * 20)  # pandas' own string type
    model = wrap(make_pipeline(CountVectorizer(), LogisticRegression()), reject_rate=0.3)
    assert model.fit(texts, y).score(texts, y) == 1
    assert set(model.predict(["good", "bad", "day"])) == {"+", "-", "reject"}


def test_sparse_rows(moons):
    X, y = sparse.coo_array(moons[0]), moons[1]
    model = wrap(LinearBayesPointClassifier(), reject_rate=0.3).fit(X, y)
    np.testing.assert_allclose(model.confidence(X), model.confidence(moons[0]))


def test_grid_search_pipeline_clone_pickle(moons):
    X, y = moons
    model = wrap(make_pipeline(StandardScaler(), LogisticRegression()), reject_rate=0.1)
    grid = {
        "estimator__logisticregression__C": [0.1, 1.0],
        "reject_rate": [0.1, 0.5],
    }
    search = GridSearchCV(model, grid, cv=3).fit(X, y)
    assert search.best_params_["reject_rate"] == 0.5
    inside = make_pipeline(StandardScaler(), wrap(LogisticRegression(), reject_rate=0.2))
    assert np.all(cross_val_score(inside, X, y, cv=3) > 0.8)
    fitted = inside.fit(X, y)
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.predict(X), fitted.predict(X))
    np.testing.assert_array_equal(clone(fitted).fit(X, y).predict(X), fitted.predict(X))


def test_grid_search_ranks_what_accepts_nothing_last(moons):
    grid = {"max_error": [0.001, 0.2]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        search = GridSearchCV(wrap(), grid, cv=2).fit(*moons)
    assert search.best_params_ == {"max_error": 0.2}


def test_frozen_is_not_fitted_and_all_rows_calibrate(moons):
    X, y = moons
    fitted = GaussianNB().fit(X[:300], y[:300])
    model = wrap(FrozenEstimator(fitted), reject_rate=0.1).fit(X[300:], y[300:])
    assert model.estimator_.estimator is fitted
    np.testing.assert_array_equal(
        model.calibration_confidence_, fitted.predict_proba(X[300:]).max(axis=1)
    )


def test_class_that_a_frozen_classifier_does_not_know_is_an_error(moons):
    X, y = moons
    model = wrap(FrozenEstimator(GaussianNB().fit(X, y))).fit(X[:50], np.full(50, 7))
    assert not model.calibration_correct_.any()


def test_cross_fitted(moons):
    X, y = moons
    cv = KFold(4, shuffle=True, random_state=0)
    model = wrap(cv=cv, reject_rate=0.2).fit(X, y)
    np.testing.assert_array_equal(
        model.estimator_.predict_proba(X), GaussianNB().fit(X, y).predict_proba(X)
    )
    expected = np.concatenate(
        [
            GaussianNB().fit(X[train], y[train]).predict_proba(X[test]).max(axis=1)
            for train, test in cv.split(X, y)
        ]
    )
    np.testing.assert_array_equal(model.calibration_confidence_, expected)
    with pytest.raises(ValueError, match=r"row \d+ is in \d test folds.*Use KFold"):
        wrap(cv=ShuffleSplit(9, random_state=0)).fit(X, y)


class Recorder(ClassifierMixin, BaseEstimator):
    """Record the arguments of `fit`."""

    def fit(self, X, y, sample_weight=None, note=None):
        self.classes_ = np.unique(y)
        self.given_ = X, sample_weight, note
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])

    def predict_proba(self, X):
        return np.tile([1.0, 0.0], (len(X), 1))


def test_fit_parameters_go_with_their_rows(moons):
    X, y = moons
    model = wrap(Recorder()).fit(X, y, sample_weight=X[:, 0], note="kept")
    given, weight, note = model.estimator_.given_
    assert len(given) == 480
    np.testing.assert_array_equal(weight, given[:, 0])
    assert note == "kept"


def test_routing(moons):
    X, y = moons
    with sklearn.config_context(enable_metadata_routing=True):
        inner = Recorder().set_fit_request(sample_weight=True)
        given, weight, _ = wrap(inner).fit(X, y, sample_weight=X[:, 0]).estimator_.given_
        np.testing.assert_array_equal(weight, given[:, 0])
        with pytest.raises(UnsetMetadataPassedError, match="note"):
            wrap(inner).fit(X, y, note="unasked")


@pytest.mark.parametrize("machine", [LinearMarginSVC(C=10.0), LinearProgramSVC(gamma=1.0)])
@pytest.mark.parametrize("routing", [False, True])
def test_weights_reach_our_own_classifiers(moons, machine, routing, rng):
    X, y = moons
    weight = rng.integers(0, 3, len(y)).astype(float)
    with sklearn.config_context(enable_metadata_routing=routing):
        inner = clone(machine).set_fit_request(sample_weight=True) if routing else machine
        model = RejectOptionClassifier(inner, random_state=0).fit(X, y, sample_weight=weight)
        train, _ = hold_out(y, 0.2, 0)
        expected = clone(machine).fit(X[train], y[train], sample_weight=weight[train])
    np.testing.assert_array_equal(model.decision_function(X), expected.decision_function(X))
    plain = clone(machine).fit(X[train], y[train])
    assert not np.allclose(model.decision_function(X), plain.decision_function(X))


def test_inside_another_meta_estimator(moons):
    model = CalibratedClassifierCV(wrap(), cv=2).fit(*moons)
    assert model.score(*moons) > 0.8


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"reject_rate": 0.1, "max_error": 0.1}, "only one of them"),
        ({"reject_rate": 1.0}, "'reject_rate' parameter"),
        ({"max_error": 0.0}, "'max_error' parameter"),
        ({"confidence_level": 1.0}, "'confidence_level' parameter"),
        ({"calibration_size": 1.0}, "'calibration_size' parameter"),
        ({"calibration_size": 600}, "leaves nothing to train with"),
        ({"estimator": StandardScaler()}, "'estimator' parameter"),
    ],
)
def test_bad_parameters(moons, parameters, message):
    with pytest.raises(ValueError, match=message):
        wrap(**parameters).fit(*moons)


def test_same_seed_same_answer(moons):
    one, two = (wrap(BayesPointClassifier("linear"), reject_rate=0.1).fit(*moons) for _ in "ab")
    assert one.threshold_ == two.threshold_


def test_too_many_errors_are_no_lack_of_rows():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 2)), rng.integers(0, 2, 400)  # nothing can be learned
    option = RejectOptionClassifier(LinearBayesPointClassifier(), max_error=0.1, random_state=0)
    with pytest.warns(UserWarning, match=r"surest answers to the \d+ calibration rows too many"):
        option.fit(X, y)
