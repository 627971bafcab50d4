"""bayespoint papers: every table and figure of the papers, one command each."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .terminal import aligned, guarded

app = typer.Typer(no_args_is_help=True, help="Tables and figures of the papers, again.")

Data = Annotated[
    Path | None,
    typer.Option(help="Folder with data sets.", show_default="$BAYESPOINT_DATA, or OpenML"),
]
Output = Annotated[Path, typer.Option(help="Folder for tables and pictures.")]
Seed = Annotated[int, typer.Option(min=0, help="The same seed, the same figures.")]


@app.command("list")
@guarded
def list_() -> None:
    """Name every experiment."""
    from ..papers.registry import EXPERIMENTS

    typer.echo("\n".join(f"{e.name:<16} {e.paper:<5} {e.shows}" for e in EXPERIMENTS.values()))


@app.command()
@guarded
def run(
    name: Annotated[str, typer.Argument(help="What `bayespoint papers list` names.")],
    quick: Annotated[bool, typer.Option("--quick", help="A reduced version.")] = False,
    jobs: Annotated[int, typer.Option(min=-1, help="Processes; -1 is one a core.")] = 1,
    seed: Seed = 0,
    data: Data = None,
    output: Output = Path("papers"),
) -> None:
    """Run an experiment; show published figures beside ours, keep picture and CSV."""
    from ..papers.keep import lines_of, run_and_keep
    from ..papers.registry import find

    experiment = find(name)
    with _bar(name) as progress:
        plan_data = None if data is None else str(data)
        from ..papers.experiment import Plan

        plan = Plan(quick, jobs, seed, plan_data, progress)
        outcome = run_and_keep(experiment, plan, output)
    typer.echo(f"{experiment.shows} ({experiment.paper})")
    typer.echo("\n".join(_table(lines_of(name, outcome))))
    typer.echo("\n".join(outcome.notes))
    typer.echo(f"Written: {output / name}.csv, _runs.csv, .json and .png")


@app.command()
@guarded
def page(
    source: Annotated[Path, typer.Option(help="Folder that `run` has written to.")] = Path(
        "docs/papers"
    ),
    output: Annotated[Path, typer.Option(help="FILE.md")] = Path("docs/papers.md"),
) -> None:
    """Write a page with all tables and pictures of a folder."""
    from ..papers.page import write_page

    write_page(source, output)


def _table(lines: list[dict]) -> list[str]:
    rows: list[tuple[str, ...]] = [("", "ours", "published", "far", "")]
    for line in lines:
        ours = f"{float(line['ours']):.4g}" + (
            f" ± {float(line['error']):.2g}" if line["error"] != "" else ""
        )
        far = f"{float(line['far']):+.1f}" if line["far"] != "" else ""
        rows.append((line["quantity"], ours, line["published"], far, line["verdict"]))
    return aligned(rows)


class _bar:
    """Show how far an experiment is, to a person."""

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
