"""The model of large clusters in benchmarks/: its arithmetic, and the simulation that checks it."""

import json
import math
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))

import cluster_report
import cluster_simulation
from cluster_model import (
    Cluster,
    Hub,
    Round,
    busy_seconds,
    fit_compute,
    fit_hub,
    fit_seconds,
    largest,
    round_seconds,
)

HUB = Hub(0.01, 0.002, 1e-9, 2e-9)
# Simulated fits. Losses are rare: ten fits would not tell them from none.
N_RUNS = {"one wave": 10, "slow hub": 10, "stragglers": 10, "losses": 100}


def test_largest_of_several_times():
    times = np.random.default_rng(0).lognormal(0, 0.3, (20_000, 50)).max(axis=1)
    error = times.std() / np.sqrt(len(times))
    # Quantiles beyond the last of 2000 are cut off: less than one part in 2000.
    assert largest(50, 0.3) == pytest.approx(times.mean(), abs=4 * error + times.mean() / 2000)
    assert largest(50, 0.0) == 1


def test_a_round_by_hand():
    work = Round(tasks=4, down=1e6, up=5e5, seconds=2.0)
    assert round_seconds(HUB, work, Cluster(4)) == pytest.approx(0.01 + 4 * 0.003 + 2 + 4 * 0.001)
    assert round_seconds(HUB, work, Cluster(2)) == pytest.approx(0.01 + 2 * 0.003 + 4 + 4 * 0.001)
    assert work.traffic == 6e6


def test_a_round_that_waits_for_the_hub():
    work = Round(tasks=1000, down=1e6, up=0.0, seconds=0.001)
    assert round_seconds(HUB, work, Cluster(100)) == pytest.approx(0.01 + 1000 * 0.003 + 0.001)


def test_many_tasks_of_a_thread_even_out():
    whole = busy_seconds(Round(10, 0, 0, 16.0), Cluster(10, spread=0.3))
    parts = busy_seconds(Round(160, 0, 0, 1.0), Cluster(10, spread=0.3))
    assert 16 * math.exp(0.3**2 / 2) < parts < whole


def test_losses_by_hand():
    """If losses are rare, each costs what is made again, less half a round."""
    work, rate = Round(4, 0.0, 0.0, 10.0), 1e-9
    cluster = Cluster(4, losses=rate, restart=5.0)
    plain = fit_seconds(HUB, work, cluster._replace(losses=0.0), 6, 3)
    extra = (fit_seconds(HUB, work, cluster, 6, 3) - plain) / (4 * rate * plain)
    assert extra == pytest.approx(5 + 4 * 10 - 5, rel=1e-5)
    extra = (fit_seconds(HUB, work, cluster, 6, 0, repeats=True) - plain) / (4 * rate * plain)
    assert extra == pytest.approx(5 + 3.5 * 10 - 5, rel=1e-5)


@pytest.mark.parametrize("name", N_RUNS)
def test_the_model_agrees_with_the_simulation(name):
    """The page promises 4 percent, beyond the standard error of the simulation."""
    mean, error, model = cluster_simulation.compare(name, N_RUNS[name])
    assert model == pytest.approx(mean, abs=0.04 * mean + 4 * error)


def test_the_simulation_notices_wrong_formulas():
    """A model without stragglers, or without losses, is farther off."""
    for name, field in (("stragglers", "spread"), ("losses", "losses")):
        work, cluster, *rest = cluster_simulation.case(name)
        mean, error, _ = cluster_simulation.compare(name, N_RUNS[name])
        wrong = fit_seconds(cluster_simulation.HUB, work, cluster._replace(**{field: 0.0}), *rest)
        assert wrong < mean - 0.04 * mean - 4 * error


def test_constants_are_found_again():
    sizes = [(w, k, d, u) for w in (1, 2) for k in (4, 32) for d in (0, 1e6) for u in (0, 1e6)]
    rounds = [(*s, 0.01 + s[1] * (0.002 + 1e-9 * s[2] + 2e-9 * s[3])) for s in sizes]
    hub, off = fit_hub(np.array(rounds))
    np.testing.assert_allclose(hub, HUB, rtol=1e-9)
    np.testing.assert_allclose(off, 0, atol=1e-9)
    fits = [(w, 1000, s, 0.5 + 1000 / w * (1e-3 + 2e-3 * s)) for w in (1, 2, 4) for s in (1, 3)]
    np.testing.assert_allclose(fit_compute(np.array(fits))[0], [0.5, 1e-3, 2e-3], rtol=1e-9)


def test_the_table_and_the_picture(tmp_path, capsys):
    found = json.loads(cluster_report.RESULTS.read_text("utf-8"))
    cluster_report.print_errors(found)
    cluster_report.print_table(found)
    lines = capsys.readouterr().out.splitlines()
    n_plans = len(cluster_report.plans(cluster_report.read_costs(found), found))
    assert sum(" | " in line for line in lines) == 1 + n_plans
    pytest.importorskip("matplotlib")
    cluster_report.draw(found, tmp_path / "large_cluster.png")
    assert (tmp_path / "large_cluster.png").stat().st_size > 10_000
