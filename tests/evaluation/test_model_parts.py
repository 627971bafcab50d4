"""A model is split into its parts, however they are nested."""

from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

from bayespoint import LinearBayesPointClassifier, RejectOptionClassifier
from bayespoint.evaluation.model_parts import (
    final_classifier,
    has_reject_option,
    preparation_steps,
)


def test_looks_into_searches_and_pipelines(iris):
    X, y, _, _ = iris
    model = make_pipeline(MaxAbsScaler(), LinearBayesPointClassifier())
    search = GridSearchCV(model, {"linearbayespointclassifier__noise_variance": [1.0]}).fit(X, y)
    assert [type(step) for step in preparation_steps(search)] == [MaxAbsScaler]
    assert isinstance(final_classifier(search), LinearBayesPointClassifier)


def test_looks_into_reject_options_and_nested_pipelines(iris):
    X, y, _, _ = iris
    inner = make_pipeline(StandardScaler(), make_pipeline(MaxAbsScaler(), GaussianNB())).fit(X, y)
    model = RejectOptionClassifier(FrozenEstimator(inner)).fit(X, y)
    assert has_reject_option(model)
    assert not has_reject_option(inner)
    assert [type(step) for step in preparation_steps(model)] == [StandardScaler, MaxAbsScaler]
    assert isinstance(final_classifier(model), GaussianNB)


def test_a_forest_is_not_one_of_its_trees(iris):
    X, y, _, _ = iris
    forest = RandomForestClassifier(n_estimators=2).fit(X, y)
    assert hasattr(forest, "estimator_")
    assert final_classifier(forest) is forest
    assert preparation_steps(forest) == []
