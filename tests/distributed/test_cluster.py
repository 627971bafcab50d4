import time

import pytest

from bayespoint.distributed import fit
from bayespoint.distributed.cluster import ClusterRows
from cluster_helpers import COVARIANCES, assert_same, chunks, exact, kill_a_worker
from helpers import slow_but_for


@pytest.mark.parametrize("covariance", slow_but_for(COVARIANCES, "full"))
def test_a_killed_worker_changes_nothing(doomed_client, data, covariance, monkeypatch):
    sweeps, recovered = [], []
    sweep, recover = ClusterRows.sweep, ClusterRows._recover

    def deadly_sweep(self, belief, share):
        sweeps.append(share)
        if len(sweeps) == 3:
            kill_a_worker(doomed_client)
        return sweep(self, belief, share)

    def counted_recover(self, handles, *request):
        recovered.append(len(handles))
        return recover(self, handles, *request)

    monkeypatch.setattr(ClusterRows, "sweep", deadly_sweep)
    monkeypatch.setattr(ClusterRows, "_recover", counted_recover)
    model = fit(exact(covariance=covariance), *chunks(*data))
    assert any(recovered)
    assert_same(model, exact(covariance=covariance).fit(*data))


def test_a_new_worker_takes_its_share(doomed_client, data, monkeypatch):
    sweep, places = ClusterRows.sweep, []

    def places_of(cluster):
        return {handle.address for handle in cluster.handles}

    def deadly_sweep(self, belief, share):
        if len(places) == 2:
            kill_a_worker(doomed_client)
        product = sweep(self, belief, share)
        places.append(places_of(self))
        late = time.monotonic() + 60
        while len(places_of(self)) < 2 and time.monotonic() < late:
            time.sleep(0.1)
            self._spread()
        return product

    monkeypatch.setattr(ClusterRows, "sweep", deadly_sweep)
    model = fit(exact(), *chunks(*data))
    assert len(places[1] | places[-1]) == 3  # one worker is gone, another has come
    assert len(places[-1]) == 2  # and has a portion
    assert_same(model, exact().fit(*data))


@pytest.mark.slow
def test_killed_before_the_evidence_is_known(doomed_client, data, monkeypatch):
    log_constant = ClusterRows.log_constant

    def deadly(self, belief):
        kill_a_worker(doomed_client)
        return log_constant(self, belief)

    monkeypatch.setattr(ClusterRows, "log_constant", deadly)
    model = fit(exact(), *chunks(*data))
    alone = exact().fit(*data)
    assert model.log_evidence_ == pytest.approx(alone.log_evidence_, abs=1e-7)
