import numpy as np
import pytest
from scipy.stats import binom
from sklearn.datasets import make_moons
from sklearn.frozen import FrozenEstimator
from sklearn.naive_bayes import GaussianNB

from bayespoint import RejectOptionClassifier
from bayespoint.classifiers.reject.setting import PROMISES, set_thresholds
from bayespoint.classifiers.reject.thresholds import certified_threshold, reject_threshold

COSTS = [[0, 1], [5, 0]]


@pytest.fixture(scope="module")
def data():
    X, y = make_moons(6000, noise=0.45, random_state=0)
    fitted = GaussianNB().fit(X[:500], y[:500])
    return FrozenEstimator(fitted), X[500:3000], y[500:3000], X[3000:], y[3000:]


def rates(model, X, y):
    """Return the error, both rates and the mean cost of accepted rows."""
    kept = model.accept(X)
    answer, true = model.at().predict(X)[kept], y[kept]
    wrong = answer != true
    cost = np.asarray(model.costs if model.costs is not None else [[0, 1], [1, 0]])[true, answer]
    return dict(
        zip(
            PROMISES,
            (wrong.mean(), wrong[true == 0].mean(), wrong[true == 1].mean(), cost.mean()),
            strict=True,
        )
    )


@pytest.mark.parametrize("name", PROMISES)
def test_each_promise_is_kept_on_new_rows(data, name):
    estimator, X, y, X_new, y_new = data
    costs = COSTS if name == "max_cost" else None
    free = RejectOptionClassifier(estimator, costs=costs).fit(X, y)
    limit = 0.7 * rates(free, X_new, y_new)[name]
    model = RejectOptionClassifier(estimator, costs=costs, **{name: limit}).fit(X, y)
    assert 0.05 < model.coverage_ < 1
    assert free.at(**{name: limit}).threshold_ == model.threshold_
    # Three deviations of a share among at least 100 counted rows, of costs up to 5.
    noise = 3 * (5 if costs else 1) * np.sqrt(limit / 100)
    assert rates(model, X_new, y_new)[name] <= limit + noise


def test_promises_hold_together(data):
    estimator, X, y, *_ = data
    limits = {"max_error": 0.15, "max_false_negative_rate": 0.1}
    both = RejectOptionClassifier(estimator, **limits).fit(X, y)
    alone = [RejectOptionClassifier(estimator, **{k: v}).fit(X, y) for k, v in limits.items()]
    assert both.coverage_ <= min(one.coverage_ for one in alone)
    assert both.certified_error_ == 0.15


@pytest.mark.filterwarnings("ignore:No threshold can promise")
def test_the_false_negative_rate_is_kept_in_most_draws(rng):
    """The rate is just above the limit, however sure the classifier is."""
    n_draws, broken = 300, 0
    for _ in range(n_draws):
        y = rng.integers(2, size=400)
        answer = np.where(rng.random(400) < np.where(y == 1, 0.205, 0.0), 1 - y, y)
        X = np.c_[answer, rng.random(400)]
        frozen = FrozenEstimator(Fixed().fit(X, y))
        model = RejectOptionClassifier(frozen, max_false_negative_rate=0.2).fit(X, y)
        broken += model.threshold_ < np.inf
    assert broken <= binom.ppf(0.999, n_draws, 0.05)


class Fixed(GaussianNB):
    """Answer with the first column, as sure as the second says; every fit is the same."""

    def predict_proba(self, X):
        sure = 0.5 + X[:, 1] / 2
        return np.where(X[:, :1] == [[0, 1]], sure[:, None], 1 - sure[:, None])

    def predict(self, X):
        return X[:, 0].astype(int)


def test_who_is_refused_is_told_for_each_group(data):
    _, X, y, *_ = data
    X = np.c_[X, np.where(np.arange(len(X)) < 20, 2, np.arange(len(X)) % 2)]
    inner = FrozenEstimator(Columns().fit(X, y))
    with pytest.warns(UserWarning, match=r"'2' \(20 held-out rows; at least 46 are needed"):
        model = RejectOptionClassifier(inner, max_error=0.07, groups=2).fit(X, y)
    summary = model.group_summary()
    assert [found.group for found in summary] == [0.0, 1.0, 2.0]
    assert [found.n_rows for found in summary] == [1240, 1240, 20]
    kept, wrong = model.accept(X), model.at().predict(X) != y
    for found in summary:
        rows = X[:, 2] == found.group
        assert found.n_accepted == np.sum(kept & rows)
        assert found.n_wrong == np.sum(kept & rows & wrong)
        assert bool(found.reason) == (found.threshold == np.inf)
    assert model.coverage_ == np.mean(kept)
    assert model.threshold_ == min(found.threshold for found in summary)


def test_a_group_without_rows_of_the_class_that_counts_is_told_why(rng):
    X = np.c_[rng.integers(2, size=600), rng.random(600), np.arange(600) % 2]
    y = np.where(X[:, 2] == 1, 1, X[:, 0]).astype(int)  # the second group has one class
    X[:, 0] = y
    frozen = FrozenEstimator(Fixed().fit(X, y))
    with pytest.warns(UserWarning, match=r"'1' \(0 held-out rows of class 0; at least 32 are"):
        model = RejectOptionClassifier(frozen, max_false_positive_rate=0.1, groups=2).fit(X, y)
    assert [found.reason == "" for found in model.group_summary()] == [True, False]
    whole = RejectOptionClassifier(frozen, max_error=0.1, groups=2).fit(X, y)
    assert whole.coverage_ == 1


