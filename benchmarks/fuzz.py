"""Feed readers and pages with hostile bytes, guided by the code that they reach.

    python benchmarks/fuzz.py TARGET ... --seconds 60 --corpus FOLDER

Needs `pip install atheris`. TARGET is one of the names in fuzz_targets.py, or "all". FOLDER/TARGET
keeps inputs that reached new code, and in `found` those that raised what they should not, one for
each place. The next run goes on from there. Prints for all runs together: cases, the share of them
that was read and not refused, lines of the reader's files that the corpus reaches, the seconds in
the reader, the slowest case, the most memory, and what was found. Seconds are those of a processor;
a case may take 10. A crash, a case over 100 s of the clock or memory above 2 GB ends the run.
"""

import argparse
import hashlib
import json
import os
import random
import resource
import subprocess
import sys
import threading
import time
import traceback
from pathlib import Path

# Seconds of a processor for a case; and of the clock, if it waits for ever.
MAX_CASE_SECONDS, MAX_HANG_SECONDS = 10, 100
MAX_MEGABYTES, MAX_CASE_BYTES = 2048, 8192
NAMES = ["csv", "libsvm", "parquet", "archive", "model", "skops", "onnx", "request", "journal",
         "report", "predict", "check", "plan"]  # fmt: skip
INSTRUMENTED = ["bayespoint.io", "bayespoint.labeling", "bayespoint.evaluation.report",
                "bayespoint.cli"]  # fmt: skip


class Tally:
    """What happened in all runs of a target, in a file."""

    def __init__(self, corpus: Path):
        self._path = corpus / "tally.json"
        zeros = {"cases": 0, "read": 0, "seconds": 0.0, "slowest": 0.0, "megabytes": 0.0}
        self.counts = json.loads(self._path.read_text()) if self._path.exists() else zeros
        self._written = time.monotonic()

    def add(self, was_read: bool, seconds: float) -> None:
        """Count a case, and write the file now and then."""
        counts = self.counts
        counts["cases"] += 1
        counts["read"] += was_read
        counts["seconds"] += seconds
        counts["slowest"] = max(counts["slowest"], seconds)
        if time.monotonic() - self._written > 1:
            self.write()

    def write(self) -> None:
        """Write the file."""
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        self.counts["megabytes"] = max(self.counts["megabytes"], peak)
        draft = self._path.with_suffix(".draft")
        draft.write_text(json.dumps(self.counts))
        draft.replace(self._path)
        self._written = time.monotonic()


def fuzz(target: str, seconds: int, corpus: Path) -> None:
    """Run in a process of its own: libFuzzer ends it."""
    import atheris

    with atheris.instrument_imports(include=INSTRUMENTED):
        import fuzz_targets
    from fuzz_changes import change, write_words

    run, _, _ = fuzz_targets.TARGETS[target]
    found, inputs = corpus / "found", corpus / "inputs"
    for folder in (found, inputs):
        folder.mkdir(parents=True, exist_ok=True)
    firsts = fuzz_targets.seeds(target)
    for seed in firsts:
        (inputs / _name(seed)).write_bytes(seed)
        run(seed)  # what is imported and compiled at the first use is not the case's time
    tally, places = Tally(corpus), set()
    end = time.monotonic() + seconds

    def case(content: bytes) -> None:
        began, was_read = time.process_time(), False
        try:
            was_read = run(content)
            took = time.process_time() - began
            assert took < MAX_CASE_SECONDS, f"{took:.1f} s"
        except Exception as error:  # note it and go on: one run should find more than one defect
            place = f"{type(error).__name__} {traceback.extract_tb(error.__traceback__)[-1][:3]}"
            if place not in places:
                places.add(place)
                (found / _name(content)).write_bytes(content)
                (found / f"{_name(content)}.txt").write_text(traceback.format_exc())
                print(f"found: {place}: {error!s:.200}", file=sys.stderr)  # noqa: T201
        tally.add(bool(was_read), time.process_time() - began)
        if time.monotonic() > end:  # libFuzzer would wait for threads that wait for Python
            tally.write()
            os._exit(0)

    def mutate(content: bytes, max_size: int, seed: int) -> bytes:
        def change_bytes(some: bytes) -> bytes:
            return atheris.Mutate(some, max_size)

        return change(target, content, firsts, random.Random(seed), change_bytes)[:max_size]

    options = {
        "max_len": max(MAX_CASE_BYTES, 2 * max(map(len, firsts))), "timeout": MAX_HANG_SECONDS,
        "rss_limit_mb": MAX_MEGABYTES, "artifact_prefix": f"{found}/", "reload": 0,
        "mutate_depth": 1,  # changes upon changes leave little that can be read
    }  # fmt: skip
    if write_words(target, corpus / "words"):
        options["dict"] = corpus / "words"
    arguments = [sys.argv[0], *(f"-{name}={value}" for name, value in options.items()), str(inputs)]
    atheris.Setup(arguments, case, custom_mutator=mutate)
    atheris.Fuzz()


