"""The verbs of the command line; what they need is imported when they run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from .. import __version__
from .help import SectionedCommand
from .papers import app as papers
from .terminal import guarded

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    help=__doc__,
)

app.add_typer(papers, name="papers")

FILE, REFUSING = "The file", "Refusing to answer"

Data = Annotated[
    str, typer.Argument(help="CSV, Parquet or LIBSVM, also compressed; - is standard input.")
]
Model = Annotated[Path, typer.Argument(help="What `bayespoint train` wrote.")]
Target = Annotated[str, typer.Option(help="Column with the classes.")]
KnownTarget = Annotated[
    str | None, typer.Option(help="Column with the classes.", show_default="that of training")
]
Json = Annotated[bool, typer.Option("--json", help="Print figures as JSON.")]
Seed = Annotated[
    int, typer.Option(min=0, help="For what is random: the same seed, the same answer.")
]
Holdout = Annotated[
    float,
    typer.Option(min=0.01, max=0.9, help="Share of rows to test with, not to train with."),
]
Classifier = Annotated[
    Literal["auto", "kernel", "linear"],
    typer.Option(help="The kernel machine, the linear one, or by size."),
]
Categorical = Annotated[
    list[str] | None, typer.Option(help="A column whose numbers are names; may be repeated.")
]
Ignore = Annotated[list[str] | None, typer.Option(help="A column to leave out; may be repeated.")]
MaxTime = Annotated[float | None, typer.Option(min=0.1, help="Seconds for training, about.")]

Format = Annotated[
    Literal["csv", "parquet", "libsvm"] | None,
    typer.Option(help="What the file is.", show_default="guessed", rich_help_panel=FILE),
]
Delimiter = Annotated[
    str | None,
    typer.Option(help="What is between columns.", show_default="guessed", rich_help_panel=FILE),
]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        help="Whether the first line holds names; else they are column_1, column_2, ...",
        show_default="guessed",
        rich_help_panel=FILE,
    ),
]
Encoding = Annotated[str, typer.Option(help="Of its texts.", rich_help_panel=FILE)]
Features = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="Number of features, of LIBSVM.",
        show_default="the largest",
        rich_help_panel=FILE,
    ),
]

RejectRate = Annotated[
    float | None,
    typer.Option(
        min=0, max=0.999, help="Refuse this share, the least certain.", rich_help_panel=REFUSING
    ),
]
MaxError = Annotated[
    float | None,
    typer.Option(
        min=1e-6,
        max=0.999,
        help="Refuse so many that the error among the answers is at most this.",
        rich_help_panel=REFUSING,
    ),
]
ConfidenceLevel = Annotated[
    float | None,
    typer.Option(
        min=0.001,
        max=0.999999,
        help="The probability that this promise is kept.",
        show_default="0.95",
        rich_help_panel=REFUSING,
    ),
]


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


@app.command(cls=SectionedCommand)
@guarded
def demo(
    splits: Annotated[int, typer.Option(min=2, help="Random splits of each data set.")] = 5,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Compare BayesPointClassifier with SVC on small data."""
    from .demo import run_demo

    run_demo(splits, seed, json)


@app.command(cls=SectionedCommand)
@guarded
def train(
    data: Data,
    target: Annotated[
        str | None, typer.Option(help="Column with the classes; LIBSVM needs none.")
    ] = None,
    model: Annotated[Path, typer.Option(help="File to write.")] = ...,  # type: ignore[assignment]
    classifier: Classifier = "auto",
    holdout: Holdout = 0.2,
    categorical: Categorical = None,
    ignore: Ignore = None,
    max_time: MaxTime = None,
    seed: Seed = 0,
    reject_rate: RejectRate = None,
    max_error: MaxError = None,
    confidence_level: ConfidenceLevel = None,
    format: Format = None,
    delimiter: Delimiter = None,
    header: Header = None,
    encoding: Encoding = "utf-8",
    features: Features = None,
    json: Json = False,
) -> None:
    """Train a classifier, test it on rows held out, write it.

    Numbers are scaled, texts encoded, missing values filled and marked, inside the model.
    """
    rejection = _rejection(reject_rate, max_error, confidence_level) or {}
    plan = _plan(classifier, holdout, seed, max_time, categorical, ignore)
    plan["options"] = _read_options(format, delimiter, header, encoding, features)
    from .source import Plan
    from .train import run_train

    run_train(data, target, model, Plan(**plan), rejection, json)


