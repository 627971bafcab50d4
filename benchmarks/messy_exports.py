# ruff: noqa: T201
"""Write a table as pandas, R, Excel and databases do, and see whether its columns come back.

    python benchmarks/messy_exports.py [--verbose]

Each export holds the same 14 columns. A column is right if its kind and all of its values are. A
column that is wrong without a question or note that names it would be ruined silently.
"""

import argparse
import csv
import io
import itertools
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from bayespoint.io.tables.columns import frame
from bayespoint.io.tables.look import find_used_columns, look
from bayespoint.io.tables.open_table import open_table

N_ROWS = 240
KINDS = {
    "count": "number",
    "amount": "number",
    "tiny": "number",
    "share": "number",
    "price": "number",
    "group": "category",
    "zip": "category",
    "member": "category",
    "day": "date",
    "stamp": "date",
    "comment": "text",
    "code": "drop",
    "country": "drop",
}
TARGET = "kind"
WORDS = ["good", "bad", "fast", "slow", "never", "again", 'so "so"', "cheap,", "late;", "ok"]


class Export(NamedTuple):
    """How a program writes a table."""

    program: str
    separator: str
    decimal: str = "."
    thousands: str = ""
    encoding: str = "utf-8"
    index: str = ""  # "", "numbers", "names", "unnamed"
    quoting: int = csv.QUOTE_MINIMAL
    day: str = "%Y-%m-%d"
    missing: str = ""
    truth: tuple = ("True", "False")
    first_line: str = ""
    signs: bool = False  # € and % beside numbers

    @property
    def name(self) -> str:
        marks = f"{self.separator!r} {self.decimal}{self.thousands}"
        how = f"{self.encoding} {self.index or '-'} {self.day} {self.missing!r}"
        return f"{self.program}: {marks} {how}{' signs' * self.signs}"


def truth(seed=0):
    """Return the table as it is meant: numbers, texts and times, with missing values."""
    rng = np.random.default_rng(seed)
    day = pd.Timestamp("2023-03-01") + pd.to_timedelta(rng.integers(0, 700, N_ROWS), "D")
    seconds = pd.to_timedelta(rng.integers(0, 86_400, N_ROWS), "s").floor("min")
    table = pd.DataFrame(
        {
            "count": rng.integers(0, 400, N_ROWS).astype(float),
            "amount": np.round(rng.lognormal(7, 1.5, N_ROWS), 2),
            "tiny": np.round(rng.normal(size=N_ROWS), 3),
            "share": np.round(100 * rng.random(N_ROWS), 1),
            "price": np.round(rng.lognormal(4, 1, N_ROWS), 2),
            "group": rng.choice(["Köln", "Ulm, alt", "Málaga; new", "a 'b'"], N_ROWS),
            "zip": rng.choice(["01067", "04109", "80331", "99084"], N_ROWS),
            "member": rng.random(N_ROWS) < 0.5,
            "day": day,
            "stamp": day + seconds,
            "comment": [" ".join(rng.choice(WORDS, 7)) for _ in range(N_ROWS)],
            "code": [f"C{v:06}" for v in rng.permutation(N_ROWS) * 37],
            "country": "DE",
            TARGET: rng.choice(["01", "1", "2"], N_ROWS),
        }
    )
    for name in ("count", "amount", "tiny", "group", "day"):
        table[name] = table[name].mask(rng.random(N_ROWS) < 0.08)
    return table


def as_texts(table, export):
    """Return the cells as the program writes them, None where a value is missing."""
    swap = str.maketrans({",": export.thousands, ".": export.decimal})

    def number(value, digits):
        return f"{value:,.{digits}f}".translate(swap)

    formats = {
        "count": lambda v: str(int(v)),
        "amount": lambda v: number(v, 2),
        "tiny": lambda v: number(v, 3),
        "share": lambda v: number(v, 1) + " %" * export.signs,
        "price": lambda v: number(v, 2) + " €" * export.signs,
        "member": lambda v: export.truth[0] if v else export.truth[1],
        "day": lambda v: v.strftime(export.day),
        "stamp": lambda v: v.strftime(f"{export.day} %H:%M"),
    }
    return pd.DataFrame(
        {
            name: [None if pd.isna(v) else formats.get(name, str)(v) for v in table[name]]
            for name in table
        },
        dtype=object,
    )