def _name(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


def replay(target: str, corpus: Path) -> None:
    """Print the share of lines of the reader's files that the corpus reaches."""
    import fuzz_targets

    import bayespoint

    run, _, parts = fuzz_targets.TARGETS[target]
    root = Path(bayespoint.__file__).parent
    files = [
        f
        for part in parts
        for f in ([root / part] if part.endswith(".py") else (root / part).rglob("*.py"))
    ]
    lines = {
        str(file): _lines(compile(file.read_text("utf-8"), str(file), "exec")) for file in files
    }
    reached: dict[str, set[int]] = {name: set() for name in lines}

    def trace(frame, event, argument):
        name = frame.f_code.co_filename
        if name not in reached:
            return None
        reached[name].add(frame.f_lineno)
        return trace

    contents = [path.read_bytes() for path in sorted((corpus / "inputs").iterdir())]
    threading.settrace(trace)
    sys.settrace(trace)
    for content in contents:
        try:
            run(content)
        except Exception:
            continue
    sys.settrace(None)
    n_reached = sum(len(lines[name] & reached[name]) for name in lines)
    print(json.dumps({"lines": sum(map(len, lines.values())), "reached": n_reached}))  # noqa: T201


def _lines(code) -> set[int]:
    """Return the lines of all functions in some code, without those that an import runs."""
    found = set()
    for inner in code.co_consts:
        if hasattr(inner, "co_lines"):
            found |= {
                line for _, _, line in inner.co_lines() if line and line > inner.co_firstlineno
            }
            found |= _lines(inner)
    return found


def show(target: str, seconds: int, corpus: Path) -> int:
    """Fuzz a target, print a line of a table for all its runs, and return the exit code."""
    same = [sys.executable, __file__, target, "--corpus", str(corpus)]
    code = 0
    if seconds:
        whole = [*same, "--seconds", str(seconds), "--step", "fuzz"]
        run = subprocess.run(whole, capture_output=True, text=True, errors="replace")
        code = run.returncode
        if code:
            print(run.stderr[-2000:])  # noqa: T201
    traced = subprocess.run([*same, "--step", "replay"], capture_output=True, text=True)
    lines = json.loads((traced.stdout.splitlines() or ['{"lines": 0, "reached": 0}'])[-1])
    counts = Tally(corpus / target).counts
    found = {path.stem for path in (corpus / target / "found").iterdir()}
    print(  # noqa: T201
        f"| `{target}` | {counts['cases']:,} | {counts['read'] / max(counts['cases'], 1):.0%} | "
        f"{lines['reached']} of {lines['lines']} | {counts['seconds']:.0f} s | "
        f"{counts['slowest']:.1f} s | {counts['megabytes']:.0f} MB | {len(found)} |",
        flush=True,
    )
    return code


def main(arguments: list[str] | None = None) -> int:
    """Fuzz targets one after the other."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("targets", nargs="+", choices=[*NAMES, "all"])
    parser.add_argument("--seconds", type=int, default=60, help="for each; 0 only counts")
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--step", choices=["fuzz", "replay"])
    given = parser.parse_args(arguments)
    targets = NAMES if "all" in given.targets else given.targets
    if given.step is not None:
        step = fuzz if given.step == "fuzz" else lambda target, _, corpus: replay(target, corpus)
        step(targets[0], given.seconds, given.corpus / targets[0])
        return 0
    return max(show(target, given.seconds, given.corpus) for target in targets)


if __name__ == "__main__":
    sys.exit(main())
