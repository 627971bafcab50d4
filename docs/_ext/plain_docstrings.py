"""Docstrings are plain text with `names`: escape what reStructuredText would read into them."""

import re

CODE = re.compile(r"(``.*?``|`[^`]*`)")
TRAILING_UNDERSCORE = re.compile(r"(?<=\w)_(?!\w)")
PARAMETER = re.compile(r"[*\w, ]+ : ")


def escape(text):
    """Escape bars, stars and trailing underscores outside of code."""
    parts = CODE.split(text)
    for i in range(0, len(parts), 2):
        parts[i] = TRAILING_UNDERSCORE.sub(r"\\_", parts[i])
        parts[i] = re.sub(r"(?<!\\)[|*]", r"\\\g<0>", parts[i])
    return "".join(parts)


def escape_docstring(app, what, name, obj, options, lines):
    """Escape the prose of a docstring; examples and names of parameters stay as they are."""
    example = False
    for i, line in enumerate(lines):
        example = (example and line.strip() != "") or line.lstrip().startswith(">>> ")
        name = PARAMETER.match(line)
        start = name.end() if name else 0
        if not example:
            lines[i] = line[:start] + escape(line[start:])


def skip_foreign(app, what, name, obj, skip, options):
    """Leave out what scikit-learn defines: its own pages describe it."""
    function = getattr(obj, "__func__", obj)
    return skip or str(getattr(function, "__module__", "")).startswith("sklearn.") or None


def setup(app):
    """Escape before numpydoc reads the docstring."""
    app.connect("autodoc-process-docstring", escape_docstring, priority=100)
    app.connect("autodoc-skip-member", skip_foreign)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
