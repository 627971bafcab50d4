"""Feed readers and pages with hostile bytes, guided by the code that they reach.

    python benchmarks/fuzz.py TARGET --seconds 60 --corpus FOLDER

Needs `pip install atheris`. TARGET is one of the names in fuzz_targets.py. FOLDER keeps inputs that
reached new code, and in FOLDER/found those that raised what they should not, one for each place.
Prints cases, lines of the reader's files that the corpus reaches, the slowest case, the most memory
and what was found. A crash, a case over 10 s or memory above 2 GB ends the run.
"""

import argparse
import hashlib
import json
import re
import subprocess
import sys
import threading
import traceback
from pathlib import Path

import numpy as np

MAX_CASE_SECONDS, MAX_MEGABYTES, MAX_CASE_BYTES = 10, 2048, 8192
NAMES = ["csv", "libsvm", "parquet", "archive", "model", "onnx", "request", "journal", "report"]


def fuzz(target: str, seconds: int, corpus: Path) -> None:
    """Run in a process of its own: libFuzzer ends it."""
    import atheris

    with atheris.instrument_imports(include=["bayespoint.io", "bayespoint.labeling"]):
        import fuzz_targets
    run, _, _ = fuzz_targets.TARGETS[target]
    found = corpus / "found"
    found.mkdir(parents=True, exist_ok=True)
    places = set()

    def case(content: bytes) -> None:
        try:
            run(content)
        except Exception as error:  # note it and go on: one run should find more than one defect
            place = f"{type(error).__name__} {traceback.extract_tb(error.__traceback__)[-1][:3]}"
            if place not in places:
                places.add(place)
                name = hashlib.sha256(content).hexdigest()[:16]
                (found / name).write_bytes(content)
                (found / f"{name}.txt").write_text(traceback.format_exc())
                print(f"found: {place}: {error!s:.200}", file=sys.stderr)  # noqa: T201

    def mutate(content: bytes, max_size: int, seed: int) -> bytes:
        try:
            return fuzz_targets.mutate(content, seed)[:max_size]
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            return atheris.Mutate(content, max_size)

    inputs = corpus / "inputs"
    inputs.mkdir(exist_ok=True)
    for seed in fuzz_targets.seeds(target):
        (inputs / hashlib.sha256(seed).hexdigest()[:16]).write_bytes(seed)
    options = {
        "max_total_time": seconds, "timeout": MAX_CASE_SECONDS, "rss_limit_mb": MAX_MEGABYTES,
        "max_len": MAX_CASE_BYTES, "print_final_stats": 1, "artifact_prefix": f"{found}/",
    }  # fmt: skip
    arguments = [sys.argv[0], *(f"-{name}={value}" for name, value in options.items()), str(inputs)]
    mutator = {"custom_mutator": mutate} if target in ("model", "onnx") else {}
    atheris.Setup(arguments, case, **mutator)
    atheris.Fuzz()


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


def main(arguments: list[str] | None = None) -> int:
    """Fuzz a target and print a line of a table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("target", choices=NAMES)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--step", choices=["fuzz", "replay"])
    given = parser.parse_args(arguments)
    if given.step == "fuzz":
        fuzz(given.target, given.seconds, given.corpus)
        return 0
    if given.step == "replay":
        replay(given.target, given.corpus)
        return 0
    same = [sys.executable, __file__, given.target, "--corpus", str(given.corpus)]
    run = subprocess.run(
        [*same, "--seconds", str(given.seconds), "--step", "fuzz"],
        capture_output=True,
        text=True,
        errors="replace",
    )
    stats = {
        name: float(value) for name, value in re.findall(r"stat::(\w+):\s+([\d.]+)", run.stderr)
    }
    n_cases = int(stats.get("number_of_executed_units", np.nan)) if stats else -1
    traced = subprocess.run([*same, "--step", "replay"], capture_output=True, text=True)
    lines = (
        json.loads(traced.stdout.splitlines()[-1])
        if traced.returncode == 0
        else {"lines": 0, "reached": 0}
    )
    found = sorted((given.corpus / "found").iterdir())
    print(  # noqa: T201
        f"| {given.target} | {n_cases:,} | {lines['reached']} of {lines['lines']} | "
        f"{stats.get('slowest_unit_time_sec', -1):.0f} s | {stats.get('peak_rss_mb', -1):.0f} MB | "
        f"{len([path for path in found if path.suffix != '.txt'])} |"
    )
    if run.returncode:
        print(run.stderr[-2000:])  # noqa: T201
    return run.returncode


if __name__ == "__main__":
    sys.exit(main())
