"""Break everything that writes files or runs long, and count what is lost.

    python benchmarks/faults.py KIND [--repeats 20] [--verbs VERB ...]

disk      the disk is full at the n-th change of a file, for every n, once or from then on
kill      SIGKILL at every n-th change; SIGKILL, SIGTERM and Ctrl-C at random moments
together  updates at once, predictions during updates, two sessions of labels, watches at once
readonly  an ordinary user in a folder of somebody else; run it as root, who can make one
user      processes without privileges, a home, or a package that may be written; as root, too;
          each verb in a folder of the user, and in a folder of somebody else
overflow  `predict` on a file whose last number is too large (1e400), small and long files in turn
memory    `train` with 20,000 rows and an address space of 0.3 to 3 GB: a model, or an error
cluster   a Dask worker or the scheduler is killed at random moments of a fit; minutes

Prints a row of a table for each verb: how often, and how often a file was neither the old one nor a
complete new one, an error was not one line that says what to do, or something lay around after the
next run. The exit code is 1 if any of these is not zero. Needs Linux.
"""

import argparse
import contextlib
import ctypes
import errno
import io
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from ctrl_c import MAX_SECONDS, cpu_seconds
from fault_injection import (
    DRAFT,
    OLD,
    VERBS,
    disk_fault,
    drop_privileges,
    in_child,
    is_whole,
    make_world,
    mixed_rows,
    prepare,
    run,
)

import bayespoint
from bayespoint.io.models.model_file import read

NOBODY = 65534
# Of unshare(2), mount(2) and prctl(2).
SET_SECURE_BITS, NO_ROOT = 28, 1
NEW_MOUNTS = 0x20000
READ_ONLY, REMOUNT, BIND, RECURSIVE, PRIVATE = 1, 0x20, 0x1000, 0x4000, 0x40000
MEMORY_MEGABYTES = (300, 500, 700, 1000, 1300, 1600, 2000, 3000)
MAX_CHILD_SECONDS, MAX_FIT_SECONDS = 60, 300
SIGNALS = {"SIGKILL": signal.SIGKILL, "SIGTERM": signal.SIGTERM, "Ctrl-C": signal.SIGINT}


class Count:
    """How often something was tried, and what went wrong."""

    def __init__(self, what: str):
        self.what, self.n, self.half, self.words, self.left = what, 0, 0, 0, 0

    def show(self) -> int:
        """Print a row of the table; return the number of failures."""
        print(f"| {self.what} | {self.n} | {self.half} | {self.words} | {self.left} |", flush=True)  # noqa: T201
        return self.half + self.words + self.left


def fill_disk() -> None:
    """Fail as a write to a full disk does."""
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def is_one_line(errors: str) -> bool:
    """Tell whether a verb ended with one line that says what is wrong, after any notes."""
    *notes, line = errors.splitlines() or [""]
    return (
        line.startswith("bayespoint: error: ")
        and "BAYESPOINT_DEBUG" not in line
        and all(text.startswith("bayespoint: note: ") for text in notes)
    )


def break_disk(verb: str, world: Path, folder: Path, lasting: bool, step: int = 1) -> Count:
    """Let the disk be full at each change that a verb makes, until it makes no more."""
    count = Count(f"{verb}, {'full from then on' if lasting else 'full once'}")
    number = 1
    while True:
        arguments, path = prepare(verb, world, folder)
        old, errors = path.read_bytes(), io.StringIO()
        with (
            contextlib.redirect_stdout(io.StringIO()),
            contextlib.redirect_stderr(errors),
            disk_fault(folder, number, fill_disk, lasting) as changes,
        ):
            code = run(arguments)
        if len(changes) < number:
            return count
        count.n += 1
        count.half += not is_whole(verb, path, old)
        # The file may be complete before its name is on the disk for good: no error then.
        advice = "Make room" in errors.getvalue()
        count.words += code != 0 and not (is_one_line(errors.getvalue()) and advice)
        count.left += bool(list(folder.glob(DRAFT)))
        number += step


def disk(world: Path, folder: Path, given) -> list[Count]:
    """Fill the disk in all verbs."""
    return [break_disk(verb, world, folder, lasting)
            for verb in given.verbs for lasting in (False, True)]  # fmt: skip


