"""Replace arguments of Python by options of the command in messages of the library."""

from __future__ import annotations

import re

OPTION_OF_ARGUMENT = {
    "encoding": "--encoding",
    "folder": "--data",
    "max_classes": "--max-classes",
    "n_features": "--features",
}
HEADER_OPTIONS = {"True": "--header", "False": "--no-header"}
FLAGS = {"include_training_rows": "--include-training-rows"}
# Advice about held-out rows, which the command sets aside in `train`.
ADVICE = {
    "(calibration_size, cv)": "(train with a larger --holdout)",
    "a larger max_error": "a larger --max-error",
    "a smaller confidence_level": "a smaller --confidence-level",
}
_ARGUMENT = re.compile(
    r'\b(encoding|folder|n_features|max_classes|header|include_training_rows)=("?)([\w-]+)\2'
)


def name_options(message: str) -> str:
    """Return a message with `--encoding latin-1` in place of `encoding="latin-1"`."""
    for words, others in ADVICE.items():
        message = message.replace(words, others)
    return _ARGUMENT.sub(_option, message)


def _option(match: re.Match) -> str:
    argument, _, value = match.groups()
    if argument in FLAGS:
        return FLAGS[argument]
    if argument == "header":
        return HEADER_OPTIONS.get(value, match[0])
    return f"{OPTION_OF_ARGUMENT[argument]} {value}"
