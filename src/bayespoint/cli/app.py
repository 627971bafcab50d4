"""The verbs of the command line. What a verb needs is imported when it runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from .. import __version__
from .groups import expand_groups
from .help import SectionedCommand
from .options import (
    ClusterOptions,
    ColumnWishes,
    Compact,
    Data,
    DecisionOptions,
    FileOptions,
    Holdout,
    IncludeTrainingRows,
    Json,
    KnownTarget,
    LabelMaxError,
    LabelSeed,
    LabelTarget,
    MinClassRows,
    Model,
    NewTarget,
    Seed,
    ShownColumns,
    TrainingPlan,
)
from .papers import app as papers
from .reject_options import ConfidenceLevel, GroupColumn, Rejection, with_groups
from .terminal import guarded

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(papers, name="papers")


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


def _verb(name: str | None = None) -> Callable[[Callable], Callable]:
    """Make a function a verb of the command."""

    def register(function: Callable) -> Callable:
        return app.command(name, cls=SectionedCommand)(guarded(expand_groups(function)))

    return register


@_verb()
def demo(
    splits: Annotated[int, typer.Option(min=2, help="Random splits of each data set.")] = 3,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Compare BayesPointClassifier with SVC, as it comes and tuned, on five tables."""
    from .demo import run_demo

    run_demo(splits, seed, json)


@_verb()
def check(
    data: Data,
    *,
    target: NewTarget = None,
    write: Annotated[
        Path | None, typer.Option(help="FILE.toml to write, for train --plan.")
    ] = None,
    min_class_rows: MinClassRows = 2,
    wishes: ColumnWishes,
    read_options: FileOptions,
    json: Json = False,
) -> None:
    """Say what each column of a file is, and what train will do with it.

    With a target also which columns are copies of it, or predict it suspiciously well.
    """
    from .check import run_check
    from .source import Plan

    plan = Plan(wishes=wishes, min_class_rows=min_class_rows, read_options=read_options)
    run_check(data, target, plan, write, json)


@_verb()
def label(
    data: Data,
    *,
    target: LabelTarget = None,
    classes: Annotated[
        str | None, typer.Option(help="Classes, such as yes,no; others may be typed on the page.")
    ] = None,
    max_error: LabelMaxError = None,
    confidence_level: ConfidenceLevel = None,
    model: Annotated[Path | None, typer.Option(help="Model file to write at the end.")] = None,
    shown: ShownColumns,
    journal: Annotated[
        Path | None,
        typer.Option(help="File that keeps the answers.", show_default="DATA.journal.csv"),
    ] = None,
    merge: Annotated[
        list[Path] | None, typer.Option(help="Journal whose answers to take over; repeatable.")
    ] = None,
    export: Annotated[
        Path | None, typer.Option(help="Write the labeled rows to this CSV file, and end.")
    ] = None,
    finish: Annotated[
        bool, typer.Option("--finish", help="Write the results without asking more.")
    ] = False,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port of the page.", show_default="any")
    ] = 0,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page in the browser.")
    ] = True,
    seed: LabelSeed = None,
    wishes: ColumnWishes,
    read_options: FileOptions,
    json: Json = False,
) -> None:
    """Label the rows of a file in the browser, the most useful ones first.

    Every answer is saved at once; the same command goes on where you stopped. With
    --max-error the page says when the model can answer the rest with so few errors.
    """
    from .label import Wish, run_label
    from .source import Plan

    plan = Plan(wishes=wishes, seed=seed or 0, read_options=read_options)
    wish = Wish(
        classes=classes,
        max_error=max_error,
        confidence_level=confidence_level,
        seed=seed,
        model=model,
        journal=journal,
        shown=shown[0],
        image_folder=shown[1],
        merge=merge or (),
        export=export,
        finish=finish,
        port=port,
        browser=browser,
    )
    run_label(data, target, plan, wish, json)


@_verb()
def train(
    data: Data,
    *,
    target: NewTarget = None,
    model: Annotated[Path, typer.Option(help="Model file to write.")],
    holdout: Holdout = 0.2,
    plan: TrainingPlan,
    compact: Compact = None,
    cluster: ClusterOptions,
    decision: DecisionOptions,
    rejection: Rejection,
    groups: GroupColumn = None,
    json: Json = False,
) -> None:
    """Train a classifier, test it on held-out rows, and save it.

    The model includes all preparation: it scales numbers, encodes texts, and fills in
    and marks missing values.
    """
    from .train import run_train

    how = decision, with_groups(rejection, groups), json, compact, cluster
    run_train(data, target, model, plan, holdout, *how)


