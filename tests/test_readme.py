"""Python code in the README and in docs/ runs, block after block."""

import re
from pathlib import Path

import pytest
from sklearn.datasets import make_moons

import bayespoint

ROOT = Path(__file__).parents[1]


def code_blocks(path):
    """Return the code blocks of a page, padded so that line numbers match the page."""
    text = path.read_text("utf-8")
    found = re.finditer(r"```python\n(.*?)```", text, re.DOTALL)
    return ["\n" * text.count("\n", 0, block.start(1)) + block[1] for block in found]


PAGES = {
    path.relative_to(ROOT).as_posix(): blocks
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    if (blocks := code_blocks(path))
}
# Pages that use a fitted model or data of the reader. Other pages bring their own.
FROM_THE_READER = {"README.md", "docs/bounds.md", "docs/model_files.md", "docs/report.md"}


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
    client = request.getfixturevalue("client")
    monkeypatch.setattr("distributed.Client", lambda: client)
    names |= {
        name: da.from_array(names[name], chunks=(50, -1)[: names[name].ndim]) for name in "Xy"
    }


def test_pages_with_code():
    assert set(PAGES) >= {*FROM_THE_READER, "docs/abstaining.md", "docs/onnx.md"}
    assert sum(map(len, PAGES.values())) >= 20


@pytest.mark.parametrize("page", PAGES)
def test_documented_code_runs(page, request, tmp_path, monkeypatch):
    if "matplotlib" in "".join(PAGES[page]):
        pytest.importorskip("matplotlib").use("Agg")
    monkeypatch.chdir(tmp_path)
    names = reader() if page in FROM_THE_READER else {}
    for block in PAGES[page]:
        if "import Client" in block:
            on_dask(names, request, monkeypatch)
        exec(compile(block, page, "exec"), names)
