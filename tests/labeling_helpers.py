"""Small pools, desks and servers for the tests of labeling."""

import base64
import json
import urllib.error
import urllib.request
from contextlib import contextmanager

import numpy as np
import pyarrow as pa
from sklearn.naive_bayes import GaussianNB

from bayespoint import active
from bayespoint.labeling.desk import Desk
from bayespoint.labeling.journal import Journal
from bayespoint.labeling.rows import Rows
from bayespoint.labeling.server import Server

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
FACTS = {"pool": "pool.csv", "sha256": "ab12", "n_rows": 200, "target": "kind", "seed": 0}


def two_groups(n_rows=200, seed=0):
    """Return points of two groups, and the group of each."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n_rows)
    X = rng.normal(size=(n_rows, 3)) + 3 * y[:, None]
    return X, np.array(["no", "yes"])[y]


def arrow_table(X, **columns):
    """Return points as an Arrow table of texts, as it is read from CSV."""
    names = {f"x{j}": [f"{value:.3f}" for value in X[:, j]] for j in range(X.shape[1])}
    return pa.table({**columns, **names})


def make_desk(folder, X, *, table=None, image=None, texts=(), max_error=None, classes=(), **facts):
    """Return a desk with a journal in the folder; the same call again resumes the session."""
    table = arrow_table(X) if table is None else table
    rows = Rows(table, table.column_names, texts, image)
    journal = Journal(folder / "pool.journal.csv", FACTS | facts)
    session = active.Session(GaussianNB(), X, classes=classes, max_error=max_error, random_state=0)
    try:
        return Desk(session, journal, rows, {"pool": "pool.csv", "target": "kind"})
    except BaseException:
        journal.close()
        raise


@contextmanager
def served(desk, folder, **options):
    """Serve a desk, with its worker."""
    server = Server(desk, folder, **options)
    desk.start()
    server.start()
    try:
        yield server
    finally:
        server.stop()
        desk.stop()
        desk.journal.close()


def label(row, label, before=None, **more):
    """Return the request that gives a row a label."""
    return {"action": "label", "row": row, "label": label, "before": before, **more}


def request(address, path="", content=None, headers=None, *, method=None, data=None):
    """Return status, headers and text of a request; the headers of our page unless others."""
    token = address.rstrip("/").split("/")[-1]
    given = {"X-Bayespoint-Token": token, "Content-Type": "application/json"}
    given = {k: v for k, v in (given | (headers or {})).items() if v is not None}
    if content is not None:
        data = json.dumps(content).encode()
    wanted = urllib.request.Request(address + path, data=data, headers=given, method=method)
    try:
        with urllib.request.urlopen(wanted, timeout=30) as answer:
            return answer.status, answer.headers, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.headers, error.read().decode()


def get_json(address, path="state"):
    status, _, text = request(address, path)
    assert status == 200, text
    return json.loads(text)
