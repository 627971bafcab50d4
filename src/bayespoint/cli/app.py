"""The verbs of the command line; what they need is imported when they run."""

from __future__ import annotations

from typing import Annotated

import typer

from .. import __version__

app = typer.Typer(
    no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False, help=__doc__
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"bayespoint {__version__}")
        raise typer.Exit


@app.callback(help="Bayes point machines: classify by the mean of all consistent hypotheses.")
def bayespoint(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Options of the command itself."""


@app.command()
def demo(
    splits: Annotated[int, typer.Option(min=2, help="Random splits of each data set.")] = 5,
    seed: Annotated[int, typer.Option(min=0, help="Seed of splits and samplers.")] = 0,
) -> None:
    """Compare BayesPointClassifier with SVC on data that scikit-learn ships."""
    from .demo import run_demo

    run_demo(splits, seed)
