import threading
import time
from concurrent.futures import ThreadPoolExecutor

import joblib
import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from bayespoint._runtime.threads import count_remote_jobs, one_blas_thread, run_all, threads

N_THREADS = 2


def blas_threads():
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


@pytest.fixture
def two_blas_threads():
    np.ones((2, 2)) @ np.ones((2, 2))
    with threadpool_limits(N_THREADS, user_api="blas"):
        if blas_threads() != {N_THREADS}:
            pytest.skip("this BLAS has one thread only, or none that can be counted")
        yield


def test_every_thread_can_limit_blas(two_blas_threads):
    def limited():
        with one_blas_thread():
            return blas_threads()

    assert limited() == {1}  # from now on this thread controls threadpoolctl
    assert blas_threads() == {N_THREADS}
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(limited).result() == {1}
    assert blas_threads() == {N_THREADS}


def test_one_blas_thread(two_blas_threads):
    with one_blas_thread():
        assert blas_threads() == {1}
        with one_blas_thread():
            assert blas_threads() == {1}
        assert blas_threads() == {1}
    assert blas_threads() == {N_THREADS}


def test_overlapping_blocks_restore_the_limit_of_before(two_blas_threads):
    first, second = one_blas_thread(), one_blas_thread()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert blas_threads() == {1}
    second.__exit__(None, None, None)
    assert blas_threads() == {N_THREADS}


def test_errors_restore_the_limit(two_blas_threads):
    with pytest.raises(ZeroDivisionError), one_blas_thread():
        raise ZeroDivisionError
    assert blas_threads() == {N_THREADS}


@pytest.mark.parametrize(
    ("backend", "n_remote"), [("threading", 0), ("sequential", 0), ("loky", 3)]
)
def test_count_remote_jobs(backend, n_remote):
    with joblib.parallel_config(backend, n_jobs=None if backend == "sequential" else 3):
        assert count_remote_jobs(None) == n_remote
    with joblib.parallel_config("loky", n_jobs=2):
        assert count_remote_jobs(4) == 4
    assert count_remote_jobs(4) == 0


@pytest.mark.parametrize("n_jobs", [None, 1, 2, 5])
def test_results_come_in_order(n_jobs):
    with threads(n_jobs) as thread_map:
        assert list(thread_map(lambda i: i * i, range(50))) == [i * i for i in range(50)]


def test_work_is_done_in_several_threads():
    barrier = threading.Barrier(2, timeout=30)
    with threads(2) as thread_map:
        names = set(thread_map(lambda _: (barrier.wait(), threading.get_ident())[1], range(2)))
    assert len(names) == 2


def test_threads_stay_here_while_a_cluster_is_active():
    with joblib.parallel_config("loky", n_jobs=2), threads(2) as thread_map:
        here = {"works": False}

        def work(_):
            here["works"] = True

        list(thread_map(work, range(3)))
    assert here["works"]


def test_work_waits_until_results_are_wanted():
    n_started = []
    with threads(2) as thread_map:
        results = thread_map(n_started.append, range(1000))
        next(results)
        time.sleep(0.05)
        # At most twice as many tasks as threads are queued, plus the one that was taken.
        assert len(n_started) <= 5
        assert len(list(results)) == 999


def test_errors_reach_the_caller():
    with pytest.raises(ZeroDivisionError), threads(2) as thread_map:
        list(thread_map(lambda i: 1 / i, [1, 0]))


@pytest.mark.parametrize("n_jobs", [1, 2, 5])
@pytest.mark.parametrize("n_items", [0, 1, 3, 200])
def test_run_all_returns_results_in_order(n_jobs, n_items):
    with threads(n_jobs) as thread_map:
        for _ in range(20):  # threads that wake up late may still look for the last work
            found = run_all(thread_map, lambda i: i * i, range(n_items))
            assert found == [i * i for i in range(n_items)]


def test_the_calling_thread_works_too():
    barrier = threading.Barrier(2, timeout=30)
    with threads(2) as thread_map:
        names = run_all(thread_map, lambda _: (barrier.wait(), threading.get_ident())[1], [0, 1])
    assert len(set(names)) == 2
    assert threading.get_ident() in names


def test_run_all_raises_the_first_error_after_the_work_that_had_begun():
    done = []
    barrier = threading.Barrier(2, timeout=30)

    def work(i):
        if i < 2:
            barrier.wait()
        time.sleep(0.05 * (1 - i))  # the first item fails last
        done.append(i)
        raise ValueError(f"item {i}")

    with threads(2) as thread_map, pytest.raises(ValueError, match="item 0"):
        run_all(thread_map, work, range(2))
    assert sorted(done) == [0, 1]


@pytest.mark.parametrize("pressed_in", ["the calling thread", "another thread"])
def test_run_all_begins_nothing_after_ctrl_c(pressed_in):
    done, caller = [], threading.get_ident()
    both_work = threading.Barrier(2, timeout=30)

    def work(i):
        if i < 2:
            both_work.wait()
            if (threading.get_ident() == caller) == (pressed_in == "the calling thread"):
                raise KeyboardInterrupt
            time.sleep(0.05)
        done.append(i)

    with threads(2) as thread_map, pytest.raises(KeyboardInterrupt):
        run_all(thread_map, work, range(1000))
    assert len(done) < 3


def test_nothing_more_begins_after_an_error():
    n_started = []

    def work(i):
        n_started.append(i)
        time.sleep(0.02)
        return 1 / (i - 1)

    with pytest.raises(ZeroDivisionError), threads(2) as thread_map:
        list(thread_map(work, range(1000)))
    assert len(n_started) <= 5
