import numpy as np
from sklearn.svm import SVC

from bayespoint.papers.network import Network
from bayespoint.papers.raetsch import count_errors, load_benchmark, machine
from bayespoint.papers.regularized_boosting import RegularizedAdaBoost
from bayespoint.papers.table_2_1 import classify


def test_errors_are_those_of_machines_fitted_by_hand(small_benchmark):
    data = load_benchmark("heart", str(small_benchmark), 1)
    train, test = data.splits[0]
    svc = SVC(gamma=0.5, C=1.0)
    loo, svm, boost, soft, support, imprecise = classify(
        data, train, test, 0.7, svc, n_rounds=3, boost_C=0.1
    )
    model = machine(0.7)
    wrong, expected_imprecise = count_errors(model, data.X, data.y, train, test)
    assert (loo, imprecise) == (100 * wrong / len(test), expected_imprecise)
    assert support == 100 * len(model.support_) / len(train)
    predicted = svc.fit(data.X[train], data.y[train]).predict(data.X[test])
    assert svm == 100 * np.mean(predicted != data.y[test])
    assert 0 <= boost <= 100
    by_hand = RegularizedAdaBoost(Network(), C=0.1, n_rounds=3, random_state=0)
    predicted = by_hand.fit(data.X[train], data.y[train]).predict(data.X[test])
    assert soft == 100 * np.mean(predicted != data.y[test])
