"""Groups, several promises, and the watch since deployment, in the report."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.frozen import FrozenEstimator
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

from bayespoint import RejectOptionClassifier
from bayespoint.evaluation.report.sections.kept_promises import MAX_GROUPS_SHOWN
from report_helpers import Reject

SURE = {"calibration_size": 0.5, "random_state": 0}


def rows(rng, n, regions=("north", "south", "isle"), shares=(0.6, 0.38, 0.02)):
    region = rng.choice(regions, n, p=shares)
    score = rng.normal(size=n)
    noise = np.where(region == "south", 2.0, 0.2) * rng.normal(size=n)
    y = np.where(score + noise > 0, "<yes>", "no")
    return pd.DataFrame({"score": score, "region": region}), y


def machine():
    return make_pipeline(make_column_transformer(("passthrough", ["score"])), GaussianNB())


@pytest.mark.filterwarnings("ignore:All rows of these groups")
def test_who_is_refused_how_often_and_why(write, rng):
    model = RejectOptionClassifier(machine(), max_error=0.1, groups="region", **SURE)
    model.fit(*rows(rng, 2000))
    X, y = rows(rng, 800)
    X.loc[:4, "region"] = "<mars>"
    evaluation, page = write(model, X, y)
    promise, kept = evaluation.promise, model.accept(X)
    assert [one.group for one in promise.groups] == ["isle", "north", "south", "(not in training)"]
    for one in promise.groups[:3]:
        inside = X["region"].to_numpy() == one.group
        wrong = (model.at().predict(X) != y) & kept & inside
        assert (one.n_rows, one.error.total) == (inside.sum(), np.sum(kept & inside))
        assert one.error.number == np.sum(wrong)
    assert promise.groups[3].n_rows == 5
    assert promise.groups[0].reason.startswith(f"{model.group_summary()[0].n_rows} held-out rows;")
    assert "At most 10% of the answers that it gives are wrong for each value of “region”" in (
        page.text
    )
    assert "Who is refused how often, by value of “region”" in page.text
    assert "no held-out row was in such a group" in page.text
    assert "Refused groups" in page.text
    assert "thresholds were set on 1,000 held-out rows" in page.text
    content = evaluation.to_dict()["promise"]
    assert content["groups"][1]["kept"][0]["broken"] is False
    assert content["by"] == "value of “region”"


@pytest.mark.filterwarnings("ignore:All rows of these groups")
def test_a_group_in_which_the_promise_is_broken(write, rng):
    model = RejectOptionClassifier(machine(), max_error=0.1, groups="region", **SURE)
    model.fit(*rows(rng, 2000, ("north", "south"), (0.6, 0.4)))
    model.group_thresholds_[:] = 0.5  # too low for the south
    _, page = write(model, *rows(rng, 1000, ("north", "south"), (0.6, 0.4)))
    assert "In some groups it is broken by more than chance explains: “south”." in page.text
    assert "more than was promised, and more than chance explains" in page.text


def test_groups_are_answers_and_none_is_refused(write, rng):
    model = RejectOptionClassifier(machine(), max_error=0.45, groups="prediction", **SURE)
    evaluation, page = write(model.fit(*rows(rng, 1000)), *rows(rng, 300))
    assert [one.group for one in evaluation.promise.groups] == ["<yes>", "no"]
    assert "for each answer" in page.text
    assert "why all are refused" not in page.text


@pytest.mark.filterwarnings("ignore:All rows of these groups")
def test_only_the_largest_of_many_groups_are_shown(write, rng):
    names = np.array([f"r{k}" for k in range(MAX_GROUPS_SHOWN + 5)])
    model = RejectOptionClassifier(machine(), max_error=0.3, groups="region", **SURE)
    X, y = rows(rng, 4000)
    X["region"] = rng.choice(names, 4000)
    _, page = write(model.fit(X, y), X, y)
    assert "5 groups with fewer rows are not shown" in page.text


def test_several_promises(write, rng):
    parameters = {"max_error": 0.3, "max_false_negative_rate": 0.4, "max_cost": 0.9}
    costs = [[0, 1], [2, 0]]
    model = RejectOptionClassifier(machine(), costs=costs, **parameters, **SURE)
    model.fit(*rows(rng, 2000))
    X, y = rows(rng, 500)
    evaluation, page = write(model, X, y)
    error, missed, cost = evaluation.promise.kept
    kept, answers = model.accept(X), model.at().predict(X)
    assert error.value == np.mean(answers[kept] != y[kept])
    second = kept & (y == "no")  # "<yes>" comes first
    assert (missed.n_rows, missed.value) == (second.sum(), np.mean(answers[second] != "no"))
    paid = np.asarray(costs)[(y == "no").astype(int), (answers == "no").astype(int)]
    assert cost.value == pytest.approx(paid[kept].mean())
    assert (error.limit, missed.limit, cost.limit) == (0.3, 0.4, 0.9)
    for words in ("All promises below hold", "at most 40%", "at most 0.9", "answers to “no”"):
        assert words in page.text


def test_a_rate_alone_is_a_promise_even_if_nothing_is_refused(write, rng):
    model = RejectOptionClassifier(machine(), max_false_positive_rate=0.9, **SURE)
    X, y = rows(rng, 600)
    evaluation, page = write(model.fit(X, y), X, y)
    assert model.threshold_ == -np.inf
    assert evaluation.promise.kept[0].name == "false positive rate"
    assert "The model answers every row" not in page.text
    assert "kept" in page.text
    broken = model.at(max_false_positive_rate=0.9)
    broken.max_false_positive_rate = 1e-6
    assert "false positives) of at most 0.0001%" in write(broken, X, y)[1].text


def test_what_cannot_be_promised(write, rng):
    X, y = rows(rng, 400)
    model = Reject(np.full((400, 2), 0.5), ["<yes>", "no"], np.inf, max_false_negative_rate=0.01)
    assert "No threshold can promise that" in write(model, X, y)[1].text


def test_the_watch_since_deployment(write, rng):
    frozen = FrozenEstimator(machine().fit(*rows(rng, 200)))
    model = RejectOptionClassifier(frozen, max_error=0.45, groups="prediction")
    model.fit(*rows(rng, 1000))
    X, y = rows(rng, 300)
    certificate = model.certificate()
    assert "no answer was compared" in write(model, X, y, watched=certificate)[1].text
    answers = model.predict(X)
    certificate.update(y, answers, answers)
    page = write(model, X, y, watched=certificate)[1]
    assert "not enough evidence against the promise" in page.text
    wrong = np.where(answers == "no", "<yes>", "no")
    certificate.update(wrong[answers == "no"], answers[answers == "no"], answers[answers == "no"])
    page = write(model, X, y, watched=certificate)[1]
    assert "does not hold any longer in group “no”, with 95% confidence" in page.text
    assert "Since deployment more of its answers were wrong than it promises" in page.text