@app.command(cls=SectionedCommand)
@guarded
def predict(
    model: Model,
    data: Data,
    output: Annotated[
        Path | None, typer.Option(help="CSV or Parquet to write.", show_default="standard output")
    ] = None,
    reject_rate: RejectRate = None,
    max_error: MaxError = None,
    confidence_level: ConfidenceLevel = None,
    keep: Annotated[
        list[str] | None, typer.Option(help="A column to copy to the output; may be repeated.")
    ] = None,
    probabilities: Annotated[
        bool, typer.Option("--probabilities", help="Write those of all classes.")
    ] = False,
    format: Format = None,
    delimiter: Delimiter = None,
    header: Header = None,
    encoding: Encoding = "utf-8",
    json: Json = False,
) -> None:
    """Predict the classes of rows, of files of any size.

    Rows that are refused have no prediction.
    """
    rejection = _rejection(reject_rate, max_error, confidence_level)
    options = _read_options(format, delimiter, header, encoding)
    from .predict import run_predict

    run_predict(model, data, output, rejection, keep or [], probabilities, options, json)


@app.command(cls=SectionedCommand)
@guarded
def evaluate(
    model: Model,
    data: Data,
    target: KnownTarget = None,
    reject_rate: RejectRate = None,
    max_error: MaxError = None,
    confidence_level: ConfidenceLevel = None,
    format: Format = None,
    delimiter: Delimiter = None,
    header: Header = None,
    encoding: Encoding = "utf-8",
    json: Json = False,
) -> None:
    """Tell how good a model is on rows that it has not seen."""
    rejection = _rejection(reject_rate, max_error, confidence_level)
    options = _read_options(format, delimiter, header, encoding)
    from .evaluate import run_evaluate

    run_evaluate(model, data, target, rejection, options, json)


@app.command("cross-validate", cls=SectionedCommand)
@guarded
def cross_validate(
    data: Data,
    target: Annotated[
        str | None, typer.Option(help="Column with the classes; LIBSVM needs none.")
    ] = None,
    folds: Annotated[int, typer.Option(min=2, help="Parts of the data.")] = 5,
    classifier: Classifier = "auto",
    categorical: Categorical = None,
    ignore: Ignore = None,
    max_time: MaxTime = None,
    seed: Seed = 0,
    format: Format = None,
    delimiter: Delimiter = None,
    header: Header = None,
    encoding: Encoding = "utf-8",
    features: Features = None,
    json: Json = False,
) -> None:
    """Tell how good a model would be, by cross-validation."""
    plan = _plan(classifier, 0.2, seed, max_time, categorical, ignore)
    plan["options"] = _read_options(format, delimiter, header, encoding, features)
    from .cross_validate import run_cross_validate
    from .source import Plan

    run_cross_validate(data, target, folds, Plan(**plan), json)


@app.command(cls=SectionedCommand)
@guarded
def update(
    model: Model,
    data: Data,
    target: KnownTarget = None,
    output: Annotated[
        Path | None, typer.Option(help="File to write.", show_default="the model")
    ] = None,
    holdout: Holdout = 0.2,
    seed: Seed = 0,
    format: Format = None,
    delimiter: Delimiter = None,
    header: Header = None,
    encoding: Encoding = "utf-8",
    json: Json = False,
) -> None:
    """Teach a linear model further rows, without the old ones.

    What is refused is set anew, by new rows that are held out.
    """
    options = _read_options(format, delimiter, header, encoding)
    from .update import run_update

    run_update(model, data, target, output, holdout, seed, options, json)


