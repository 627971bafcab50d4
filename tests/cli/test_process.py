"""The command as a process: start, pipes, signals, limits, exit codes."""

import json
import os
import resource
import signal
import subprocess
import sys
import time

import pytest

from helpers import slow_but_for

COMMAND = [sys.executable, "-c", "from bayespoint.cli import main; main()"]


def bayespoint(*arguments, **options):
    return subprocess.run(
        [*COMMAND, *map(str, arguments)], capture_output=True, timeout=120, **options
    )


def cpu_of(*arguments):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert bayespoint(*arguments).returncode == 0
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime


@pytest.mark.parametrize("argument", ["--version", "--help"])
def test_help_is_there_at_once(argument):
    assert min(cpu_of(argument) for _ in range(5)) < 0.3


def test_help_loads_nothing_heavy():
    code = (
        "import sys; sys.argv = ['bayespoint', 'train', '--help']\n"
        "from bayespoint.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "heavy = {'sklearn', 'numba', 'scipy', 'numpy', 'pandas', 'pyarrow', 'rich.console'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)


def test_predict_loads_only_what_it_uses(world, tmp_path):
    """Compiled loops, other classifiers and plots are for other verbs."""
    code = (
        "import sys; sys.argv[0] = 'bayespoint'\n"
        "from bayespoint.cli.app import app\n"
        "try: app()\n"
        "except SystemExit as end: assert not end.code\n"
        "heavy = {'numba', 'matplotlib', 'dask', 'sklearn.ensemble', 'sklearn.cluster',\n"
        "         'sklearn.datasets', 'sklearn.inspection', 'bayespoint.evaluation.report'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)"
    )
    arguments = ["predict", world / "kernel.bpm", world / "test.csv", "--output", tmp_path / "o"]
    subprocess.run([sys.executable, "-c", code, *map(str, arguments)], check=True)


def test_exit_codes_and_streams(world):
    """Results go to stdout, everything else to stderr; in a pipe, success leaves stderr empty."""
    good = bayespoint("evaluate", world / "linear.bpm", world / "test.csv", "--json")
    assert (good.returncode, good.stderr) == (0, b"")
    assert json.loads(good.stdout)["n_rows"] == 150
    bad = bayespoint("evaluate", world / "linear.bpm", world / "none.csv")
    assert (bad.returncode, bad.stdout) == (1, b"")
    assert bad.stderr.count(b"\n") == 1
    usage = bayespoint("evaluate", world / "linear.bpm")
    assert (usage.returncode, usage.stdout) == (2, b"")
    assert b"Traceback" not in usage.stderr


def long_csv(world, path, n_rows):
    header, *rows = (world / "test.csv").read_text().splitlines(keepends=True)
    with open(path, "w") as file:
        file.write(header)
        for _ in range(n_rows // len(rows)):
            file.writelines(rows)
    return path


def test_the_reader_of_the_output_may_stop(world, tmp_path):
    path = long_csv(world, tmp_path / "long.csv", 300_000)
    process = subprocess.Popen(
        [*COMMAND, "predict", str(world / "linear.bpm"), str(path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout.readline() == b"prediction,probability\n"
    process.stdout.close()
    assert process.wait(60) == 1
    assert process.stderr.read() == b""
    process.stderr.close()


def wait_for_draft(folder):
    """Wait until something is written: then the draft is locked."""
    deadline = time.monotonic() + 60
    drafts: list = []
    while not any(draft.stat().st_size for draft in drafts) and time.monotonic() < deadline:
        time.sleep(0.01)
        drafts = list(folder.glob(".*"))
    return drafts


def start_to_predict(world, tmp_path, n_rows=1_000_000, **options):
    """Return a process that writes a file, the folder, and its draft."""
    path, folder = long_csv(world, tmp_path / "long.csv", n_rows), tmp_path / "out"
    folder.mkdir()
    out = folder / "out.csv"
    out.write_text("old")
    command = [*COMMAND, "predict", str(world / "linear.bpm"), str(path), "--output", str(out)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, **options)
    assert len(wait_for_draft(folder)) == 1
    return process, folder


SIGNALS = [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]


@pytest.mark.parametrize(("number", "code"), SIGNALS)
def test_a_signal_leaves_the_old_file(world, tmp_path, number, code):
    process, folder = start_to_predict(world, tmp_path)
    process.send_signal(number)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == code
    assert errors.count(b"\n") == (number == signal.SIGINT)
    assert {path.name for path in folder.iterdir()} <= {"out.csv", "out.partial.csv"}
    assert (folder / "out.csv").read_text() == "old"


def test_nohup_goes_on_when_its_terminal_closes(world, tmp_path):
    def ignore():
        signal.signal(signal.SIGHUP, signal.SIG_IGN)

    process, folder = start_to_predict(world, tmp_path, 300_000, preexec_fn=ignore)
    process.send_signal(signal.SIGHUP)
    process.communicate(timeout=60)
    assert process.returncode == 0
    assert (folder / "out.csv").read_text() != "old"


SOME_STREAMS = (pytest.param(some, marks=pytest.mark.slow) for some in [(0,), (1,), (2,)])


@pytest.mark.parametrize("closed", [(0, 1, 2), *SOME_STREAMS])
def test_standard_streams_may_be_closed(world, tmp_path, closed):
    """As services and `command >&-` start it; no file of ours takes the place of a stream."""

    def close():
        for number in closed:
            os.close(number)

    model, out = tmp_path / "m", tmp_path / "out.csv"
    train = ["train", world / "train.csv", "--target", "kind", "--classifier", "linear"]
    assert bayespoint(*train, "--model", model, preexec_fn=close).returncode == 0
    whole = bayespoint("predict", model, world / "test.csv", "--output", out, preexec_fn=close)
    assert (whole.returncode, whole.stderr) == (0, b"")
    assert out.read_text().count("\n") == 151
    printed = bayespoint("predict", model, "-", preexec_fn=close, stdin=subprocess.DEVNULL)
    assert printed.returncode == (2 if 1 in closed else 1)
    words = [b"Standard output is closed"] if 1 in closed else [b"standard input", b"is empty"]
    assert 2 in closed or all(word in printed.stderr for word in words), printed.stderr
    assert b"Traceback" not in printed.stderr


def test_a_folder_that_was_removed_is_one_line(world, tmp_path):
    gone = tmp_path / "gone"
    gone.mkdir()
    arguments = ["predict", world / "linear.bpm", world / "test.csv", "--output", "p.csv"]
    code = f"import os; os.rmdir({str(gone)!r}); from bayespoint.cli import main; main()"
    command = [sys.executable, "-c", code, *map(str, arguments)]
    result = subprocess.run(command, capture_output=True, cwd=gone)
    assert result.returncode == 1
    assert result.stderr == (
        b"bayespoint: error: The current folder was removed. Change to another one.\n"
    )


def test_a_killed_process_leaves_nothing_after_the_next_run(world, tmp_path):
    """The draft of a process that is alive stays where it is."""
    process, folder = start_to_predict(world, tmp_path)
    process.send_signal(signal.SIGSTOP)
    next_run = ["predict", world / "linear.bpm", world / "test.csv", "--output", folder / "b.csv"]
    assert bayespoint(*next_run).returncode == 0
    assert len(list(folder.glob(".*"))) == 1
    process.kill()
    process.communicate(timeout=60)
    assert len(list(folder.glob(".*"))) == 1
    assert bayespoint(*next_run).returncode == 0
    assert {path.name for path in folder.iterdir()} == {"out.csv", "b.csv"}
    assert (folder / "out.csv").read_text() == "old"


SILENT = {
    "predict": ["predict", "linear.bpm", "-"],
    "train": ["train", "-", "--target", "kind", "--model", "OUT"],
    "evaluate": ["evaluate", "linear.bpm", "-"],
    "update": ["update", "linear.bpm", "-", "--output", "OUT"],
    "check": ["check", "-", "--target", "kind"],
    "report": ["report", "linear.bpm", "-", "--output", "OUT"],
}


@pytest.mark.parametrize("verb", slow_but_for(SILENT, "predict"))
def test_ctrl_c_is_answered_while_standard_input_is_silent(world, tmp_path, verb):
    """Arrow reads in a thread of its own, and Python answers no signal while it waits for that."""
    arguments = [a.replace("OUT", str(tmp_path / "out")) for a in SILENT[verb]]
    process = subprocess.Popen(
        [*COMMAND, *arguments],
        cwd=world,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    header, rows = (world / "test.csv").read_bytes().split(b"\n", 1)
    # The pipe holds 64 kB. So this returns when the command has read its beginning, and waits.
    process.stdin.write(header + b"\n" + rows * (140_000 // len(rows)))
    process.stdin.flush()
    time.sleep(0.5)
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    try:
        code = process.wait(20)
    finally:
        process.kill()
    assert code == 130
    assert time.monotonic() - began < 2
    assert process.stderr.read() == b"bayespoint: interrupted; nothing is kept\n"
    for stream in (process.stdin, process.stdout, process.stderr):
        stream.close()
    assert os.listdir(tmp_path) == []


def test_python_is_not_shut_down_below_threads_of_arrow(world, tmp_path):
    """A thread that reads ahead crashed the process now and then, after an error was reported."""
    bad = tmp_path / "bad.csv"
    bad.write_text((world / "test.csv").read_text() + "1e400,2,baker,Ulm,yes\n")
    code = (
        "import sys\n"
        "from bayespoint.cli import main\n"
        "sys.argv = ['bayespoint', 'predict', *sys.argv[1:]]\n"
        "class Teardown:\n"
        "    def __del__(self): open(sys.argv[-1] + '.teardown', 'w').close()\n"
        "sys.modules['teardown'] = Teardown()\n"
        "main()"
    )
    out = tmp_path / "out.csv"
    arguments = [world / "linear.bpm", bad, "--output", out]
    result = subprocess.run([sys.executable, "-c", code, *map(str, arguments)], capture_output=True)
    assert result.returncode == 1
    assert result.stderr.count(b"\n") == 1
    assert os.listdir(tmp_path) == ["bad.csv"]


@pytest.mark.parametrize("verb", ["train", "predict"])
def test_a_full_disk_is_one_line(world, tmp_path, verb):
    """The process may write at most 1,000 bytes to a file."""

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

    data, model, out = world / "test.csv", world / "linear.bpm", tmp_path / "out"
    arguments = {
        "train": ["train", data, "--target", "kind", "--model", out, "--classifier", "linear"],
        "predict": ["predict", model, data, "--output", out],
    }[verb]
    # The limit also applies to the cache of compiled loops, so loops must not be written now.
    result = bayespoint(*arguments, preexec_fn=limit)
    assert result.returncode == 1, result.stderr
    assert result.stderr.count(b"\n") == 1, result.stderr
    assert b"File too large. Make room, or write to another disk." in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_memory_does_not_grow_with_rows(world, tmp_path):
    """Eight times the rows need about the same memory."""
    code = (
        "import resource, sys\n"
        "from bayespoint.cli.app import app\n"
        "try: app(sys.argv[1:])\n"
        "except SystemExit as end: assert not end.code\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )

    def peak(n_rows):
        path = long_csv(world, tmp_path / "long.csv", n_rows)
        arguments = ["predict", world / "linear.bpm", path, "--output", tmp_path / "out.csv"]
        result = subprocess.run(
            [sys.executable, "-c", code, *map(str, arguments)], capture_output=True, check=True
        )
        return int(result.stdout.split()[-1]) / 1024

    small, large = peak(100_000), peak(800_000)
    size = os.path.getsize(tmp_path / "long.csv") / 2**20
    assert size > 30
    # The rows as Python strings would take about 100 MB more.
    assert large - small < size


def test_texts_are_utf_8_wherever_it_runs(world, tmp_path):
    """The command works in a terminal that knows only ASCII."""
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "LC_ALL": "C"}
    result = bayespoint("explain", world / "linear.bpm", world / "test.csv", env=environment)
    assert result.returncode == 0, result.stderr
    result = bayespoint(
        "predict",
        world / "linear.bpm",
        "-",
        "--keep",
        "town",
        input=(world / "test.csv").read_bytes(),
        env=environment,
    )
    assert result.returncode == 0, result.stderr
    assert "Köln" in result.stdout.decode("utf-8")


def test_names_that_steer_terminals_are_harmless(world, tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b'"a\x1b[31m\nb",kind\n1,2\n')
    result = bayespoint("predict", world / "linear.bpm", path)
    assert result.returncode == 1
    assert result.stderr.count(b"\n") == 1
    assert b"\x1b" not in result.stderr
