"""Docstrings on the site: plain text with `names`, and the fields of named tuples."""

import ast
import inspect
import re
import textwrap

CODE = re.compile(r"(``.*?``|`[^`]*`)")
# Papers are cited by numbers, which the glossary explains.
PAPER = re.compile(r"(?<![\w.,-])(00[0124])(?!\w|[.,]\d)")
TRAILING_UNDERSCORE = re.compile(r"(?<=\w)_(?!\w)")
PARAMETER = re.compile(r"[*\w, ]+ : ")


def escape(text, root="../"):
    """Escape what reStructuredText would read into a line, outside of code, and link papers."""
    parts = CODE.split(text)
    for i in range(0, len(parts), 2):
        parts[i] = TRAILING_UNDERSCORE.sub(r"\\_", parts[i])
        parts[i] = re.sub(r"(?<!\\)[|*]", r"\\\g<0>", parts[i])
        parts[i] = PAPER.sub(rf"`\1 <{root}glossary.html#papers>`__", parts[i])
    return "".join(parts)


def escape_lines(lines, root="../"):
    """Escape the prose of a docstring; examples and names of parameters stay as they are."""
    example = False
    for i, line in enumerate(lines):
        example = (example and line.strip() != "") or line.lstrip().startswith(">>> ")
        name = PARAMETER.match(line)
        start = name.end() if name else 0
        if not example:
            lines[i] = line[:start] + escape(line[start:], root)


def is_named_tuple(obj):
    """Tell whether a class is a named tuple whose fields have types."""
    return inspect.isclass(obj) and issubclass(obj, tuple) and hasattr(obj, "_fields")


def describe_fields(obj):
    """Return a section with the fields of a named tuple, from the comments beside them."""
    source = textwrap.dedent(inspect.getsource(obj))
    lines = source.splitlines()
    section = ["", "Attributes", "----------"]
    for field in ast.parse(source).body[0].body:
        if isinstance(field, ast.AnnAssign):
            comment = lines[field.end_lineno - 1].partition("  # ")[2]
            section += [f"{field.target.id} : {ast.unparse(field.annotation)}", f"    {comment}"]
    return section


def mend(app, what, name, obj, options, lines):
    """Mend a docstring before numpydoc reads it."""
    if is_named_tuple(obj) and "Attributes" not in lines:
        at = lines.index("Examples") if "Examples" in lines else len(lines)
        lines[at:at] = [*describe_fields(obj), ""]
    escape_lines(lines, "../" * app.env.docname.count("/"))


def skip(app, what, name, obj, skip, options):
    """Leave out what scikit-learn defines, which its pages describe, and fields of tuples."""
    function = getattr(obj, "__func__", obj)
    foreign = str(getattr(function, "__module__", "")).startswith("sklearn.")
    return skip or foreign or type(obj).__name__ == "_tuplegetter" or None


def setup(app):
    """Listen to autodoc, before numpydoc does."""
    app.connect("autodoc-process-docstring", mend, priority=100)
    app.connect("autodoc-skip-member", skip)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