def wait(child: int, seconds: float = MAX_CHILD_SECONDS) -> int | None:
    """Return the exit code of a child, or None if it had to be killed."""
    return wait_and_measure(child, seconds)[0]


def wait_and_measure(child: int, seconds: float = MAX_CHILD_SECONDS) -> tuple[int | None, float]:
    """Return the exit code as `wait` does, and the seconds of a processor that the child used."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        pid, status, used = os.wait4(child, os.WNOHANG)
        if pid:
            return os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime
        time.sleep(0.002)
    os.kill(child, signal.SIGKILL)
    used = os.wait4(child, 0)[2]
    return None, used.ru_utime + used.ru_stime


def check_next_run(count: Count, verb: str, world: Path, folder: Path) -> None:
    """Run the verb again without a fault: it should succeed and leave nothing else."""
    text = VERBS[verb][0].split()
    arguments = [a.replace("IN/", f"{world}/").replace("OUT", str(folder)) for a in text]
    if verb == "evaluate --watch":  # which refuses rows that it has counted
        shutil.copy(world / "watch.json", folder)
    code = wait(in_child(arguments))
    count.left += code != 0 or bool(list(folder.glob(DRAFT)))


def kill(world: Path, folder: Path, given) -> list[Count]:
    """Kill all verbs at every change of a file, and at random moments."""
    rng, counts = random.Random(given.seed), []
    for verb in given.verbs:
        count, number = Count(f"{verb}, SIGKILL at each change"), 1
        while True:
            arguments, path = prepare(verb, world, folder)
            old = path.read_bytes()
            fault = disk_fault(folder, number, lambda: os.kill(os.getpid(), signal.SIGKILL), False)
            if wait(in_child(arguments, fault)) == 0:
                break
            count.n += 1
            count.half += not is_whole(verb, path, old)
            # Every model has many changes of the same kind; look at each fourth after the tenth.
            number += 1 if number < 10 else 4
        check_next_run(count, verb, world, folder)
        counts.append(count)
        began = time.monotonic()
        wait(in_child(prepare(verb, world, folder)[0]))
        whole = time.monotonic() - began
        for name, number in SIGNALS.items():
            count = Count(f"{verb}, {name} at random moments")
            for _ in range(given.repeats):
                arguments, path = prepare(verb, world, folder)
                old = path.read_bytes()
                child = in_child(arguments)
                time.sleep(rng.uniform(0, whole))
                os.kill(child, number)
                before = cpu_seconds(child)  # of a processor: the machine may be busy
                code, cpu = wait_and_measure(child)
                count.n += 1
                count.half += not is_whole(verb, path, old)
                count.words += code is None or cpu - before > MAX_SECONDS
                count.left += number != signal.SIGKILL and bool(list(folder.glob(DRAFT)))
            check_next_run(count, verb, world, folder)
            counts.append(count)
    return counts


def together(world: Path, folder: Path, given) -> list[Count]:
    """Let processes work with the same files."""
    names = ("three updates at once", "predict during update", "two label at once",
             "two evaluate --watch at once")  # fmt: skip
    updates, reads, labels, watches = map(Count, names)
    n_new = None
    for _ in range(given.repeats):
        arguments, path = prepare("update", world, folder)
        n_before = read(path)[1]["command"]["n_rows"]
        if n_new is None:
            wait(in_child(arguments))
            n_new = read(path)[1]["command"]["n_rows"] - n_before
            arguments, path = prepare("update", world, folder)
        codes = [wait(child) for child in [in_child(arguments) for _ in range(3)]]
        updates.n += 1
        updates.words += codes != [0, 0, 0]
        updates.half += read(path)[1]["command"]["n_rows"] != n_before + 3 * n_new
        updates.left += bool(list(folder.glob(DRAFT)))
        arguments, path = prepare("update", world, folder)
        out = folder / "p.csv"
        update = in_child(arguments)
        for _ in range(3):
            predict = ["predict", str(path), f"{world}/test.csv", "--output", str(out)]
            reads.n += 1
            reads.words += wait(in_child(predict)) != 0
            reads.half += not is_whole("predict", out, b"")
        reads.words += wait(update) != 0
        reads.left += bool(list(folder.glob(DRAFT)))
        arguments, path = prepare("label", world, folder)
        logs = [world / "log1", world / "log2"]
        children = [in_child(arguments, log=log) for log in logs]
        codes = [wait(child) for child in children]
        refused = [log.read_text() for log, code in zip(logs, codes, strict=True) if code]
        labels.n += 1
        labels.half += not is_whole("label", path, b"") or 0 not in codes
        labels.words += not all("Another process writes" in text for text in refused)
        labels.left += bool(list(folder.glob(DRAFT)))
        arguments, path = prepare("evaluate --watch", world, folder)
        path.unlink()  # both begin it
        other = [a.replace("test.csv", "earlier.csv") for a in arguments]
        codes = [wait(child) for child in [in_child(arguments), in_child(other)]]
        watches.n += 1
        watches.words += codes != [0, 0]
        watches.half += not is_whole("evaluate --watch", path, b"")
        watches.left += bool(list(folder.glob(DRAFT)))
    return [updates, reads, labels, watches]


def readonly(world: Path, folder: Path, given) -> list[Count]:
    """Run all verbs without privileges in a folder of somebody else."""
    counts, log = [], world / "log"
    for verb in given.verbs:
        count = Count(verb)
        arguments, _ = prepare(verb, world, folder)
        os.chown(folder, NOBODY, NOBODY)
        before = {p.name: p.read_bytes() for p in folder.iterdir()}
        code = wait(in_child(arguments, plain_user=True, log=log))
        count.n = 1
        count.half += before != {p.name: p.read_bytes() for p in folder.iterdir()}
        text = " ".join(log.read_text().split())
        count.words += code not in (1, 2) or "You may not write to the folder" not in text
        if count.words:
            print(text)  # noqa: T201
        counts.append(count)
    return counts


def user(world: Path, folder: Path, given) -> list[Count]:
    """Run all verbs as processes of a user who may write to one folder at most."""
    counts = []
    environment = {**os.environ, "HOME": "/proc/none"}
    for name in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME"):
        environment.pop(name, None)
    for verb in given.verbs:
        for is_own in (True, False):
            where = "own folder" if is_own else "folder of somebody else"
            count = Count(f"{verb}, no home, {where}")
            arguments, path = prepare(verb, world, folder)
            old = path.read_bytes()
            before = {p.name: p.read_bytes() for p in folder.iterdir()}
            if not is_own:
                os.chown(folder, NOBODY, NOBODY)
            code, errors = _run_alone(
                arguments, env=environment, preexec_fn=_become_plain_user, cwd="/proc"
            )
            count.n += 1
            if is_own:
                is_new = path.read_bytes() != old and is_whole(verb, path, old)
                count.half += not is_new
                is_wrong = code != 0
            else:
                count.half += before != {p.name: p.read_bytes() for p in folder.iterdir()}
                text = " ".join(errors.replace("\u2502", " ").split())
                is_wrong = code not in (1, 2) or "You may not write to the folder" not in text
            count.words += is_wrong
            if is_wrong:
                print(errors[-600:])  # noqa: T201
            count.left += bool(list(folder.glob(DRAFT)))
            counts.append(count)
    return counts


def _become_plain_user() -> None:
    """Make the package read-only for this process, and give up the privileges of root."""
    libc = ctypes.CDLL(None, use_errno=True)
    place = str(Path(bayespoint.__file__).parent).encode()
    steps = [
        libc.unshare(NEW_MOUNTS),
        libc.mount(b"none", b"/", None, RECURSIVE | PRIVATE, None),
        libc.mount(place, place, None, BIND, None),
        libc.mount(b"none", place, None, REMOUNT | BIND | READ_ONLY, None),
        libc.prctl(SET_SECURE_BITS, NO_ROOT),  # else a new program gets the privileges back
    ]
    if any(steps):
        raise OSError(ctypes.get_errno(), "the package cannot be made read-only")
    drop_privileges()


def _run_alone(arguments: list[str], **options) -> tuple[int, str]:
    """Run a verb in a process of its own; return its exit code and what it said."""
    command = [sys.executable, "-m", "bayespoint", *arguments]
    result = subprocess.run(command, capture_output=True, timeout=MAX_FIT_SECONDS, **options)
    return result.returncode, result.stderr.decode()


def overflow(world: Path, folder: Path, given) -> list[Count]:
    """Predict a file that Arrow reads ahead while the process ends with an error."""
    counts = [Count("predict, 1e400 in 151 rows"), Count("predict, 1e400 in 200,001 rows")]
    header, *rows = (world / "test.csv").read_text().splitlines()
    bad = ["1e400", *rows[0].split(",")[1:]]
    for name, n_copies in (("few", 1), ("many", 200_000 // len(rows))):
        lines = [header, *rows * n_copies, ",".join(bad)]
        (world / f"{name}.csv").write_text("\n".join(lines) + "\n")
    for repeat in range(given.repeats):
        count = counts[repeat % 2]
        _, path = prepare("predict", world, folder)
        name = "many" if repeat % 2 else "few"
        predict = ["predict", f"{world}/linear.bpm", f"{world}/{name}.csv", "--output", str(path)]
        code, errors = _run_alone(predict)
        count.n += 1
        count.half += path.read_bytes() != OLD
        is_wrong = code != 1 or not is_one_line(errors) or "'x0'" not in errors
        count.words += is_wrong
        if is_wrong:
            print(code, errors[-600:])  # noqa: T201
        count.left += bool(list(folder.glob(DRAFT)))
    return counts


def memory(world: Path, folder: Path, given) -> list[Count]:
    """Train with little memory: a model, or an error that says what to do."""
    mixed_rows(20_000, 5).to_csv(world / "long.csv", index=False)
    counts = []
    for megabytes in MEMORY_MEGABYTES:
        count = Count(f"train, {megabytes} MB")
        _, path = prepare("train", world, folder)
        train = ["train", f"{world}/long.csv", "--target", "kind", "--model", str(path)]

        def limit(n_bytes=megabytes * 10**6):
            resource.setrlimit(resource.RLIMIT_AS, (n_bytes, n_bytes))

        code, errors = _run_alone(train, preexec_fn=limit)
        print(f"{megabytes} MB: code {code}, {errors.splitlines()[-1:]}", file=sys.stderr)  # noqa: T201
        count.n += 1
        count.half += not is_whole("train", path, OLD) or (code == 0 and path.read_bytes() == OLD)
        count.words += code not in (0, 1) or (code == 1 and not is_one_line(errors))
        count.left += bool(list(folder.glob(DRAFT)))
        counts.append(count)
    return counts


CLUSTER = """
import os, sys
import dask.array as da
import numpy as np
from distributed import Client
from bayespoint import BayesPointClassifier, LinearBayesPointClassifier, distributed
rng = np.random.default_rng(0)
X = rng.normal(size=(20_000, 10))
y = np.where(X[:, 0] + 0.5 * rng.normal(size=len(X)) > 0, 1, -1)
models = {"linear": LinearBayesPointClassifier(covariance="full", tol=1e-8, max_iter=200),
          "nystroem": BayesPointClassifier("rbf", gamma=0.1, softness=0.1, solver="nystroem",
                                          random_state=0)}
