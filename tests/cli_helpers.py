"""Functions that run a verb of the command, and small tables for it."""

import json

import numpy as np
import pandas as pd
from scipy import sparse
from typer.testing import CliRunner

from bayespoint.cli.app import app


def read_exactly(path):
    """Read a CSV file without rounding, which pandas allows by default before version 3."""
    before = int(pd.__version__.split(".")[0]) < 3
    return pd.read_csv(path, **({"float_precision": "round_trip"} if before else {}))


def run(*arguments, input=None):
    return CliRunner().invoke(app, [str(argument) for argument in arguments], input=input)


def ok(*arguments, input=None):
    """Run a verb that should succeed, and return what it prints."""
    result = run(*arguments, input=input)
    assert result.exit_code == 0, result.output
    return result.stdout


def run_json(*arguments, input=None):
    """Run a verb with --json, and return the result; only JSON may be printed."""

    def refuse(word):
        raise AssertionError(f"{word} is not JSON")

    return json.loads(ok(*arguments, "--json", input=input), parse_constant=refuse)


def fails(*arguments, input=None, code=1):
    """Run a verb that should fail with one line, and return the line."""
    result = run(*arguments, input=input)
    assert result.exit_code == code, result.output
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    assert "BAYESPOINT_DEBUG" not in result.stderr, result.stderr
    if code == 1:
        *notes, line = result.stderr.splitlines()
        assert all(text.startswith("bayespoint: note: ") for text in notes), result.stderr
        assert line.startswith("bayespoint: error: "), result.stderr
        return line.removeprefix("bayespoint: error: ")
    return " ".join(result.stderr.split())


def mixed_table(n_rows=240, seed=0, n_classes=2):
    """Return rows with numbers and texts, and missing values in both."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n_rows)
    table = pd.DataFrame(
        {
            "age": np.round(rng.normal(size=n_rows) + 2 * y, 3),
            "width": rng.normal(size=n_rows) - y,
            "job": rng.choice(["baker", "clerk, senior", 'said "no"'], n_rows),
            "town": np.where(rng.random(n_rows) < 0.8, np.array(["Ulm", "Köln", "Bonn"])[y], "Ulm"),
            "kind": np.array(["no", "yes", "maybe"])[y],
        }
    )
    table.loc[::17, "age"] = np.nan
    table.loc[::13, "job"] = None
    return table


def sparse_rows(n_rows=200, seed=0):
    rng = np.random.default_rng(seed)
    X = sparse.random(n_rows, 30, 0.2, "csr", random_state=rng)
    score = X @ rng.normal(size=30)
    return X, np.where(score > np.median(score), 1, -1)