def write(path, table, export):
    """Write the table as the program does."""
    cells = as_texts(table, export).fillna(export.missing)
    names = list(cells)
    if export.index:
        labels = [f"row {i}" for i in range(len(cells))] if export.index == "names" else None
        cells.insert(0, "", labels or [str(i) for i in range(len(cells))])
        # R does not name the column of row names if it writes with write.table.
        names = names if export.program == "R table" else ["", *names]
    if export.program == "psql table":
        lines = [" | ".join(names), "-+-".join("-" * len(name) for name in names)]
        lines += [" " + " | ".join(row) for row in cells.itertuples(index=False)]
        text = "\n".join([*lines, f"({len(cells)} rows)", ""])
    else:
        stream = io.StringIO()
        quoted = export.quoting
        writer = csv.writer(stream, delimiter=export.separator, quoting=quoted, lineterminator="\n")
        writer.writerows([names, *cells.itertuples(index=False)])
        text = export.first_line + stream.getvalue()
    path.write_bytes(text.encode(export.encoding, "replace"))


def exports():
    """Return all exports, about a hundred."""
    found = []
    marks = [(",", "."), (";", ","), ("\t", ","), (";", "."), ("|", "."), (",", ",")]
    missing = ["", "NA", "N/A", "NULL", "nan", "?", "#N/A", "-"]
    days = ["%Y-%m-%d", "%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y", "%Y/%m/%d", "%d-%b-%Y"]
    encodings = ["utf-8", "utf-8-sig", "utf-16", "cp1252"]
    grid = itertools.product(marks, encodings, ["", "numbers"])
    for i, ((separator, decimal), encoding, index) in enumerate(grid):
        quoting = [csv.QUOTE_MINIMAL, csv.QUOTE_ALL][i % 2]
        more = dict(quoting=quoting, day=days[i % 6], missing=missing[i % 8])
        found.append(Export("pandas", separator, decimal, "", encoding, index, **more))
    r = dict(quoting=csv.QUOTE_NONNUMERIC, missing="NA", truth=("TRUE", "FALSE"))
    for encoding, index in itertools.product(["utf-8", "cp1252"], ["numbers", "names"]):
        found.append(Export("R csv", ",", ".", "", encoding, index, **r))
        found.append(Export("R csv2", ";", ",", "", encoding, index, **r))
        found.append(Export("R table", " ", ".", "", encoding, index, **r))
        found.append(Export("R table", "\t", ",", "", encoding, index, **r))
    for encoding, signs in itertools.product(["cp1252", "utf-8-sig"], [False, True]):
        german = dict(decimal=",", thousands=".", day="%d.%m.%Y", truth=("WAHR", "FALSCH"))
        french = dict(decimal=",", thousands=" ", day="%d/%m/%Y", truth=("VRAI", "FAUX"))
        american = dict(decimal=".", thousands=",", day="%m/%d/%Y", truth=("TRUE", "FALSE"))
        for style, separator, line in (
            (german, ";", ""),
            (german, ";", "sep=;\n"),
            (french, ";", ""),
            (american, ",", ""),
            (american, ",", '"sep=,"\n'),
        ):
            more = dict(style, encoding=encoding, signs=signs, first_line=line, missing="#N/A")
            found.append(Export("Excel", separator, **more))
        unicode = dict(german, encoding="utf-16", signs=signs, missing="")
        found.append(Export("Excel unicode text", "\t", **unicode))
    for encoding in ("utf-8", "cp1252"):
        found.append(Export("mysql -B", "\t", missing="NULL", encoding=encoding, truth=("1", "0")))
        found.append(Export("mysqldump", "\t", missing="\\N", encoding=encoding, truth=("1", "0")))
        found.append(Export("psql csv", ",", missing="", encoding=encoding, truth=("t", "f")))
        found.append(Export("psql table", "|", encoding=encoding, truth=("t", "f")))
        found.append(Export("sqlite", "|", encoding=encoding, truth=("1", "0")))
    return found


