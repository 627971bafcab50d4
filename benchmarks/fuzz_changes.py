"""How benchmarks/fuzz.py changes files with an inner structure, so that most of them stay readable.

A model file has checksums, and its text is JSON: bytes that are changed at random would nearly all
be refused at once. So the text is changed as a tree, and the archive is put together again.
"""

import gzip
import io
import json
import random
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

# The texts of a model file, and of the classifiers of scikit-learn in it.
TEXT, SCHEMA = "model.json", "schema.json"
HEADER_BYTES = 128  # of an array
# Values that programs often forget.
ODD = [None, True, False, 0, 1, -1, 2, 2**31, 2**63, -(2**63), 10**30, 0.5, -1e308, "", "nan",
       "inf", "full", "rbf", "os.system", [], {}, [[]], {"type": "tuple", "items": []},
       {"type": "float", "value": "inf"}, {"type": "array", "index": 0},
       {"type": "array", "index": 10**6}, {"type": "Pipeline", "state": {}},
       {"type": "class", "value": "object"},
       {"type": "skops", "array": {"type": "array", "index": 0}},
       *({"__loader__": loader, "__module__": module, "__class__": name, "__id__": 1,
          "content": {"content": "id", "func": {"content": "id"}}}
         for loader, module, name in (
             ("FunctionNode", "os", "system"), ("TypeNode", "builtins", "eval"),
             ("ObjectNode", "subprocess", "Popen"), ("MethodNode", "builtins", "object"),
             ("JsonNode", "builtins", "str"), ("CachedNode", "builtins", "dict"),
             ("OperatorFuncNode", "operator", "attrgetter"),
             ("PartialNode", "functools", "partial"), ("ReduceNode", "builtins", "getattr"),
         ))]  # fmt: skip


def change_tree(text: dict, rng: random.Random) -> None:
    """Change some nodes of a JSON tree."""
    nodes = list(_nodes(text))
    numbers = [
        (parent, key) for parent, key in nodes if key == "content" and _is_number(parent[key])
    ]
    if numbers and rng.random() < 0.3:
        nodes = numbers
    for parent, key in rng.sample(nodes, min(rng.choice([1, 1, 2, 4]), len(nodes))):
        way = rng.random()
        # skops reads an object once, and knows it again by its id.
        if isinstance(parent, dict) and key != "__id__" and rng.random() < 0.9:
            parent.pop("__id__", None)
        if way < 0.1 and isinstance(parent, dict):
            parent.pop(key, None)
        elif way < 0.4:
            other, name = rng.choice(nodes)
            parent[key] = (
                json.loads(json.dumps(other[name]))
                if name in other or isinstance(other, list)
                else None
            )
        elif way < 0.6 and isinstance(parent[key], int | float):
            parent[key] = _other_number(parent[key], rng)
        elif way < 0.8 and key == "content" and _is_number(parent[key]):  # as skops writes it
            parent[key] = json.dumps(_other_number(json.loads(parent[key]), rng))
        else:
            parent[key] = rng.choice(ODD)


def _other_number(number: float, rng: random.Random) -> float:
    return rng.choice([number + 1, number - 1, -number, number * 2**20, number / 3, 10**6])


def _is_number(text) -> bool:
    try:
        return isinstance(text, str) and isinstance(json.loads(text), int | float)
    except ValueError:
        return False


