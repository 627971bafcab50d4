"""Read small files that become large, and files with a million categories: answers and memory.

    python benchmarks/bombs.py [--only WORD ...]

Runs verbs on files that are made for this, each in a process of its own, and prints a row of a
table: the megabytes of the file, the peak memory of the process, seconds, its exit code, and the
last thing that it said. The exit code is 1 if a process took over 1,200 MB or 60 seconds of a
processor for a file that it refused, died of a signal, or said something else than one line.
"""
# ruff: noqa: T201

import argparse
import gzip
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import parquet

BOMB_BYTES = 1_500_000_000
BLOCK_BYTES = 2**20
MAX_MEGABYTES = 1200
MAX_REFUSAL_SECONDS = 60
N_ROWS = 1_000_000
N_TEXTS, TEXT_BYTES = 20_000, 100_000


def repeat(path: Path, start: bytes, text: bytes) -> None:
    """Write a gzip file with a start and then one text, again and again."""
    block = text * (BLOCK_BYTES // len(text))
    with gzip.open(path, "wb") as file:
        file.write(start)
        for _ in range(BOMB_BYTES // len(block)):
            file.write(block)


def many_texts(path: Path) -> None:
    """Write Parquet of a few kilobytes in which 20,000 rows have one long text."""
    texts = pa.DictionaryArray.from_arrays(
        pa.array(np.zeros(N_TEXTS, np.int32)), pa.array(["x" * TEXT_BYTES])
    )
    kinds = pa.array(["no", "yes"] * (N_TEXTS // 2))
    parquet.write_table(pa.table({"a": texts, "kind": kinds}), path, compression="zstd")


def many_categories(path: Path) -> None:
    """Write a million rows with one number, a word of their own, and two classes."""
    rng = np.random.default_rng(0)
    x, noise = rng.normal(size=(2, N_ROWS))
    with path.open("w", encoding="utf-8") as file:
        file.write("x,word,kind\n")
        for i, number in enumerate(x):
            file.write(f"{number:.3f},w{i},{'yes' if number + noise[i] > 0 else 'no'}\n")


# What it is, the name of the file, how to make it, a verb, and its options; OUT is a folder.
TRAIN, HEAD = "train --target kind --model OUT/m", b"a,b,kind\n"
WORDS = "words.csv"
CASES: list[tuple[str, str, Callable[[Path], None] | None, str]] = [
    ("gzip: one line", "line.csv.gz", lambda p: repeat(p, b"", b"x"), TRAIN),
    ("gzip: one cell", "cell.csv.gz", lambda p: repeat(p, HEAD + b"1,", b"x"), TRAIN),
    ("gzip: one open quote", "quote.csv.gz", lambda p: repeat(p, HEAD + b'1,"', b"x,"), TRAIN),
    ("gzip: blank lines", "lines.csv.gz", lambda p: repeat(p, b"", b"\n"), TRAIN),
    ("gzip: blanks", "blanks.csv.gz", lambda p: repeat(p, b"", b" "), TRAIN),
    ("gzip: commas", "commas.csv.gz", lambda p: repeat(p, b"", b","), TRAIN),
    ("gzip: line ends in quotes", "ends.csv.gz", lambda p: repeat(p, HEAD, b'1,"\n",no\n'),
     "check --target kind"),
    ("gzip: 200 million rows", "rows.csv.gz", lambda p: repeat(p, HEAD, b"1,2,yes\n1,3,no\n"),
     "check --target kind"),
    ("gzip: one row of LIBSVM", "row.svm.gz", lambda p: repeat(p, b"1 ", b"1:1 "),
     "train --model OUT/m"),
    ("gzip: zeros called Parquet", "zeros.parquet.gz", lambda p: repeat(p, b"", b"\0"), TRAIN),
    ("Parquet: one text in 20,000 rows", "texts.parquet", many_texts, TRAIN),
    ("a million categories, linear", WORDS, many_categories,
     f"{TRAIN} --categorical word --classifier linear"),
    ("predict with this model", WORDS, None, "predict --output OUT/p.csv"),
    ("a million categories, both machines, 1500M", WORDS, None,
     f"{TRAIN} --categorical word --max-memory 1500M"),
    ("a million values as the target", WORDS, None, "train --target word --model OUT/other"),
]  # fmt: skip


def measure(verb: str, path: Path, out: Path) -> tuple[float, float, int, str]:
    """Run a verb on a file; return megabytes, seconds of a processor, exit code and last line."""
    first, *options = verb.replace("OUT", str(out)).split()
    before = [str(out / "m")] if first == "predict" else []
    command = [sys.executable, "-m", "bayespoint", first, *before, str(path), *options]
    with (out / "said").open("w+", encoding="utf-8") as said:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=said)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        last = (said.read().splitlines() or [""])[-1].replace(str(path), path.name)
    return used.ru_maxrss / 1024, used.ru_utime + used.ru_stime, process.returncode, last


def main(arguments: list[str] | None = None) -> int:
    """Measure all cases, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", nargs="*", default=[], help="words of the first column")
    given = parser.parse_args(arguments)
    out, n_wrong = Path(tempfile.mkdtemp(prefix="bombs")), 0
    try:
        print("| what | file | memory | processor | code | answer |\n|---|---|---|---|---|---|")
        for what, name, make, verb in CASES:
            if given.only and not any(word in what for word in given.only):
                continue
            path = out / name
            if make is not None:
                make(path)
            megabytes, seconds, code, last = measure(verb, path, out)
            size = path.stat().st_size / 1e6
            print(
                f"| {what} | {size:.2f} MB | {megabytes:.0f} MB | {seconds:.1f} s | {code} "
                f"| {last[:200]} |",
                flush=True,
            )
            n_wrong += megabytes > MAX_MEGABYTES or code not in (0, 1)
            n_wrong += code == 1 and seconds > MAX_REFUSAL_SECONDS
            n_wrong += code == 1 and not last.startswith("bayespoint: error: ")
            if name != WORDS:
                path.unlink()
        return int(n_wrong > 0)
    finally:
        shutil.rmtree(out, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
