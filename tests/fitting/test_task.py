import numpy as np

from bayespoint.fitting.task import Task


def test_a_task_counts_training_points_and_has_no_limits_by_default():
    task = Task(
        X=np.zeros((5, 2)),
        signs=np.ones((3, 5)),
        target=np.zeros(5, dtype=int),
        kernel=None,
        solver=None,
        softness=0.0,
        rng=np.random.default_rng(0),
    )
    assert task.n_samples == 5
    assert task.deadline == task.cache_size == np.inf
    assert task.max_time is None
    assert task.label_noise == 0
    assert not task.may_soften
    assert not task.keep_state
