"""Save and load models: JSON and arrays in a zip file, which runs no code."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import scipy
import sklearn

from ... import __version__
from ..._runtime.warn import warn
from .archive import TEXT_MEMBER, Archive, ModelFileError, write
from .decode import Decoder, foreign_parts, layout_of
from .encode import Encoder
from .foreign import NODE_TYPE, require_trust, trusted_names, version_of

__all__ = ["ModelFileError", "load", "read", "save"]

FORMAT = "bayespoint model"
# Raise this when older files can no longer be read as they are.
VERSION = 1
# Metadata that `read` adds.
OWN_KEYS = ("format_version", "libraries")


def save(model: Any, path: str | os.PathLike, metadata: dict | None = None) -> None:
    """Write a model to a file that can be loaded without running code from it.

    The file is written under another name and then renamed, so that a failure never leaves
    a broken file. Equal models make equal files.

    Parameters
    ----------
    model : estimator
        A classifier of this package, fitted or not, alone or in a pipeline with
        `ColumnTransformer`, `SimpleImputer`, `OneHotEncoder` and scikit-learn's scalers. Inside
        of a `RejectOptionClassifier`, also another classifier of scikit-learn (needs skops).
    path : str or path-like
        The file to write, usually called `NAME.bayespoint`.
    metadata : dict, default=None
        Anything that JSON can hold; `read` returns it with the model.

    Raises
    ------
    ModelFileError
        If the model holds anything else, for example a function as its kernel.

    Examples
    --------
    >>> import os, tempfile
    >>> from sklearn.datasets import load_iris
    >>> import bayespoint
    >>> X, y = load_iris(return_X_y=True)
    >>> model = bayespoint.LinearBayesPointClassifier().fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "iris.bayespoint")
    ...     bayespoint.save(model, path)
    ...     loaded = bayespoint.load(path)
    >>> bool((loaded.predict_proba(X) == model.predict_proba(X)).all())
    True
    """
    encoder = Encoder()
    encoded = encoder.encode(model)
    content = {
        "format": FORMAT,
        "version": VERSION,
        "libraries": _libraries() | {name: version_of(name) for name in sorted(encoder.libraries)},
        "metadata": _check_metadata(metadata or {}),
        "model": encoded,
        "arrays": encoder.layouts,
    }
    write(path, json.dumps(content, indent=1, allow_nan=False), encoder.arrays)
    if encoder.untrusted:
        warn(
            f"Whoever loads {path} has to trust some of its types: "
            f"bayespoint.load(path, trusted={sorted(encoder.untrusted)!r})."
        )


def load(path: str | os.PathLike, trusted: Sequence[str | type] = ()) -> Any:
    """Return the model in a file that `save` wrote.

    It predicts the same as the saved model, bit for bit with the same versions of the
    libraries, and can be trained further. A file from a stranger cannot run code, but the
    stranger decides what its model predicts.

    Parameters
    ----------
    path : str or path-like
        The file.
    trusted : sequence of str or type, default=()
        Types of other libraries that may be loaded from the file besides the usual ones of
        scikit-learn, such as "lightgbm.sklearn.LGBMClassifier". Only name types that you know,
        in a file from somebody you trust: loading them may run their code.

    Returns
    -------
    estimator
        The model.

    Raises
    ------
    ModelFileError
        If the file is not a model file, is damaged, has a later version of the format, or holds
        types that are not trusted.

    Warns
    -----
    UserWarning
        If the file was written with another version of scikit-learn, or of another library
        that the model comes from.

    Examples
    --------
    >>> import os, tempfile
    >>> import bayespoint
    >>> model = bayespoint.LinearBayesPointClassifier().fit([[0.0], [1.0]], ["no", "yes"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "model.bayespoint")
    ...     bayespoint.save(model, path)
    ...     bayespoint.load(path).predict([[2.0]])
    array(['yes'], dtype='<U3')
    """
    return read(path, trusted)[0]


def read(path: str | os.PathLike, trusted: Sequence[str | type] = ()) -> tuple[Any, dict]:
    """Return the model and the metadata in a file that `save` wrote.

    Like `load`. The metadata are the ones passed to `save`, plus `format_version` and
    `libraries`, the versions of Python and of the libraries that wrote the file.

    Examples
    --------
    >>> import os, tempfile
    >>> from bayespoint import LinearBayesPointClassifier, model_file
    >>> model = LinearBayesPointClassifier().fit([[0.0], [1.0]], ["no", "yes"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "model.bayespoint")
    ...     model_file.save(model, path, metadata={"target": "buys"})
    ...     model_file.read(path)[1]["target"]
    'buys'
    """
    names = trusted_names(trusted)
    if Path(path).exists() and not Path(path).is_file():
        raise ModelFileError(
            f"{path} is a directory or a device, not a model file. Give the name of a file."
        )
    with open(path, "rb") as file:
        _check_start(file.read(4), path)
        try:
            content, model = _read(file, path, names)
        except (ModelFileError, MemoryError):
            raise
        except Exception as error:  # a damaged or hostile file may raise anything
            reason = " ".join(str(error).split())[:200] or type(error).__name__
            raise ModelFileError(
                f"{path} is damaged, cut off, or not a model file ({reason}). Get or save it again."
            ) from error
    return model, content


def _read(file: BinaryIO, path, trusted: Sequence[str]) -> tuple[dict, Any]:
    archive = Archive(file)
    if TEXT_MEMBER not in archive:
        raise ModelFileError(
            f"{path} is a zip archive, but not a model file: {TEXT_MEMBER} is missing. Expected "
            "a file that bayespoint.save wrote."
        )
    content = json.loads(archive.text())
    if content["format"] != FORMAT or type(content["version"]) is not int:
        raise ValueError(f"its format should be {FORMAT!r}")
    if content["version"] > VERSION:
        raise ModelFileError(
            f"{path} has version {content['version']} of the file format, but this bayespoint "
            f"({__version__}) reads versions up to {VERSION}. Upgrade bayespoint."
        )
    libraries, metadata = dict(content["libraries"]), dict(content["metadata"])
    arrays = archive.arrays([layout_of(described) for described in content["arrays"]])
    require_trust(foreign_parts(content["model"], arrays), trusted, path)
    _check_versions(libraries, path)
    model = Decoder(arrays, trusted).decode(content["model"])
    own = {"format_version": content["version"], "libraries": libraries}
    return {**metadata, **own}, model


def _check_start(start: bytes, path) -> None:
    """Refuse a file that does not start like a zip file, and say what it is."""
    if start == b"PK\x03\x04":
        return
    what = "is not a model file"
    if not start:
        what = "is empty"
    elif start[:1] == b"\x80" and start[1:2] <= b"\x05":
        what = "looks like a pickle, which could run code when it is loaded"
    raise ModelFileError(f"{path} {what}. Expected a file that bayespoint.save wrote.")


def _check_versions(libraries: dict[str, Any], path) -> None:
    """Warn if scikit-learn, or a library that the model comes from, has another version now."""
    here = {"scikit-learn": sklearn.__version__}
    others = libraries.keys() - _libraries().keys() - {NODE_TYPE}
    here |= {name: version for name in others if (version := version_of(name)) is not None}
    for name, version in sorted(here.items()):
        written_by = str(libraries[name])
        if written_by != version:
            warn(
                f"{path} was written with {name[:50]} {written_by[:30]}, but this is {version}. "
                "Compare some predictions, or train the model again."
            )


def _libraries() -> dict[str, str]:
    return {
        "python": platform.python_version(),
        "bayespoint": __version__,
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
    }


def _check_metadata(metadata: dict) -> dict:
    try:
        same = json.loads(json.dumps(metadata, allow_nan=False)) == metadata
    except (TypeError, ValueError, RecursionError):
        same = False
    if not same or not isinstance(metadata, dict):
        raise ModelFileError(
            "metadata should be a dict of strings, finite numbers, bools, None, and lists and "
            f"dicts of these with strings as keys, but is {metadata!r:.200}."
        )
    return {key: value for key, value in metadata.items() if key not in OWN_KEYS}