model = models[sys.argv[2]]
with Client(sys.argv[1], timeout=10) as client:
    client.wait_for_workers(2, timeout=60)
    print("begin", flush=True)
    distributed.fit(model, da.from_array(X, chunks=(2500, 10)), da.from_array(y, chunks=2500))
    print("end", float(model.log_evidence_), flush=True)
"""


def cluster(world: Path, folder: Path, given) -> list[Count]:
    """Kill a worker or the scheduler of a cluster of processes."""
    rng, counts = random.Random(given.seed), []
    for name in ("linear", "nystroem"):
        right, seconds = _on_cluster(world, name, "", 0.0)
        for victim in ("worker", "scheduler"):
            count = Count(f"distributed.fit, {name}, {victim} killed")
            for _ in range(given.repeats):
                text, _ = _on_cluster(world, name, victim, rng.uniform(0, seconds))
                count.n += 1
                value = text.partition("end ")[2].split()
                if value:
                    # Both iterate until they have settled; the log evidence is of order 1e3.
                    count.half += abs(float(value[0]) - float(right.partition("end ")[2])) > 1e-2
                else:
                    count.words += (
                        victim == "worker" or "scheduler of the cluster was lost" not in text
                    )
                    if victim == "worker" or "scheduler of the cluster was lost" not in text:
                        print(text[-600:])  # noqa: T201
            counts.append(count)
    return [*counts, _workers_of_train(world, folder, given, rng)]


def _workers_of_train(world: Path, folder: Path, given, rng: random.Random) -> Count:
    """Kill a process that `train --workers` has started."""
    count, rows = Count("train --workers 2, one process killed"), world / "rows"
    rows.mkdir()
    for part in range(4):
        mixed_rows(2000, part).to_csv(rows / f"{part}.csv", index=False)
    text = f"train {rows} --target kind --classifier linear --workers 2 --model {folder}/m"
    command = [sys.executable, "-m", "bayespoint", *text.split()]
    whole = None
    for _ in range(given.repeats + 1):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        (folder / "m").write_bytes(OLD)
        began = time.monotonic()
        train = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        if whole is not None:  # the first run is not disturbed: it says how long it takes
            time.sleep(rng.uniform(0, whole))
            victims = [process for process in _descendants(train.pid) if process != train.pid]
            if victims:
                os.kill(rng.choice(victims), signal.SIGKILL)
        try:
            errors = train.communicate(timeout=180)[1].decode()
        except subprocess.TimeoutExpired:
            train.kill()
            errors = "no answer in 180 s"
        if whole is None:
            whole = time.monotonic() - began
            continue
        count.n += 1
        count.half += not is_whole("train", folder / "m", OLD)
        is_wrong = train.returncode != 0 and not is_one_line(errors)
        count.words += is_wrong
        count.left += bool(list(folder.glob(DRAFT)))
        if is_wrong:
            print(errors[-600:])  # noqa: T201
    return count


def _descendants(parent: int) -> list[int]:
    """Return the processes that a process has started, and those that these have started."""
    children = Path(f"/proc/{parent}/task/{parent}/children")
    try:
        found = [int(child) for child in children.read_text().split()]
    except OSError:
        return []
    return [*found, *(inner for child in found for inner in _descendants(child))]


def _on_cluster(world: Path, model: str, victim: str, after: float) -> tuple[str, float]:
    """Fit on a new cluster; return what was printed, and the seconds of the fit."""
    file = world / f"scheduler{random.random()}.json"

    def start(what: str, *options: str) -> subprocess.Popen:
        module = f"distributed.cli.dask_{what}"
        command = [sys.executable, "-m", module, "--scheduler-file", str(file), "--no-dashboard"]
        nowhere = subprocess.DEVNULL
        return subprocess.Popen([*command, *options], stdout=nowhere, stderr=nowhere)

    scheduler = start("scheduler", "--port", "0")
    workers = [start("worker", "--nthreads", "1", "--no-nanny") for _ in range(3)]
    while not file.exists() or not file.read_text():
        time.sleep(0.1)
    address = json.loads(file.read_text())["address"]
    command = [sys.executable, "-c", CLUSTER, address, model]
    out = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    fit = subprocess.Popen(command, **out)
    try:
        first = fit.stdout.readline()
        began = time.monotonic()
        if victim:
            time.sleep(after)
            (scheduler if victim == "scheduler" else workers[0]).kill()
        try:
            text = first + fit.communicate(timeout=MAX_FIT_SECONDS)[0]
        except subprocess.TimeoutExpired:
            fit.kill()
            text = first + f"no answer in {MAX_FIT_SECONDS} s: " + fit.communicate()[0]
        return text, time.monotonic() - began
    finally:
        for process in (fit, scheduler, *workers):
            process.kill()
            process.wait()


def main(arguments: list[str] | None = None) -> int:
    """Run one kind of fault, and print its table."""
    kinds = {
        f.__name__: f for f in (disk, kill, together, readonly, user, overflow, memory, cluster)
    }
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("kind", choices=kinds)
    parser.add_argument("--verbs", nargs="*", default=list(VERBS), choices=list(VERBS))
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(arguments)
    root = Path(tempfile.mkdtemp(prefix="faults"))
    world, folder = root / "world", root / "out"
    world.mkdir()
    try:
        # In a child, so that this process has no threads when it forks.
        child = os.fork()
        if not child:
            with contextlib.redirect_stdout(io.StringIO()):
                make_world(world)
            os._exit(0)
        wait(child, 120)
        print("| what | how often | half a file | words | left behind |\n|---|---|---|---|---|")  # noqa: T201
        failures = [count.show() for count in kinds[given.kind](world, folder, given)]
        return int(any(failures))
    finally:
        shutil.rmtree(root, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
