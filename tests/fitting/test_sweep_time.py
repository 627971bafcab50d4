import time

import pytest

from bayespoint._runtime.interrupt import Interrupted
from bayespoint.fitting import sweep_time
from bayespoint.fitting.sweep_time import SweepTimer
from bayespoint.solvers.watch import Watch


@pytest.mark.parametrize(("ratio", "enough"), [(9.0, True), (11.0, False)])
def test_time_grows_with_sweeps_and_rows(ratio, enough, monkeypatch):
    # Two sweeps take 1 s each, the first one is not timed, and the evidence takes 1 s, too. So
    # sweeps and evidence of `ratio` times as many rows take 3 * ratio seconds; 30 are left.
    now = time.perf_counter()
    timer = SweepTimer(Watch(Interrupted(), now + 1000))
    monkeypatch.setattr(Watch, "seconds_left", lambda self: 30.0)
    assert not timer.is_over()
    timer._began = now
    monkeypatch.setattr(sweep_time.time, "perf_counter", lambda: now + 2)
    assert timer.has_time(2, ratio) is enough


def test_there_is_none_after_the_deadline():
    timer = SweepTimer(Watch(Interrupted(), 0.0))
    assert timer.is_over()
    assert not timer.has_time(1, 0.0)