def test_thousands_of_groups_and_groups_of_one_row(rng):
    X = np.c_[rng.integers(2, size=20_000), rng.random(20_000), np.arange(20_000)]
    X[:10_000, 2], X[10_000:10_100, 2] = 0, 1
    frozen = FrozenEstimator(Fixed().fit(X, X[:, 0].astype(int)))
    with pytest.warns(UserWarning, match="1 held-out row; .* and 9895 more"):
        model = RejectOptionClassifier(frozen, max_error=0.1, groups=2).fit(X, X[:, 0])
    assert len(model.groups_) == 9902
    # The small ones take nothing of the risk from those that can be promised something.
    assert model.accept(X).sum() == 10_100
    assert model.certificate().groups == [0.0, 1.0]


def test_an_answer_that_no_held_out_row_got_is_refused(rng):
    X = np.c_[np.zeros(200), rng.random(200)]
    frozen = FrozenEstimator(Fixed().fit(X, np.arange(200) % 2))
    model = RejectOptionClassifier(frozen, max_error=0.7, groups="prediction")
    model.fit(X, np.arange(200) % 2)
    assert model.predict(np.array([[0, 0.5], [1, 0.9]])).tolist() == [0, -1]
    assert [found.group for found in model.group_summary()] == [0]


class Columns(GaussianNB):
    """Learn from the first two columns alone."""

    def fit(self, X, y):
        return super().fit(X[:, :2], y)

    def predict_proba(self, X):
        return super().predict_proba(X[:, :2])

    def predict(self, X):
        return super().predict(X[:, :2])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"reject_rate": 0.1, "max_cost": 1, "costs": COSTS}, "both set the threshold"),
        ({"max_cost": 1}, "needs costs"),
        ({"max_cost": 1, "costs": [[0, -1], [1, 0]]}, "not negative"),
    ],
)
def test_parameters_that_contradict_each_other(data, parameters, message):
    with pytest.raises(ValueError, match=message):
        RejectOptionClassifier(data[0], **parameters).fit(data[1], data[2])


def test_rates_are_for_two_classes(rng):
    X, y = rng.random((60, 2)), np.arange(60) % 3
    with pytest.raises(ValueError, match="about two classes"):
        RejectOptionClassifier(GaussianNB(), max_false_positive_rate=0.1).fit(X, y)


def test_a_cost_that_no_answer_exceeds_needs_no_test(data):
    model = RejectOptionClassifier(data[0], max_cost=5, costs=COSTS).fit(data[1][:9], data[2][:9])
    assert model.threshold_ == -np.inf


def test_costs_of_a_class_that_nobody_knows(data):
    y = np.where(np.arange(len(data[2])) == 3, 7, data[2])
    with pytest.raises(ValueError, match="costs of all classes"):
        RejectOptionClassifier(data[0], max_cost=1, costs=COSTS).fit(data[1], y)


def test_without_groups_there_is_no_summary(data):
    with pytest.raises(ValueError, match="There are no groups"):
        RejectOptionClassifier(data[0]).fit(data[1], data[2]).group_summary()


def test_what_a_model_of_an_earlier_version_can_promise(data):
    model = RejectOptionClassifier(data[0], reject_rate=0.1).fit(data[1], data[2])
    del model.calibration_class_, model.calibration_answer_, model.group_thresholds_
    assert model.accept(data[3]).any()
    assert model.at(max_error=0.2).certified_error_ == 0.2
    with pytest.raises(ValueError, match="an earlier version"):
        model.at(max_false_positive_rate=0.2)


RNG = np.random.default_rng(0)
CONFIDENCE, NOVELTY = RNG.uniform(0.5, 1, 400), RNG.uniform(size=400)
CORRECT = RNG.uniform(size=400) < CONFIDENCE


def option(**given):
    """Return a reject option of known held-out rows, some of which are novel."""
    found = RejectOptionClassifier(GaussianNB(), **given)
    found.calibration_confidence_, found.calibration_correct_ = CONFIDENCE, CORRECT
    found.calibration_novelty_ = NOVELTY
    set_thresholds(found)
    return found


def test_nothing_is_refused_by_default():
    found = option()
    assert (found.threshold_, found.coverage_) == (-np.inf, 1.0)
    assert np.isnan(found.certified_error_)


def test_promises_come_from_familiar_rows():
    found, familiar = option(max_error=0.2, max_novelty=0.8), NOVELTY <= 0.8
    assert found.threshold_ == certified_threshold(CONFIDENCE[familiar], CORRECT[familiar], 0.2)
    assert found.certified_error_ == 0.2
    assert found.coverage_ == np.mean((found.threshold_ <= CONFIDENCE) & familiar)


def test_a_rate_counts_novel_rows_first():
    found, familiar = option(reject_rate=0.5, max_novelty=0.8), NOVELTY <= 0.8
    lowest = np.where(familiar, CONFIDENCE, -np.inf)
    assert found.threshold_ == reject_threshold(lowest, 0.5)
    assert abs(found.coverage_ - 0.5) <= 2 / 400


def test_without_familiar_rows_nothing_can_be_promised():
    with pytest.warns(UserWarning, match="0 calibration rows"):
        found = option(max_error=0.2, max_novelty=0.0)
    assert (found.threshold_, found.coverage_) == (np.inf, 0.0)
