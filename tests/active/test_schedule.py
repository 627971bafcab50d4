"""Slow steps may be done early: the questions are the same."""

import threading

from sklearn.naive_bayes import GaussianNB

from bayespoint import active
from session_helpers import label


def test_work_in_another_thread_does_not_change_the_questions(blobs):
    X, y = blobs
    alone = label(active.Session(GaussianNB(), X, max_error=0.1, random_state=0), y, 60)
    helped = active.Session(GaussianNB(), X, max_error=0.1, random_state=0)
    stop = threading.Event()

    def help_out():
        while not stop.wait(0.001):
            helped.work()

    thread = threading.Thread(target=help_out)
    thread.start()
    try:
        label(helped, y, 60)
    finally:
        stop.set()
        thread.join()
    assert helped.actions == alone.actions
    between = active.Session(GaussianNB(), X, max_error=0.1, random_state=0)
    assert label(between, y, 60, work=True).actions == alone.actions
