import pytest

from bayespoint._runtime import no_callbacks
from bayespoint._runtime.progress import CallbackSupportMixin, Progress, describe, say, share_of
from bayespoint._runtime.share_done import heard_by

BOUNCES = {"n_bounces": 12_000, "mixed": True, "angle": 0.0125, "r_hat": 1.002, "stop": ""}


class Estimator(CallbackSupportMixin):
    """A minimal estimator with callbacks, if scikit-learn has them."""


class OldEstimator(no_callbacks.CallbackSupportMixin):
    """A minimal estimator for a scikit-learn without callbacks."""


@pytest.mark.parametrize("estimator", [Estimator(), OldEstimator()])
@pytest.mark.parametrize("verbose", [0, 1])
def test_rounds_are_reported_only_on_request(estimator, verbose, capsys):
    progress = Progress(estimator, n_outputs=2, verbose=verbose)
    for number in range(2):
        with progress.output(number) as on_round:
            assert on_round(BOUNCES) is False
            assert on_round(BOUNCES | {"stop": "tol"}) is False
    progress.end()
    captured = capsys.readouterr()
    assert captured.out == ""
    lines = captured.err.splitlines()
    assert len(lines) == 4 * verbose
    if verbose:
        assert lines[0].startswith("[bayespoint 1/2] ")
        assert lines[3].startswith("[bayespoint 2/2] ")
        assert lines[3].endswith(", stopped by tol")


def test_a_single_output_is_not_numbered(capsys):
    progress = Progress(OldEstimator(), n_outputs=1, verbose=1)
    with progress.output(0) as on_round:
        on_round(BOUNCES)
    assert capsys.readouterr().err.startswith("[bayespoint] ")


def test_say(capsys):
    say("solver ep")
    assert capsys.readouterr().err == "[bayespoint] solver ep\n"


@pytest.mark.parametrize(
    ("info", "text"),
    [
        (BOUNCES, "12,000 bounces, angle to the Bayes point 0.013, R-hat 1.002"),
        (BOUNCES | {"mixed": False}, "12,000 bounces, angle to the Bayes point unknown"),
        (
            {"n_samples": 500, "mixed": True, "angle": 0.1, "r_hat": 1.0, "stop": ""},
            "500 samples, angle to the Bayes point 0.100",
        ),
        ({"stop": "done"}, "the error is unknown"),
        ({"n_done": 3, "n_cells": 4000, "stop": ""}, "3 of 4,000 cells"),
        (
            {"n_members": 10, "n_consistent": 7, "n_mistakes": 1234, "n_rows": 99},
            "7 of 10 perceptrons are consistent, 1,234 mistakes, 99 rows of the kernel matrix",
        ),
        (
            {"residual": 3e-7, "n_iter": 12, "mixed": True, "log_evidence": -3.456},
            "pass  12, moments match to 3.0e-07, log evidence -3.46",
        ),
        (
            {"residual": 0.5, "n_iter": 1, "mixed": False, "log_evidence": -3.456},
            "pass   1, moments match to 5.0e-01",
        ),
    ],
)
def test_describe(info, text):
    described = describe(info)
    assert text in described
    assert ("log evidence" in described) == ("log evidence" in text)


def test_the_share_of_all_outputs_is_heard():
    heard, progress = [], Progress(OldEstimator(), n_outputs=2, verbose=0)
    with heard_by(lambda *news: heard.append(news)):
        for number in range(2):
            with progress.output(number) as on_round:
                on_round({"n_done": 1, "n_cells": 2, "stop": ""})
                on_round(BOUNCES)  # nobody knows how many it will take
    assert heard == [(share, "fitting") for share in (0, 0.25, 0.5, 0.75)]


@pytest.mark.parametrize(
    ("info", "share"),
    [
        (BOUNCES, None),
        ({"n_done": 3, "n_points": 4}, 0.75),
        ({"n_consistent": 7, "n_members": 10}, 0.7),
        ({"n_consistent": 0, "n_members": 0}, 0),
        ({"residual": 0.1, "tol": 0.01}, 0.5),
        ({"residual": 3.0, "tol": 0.01}, 0),
        ({"residual": 3.0, "tol": 0.0}, None),
    ],
)
def test_the_share_that_a_solver_knows(info, share):
    assert share_of(info) == share
