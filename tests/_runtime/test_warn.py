from functools import partial
from pathlib import Path

import joblib
import pytest
import sklearn

import bayespoint
from bayespoint._runtime.warn import warn

OURS, JOBLIB, SKLEARN = (
    str(Path(package.__file__).parent) for package in (bayespoint, joblib, sklearn)
)


def called_from(folder, function):
    """Return a function that calls another one from a file in the given folder."""
    scope = {"function": function}
    exec(compile("def call():\n    function()\n", str(Path(folder, "file.py")), "exec"), scope)
    return scope["call"]


def place_of_warning(function):
    with pytest.warns(UserWarning, match="note") as caught:
        function()
    return caught[0].filename, caught[0].lineno


def test_category():
    with pytest.warns(DeprecationWarning, match="note"):
        warn("note", DeprecationWarning)


@pytest.mark.parametrize("folders", [(), (OURS,), (OURS, SKLEARN), (OURS, JOBLIB, SKLEARN, OURS)])
def test_points_to_the_line_of_the_user(folders):
    inner = partial(warn, "note")
    for folder in folders:
        inner = called_from(folder, inner)

    def user():
        inner()

    assert place_of_warning(user) == (__file__, user.__code__.co_firstlineno + 1)


def test_a_folder_with_a_similar_name_belongs_to_the_user():
    user = called_from(OURS + "_tools", called_from(OURS, partial(warn, "note")))
    assert place_of_warning(user) == (str(Path(OURS + "_tools", "file.py")), 2)
