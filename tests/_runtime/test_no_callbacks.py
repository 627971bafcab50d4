import pytest
from sklearn.datasets import make_moons

from bayespoint import BayesPointClassifier
from bayespoint._runtime import no_callbacks
from bayespoint._runtime import progress as module


def test_fit_is_never_stopped():
    context = no_callbacks.CallbackSupportMixin()._init_callback_context(max_subtasks=3)
    inner = context.subcontext(task_name="round")
    inner.call_on_fit_task_begin(estimator=None)
    assert inner.call_on_fit_task_end(estimator=None) is False


def test_methods_are_not_changed():
    assert no_callbacks.with_callbacks(test_fit_is_never_stopped) is test_fit_is_never_stopped


def test_there_is_no_set_callbacks():
    assert not hasattr(no_callbacks.CallbackSupportMixin, "set_callbacks")


def test_stand_ins_are_used_only_where_scikit_learn_has_no_callbacks():
    try:
        from sklearn import callback as expected
    except ImportError:
        expected = no_callbacks
    assert module.CallbackSupportMixin is expected.CallbackSupportMixin
    assert module.with_callbacks is expected.with_callbacks


@pytest.mark.parametrize("solver", ["ep", "billiard"])
def test_answers_do_not_depend_on_callbacks(solver, monkeypatch):
    X, y = make_moons(40, noise=0.2, random_state=0)
    model = BayesPointClassifier(solver=solver, softness=0.1, random_state=0)
    expected = model.fit(X, y).dual_coef_.copy()
    monkeypatch.setattr(
        BayesPointClassifier,
        "_init_callback_context",
        no_callbacks.CallbackSupportMixin._init_callback_context,
    )
    assert (model.fit(X, y).dual_coef_ == expected).all()