@_verb()
def predict(
    model: Model,
    data: Data,
    *,
    output: Annotated[
        Path | None, typer.Option(help="CSV or Parquet to write.", show_default="standard output")
    ] = None,
    keep: Annotated[
        list[str] | None, typer.Option(help="Column to copy to the output; repeatable.")
    ] = None,
    probabilities: Annotated[
        bool, typer.Option("--probabilities", help="Write the probability of every class.")
    ] = False,
    novelty: Annotated[
        bool,
        typer.Option("--novelty", help="Write how unlike the training rows a row is, 0 to 1."),
    ] = False,
    rejection: Rejection,
    read_options: FileOptions,
    json: Json = False,
) -> None:
    """Predict the class of every row of a file of any size.

    Rows that the model refuses to answer have no prediction.
    """
    from .predict import Wanted, run_predict

    columns = Wanted(keep or [], probabilities, novelty)
    run_predict(model, data, output, rejection, columns, read_options, json)


@_verb()
def evaluate(
    model: Model,
    data: Data,
    *,
    target: KnownTarget = None,
    include_training_rows: IncludeTrainingRows = False,
    watch: Annotated[
        Path | None,
        typer.Option(
            metavar="STATE",
            help="JSON file to count these answers in, for the promise of --max-error. Exit code "
            "1 if it no longer holds.",
        ),
    ] = None,
    rejection: Rejection,
    read_options: FileOptions,
    json: Json = False,
) -> None:
    """Measure how good a model is on rows it has not seen.

    Rows that trained the model are recognized and left out.
    """
    from .evaluate import run_evaluate

    judged = read_options, include_training_rows
    run_evaluate(model, data, target, rejection, *judged, json, watch)


@_verb("cross-validate")
def cross_validate(
    data: Data,
    *,
    target: NewTarget = None,
    folds: Annotated[int, typer.Option(min=2, help="Number of folds.")] = 5,
    plan: TrainingPlan,
    json: Json = False,
) -> None:
    """Estimate how good a model would be, by cross-validation."""
    from .cross_validate import run_cross_validate

    run_cross_validate(data, target, folds, plan, json)


@_verb()
def update(
    model: Model,
    data: Data,
    *,
    target: KnownTarget = None,
    output: Annotated[
        Path | None, typer.Option(help="Model file to write.", show_default="the model itself")
    ] = None,
    holdout: Holdout = 0.2,
    seed: Seed = 0,
    read_options: FileOptions,
    json: Json = False,
) -> None:
    """Train a linear model further, with new rows only.

    Some of the new rows are held out. They decide which rows the updated model refuses.
    """
    from .update import run_update

    run_update(model, data, target, output, holdout, seed, read_options, json)


@_verb()
def diagnose(model: Model, json: Json = False) -> None:
    """Say in plain words whether training went well."""
    from .diagnose import run_diagnose

    run_diagnose(model, json)


@_verb()
def explain(
    model: Model,
    data: Annotated[
        str | None, typer.Argument(help="Rows with known classes, to measure each column.")
    ] = None,
    *,
    target: KnownTarget = None,
    top: Annotated[int, typer.Option(min=1, help="Lines to show.")] = 20,
    seed: Seed = 0,
    include_training_rows: IncludeTrainingRows = False,
    read_options: FileOptions,
    json: Json = False,
) -> None:
    """Show which columns matter.

    With data: how much worse the model gets if a column is shuffled, on rows that it has not
    seen. For a linear model also its weights.
    """
    from .explain import run_explain

    run_explain(model, data, target, top, seed, read_options, include_training_rows, json)


@_verb()
def export(
    model: Model,
    file: Annotated[Path | None, typer.Argument(hidden=True)] = None,
    *,
    output: Annotated[Path | None, typer.Option(help="FILE.onnx to write; needed.")] = None,
    rejection: Rejection,
    json: Json = False,
) -> None:
    """Export a model as ONNX, which runs without Python."""
    from .export import run_export

    run_export(model, output or file, rejection, json)


@_verb()
def report(
    model: Model,
    data: Data,
    *,
    target: KnownTarget = None,
    output: Annotated[Path, typer.Option(help="FILE.html to write.")],
    title: Annotated[str | None, typer.Option(help="Heading of the page.")] = None,
    examples: Annotated[int, typer.Option(min=0, help="Rows to show as examples.")] = 10,
    include_training_rows: IncludeTrainingRows = False,
    watch: Annotated[
        Path | None,
        typer.Option(metavar="STATE", help="File of `evaluate --watch`, to show what it knows."),
    ] = None,
    rejection: Rejection,
    read_options: FileOptions,
    json: Json = False,
) -> None:
    """Write a report on a model as one HTML file.

    The report needs rows with known classes that the model has not seen. Rows that trained
    the model are recognized and left out.
    """
    from .report import run_report

    judged = read_options, include_training_rows
    run_report(model, data, target, output, title, rejection, examples, *judged, json, watch)
