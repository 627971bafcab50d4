"""What benchmarks/fuzz.py feeds with hostile bytes: readers of files, and pages that are written.

Each target is a function of bytes. It returns True if the bytes were read and False if they were
refused in words, and raises what should not happen. `seeds(NAME)` are its first inputs, WORDS what
they may contain, and `Watchdog` notes what no reader may do: run programs, write files, open
connections. How files with an inner structure are changed is in fuzz_changes.py.
"""

import asyncio
import bz2
import gzip
import io
import json
import lzma
import os
import pickle
import sys
import tempfile
import warnings
from contextlib import contextmanager
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import fuzz_verbs
import joblib
import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import parquet
from sklearn.base import ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from bayespoint import (
    BayesPointClassifier,
    LinearBayesPointClassifier,
    RejectOptionClassifier,
    active,
    save,
)
from bayespoint.evaluation.report.writer import write_report
from bayespoint.io.models.archive import Archive, ModelFileError
from bayespoint.io.models.decode import Decoder, layout_of
from bayespoint.io.models.foreign import dump, load, require_trust
from bayespoint.io.models.model_file import read
from bayespoint.io.onnx import to_onnx
from bayespoint.io.tables.columns import frame
from bayespoint.io.tables.labels import known_labels, labels, whole_labels
from bayespoint.io.tables.look import find_used_columns, look
from bayespoint.io.tables.open_table import open_table
from bayespoint.io.tables.wishes import Wishes
from bayespoint.labeling.desk import Desk
from bayespoint.labeling.entries import final_answers
from bayespoint.labeling.guard import HEADERS, Guard
from bayespoint.labeling.journal import Journal
from bayespoint.labeling.journal import read as read_journal
from bayespoint.labeling.rows import Rows
from bayespoint.labeling.server import make_app

TOKEN = "token"
# Events of sys.audit that a reader never causes.
FORBIDDEN = ("os.system", "os.exec", "os.posix_spawn", "subprocess.Popen", "pickle.find_class",
             "socket.connect", "os.remove", "os.rename", "shutil.rmtree")  # fmt: skip


class Watchdog:
    """Notes forbidden events between `on` and `off`; an error alone could be swallowed."""

    def __init__(self):
        self.seen, self._on = [], False
        sys.addaudithook(self._look)

    def _look(self, event, arguments):
        if not self._on:
            return
        writes = (
            event == "open" and isinstance(arguments[1], str) and set(arguments[1]) & set("wax+")
        )
        # numba tries whether it can write to a folder, with a file that has no name.
        is_nameless = writes and os.path.isdir(arguments[0])
        if event in FORBIDDEN or (writes and not is_nameless):
            self.seen.append((event, str(arguments)[:200]))

    @contextmanager
    def on(self):
        """Watch until the end of the block."""
        self.seen, self._on = [], True
        try:
            yield
        finally:
            self._on = False
        if self.seen:
            raise AssertionError(f"forbidden: {self.seen[0]}")


WATCHDOG = Watchdog()


@cache
def _folder() -> Path:
    shared = Path("/dev/shm")
    return Path(tempfile.mkdtemp(prefix="fuzz", dir=shared if shared.is_dir() else None))


def _file(name: str, content: bytes) -> Path:
    path = _folder() / name
    path.write_bytes(content)
    return path


# Tables


def _read_table(name: str, content: bytes) -> bool:
    """Read a table as training does, and drop it."""
    path = _file(name, content)
    with WATCHDOG.on():
        try:
            with open_table(path) as table:
                if table.columns is None:
                    for _, y in table.sparse_chunks(50, None):
                        whole_labels(y)
                    return True
                first = pa.concat_tables(table.batches())
                target = table.columns[-1]
                found = look(first, target, Wishes(), table.delimiter)
                columns = find_used_columns(found, first, target)
                known_labels(labels(first, columns), columns)
                frame(first, columns)
                return True
        except ValueError as error:
            assert "\n" not in str(error), error  # noqa: PT017
            return False


