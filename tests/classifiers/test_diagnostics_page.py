"""docs/diagnostics.md lists all diagnostics of fitted models and all reasons to stop."""

import re
from pathlib import Path

import pytest
from sklearn.datasets import make_moons

from bayespoint import BayesPointClassifier, solvers
from bayespoint.evaluation.report.diagnosis import STOP_REASONS
from bayespoint.fitting.solver_choice import SOLVERS
from bayespoint.fitting.time_budget import ADVICE

PAGE = Path(__file__).parents[2] / "docs" / "diagnostics.md"
PUBLISHED = [solvers.Billiard(algorithm=name) for name in ("herbrich", "flipper")]


def table_rows(first_cell):
    """Return the table rows whose first cell matches, keyed by the name in that cell."""
    lines = PAGE.read_text("utf-8").splitlines()
    found = ((re.match(first_cell, line), line) for line in lines)
    return {match[1]: line for match, line in found if match}


ENTRIES = table_rows(r"\| `(\w+)` \|")
REASONS = table_rows(r'\| "(\w+)" \|')


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("solver", [*SOLVERS, *PUBLISHED], ids=str)
def test_every_entry_is_on_the_page(solver):
    X, y = make_moons(40, noise=0.3, random_state=0)
    model = BayesPointClassifier(gamma=1.0, softness=0.5, solver=solver, random_state=0).fit(X, y)
    assert set(model.diagnostics_) <= set(ENTRIES)
    assert set(model.diagnostics_.stop) <= set(REASONS)
    for name, value in model.diagnostics_.items():
        columns = {"hits": (len(X),), "n_mistakes": (10,)}.get(name, ())
        assert value.shape == (1, *columns)
        if isinstance(solver, str):
            assert f" {solver}" in ENTRIES[name] or "| all" in ENTRIES[name]


def test_every_reason_is_on_the_page():
    assert set(REASONS) == set(STOP_REASONS) >= set(ADVICE)


def test_advice_is_that_of_the_warning():
    for reason, advice in ADVICE.items():
        words = advice.replace(" without an answer", "").lower().split()
        cell = re.sub("[`,;]", "", REASONS[reason].rsplit("|", 2)[1]).lower()
        missing = [w for w in words if w.strip(",") not in cell and w not in ("ctrl-c", "press")]
        assert not missing, (reason, missing)
