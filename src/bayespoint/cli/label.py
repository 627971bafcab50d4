"""bayespoint label: ask a person for the labels that matter most."""

from __future__ import annotations

import csv
import os
import secrets
import sys
import time
import webbrowser
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import typer

from .. import active
from ..labeling.desk import Desk
from ..labeling.entries import CLASS, final_answers
from ..labeling.finish import beside, write_answers
from ..labeling.journal import Journal, read
from ..labeling.labels import check_label
from ..labeling.merge import merge
from .label_results import Results, write_results
from .machine import make_pipeline
from .output import check_output
from .pool import Pool, Shown, read_pool
from .source import Plan
from .terminal import note, show, working

# Seconds that the page has to fetch the last state before the server ends.
FAREWELL_SECONDS = 3.0
# Seconds after which Ctrl-C is noticed at the latest.
WAKE_SECONDS = 0.5
CONFIDENCE_LEVEL = 0.95


class Wish(NamedTuple):
    """What the user asks of a session."""

    classes: str | None = None
    max_error: float | None = None
    confidence_level: float | None = None
    seed: int | None = None
    model: Path | None = None
    journal: Path | None = None
    shown: Shown = Shown()
    image_folder: Path | None = None
    merge: Sequence[Path] = ()
    export: Path | None = None
    finish: bool = False
    port: int = 0
    browser: bool = True


def run_label(data: str, target: str | None, plan: Plan, wish: Wish, as_json: bool) -> None:
    """Ask for labels on a page in the browser, and write the results at the end."""
    if wish.confidence_level is not None and wish.max_error is None:
        raise typer.BadParameter("--confidence-level needs --max-error.")
    path = wish.journal or beside(Path(data), "journal.csv")
    _check_outputs(data, path, wish)
    with working(f"reading {data}"):
        pool = read_pool(data, target, plan, wish.shown)
    journal = Journal(path, _facts(pool, wish), {"seed": secrets.randbelow(2**31)})
    try:
        with working("preparing the rows"):
            desk, prepare = _open_desk(pool, journal, plan, wish)
        for other in wish.merge:
            _merge(desk, other)
        if wish.export is not None:
            n = write_answers(wish.export, pool.rows, pool.columns.target, _answers(journal))
            show({"output": str(wish.export), "n_rows": n}, as_json,
                 f"Written to {wish.export}: {n:,} labeled rows.")  # fmt: skip
            return
        if not wish.finish:
            results = _serve(desk, pool, prepare, wish)
        else:
            results = write_results(desk.session, pool, prepare, wish.model)
        show(results.to_dict(), as_json, *results.lines())
    finally:
        journal.close()


def _check_outputs(data: str, journal: Path, wish: Wish) -> None:
    """Refuse to write over the file, over its answers, or over those of another journal."""
    check_output(journal, data)
    for path in filter(None, (wish.model, wish.export)):
        check_output(path, data, journal, *wish.merge)
        if path.resolve() == journal.resolve():
            raise typer.BadParameter(f"{str(path)!r} keeps the answers. Write to another file.")


def _facts(pool: Pool, wish: Wish) -> dict[str, Any]:
    from .. import __version__

    level = wish.confidence_level
    if level is None and wish.max_error is not None:
        level = CONFIDENCE_LEVEL
    return pool.facts() | {
        "seed": wish.seed,
        "max_error": wish.max_error,
        "confidence_level": level,
        "version": __version__,
    }


def _open_desk(pool: Pool, journal: Journal, plan: Plan, wish: Wish) -> tuple[Desk, Any]:
    """Return a session that knows all answers of the journal, and the preparation of its rows.

    The preparation is learned from all rows, with and without labels, and done once.
    """
    pipeline = make_pipeline(pool.columns, "kernel", plan)
    prepare, classifier = pipeline[0], pipeline[1]
    X = prepare.fit_transform(pool.X)
    facts = journal.facts
    max_error, level = facts.get("max_error"), facts.get("confidence_level")
    classes = _classes(pool, journal, wish.classes)
    session = active.Session(
        classifier,
        X,
        classes=classes,
        labels=pool.labels,
        max_error=None if max_error is None else float(max_error),
        confidence_level=CONFIDENCE_LEVEL if level is None else float(level),
        random_state=int(facts["seed"]),
    )
    about = {
        "pool": pool.path.name,
        "target": pool.columns.target,
        "model": None if wish.model is None else wish.model.name,
    }
    return Desk(session, journal, pool.rows, about), prepare


def _classes(pool: Pool, journal: Journal, named: str | None) -> list[str]:
    """Return all classes that are known before the next answer, and remember new ones."""
    classes = journal.classes
    # A name with a comma stands in quotes.
    for name in next(csv.reader([named or ""], skipinitialspace=True), []):
        if name.strip():
            label = check_label(name, classes)
            if label not in classes:
                journal.append(CLASS, label=label)
                classes.append(label)
    for label in pool.labels.values():
        if label not in classes:
            classes.append(check_label(label, classes))
    return classes


def _answers(journal: Journal) -> list[Any]:
    return list(final_answers(journal.actions).values())


def _merge(desk: Desk, path: Path) -> None:
    """Take over the answers of another journal, and say what became of them."""
    answers = final_answers(read(path)[1]).values()
    known = {row: (desk.answer(row) or {})["label"] for row in desk.session.labels}
    found = merge(answers, desk.rows, known)
    desk.adopt(found.new)
    parts = [f"{len(found.new):,} new answers"]
    parts += [f"{found.n_same:,} that were here already"] * bool(found.n_same)
    parts += [f"{len(found.conflicts):,} that contradict answers here, which stay"] * bool(
        found.conflicts
    )
    parts += [f"{found.n_lost:,} about rows that are not in this file"] * bool(found.n_lost)
    note(f"{path}: {', '.join(parts)}")


def _serve(desk: Desk, pool: Pool, prepare: Any, wish: Wish) -> Results:
    """Show the page until the person finishes or presses Ctrl-C."""
    try:
        from ..labeling.server import Server
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"The page needs {error.name}, which is not installed. Install it with: "
            'python -m pip install "bayespoint[label]"'
        ) from None
    server = Server(desk, wish.image_folder or pool.path.parent, wish.port)
    desk.start()
    server.start()
    typer.echo(
        f"Label {pool.path.name} at {server.address}\n"
        f"Every answer is saved in {desk.journal.path}. Ctrl-C ends and writes the results.",
        err=True,
    )
    if wish.browser and _has_screen():
        webbrowser.open(server.address)
    try:
        return _wait(desk, pool, prepare, wish)
    finally:
        server.stop()
        desk.stop()


def _wait(desk: Desk, pool: Pool, prepare: Any, wish: Wish) -> Results:
    """Wait for the end of the session, and write the results."""
    while True:
        try:
            while not desk.finish_requested.wait(WAKE_SECONDS):
                pass  # Ctrl-C cannot end a longer wait on Windows
            on_page = True
        except KeyboardInterrupt:
            on_page = False
        desk.request_finish()
        try:
            results = write_results(desk.session, pool, prepare, wish.model)
        except (OSError, ValueError) as error:
            if not on_page:
                raise
            desk.resume(f"The files could not be written: {error}")
            continue
        desk.tell_results(results.files())
        if on_page:
            time.sleep(FAREWELL_SECONDS)
        return results


def _has_screen() -> bool:
    """Tell whether a browser would open in a window, not inside the terminal."""
    if sys.platform in ("win32", "darwin"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
