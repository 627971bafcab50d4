"""Classifiers of other libraries inside a model file: skops, with a list of trusted types."""

from __future__ import annotations

import io
import json
import sys
import warnings
from collections.abc import Iterable, Sequence
from typing import IO, Any
from zipfile import ZIP_STORED, BadZipFile, ZipFile

import numpy as np
from sklearn.exceptions import InconsistentVersionWarning

from .archive import MAX_TEXT_BYTES, ModelFileError
from .foreign_checks import check_foreign
from .foreign_types import all_types, library_names, nodes_of, untrusted_types

SCHEMA = "schema.json"
# Sparse matrices are compressed; together they may take this much room for each byte of the file.
MAX_EXPANSION = 20
# The type of a node of the model's text, and of the array that holds the bytes.
NODE_TYPE, BYTES_DTYPE = "skops", np.dtype(np.uint8)


def dump(value: Any, where: str) -> tuple[np.ndarray, set[str], set[str]]:
    """Return a classifier as bytes, the types that need trust, and libraries to note."""
    try:
        check_foreign(value)
        content = _with_full_names(_skops().dumps(value))
        schema = _schema(content)
        return np.frombuffer(content, BYTES_DTYPE), untrusted_types(schema, ()), _known(schema)
    except ModelFileError:
        raise
    except Exception as error:  # skops may not know a type, or a type may not tell its state
        kind = type(value)
        raise ModelFileError(
            f"{where} is of type {kind.__module__}.{kind.__qualname__}, which cannot be saved: "
            f"{' '.join(str(error).split())[:300]}"
        ) from error


def load(content: np.ndarray, trusted: Sequence[str]) -> Any:
    """Return the classifier that `dump` wrote, once `require_trust` has passed."""
    data = _bytes(content)
    _check_members(data)
    schema = _schema(data)
    if untrusted_types(schema, trusted):
        raise ValueError("it has types that are not trusted")
    # All of them are on our list, or trusted by the user: skops need not ask again.
    names = sorted(all_types(schema).union(trusted))
    with warnings.catch_warnings():
        # `read` has compared the versions.
        warnings.simplefilter("ignore", InconsistentVersionWarning)
        try:
            model = _skops().loads(data, trusted=names)
        except MemoryError as error:  # a forged tree says how much room it wants
            raise ValueError("its skops part asks for more memory than there is") from error
    check_foreign(model)
    return model


def require_trust(contents: Iterable[np.ndarray], trusted: Sequence[str], path: Any) -> None:
    """Raise an error that names all types nobody trusts."""
    names: set[str] = set()
    for content in contents:
        names |= untrusted_types(_schema(_bytes(content)), trusted)
    if names:
        listed = sorted(names)
        raise ModelFileError(
            f"{path} holds types that are not trusted: {', '.join(listed)}. Loading them may run "
            "their code. If you know them, and trust whoever made the file: "
            f"bayespoint.load(path, trusted={[*trusted, *listed]!r})."
        )


def trusted_names(trusted: Any) -> list[str]:
    """Return the names of types that the user trusts."""
    if isinstance(trusted, str | bytes | bool) or not isinstance(trusted, Iterable):
        raise TypeError(
            "trusted should be a list of types or of their names, such as "
            f"['some_module.SomeClassifier'], but is {trusted!r}."
        )
    names = [
        f"{kind.__module__}.{kind.__qualname__}" if isinstance(kind, type) else kind
        for kind in trusted
    ]
    if not all(isinstance(name, str) for name in names):
        raise TypeError(f"trusted should hold types or their names, but is {trusted!r}.")
    return names


def version_of(library: str) -> str | None:
    """Return the version of a library that is imported."""
    version = getattr(sys.modules.get(library), "__version__", None)
    return version if isinstance(version, str) else None


def _known(schema: Any) -> set[str]:
    return {name for name in library_names(schema) if version_of(name)} | {NODE_TYPE}


def _skops():
    try:
        import skops.io
    except ImportError:
        raise ModelFileError(
            "A classifier of another library in a model file needs skops: pip install skops."
        ) from None
    return skops.io


def _with_full_names(content: bytes) -> bytes:
    """Give the losses of scikit-learn 1.6 and 1.7 a module that can be imported."""
    schema = _schema(content)
    losses = [node for node in nodes_of(schema) if node["__module__"] == "_loss"]
    if not losses:
        return content
    for node in losses:
        node["__module__"] = "sklearn._loss._loss"
    target = io.BytesIO()
    with ZipFile(io.BytesIO(content)) as old, ZipFile(target, "w", ZIP_STORED) as new:
        for name in old.namelist():
            new.writestr(name, json.dumps(schema) if name == SCHEMA else old.read(name))
    return target.getvalue()


def _bytes(content: Any) -> bytes:
    if type(content) is not np.ndarray or content.dtype != BYTES_DTYPE or content.ndim != 1:
        raise ValueError("its skops part should be bytes")
    return content.tobytes()


def _schema(data: bytes) -> Any:
    with ZipFile(io.BytesIO(data)) as archive:
        _check_sizes(archive, len(data))
        if archive.getinfo(SCHEMA).file_size > MAX_TEXT_BYTES:
            raise BadZipFile(f"{SCHEMA} is longer than {MAX_TEXT_BYTES} bytes")
        return json.loads(archive.read(SCHEMA))


def _check_sizes(archive: ZipFile, size: int) -> None:
    """Refuse members that are compressed, or overlap."""
    members = archive.infolist()
    if len({info.filename for info in members}) < len(members):
        raise BadZipFile("two members have the same name")
    for info in members:
        if info.compress_type != ZIP_STORED or info.compress_size != info.file_size:
            raise BadZipFile(f"{info.filename[:100]!r} is compressed")
    if sum(info.file_size for info in members) > size:
        raise BadZipFile("members overlap")


def _check_members(data: bytes) -> None:
    """Refuse arrays that would take more memory than the file."""
    with ZipFile(io.BytesIO(data)) as archive:
        expanded = 0
        for info in archive.infolist():
            name = info.filename
            if name.endswith(".npy"):
                with archive.open(info) as member:
                    _check_array(member, info.file_size, name)
            elif name.endswith(".npz"):
                with ZipFile(io.BytesIO(archive.read(info))) as inner:
                    expanded += sum(one.file_size for one in inner.infolist())
                    if expanded > MAX_EXPANSION * len(data):
                        raise BadZipFile(f"{name[:100]!r} is compressed too much")
                    for one in inner.infolist():
                        with inner.open(one) as member:
                            _check_array(member, one.file_size, name)
            elif name != SCHEMA:
                raise BadZipFile(f"{name[:100]!r} does not belong there")


def _check_array(member: IO[bytes], size: int, name: str) -> None:
    """Compare the shape in the header of an array with the size of the member."""
    version = np.lib.format.read_magic(member)
    if version not in ((1, 0), (2, 0)):
        raise BadZipFile(f"{name[:100]!r} has an unknown version")
    read = {(1, 0): np.lib.format.read_array_header_1_0}
    header = read.get(version, np.lib.format.read_array_header_2_0)(member)
    shape, _, dtype = header
    n_items = 1
    for n in shape:
        n_items *= int(n)
    if dtype.hasobject or n_items < 0 or member.tell() + n_items * dtype.itemsize != size:
        raise BadZipFile(f"{name[:100]!r} is not an array of shape {shape}")
