"""Code in the README runs as printed, and prints what is printed; Python code in docs/ runs."""

import contextlib
import io
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from sklearn.datasets import make_moons

import bayespoint

ROOT = Path(__file__).parents[1]


def code_blocks(path):
    """Return code and output of a page's blocks, padded so that line numbers match the page.

    The output is what a block of text shows right after the code; None if there is no such block.
    """
    text = path.read_text("utf-8")
    found = re.finditer(r"```python\n(.*?)```(?:\n\n```text\n(.*?)```)?", text, re.DOTALL)
    return [("\n" * text.count("\n", 0, block.start(1)) + block[1], block[2]) for block in found]


NUMBER = re.compile(r"\d+(?:\.(\d+))?")


def is_same_output(printed, shown):
    """Tell whether texts agree; numbers may differ by two units of the last digit that is shown.

    Other versions of numpy and BLAS round differently, which may move a row across a threshold.
    """
    texts = [NUMBER.sub("0", text).split() for text in (printed, shown)]
    return texts[0] == texts[1] and all(
        abs(float(one[0]) - float(other[0])) <= 2.01 * 10.0 ** -len(other[1] or "")
        for one, other in zip(NUMBER.finditer(printed), NUMBER.finditer(shown), strict=True)
    )


PAGES = {
    path.relative_to(ROOT).as_posix(): blocks
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    if (blocks := code_blocks(path))
}
# Pages that use a fitted model or data of the reader. Other pages bring their own.
FROM_THE_READER = {"docs/bounds.md", "docs/cluster.md", "docs/model_files.md", "docs/report.md"}


def reader():
    """Return the names that a reader of a page has defined."""
    X, y = make_moons(200, noise=0.3, random_state=0)
    model = bayespoint.BayesPointClassifier(gamma=1.0).fit(X[::2], y[::2])
    names = {"bayespoint": bayespoint, "model": model, "X": X, "y": y}
    names |= {"X_train": X[::2], "y_train": y[::2], "X_test": X[1::2], "y_test": y[1::2]}
    return names


def on_dask(names, request, monkeypatch):
    """Put the data on a running cluster."""
    da = pytest.importorskip("dask.array")
    pytest.importorskip("dask.distributed")  # its names must not be those of this test
    client = request.getfixturevalue("client")

    def running():
        return client

    running.current = type(client).current  # Dask asks the class for it
    monkeypatch.setattr("distributed.Client", running)
    names |= {
        name: da.from_array(names[name], chunks=(50, -1)[: names[name].ndim]) for name in "Xy"
    }


README = (ROOT / "README.md").read_text("utf-8")
COMMANDS = [
    shlex.split(line)
    for block in re.findall(r"```sh\n(.*?)```", README, re.DOTALL)
    for line in block.splitlines()
]


def test_readme_prints_what_it_shows():
    shown = re.findall(r"```python\n(.*?)```\n\n```\n(.*?)```", README, re.DOTALL)
    assert len(shown) == README.count("```python") == 1
    for code, output in shown:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, "README.md", "exec"), {})
        assert printed.getvalue() == output


def test_readme_installs_what_exists():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"][
        "optional-dependencies"
    ]
    installs = [words[-1] for words in COMMANDS if "pip" in words]
    assert installs == [".[cli]"]
    named = re.search(r"Extras: (.*?)\.\n", README, re.DOTALL)
    assert {*re.findall(r"`(\w+)`", named[1]), "cli"} <= set(extras)


@pytest.mark.slow
def test_commands_of_the_readme_run(tmp_path):
    """All but those that install and the demo, which has its own tests."""
    programs = {"python": [sys.executable], "bayespoint": [sys.executable, "-m", "bayespoint"]}
    chosen = [w for w in COMMANDS if "pip" not in w and w != ["bayespoint", "demo"]]
    assert len(chosen) == 6
    for name, *arguments in chosen:
        run = subprocess.run(
            [*programs[name], *arguments], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert run.returncode == 0, run.stderr
    assert {path.name for path in tmp_path.iterdir()} == {
        "rows.csv", "rows.bayespoint", "report.html", "answers.csv", "rows.onnx",
    }  # fmt: skip


def test_readme_is_short():
    assert len(README.splitlines()) <= 110


def test_pages_with_code():
    assert set(PAGES) >= {*FROM_THE_READER, "docs/abstaining.md", "docs/onnx.md"}
    assert sum(map(len, PAGES.values())) >= 20


@pytest.mark.parametrize("page", PAGES)
def test_documented_code_runs(page, request, tmp_path, monkeypatch):
    if any("matplotlib" in code for code, _ in PAGES[page]):
        pytest.importorskip("matplotlib").use("Agg")
    monkeypatch.chdir(tmp_path)
    names = reader() if page in FROM_THE_READER else {}
    for code, shown in PAGES[page]:
        if "import Client" in code:
            on_dask(names, request, monkeypatch)
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, page, "exec"), names)
        assert shown is None or is_same_output(printed.getvalue(), shown), printed.getvalue()


def test_outputs_differ_by_rounding_alone():
    assert is_same_output("3 of 10, 0.51\n", "3 of  11, 0.50")
    assert not is_same_output("3 of 10, 0.53\n", "3 of 10, 0.50")
    assert not is_same_output("3 in 10\n", "3 of 10")
