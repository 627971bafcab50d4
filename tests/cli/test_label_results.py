import numpy as np
import pandas as pd
import pytest

from bayespoint.active import UNKNOWN, Session
from bayespoint.cli.label_results import write_results
from bayespoint.cli.machine import make_pipeline
from bayespoint.cli.pool import Shown, read_pool
from bayespoint.cli.source import Plan
from bayespoint.cli.trained import open_model
from cli_helpers import run_json
from labeling_helpers import two_groups
from report_helpers import Page


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """Return the folder, the session and the results of a session with a promise that holds."""
    folder = tmp_path_factory.mktemp("results")
    X, y = two_groups(300)
    pd.DataFrame(np.round(X, 4), columns=["size", "weight", "age"]).to_csv(
        folder / "pool.csv", index=False
    )
    pool = read_pool(str(folder / "pool.csv"), "kind", Plan(), Shown())
    pipeline = make_pipeline(pool.columns, "kernel", Plan())
    Z = pipeline[0].fit_transform(pool.X)
    session = Session(pipeline[1], Z, max_error=0.2, random_state=0)
    n = 0
    while not session.certificate().holds:
        row = session.ask()
        session.tell(row, UNKNOWN if n == 3 else y[row])
        n += 1
    results = write_results(session, pool, pipeline[0], folder / "m.bayespoint")
    return folder, session, results, y


def test_all_files_are_there(finished):
    _, session, results, _ = finished
    names = [path.name for path, _ in results.written]
    assert names == ["pool.labeled.csv", "pool.predicted.csv", "m.bayespoint", "pool.report.html"]
    assert results.missing == []
    assert results.files()[0]["name"].endswith("pool.labeled.csv")
    assert session.certificate().message in results.lines()[0]


def test_the_saved_model_keeps_the_promise_and_refuses(finished):
    folder, session, _, y = finished
    trained = open_model(folder / "m.bayespoint")
    model, option = trained.model, session.reject_option()
    assert model.threshold_ == option.threshold_
    assert model.max_error == 0.2
    pool = pd.read_csv(folder / "pool.csv")
    expected = option.predict_proba(session.X_pool)
    np.testing.assert_allclose(model.predict_proba(pool), expected, atol=1e-12)
    predicted = pd.read_csv(folder / "pool.predicted.csv")
    accepted = predicted["row"][predicted["accepted"]] - 1
    promised = session.predict()
    assert set(accepted) == set(np.flatnonzero(promised.answered))
    assert np.mean(predicted["prediction"][predicted["accepted"]] != y[accepted]) <= 0.2


def test_rows_that_judge_have_not_trained(finished):
    folder, session, _, _ = finished
    model = folder / "m.bayespoint"
    record = open_model(model).record
    labeled = pd.read_csv(folder / "pool.labeled.csv")
    known = labeled["kind"].notna().to_numpy()
    look = record.fingerprints.look(labeled.loc[known, ["size", "weight", "age"]])
    sample, n_audited = session._certified().sample, session.certificate().n_audited
    blind = [row for row in sample.rows[:n_audited] if session.labels[row] is not UNKNOWN]
    assert np.flatnonzero(known)[look.held_out].tolist() == sorted(blind)
    assert look.trained.tolist() == sample.checkpoint.learned[known].tolist()
    assert not (look.trained & look.held_out).any()
    found = run_json("evaluate", model, folder / "pool.labeled.csv")
    assert found["n_rows"] == sum(~look.trained)


def test_the_report_says_which_rows_it_is_about(finished):
    folder, session, _, _ = finished
    page = Page((folder / "pool.report.html").read_text("utf-8"))
    assert "where the model answers?" in page.text
    assert "blind rows, drawn at random among those that the model answers" in page.text
    assert session.certificate().message in page.text
