"""Model files with classifiers of other libraries, and ways to make bad ones."""

import io
import json
import sys
import types
import zipfile

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris
from sklearn.naive_bayes import GaussianNB

from bayespoint import RejectOptionClassifier, save
from bayespoint.io.models.archive import write

X, y = load_iris(return_X_y=True)
SCHEMA = "schema.json"


def option(classifier=None):
    """Return a fitted reject option around a classifier."""
    classifier = GaussianNB() if classifier is None else classifier
    return RejectOptionClassifier(classifier, reject_rate=0.2, random_state=0).fit(X, y)


def parts(path):
    """Return the text of a model file, its arrays, and the places of those that skops wrote."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    text = json.loads(members["model.json"])
    arrays = [np.load(io.BytesIO(members[f"arrays/{i}.npy"])) for i in range(len(text["arrays"]))]
    state = text["model"]["state"]
    places = [state[name]["array"]["index"] for name in ("estimator", "estimator_")]
    return text, arrays, places


def with_bytes(path, change, saved=None):
    """Write a file whose fitted classifier is other bytes; `saved` are the parts of a file."""
    if saved is None:
        save(option(), path)
        saved = parts(path)
    text, arrays, (_, place) = saved
    text, arrays = json.loads(json.dumps(text)), list(arrays)
    arrays[place] = np.frombuffer(change(arrays[place].tobytes()), np.uint8)
    text["arrays"][place]["shape"] = [len(arrays[place])]
    write(path, json.dumps(text), arrays)


def with_members(change, compression=zipfile.ZIP_STORED):
    """Return a change of bytes that changes a dictionary of the members of a zip file."""

    def changed(content):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
        members = change(members)
        target = io.BytesIO()
        with zipfile.ZipFile(target, "w", compression) as archive:
            for name, part in members.items():
                archive.writestr(name, part)
        return target.getvalue()

    return changed


def with_schema(change):
    """Return a change of bytes that changes the schema, or replaces it by what `change` returns."""

    def changed(members):
        schema = json.loads(members[SCHEMA])
        result = change(schema)
        return members | {SCHEMA: json.dumps(schema if result is None else result).encode()}

    return with_members(changed)


def attribute(name, **node):
    """Return a change that gives the classifier one more attribute."""

    def change(schema):
        attributes = schema["content"]
        attributes["content"][name] = node
        attributes["key_types"]["content"].append(attributes["key_types"]["content"][0])

    return with_schema(change)


def node(loader, kind, **more):
    """Return a node of a schema, for a type as module.name."""
    module, _, name = kind.rpartition(".")
    return {"__class__": name, "__module__": module, "__loader__": loader, "__id__": 7} | more


class Spy(ClassifierMixin, BaseEstimator):
    """A classifier that remembers when its code runs."""

    ran: list = []

    def __new__(cls, *args, **kwargs):
        cls.ran.append("new")
        return super().__new__(cls)

    def __setstate__(self, state):
        self.ran.append("setstate")
        self.__dict__.update(state)

    def fit(self, X, y):
        self.classes_, self.most_ = np.unique(y), y[0]
        return self

    def predict(self, X):
        return np.full(len(X), self.most_)

    def predict_proba(self, X):
        return np.tile(np.eye(len(self.classes_))[0], (len(X), 1))


def spy_module(monkeypatch, version="1.0"):
    """Make a module with the spy, as another library would have it."""
    module = types.ModuleType("other_library")
    module.Spy, module.__version__ = Spy, version
    module.run = lambda *args, **kwargs: Spy.ran.append("run")
    monkeypatch.setattr(Spy, "__module__", "other_library")
    monkeypatch.setattr(Spy, "ran", [])
    monkeypatch.setitem(sys.modules, "other_library", module)
    return module
