"""bayespoint papers: reproduce the tables and figures of the papers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .options import Seed
from .terminal import aligned, guarded

app = typer.Typer(no_args_is_help=True, help="Reproduce the tables and figures of the papers.")

Data = Annotated[
    Path | None,
    typer.Option(help="Folder with data sets.", show_default="$BAYESPOINT_DATA or OpenML"),
]
Output = Annotated[Path, typer.Option(help="Folder for tables and pictures.")]


@app.command("list")
@guarded
def list_() -> None:
    """List all experiments."""
    from ..papers.registry import EXPERIMENTS

    typer.echo("\n".join(f"{e.name:<16} {e.paper:<5} {e.shows}" for e in EXPERIMENTS.values()))


@app.command()
@guarded
def run(
    name: Annotated[str, typer.Argument(help="Experiment, one of `bayespoint papers list`.")],
    quick: Annotated[bool, typer.Option("--quick", help="Run a reduced version.")] = False,
    jobs: Annotated[int, typer.Option(min=-1, help="Number of processes; -1: one per core.")] = 1,
    seed: Seed = 0,
    data: Data = None,
    output: Output = Path("papers"),
) -> None:
    """Run an experiment, and write its tables and picture.

    Prints our numbers beside the published ones.
    """
    from ..papers.experiment import Plan
    from ..papers.keep import lines_of, run_and_keep
    from ..papers.registry import find

    experiment = find(name)
    with _bar(name) as progress:
        plan = Plan(quick, jobs, seed, None if data is None else str(data), progress)
        outcome = run_and_keep(experiment, plan, output)
    typer.echo(f"{experiment.shows} ({experiment.paper})")
    typer.echo("\n".join(_table(lines_of(name, outcome))))
    typer.echo("\n".join(outcome.notes))
    typer.echo(f"Written: {output / name}.csv, _runs.csv, .json and .png")


@app.command()
@guarded
def draw(
    names: Annotated[
        list[str], typer.Argument(help="Experiments, as in `bayespoint papers list`.")
    ],
    source: Annotated[Path, typer.Option(help="Folder that `run` wrote to.")] = Path("docs/papers"),
) -> None:
    """Draw pictures again from kept results, without running anything."""
    from ..papers.keep import draw_again
    from ..papers.registry import find

    for name in names:
        draw_again(find(name), source)


@app.command()
@guarded
def page(
    source: Annotated[Path, typer.Option(help="Folder that `run` wrote to.")] = Path("docs/papers"),
    output: Annotated[Path, typer.Option(help="FILE.md to write.")] = Path("docs/papers.md"),
) -> None:
    """Write a page with the tables and pictures of a folder."""
    from ..papers.page import write_page

    write_page(source, output)


def _table(lines: list[dict]) -> list[str]:
    rows: list[tuple[str, ...]] = [("", "ours", "published", "distance", "")]
    for line in lines:
        ours = f"{float(line['ours']):.4g}" + (
            f" ± {float(line['error']):.2g}" if line["error"] != "" else ""
        )
        distance = f"{float(line['far']):+.1f}" if line["far"] != "" else ""
        rows.append((line["quantity"], ours, line["published"], distance, line["verdict"]))
    return aligned(rows)


class _bar:
    """Show the progress of an experiment on a terminal."""

    def __init__(self, name: str):
        from rich.console import Console
        from rich.progress import Progress

        console = Console(stderr=True)
        self.progress = Progress(console=console, transient=True, disable=not console.is_terminal)
        self.task = self.progress.add_task(name)
        self.name = name

    def __enter__(self):
        self.progress.start()
        return self.update

    def update(self, done: int, total: int, text: str) -> None:
        self.progress.update(
            self.task, completed=done, total=total, description=f"{self.name} {text}"
        )

    def __exit__(self, *_) -> None:
        self.progress.stop()