def read_csv(content: bytes) -> bool:
    """Read CSV, compressed or not."""
    return _read_table("t.csv", content)


def read_libsvm(content: bytes) -> bool:
    """Read LIBSVM, compressed or not."""
    return _read_table("t.svm", content)


def read_parquet(content: bytes) -> bool:
    """Read Parquet."""
    return _read_table("t.parquet", content)


def _csv_seeds() -> list[bytes]:
    plain = 'a,b,kind\n1,x,yes\n2,y,no\n,\'z,yes\n1e5,"q,""r",no\n'
    dates = "day;price;kind\n2024-01-02;1.234,50;a\n03.04.2024;-0,5;b\n"
    texts = [plain, dates, "sep=;\n1;2\n", "x\ty\n1\t2\n", " a | b \n---+---\n 1 | 2 \n(1 row)\n",
             "1 2 3\n4 5 6\n", "a,a\n1,2\n", "INSERT INTO t\n", "a,b\n" + "1,2\n" * 30]  # fmt: skip
    plains = [text.encode() for text in texts]
    packed = [pack(plains[0]) for pack in (gzip.compress, bz2.compress, lzma.compress)]
    return [
        *plains,
        *packed,
        plain.encode("utf-16"),
        dates.encode("utf-8-sig"),
        b"M\xfcnchen,k\n1,2\n",
    ]


def _libsvm_seeds() -> list[bytes]:
    plain = b"1 1:0.5 3:2\n-1 2:1e-3 # why\n# none\n+1 1:1 7:-2\n"
    return [plain, gzip.compress(plain), b"1 qid:1 1:1\n", b"0 1:nan\n", b"1\n2\n"]


def _parquet_seeds() -> list[bytes]:
    table = pa.table({
        "n": [1, None, 3], "x": [0.5, float("nan"), 2.0], "w": ["a", "b", None],
        "k": pa.array(["x", "y", "x"]).dictionary_encode(), "d": pa.array([0, 1, 2], pa.date32()),
        "b": [True, None, False],
    })  # fmt: skip
    found = []
    for options in ({}, {"compression": "zstd"}, {"use_dictionary": False, "compression": "none"}):
        for part in (table.select(["n", "k"]), table.select(["w", "x"]), table):
            buffer = io.BytesIO()
            parquet.write_table(part, buffer, store_schema=False, **options)
            found.append(buffer.getvalue())
    return [*found, gzip.compress(found[0])]


# Model files


def _rows() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(12, 2)), np.arange(12) % 2
    X[:, 0] += 2 * y
    return X, y


@cache
def _models() -> list[bytes]:
    """Return small model files of every kind."""
    X, y = _rows()
    table = pd.DataFrame({"a": X[:, 0], "b": np.array(["u", "v", "w"])[np.arange(12) % 3]})
    fitted = [
        LinearBayesPointClassifier().fit(X, y),
        BayesPointClassifier().fit(table, y),
        BayesPointClassifier("rbf", gamma=0.5, softness=0.1, solver="ep").fit(X, y),
        make_pipeline(StandardScaler(), LinearBayesPointClassifier()).fit(X, y),
        make_pipeline(OneHotEncoder(), LinearBayesPointClassifier()).fit(table[["b"]], y),
        *(
            RejectOptionClassifier(FrozenEstimator(inner.fit(X, y)), reject_rate=0.2).fit(X, y)
            for inner in (LogisticRegression(), RandomForestClassifier(2, max_depth=2))
        ),
    ]
    path, contents = _folder() / "seed", []
    for model in fitted:
        save(model, path)
        contents.append(path.read_bytes())
        _try(lambda model=model: to_onnx(model))  # loads compiled code, which looks for its cache
    return contents


@cache
def _parts() -> list[tuple[dict, list]]:
    """Return the text and the arrays of each model."""
    found = []
    for content in _models():
        with open(_file("seed", content), "rb") as file:
            archive = Archive(file)
            text = json.loads(archive.text())
            arrays = archive.arrays([layout_of(described) for described in text["arrays"]])
        found.append((text["model"], arrays))
    return found