def _nodes(value):
    """Yield where each part of a text is."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in list(items):
        yield value, key
        if isinstance(inner, dict | list):
            yield from _nodes(inner)


def change_model(content: bytes, rng: random.Random, change_bytes: Callable) -> bytes:
    """Change the text of a model, which follows the number of its arrays."""
    text = json.loads(content[1:])
    change_tree(text, rng)
    return content[:1] + json.dumps(text).encode()


def change_archive(content: bytes, rng: random.Random, change_bytes: Callable) -> bytes:
    """Change the text or an array in a zip file, and give it the right checksums."""
    if rng.random() < 0.1:
        return change_bytes(content)
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        members = {name: file.read(name) for name in file.namelist()}
    main = TEXT if TEXT in members else SCHEMA
    foreign = [name for name in members if members[name][HEADER_BYTES:].startswith(b"PK")]
    if foreign and rng.random() < 0.5:
        name = rng.choice(foreign)
    else:
        name = main if rng.random() < 0.7 else rng.choice(list(members))
    start = rng.choice([0, HEADER_BYTES])
    if name == main:
        text = json.loads(members[main])
        change_tree(text, rng)
        members[main] = json.dumps(text).encode()
    elif name in foreign:
        inner = change_archive(members[name][HEADER_BYTES:], rng, change_bytes)
        buffer, text = io.BytesIO(), json.loads(members[main])
        np.lib.format.write_array(buffer, np.frombuffer(inner, np.uint8), version=(1, 0))
        members[name] = buffer.getvalue()
        place = int(Path(name).stem)
        text["arrays"][place]["shape"] = [len(inner)]
        members[main] = json.dumps(text).encode()
    else:
        members[name] = members[name][:start] + change_bytes(members[name][start:])
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        for member, inner in members.items():
            file.writestr(zipfile.ZipInfo(member), inner)
    return buffer.getvalue()


def change_table(content: bytes, rng: random.Random, change_bytes: Callable) -> bytes:
    """Change a table below its compression, or copy cells and lines to other places."""
    if content.startswith(b"\x1f\x8b"):
        if rng.random() < 0.2:
            return change_bytes(content)
        return gzip.compress(change_table(gzip.decompress(content), rng, change_bytes), 1)
    if rng.random() < 0.7:
        return change_bytes(content)
    delimiter = rng.choice([b"\n", b",", b";", b" ", b":"])
    parts = content.split(delimiter)
    for _ in range(rng.choice([1, 2, 4])):
        place, other = rng.randrange(len(parts)), rng.randrange(len(parts))
        parts[place : place + rng.choice([0, 1])] = [parts[other]] * rng.choice([0, 1, 1, 1, 30])
        parts = parts or [b""]
    return delimiter.join(parts)


CHANGES = {
    "model": change_model,
    "onnx": change_model,
    **dict.fromkeys(("archive", "skops"), change_archive),
    **dict.fromkeys(("csv", "libsvm", "journal", "predict", "check", "plan"), change_table),
}

_CELLS = ["1e400", "-1e-400", "nan", "NULL", "1,5", "1.234.567,8", "$1", "50 %", "0x10", "1_000",
          "31.12.99", "12/31/1999 23:59", "2024-02-30", '""', '"', "'", "\r\n", "\ufeff", "\0",
          "\x1b[31m", "\u202e", "sep=;", "(1 row)", "---+---", "\t", "|", ";", "kind"]  # fmt: skip
_MARKUP = ["<script>", "</style>", "<!--", "-->", "&amp;", "&#x3c;", "javascript:", "onerror=",
           "${", "{{", "\x1f", "'", '"', "<svg", "]]>", "`"]  # fmt: skip
_HTTP = ["GET ", "POST ", "token/", "act", "state", "row/", "image/", "answers", "search?text=",
         "..", "%2e", "Host: ", "127.0.0.1", "Origin: ", "X-Bayespoint-Token: token", "label",
         "Content-Length: ", '"row": ', '"action": ', "undo", "skip", "unknown", "before", "null",
         "1e400", "-1", "\n\n"]  # fmt: skip
_PLAN = ["[columns]", "target = ", '"number ,"', '"date %d.%m.%Y"', "keep", "drop", "=", '"""',
         "%s", "'"]  # fmt: skip
_JOURNAL = [
    "label",
    "skip",
    "undo",
    "unknown",
    "use",
    "begin",
    "class",
    ",",
    '"',
    "\r",
    "-1",
    "1e9",
]
# What libFuzzer may insert.
WORDS = {
    **dict.fromkeys(("csv", "predict", "check"), _CELLS),
    "libsvm": ["1:", "qid:", "nan", "1e400", "-1", "99999999999:", "#", ":", "0:1", "\n"],
    "journal": _JOURNAL,
    "plan": _PLAN,
    "request": _HTTP,
    "report": _MARKUP,
}


def change(
    target: str, content: bytes, firsts: list[bytes], rng: random.Random, change_bytes: Callable
) -> bytes:
    """Change an input, or one of the first inputs: else most would be far from any file."""
    if rng.random() < 0.5:
        content = rng.choice(firsts)
    try:
        return CHANGES.get(target, _bytes_alone)(content, rng, change_bytes)
    except Exception:  # it is no longer JSON, no archive, ...
        return change_bytes(content)


def _bytes_alone(content: bytes, rng: random.Random, change_bytes: Callable) -> bytes:
    return change_bytes(content)


def write_words(target: str, path: Path) -> bool:
    """Write the words of a target as libFuzzer reads them; return False if it has none."""
    lines = [
        '"' + "".join(f"\\x{byte:02x}" for byte in word.encode()) + '"\n'
        for word in WORDS.get(target, ())
    ]
    path.write_text("".join(lines))
    return bool(lines)
