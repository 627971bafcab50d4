import subprocess
import sys

import pytest

from bayespoint import cli


def test_without_extra_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "typer", None)
    with pytest.raises(SystemExit, match=r'pip install "bayespoint\[cli\]"'):
        cli.main()


def test_runs_the_command():
    """In a process of its own: `main` decides the exit code, and pytest's would be lost."""
    code = "import sys; from bayespoint.cli import main; sys.argv[1:] = ['--version']; main()"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.startswith("bayespoint ")


def test_ctrl_c_before_a_verb_has_begun():
    code = (
        "from bayespoint.cli import app, main\n"
        "def press(): raise KeyboardInterrupt\n"
        "app.app = press\n"
        "main()"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ended.returncode == 130
    assert ended.stderr == "bayespoint: interrupted; nothing is kept\n"


def test_ctrl_c_while_typer_reads_the_command():
    code = (
        "import sys, typer\n"
        "from bayespoint.cli import app, main\n"
        "app.app, sys.argv[1:] = typer.Typer(), []\n"
        "@app.app.command()\n"
        "def press(): raise KeyboardInterrupt\n"
        "main()"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (130, "bayespoint: interrupted\n")


@pytest.mark.skipif(sys.platform == "win32", reason="sends a signal")
@pytest.mark.parametrize("n_presses", [1, 5])
@pytest.mark.parametrize("how", ["raise KeyboardInterrupt", "sys.exit(130)", "sys.exit(3)"])
def test_ctrl_c_again_while_python_shuts_down(how, n_presses):
    """Python waits for threads there, and would show a traceback."""
    code = (
        "import os, signal, sys, threading, time\n"
        "from bayespoint.cli import app, main\n"
        "def press():\n"
        "    def often():\n"
        "        time.sleep(0.2)\n"
        f"        for _ in range({n_presses}): os.kill(os.getpid(), signal.SIGINT)\n"
        "        time.sleep(30)\n"
        "    threading.Thread(target=often).start()\n"
        f"    {how}\n"
        "app.app = press\n"
        "main()"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=25)
    assert ended.returncode == (3 if "3)" in how else 130)
    expected = "bayespoint: interrupted; nothing is kept\n" if "raise" in how else ""
    assert ended.stderr == expected