def _decoded(content: bytes):
    """Return the model that a text describes, with the arrays of one of ours; None if refused."""
    try:
        number, text = content[0], json.loads(content[1:])
        arrays = _parts()[number % len(_parts())][1]
        if isinstance(text, dict) and "layouts" in text:
            return [layout_of(described) for described in text["layouts"]]
        # Checks may raise anything here: `read` turns it into a ModelFileError.
        return Decoder(arrays).decode(text)
    except Exception:
        return None


def read_model(content: bytes) -> bool:
    """Decode the text of a model file, and predict with what comes out."""
    _parts()
    with WATCHDOG.on():
        model = _decoded(content)
        return _try(lambda: _predict(model))


def _predict(model) -> None:
    n_features = model.n_features_in_
    if n_features < 10**5:
        # Rows that take other branches of a tree.
        model.predict_proba(np.repeat([[-9.0], [0.0], [9.0]], n_features, axis=1))


def export_model(content: bytes) -> bool:
    """Export the model that a text describes as ONNX."""
    _parts()
    with WATCHDOG.on():
        model = _decoded(content)
        is_model = hasattr(model, "predict_proba")
        return is_model and _try(lambda: to_onnx(model).SerializeToString())


def _try(use) -> bool:
    """Use a model that a stranger made: it may raise any exception, and nothing worse."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            use()
        except Exception:
            return False
        return True


def read_archive(content: bytes) -> bool:
    """Read a whole model file."""
    path = _file("t.bayespoint", content)
    with WATCHDOG.on(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            read(path)
        except ModelFileError as error:
            assert "\n" not in str(error), error  # noqa: PT017
            return False
        return True


def _model_seeds() -> list[bytes]:
    return [bytes([i]) + json.dumps(text).encode() for i, (text, _) in enumerate(_parts())]


def _archive_seeds() -> list[bytes]:
    old = [pickle.dumps({"a": np.zeros(2)}, protocol) for protocol in range(6)]
    return [*_models()[:1], *_models()[3:], *old, b"PK\x05\x06" + bytes(18)]


def read_foreign(content: bytes) -> bool:
    """Read a classifier of scikit-learn as it is inside a model file, and predict with it."""
    array = np.frombuffer(content, np.uint8)
    # An ensemble may ask for processes of joblib, which are no programs of a stranger.
    with joblib.parallel_config("threading", n_jobs=1), WATCHDOG.on():
        try:
            require_trust([array], (), "t")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model = load(array, ())
        except Exception:  # `read` turns any of them into a ModelFileError
            return False
        return _try(lambda: _predict(model))


@cache
def _foreign_seeds() -> list[bytes]:
    X, y = _rows()
    forest = RandomForestClassifier(2, max_depth=2, random_state=0)
    boosting = HistGradientBoostingClassifier(max_iter=2, min_samples_leaf=1, max_leaf_nodes=3)
    few = BaggingClassifier(GaussianNB(), 2, max_features=1, random_state=0)
    stages = AdaBoostClassifier(n_estimators=2, random_state=0)
    net = MLPClassifier((2,), max_iter=2, random_state=0)
    sigmoid = CalibratedClassifierCV(FrozenEstimator(GaussianNB().fit(X, y)))
    logistic = make_pipeline(StandardScaler(), LogisticRegression())
    classifiers: list[ClassifierMixin] = [logistic, forest, boosting, few, stages, net, sigmoid]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # two rounds are not enough for the net
        return [dump(model.fit(X, y), "it")[0].tobytes() for model in classifiers]


# Pages


@cache
def _guarded():
    """Return the application behind the page of bayespoint label."""
    folder = Path(tempfile.mkdtemp(dir=_folder()))
    X = np.random.default_rng(0).normal(size=(20, 2))
    table = pa.table(
        {"photo": ["../x.png", "/etc/passwd"] * 10, "a": [f"<b>{x:.2f}" for x in X[:, 0]]}
    )
    facts = {"pool": "p.csv", "sha256": "ab", "n_rows": 20, "target": "kind", "seed": 0}
    journal = Journal(folder / "j.csv", facts)
    session = active.Session(GaussianNB(), X, classes=["yes", "no"], random_state=0)
    desk = Desk(
        session,
        journal,
        Rows(table, table.column_names, (), "photo"),
        {"pool": "p.csv", "target": "kind"},
    )
    return Guard(make_app(desk, folder), TOKEN), asyncio.new_event_loop()


def request(content: bytes) -> bool:
    """Send a request to the page of bayespoint label: a line, headers, an empty line, a body."""
    app, loop = _guarded()
    head, _, body = content.partition(b"\n\n")
    first, *lines = head.split(b"\n")
    method, _, target = first.decode("latin-1").partition(" ")
    path, _, query = target.partition("?")
    pairs = [line.split(b":", 1) for line in lines if b":" in line]
    headers = [(name.strip().lower(), value.strip()) for name, value in pairs]
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "root_path": "",
        "method": method.upper(), "scheme": "http", "path": "/" + path.lstrip("/"),
        "raw_path": path.encode(), "query_string": query.encode(), "headers": headers,
        "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 1),
    }  # fmt: skip
    sent, received = [], [{"type": "http.request", "body": body, "more_body": False}]

    async def receive():
        return received.pop() if received else {"type": "http.disconnect"}

    async def send(message):
        sent.append(message)

    loop.run_until_complete(app(scope, receive, send))
    assert sent[0]["status"] < 500 or sent[0]["status"] == 507, sent
    assert set(HEADERS.items()) <= set(sent[0]["headers"])
    text = b"".join(message.get("body", b"") for message in sent)
    assert b"root:" not in text
    return sent[0]["status"] < 400


def _request_seeds() -> list[bytes]:
    start = "Host: 127.0.0.1\nX-Bayespoint-Token: token\nContent-Type: application/json"
    acts = [
        {"action": "label", "row": 0, "label": "yes", "before": None, "id": "1"},
        {"action": "undo", "id": "2"},
        {"action": "skip", "row": 1, "before": None},
        {"action": "unknown", "row": 2, "before": None},
    ]
    paths = ["", "state", "row/1", "row/1?whole", "image/1", "image/2", "answers", "search?text=b",
             "app.js", "../desk.py", "state?stamp=1"]  # fmt: skip
    found = [f"GET {TOKEN}/{path}\n{start}\n\n" for path in paths]
    found += [f"POST {TOKEN}/act\n{start}\nContent-Length: 80\n\n{json.dumps(act)}" for act in acts]
    return [text.encode() for text in [*found, f"GET x/\n{start}\nOrigin: http://evil\n\n"]]


def journal(content: bytes) -> bool:
    """Read the journal of a session."""
    path = _file("t.journal.csv", content)
    with WATCHDOG.on():
        try:
            final_answers(read_journal(path)[1])
        except ValueError:
            return False
    return True


def _journal_seeds() -> list[bytes]:
    head = "time,action,row,key,label,mark\n2024-01-01T00:00:00.000Z,pool,,,p.csv,\n"
    lines = "t,begin,,,,\nt,class,,,yes,\nt,label,1,k,yes,\nt,skip,2,k,,\nt,undo,1,k,,\n"
    lines += 't,label,3,"k,","a""b",m\n'
    return [(head + lines).encode(), head.encode(), (head + lines)[:-5].encode(), b""]


class Constant:
    """A classifier that gives every row the same answer."""

    def __init__(self, classes):
        self.classes_ = np.asarray(classes)

    def predict_proba(self, X):
        """Return probabilities."""
        first = np.linspace(0.2, 0.8, len(X))
        return np.column_stack([first, 1 - first])


class _Tags(HTMLParser):
    """Elements and names of attributes of a page."""

    def __init__(self, page: str):
        super().__init__()
        self.found = set()
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attributes):
        """Note an element."""
        self.found |= {tag, *((tag, name) for name, _ in attributes)}


def report(content: bytes) -> bool:
    """Write a report on columns, values, classes and a title that come from the bytes."""
    harmless = _known_tags()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        how = "surrogateescape" if content[:1] == b"s" else "replace"
        page = _report(content.decode("utf-8", how))
    strange = _Tags(page).found - harmless
    assert not strange, strange
    return bool(page)


@cache
def _known_tags():
    plain = [
        _report("name" + "\x1f".join(words)) for words in (["a", "b", "1"], ["c", "2024-01-01"])
    ]
    return set().union(*(_Tags(page).found for page in plain))


def _report(text: str) -> str:
    words = [*text.split("\x1f"), "b", "c", "d"]
    names = [words[0], words[0] + "'", words[1] + "\x1e"]
    X = pd.DataFrame({name: [words[i % len(words)] for i in range(j, j + 12)]
                      for j, name in enumerate(names)})  # fmt: skip
    X[names[1]] = np.arange(12.0)
    classes = sorted({words[0] + "1", words[1] + "2"})
    if len(classes) < 2:
        return ""
    path = _folder() / "t.html"
    write_report(
        Constant(classes),
        X,
        np.array(classes)[np.arange(12) % 2],
        path,
        title=words[0],
        target=words[1],
    )
    return path.read_text("utf-8")


def _report_seeds() -> list[bytes]:
    found = [
        "<script>alert(1)</script>",
        '"><img src=x onerror=alert(1)>',
        "a\x1f</style><svg onload=1>\x1f-->",
        "{{x}}\x1f${y}\x1f<!--",
        "\u202e\x1f\x00\x1f1e400",
        "javascript:1\x1f'onclick='x",
    ]
    return [text.encode() for text in found]


# Without other formats, folders and workers.
TABLE_FILES = [
    f"io/tables/{name}.py"
    for name in (
        "columns", "csv_table", "date_format", "encodings", "kinds", "labels", "look",
        "missing_values", "number_doubts", "number_format", "open_table", "sniff", "stream",
        "table",
    )
]  # fmt: skip
TARGETS = {
    "csv": (read_csv, _csv_seeds, TABLE_FILES),
    "libsvm": (read_libsvm, _libsvm_seeds, ["io/tables/libsvm_table.py", "io/tables/stream.py"]),
    "parquet": (read_parquet, _parquet_seeds, ["io/tables/parquet_table.py"]),
    "archive": (read_archive, _archive_seeds, ["io/models/archive.py", "io/models/model_file.py"]),
    "model": (read_model, _model_seeds, ["io/models/decode.py", "io/models/state_checks.py"]),
    "skops": (
        read_foreign,
        _foreign_seeds,
        ["io/models/foreign.py", "io/models/foreign_checks.py", "io/models/foreign_types.py"],
    ),
    "onnx": (export_model, _model_seeds, ["io/onnx"]),
    "request": (
        request,
        _request_seeds,
        ["labeling/guard.py", "labeling/server.py", "labeling/desk.py"],
    ),
    "journal": (journal, _journal_seeds, ["labeling/entries.py", "labeling/journal.py"]),
    "report": (report, _report_seeds, ["evaluation/report"]),
    "predict": (
        fuzz_verbs.predict,
        fuzz_verbs.table_seeds,
        ["cli/predict.py", "cli/trained.py", "cli/odd_values.py", "io/tables/columns.py"],
    ),
    "check": (fuzz_verbs.check, fuzz_verbs.table_seeds, ["cli/check.py", "io/tables/look.py"]),
    "plan": (fuzz_verbs.plan, fuzz_verbs.plan_seeds, ["io/tables/wishes.py"]),
}


def seeds(name: str) -> list[bytes]:
    """Return the first inputs of a target."""
    return TARGETS[name][1]()