def judge(path, table, export):
    """Return what came back wrong: (column, what, whether it was said)."""
    opened = open_table(path)
    with opened:
        rows = next_rows(opened)
    found = look(rows, TARGET, None, opened.delimiter)
    columns, odd = find_used_columns(found, rows, TARGET), []
    X = frame(rows, columns, lambda *what: odd.append(what))
    said = " ".join([*opened.notes, *found.questions, *(str(what) for what in odd)])
    kinds = {finding.name: finding for finding in found.findings}
    wrong = []
    for name, kind in KINDS.items():
        finding = kinds.get(name)
        problem = None
        if finding is None:
            problem = "is not there"
        elif name == "member" and export.truth == ("1", "0"):
            problem = None if finding.use_as == "number" else finding.use_as
        elif finding.use_as != kind:
            problem = f"is {finding.kind}, used as {finding.use_as}"
        elif not same_values(name, kind, X, table, export):
            problem = "has other values"
        if problem:
            wrong.append((name, problem, repr(name) in said))
    extra = [f for f in kinds.values() if f.name not in KINDS and f.use_as != "drop"]
    wrong += [(f.name, "is an index that is used", repr(f.name) in said) for f in extra]
    return wrong


def next_rows(opened):
    import pyarrow as pa

    return pa.concat_tables(opened.batches())


def same_values(name, kind, X, table, export):
    """Tell whether a column came back as it was meant."""
    if kind == "drop":
        return True
    if kind == "number":
        return np.allclose(X[name], table[name], rtol=0, atol=1e-9, equal_nan=True)
    if kind == "date":
        first = table[name].min().normalize()
        days = (table[name] - first) / pd.Timedelta(days=1)
        return np.allclose(X[f"{name} (days)"], days, rtol=0, atol=1e-6, equal_nan=True)
    cells = as_texts(table, export)[name]
    if name == "group" and export.missing == "-":
        cells = cells.fillna("-")  # a category of its own
    letters = cells.map(lambda cell: None if cell is None else " ".join(cell.split()))
    return letters.fillna("").tolist() == [" ".join((cell or "").split()) for cell in X[name]]


def run(chosen, verbose=False):
    """Return the number of columns, and what was wrong in all exports."""
    table, wrong, n_columns, refused = truth(), [], 0, []
    with tempfile.TemporaryDirectory() as folder:
        for export in chosen:
            path = Path(folder) / "export.csv"
            write(path, table, export)
            n_columns += len(KINDS) + bool(export.index)
            try:
                found = judge(path, table, export)
            except ValueError as error:
                refused.append((export, str(error)))
                continue
            wrong += [(export, *what) for what in found]
            if verbose:
                print(f"{export.name}: {found or 'right'}")
    return n_columns, wrong, refused


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--verbose", action="store_true", help="a line for each export")
    options = parser.parse_args(arguments)
    chosen = exports()
    n_columns, wrong, refused = run(chosen, options.verbose)
    programs = Counter(export.program for export in chosen)
    failed = Counter(export.program for export, *_ in wrong)
    print(f"{'program':20}{'exports':>8}{'wrong columns':>15}")
    for program, count in programs.items():
        print(f"{program:20}{count:8}{failed[program]:15}")
    for export, name, problem, said in wrong:
        print(f"{export.name}: {name} {problem}{'' if said else ', SILENTLY'}")
    for export, message in refused:
        print(f"{export.name}: refused: {message}")
    n_right = n_columns - len(wrong) - sum(len(KINDS) for _ in refused)
    silent = sum(not said for *_, said in wrong)
    print(
        f"{len(chosen)} exports, {n_columns} columns: {100 * n_right / n_columns:.2f} % right, "
        f"{len(refused)} exports refused, {silent} columns ruined silently"
    )
    return 0 if n_right >= 0.98 * n_columns and not silent else 1


if __name__ == "__main__":
    sys.exit(main())