@app.command(cls=SectionedCommand)
@guarded
def diagnose(model: Model, json: Json = False) -> None:
    """Tell whether training went well, in plain words."""
    from .diagnose import run_diagnose

    run_diagnose(model, json)


@app.command(cls=SectionedCommand)
@guarded
def explain(
    model: Model,
    data: Annotated[
        str | None,
        typer.Argument(help="Rows with known classes, to see what each column is worth."),
    ] = None,
    target: KnownTarget = None,
    top: Annotated[int, typer.Option(min=1, help="Lines to show.")] = 20,
    seed: Seed = 0,
    format: Format = None,
    delimiter: Delimiter = None,
    header: Header = None,
    encoding: Encoding = "utf-8",
    json: Json = False,
) -> None:
    """Tell which columns matter.

    What shuffling them costs, and the weights of a linear model.
    """
    options = _read_options(format, delimiter, header, encoding)
    from .explain import run_explain

    run_explain(model, data, target, top, seed, options, json)


@app.command(cls=SectionedCommand)
@guarded
def export(
    model: Model,
    output: Annotated[Path, typer.Argument(help="FILE.onnx")],
    reject_rate: RejectRate = None,
    max_error: MaxError = None,
    confidence_level: ConfidenceLevel = None,
    json: Json = False,
) -> None:
    """Write a model as ONNX, which runs without Python."""
    rejection = _rejection(reject_rate, max_error, confidence_level)
    from .export import run_export

    run_export(model, output, rejection, json)


@app.command(cls=SectionedCommand)
@guarded
def report(
    model: Model,
    data: Data,
    target: KnownTarget = None,
    output: Annotated[Path, typer.Option(help="FILE.html")] = ...,  # type: ignore[assignment]
    title: Annotated[str | None, typer.Option(help="Heading of the page.")] = None,
    examples: Annotated[int, typer.Option(min=0, help="Rows to show; 0 shows none.")] = 10,
    reject_rate: RejectRate = None,
    max_error: MaxError = None,
    confidence_level: ConfidenceLevel = None,
    format: Format = None,
    delimiter: Delimiter = None,
    header: Header = None,
    encoding: Encoding = "utf-8",
    json: Json = False,
) -> None:
    """Write a page about a model, to send around.

    One HTML file, about rows that the model has not seen.
    """
    rejection = _rejection(reject_rate, max_error, confidence_level)
    options = _read_options(format, delimiter, header, encoding)
    from .report import run_report

    run_report(model, data, target, output, title, rejection, examples, options, json)


def _rejection(
    reject_rate: float | None, max_error: float | None, confidence_level: float | None
) -> dict[str, Any] | None:
    """Return what was said about refusing, None if nothing."""
    if reject_rate is not None and max_error is not None:
        raise typer.BadParameter("Give --reject-rate or --max-error, not both.")
    if reject_rate is None and max_error is None:
        if confidence_level is not None:
            raise typer.BadParameter("--confidence-level goes with --max-error.")
        return None
    said = {
        "reject_rate": reject_rate,
        "max_error": max_error,
        "confidence_level": confidence_level,
    }
    return {name: value for name, value in said.items() if value is not None}


def _plan(classifier, holdout, seed, max_time, categorical, ignore) -> dict[str, Any]:
    return {
        "classifier": classifier,
        "holdout": holdout,
        "seed": seed,
        "max_time": max_time,
        "categorical": tuple(categorical or ()),
        "ignore": tuple(ignore or ()),
    }


def _read_options(format, delimiter, header, encoding, features=None):
    """Return what was said about the file."""
    if delimiter is not None:
        delimiter = delimiter.replace("\\t", "\t")
        if len(delimiter) != 1:
            raise typer.BadParameter("--delimiter should be one character, such as ; or \\t.")
    from ..io.tables.read_options import ReadOptions

    return ReadOptions(format, delimiter, header, encoding, features)
