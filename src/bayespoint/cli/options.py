"""Arguments and options of the verbs, each declared once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from .groups import Group

FILE_SECTION, REJECT_SECTION = "How to read the file", "Refusing to answer"
DECISION_SECTION = "Rare classes and costs"
COLUMN_SECTION = "Columns (each option but the last two can be repeated)"

Data = Annotated[
    str, typer.Argument(help="CSV, Parquet or LIBSVM, may be compressed; - is standard input.")
]
Model = Annotated[Path, typer.Argument(help="Model file that `bayespoint train` wrote.")]
NewTarget = Annotated[
    str | None, typer.Option(help="Column with the classes; not needed for LIBSVM.")
]
KnownTarget = Annotated[
    str | None, typer.Option(help="Column with the classes.", show_default="as in training")
]
Json = Annotated[bool, typer.Option("--json", help="Print the results as JSON.")]
IncludeTrainingRows = Annotated[
    bool,
    typer.Option("--include-training-rows", help="Also judge rows that trained the model."),
]
Seed = Annotated[int, typer.Option(min=0, help="Seed of all random choices.")]
Holdout = Annotated[float, typer.Option(min=0.01, max=0.9, help="Share of rows kept for testing.")]
Classifier = Annotated[
    Literal["auto", "kernel", "linear"],
    typer.Option(help="Kind of classifier; auto: the better one on rows kept apart."),
]
MaxTime = Annotated[
    float | None,
    typer.Option(min=0.1, help="Time limit in seconds; the answer says which rows were left out."),
]
MaxMemory = Annotated[
    str | None, typer.Option(help="Memory limit of the whole process, such as 2G or 500M.")
]

Compact = Annotated[
    float | None,
    typer.Option(
        min=0.0,
        max=0.999,
        help="Keep few points of a kernel machine: probabilities may change by this much. The "
        "model predicts faster, and its file is smaller.",
    ),
]

ClassWeight = Annotated[
    str | None,
    typer.Option(
        help="Weight of classes in training, which changes probabilities: balanced, or yes=5,no=1.",
        rich_help_panel=DECISION_SECTION,
    ),
]
Costs = Annotated[
    str | None,
    typer.Option(
        help="Cost of errors, TRUE:ANSWER=COST: yes:no=5,no:yes=1; or a CSV file, true classes "
        "down and answers across. Answers then cost least.",
        rich_help_panel=DECISION_SECTION,
    ),
]
ThresholdFor = Annotated[
    str | None,
    typer.Option(
        help="Answer with a class as often as needed to find this share of it: yes:recall=0.8.",
        rich_help_panel=DECISION_SECTION,
    ),
]

Format = Annotated[
    Literal["csv", "parquet", "libsvm"] | None,
    typer.Option(help="File format.", show_default="guessed", rich_help_panel=FILE_SECTION),
]
Delimiter = Annotated[
    str | None,
    typer.Option(
        help="Character between columns.", show_default="guessed", rich_help_panel=FILE_SECTION
    ),
]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        help="Whether the first line holds column names; else: column_1, column_2, ...",
        show_default="guessed",
        rich_help_panel=FILE_SECTION,
    ),
]
Encoding = Annotated[
    str | None,
    typer.Option(help="Text encoding.", show_default="guessed", rich_help_panel=FILE_SECTION),
]
Features = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="Number of features in a LIBSVM file.",
        show_default="largest index",
        rich_help_panel=FILE_SECTION,
    ),
]

RejectRate = Annotated[
    float | None,
    typer.Option(
        min=0,
        max=0.999,
        help="Refuse this share of rows, the least certain.",
        rich_help_panel=REJECT_SECTION,
    ),
]
MaxError = Annotated[
    float | None,
    typer.Option(
        min=1e-6,
        max=0.999,
        help="Refuse enough rows to keep the error of the answers within this.",
        rich_help_panel=REJECT_SECTION,
    ),
]
MaxNovelty = Annotated[
    float | None,
    typer.Option(
        min=0,
        max=1,
        help="Refuse rows that are stranger than this share of the training rows, such as 0.99.",
        rich_help_panel=REJECT_SECTION,
    ),
]
ConfidenceLevel = Annotated[
    float | None,
    typer.Option(
        min=0.001,
        max=0.999999,
        help="Probability that --max-error is kept.",
        show_default="0.95",
        rich_help_panel=REJECT_SECTION,
    ),
]


def make_rejection(
    reject_rate: RejectRate = None,
    max_error: MaxError = None,
    max_novelty: MaxNovelty = None,
    confidence_level: ConfidenceLevel = None,
) -> dict[str, Any] | None:
    """Return the given parameters of RejectOptionClassifier, or None if none was given."""
    if reject_rate is not None and max_error is not None:
        raise typer.BadParameter("Give --reject-rate or --max-error, not both.")
    if reject_rate is None and max_error is None:
        if confidence_level is not None:
            raise typer.BadParameter("--confidence-level needs --max-error.")
        return None if max_novelty is None else {"max_novelty": max_novelty}
    given = {
        "reject_rate": reject_rate,
        "max_error": max_error,
        "max_novelty": max_novelty,
        "confidence_level": confidence_level,
    }
    return {name: value for name, value in given.items() if value is not None}


Rejection = Annotated[dict[str, Any] | None, Group(make_rejection)]


def make_decision(costs: Costs = None, threshold_for: ThresholdFor = None) -> Any:
    """Return how to answer."""
    if costs is not None and threshold_for is not None:
        raise typer.BadParameter("Give --costs or --threshold-for, not both.")
    from .decision import Decision

    return Decision(costs, threshold_for)


DecisionOptions = Annotated[Any, Group(make_decision)]


def make_read_options(
    format: Format = None,
    delimiter: Delimiter = None,
    header: Header = None,
    encoding: Encoding = None,
) -> Any:
    """Return how to read a file."""
    if delimiter is not None:
        delimiter = delimiter.replace("\\t", "\t")
        if len(delimiter) != 1:
            raise typer.BadParameter("--delimiter should be one character, such as ; or \\t.")
    from ..io.tables.read_options import ReadOptions

    return ReadOptions(format, delimiter, header, encoding)


FileOptions = Annotated[Any, Group(make_read_options)]


Only = Annotated[
    list[str] | None,
    typer.Option("--columns", help="Use only this column.", rich_help_panel=COLUMN_SECTION),
]
Drop = Annotated[
    list[str] | None, typer.Option(help="Leave this column out.", rich_help_panel=COLUMN_SECTION)
]
Ignore = Annotated[list[str] | None, typer.Option(hidden=True)]  # the old name of --drop
KeepColumn = Annotated[
    list[str] | None,
    typer.Option(help="Use this column, even an identifier.", rich_help_panel=COLUMN_SECTION),
]
Categorical = Annotated[
    list[str] | None,
    typer.Option(help="Its numbers stand for categories.", rich_help_panel=COLUMN_SECTION),
]
Numeric = Annotated[
    list[str] | None,
    typer.Option(help="It holds numbers; other words are missing.", rich_help_panel=COLUMN_SECTION),
]
Dates = Annotated[
    list[str] | None,
    typer.Option(
        "--date", help="It holds dates; or NAME=%d.%m.%Y.", rich_help_panel=COLUMN_SECTION
    ),
]
Texts = Annotated[
    list[str] | None,
    typer.Option("--text", help="It holds free text.", rich_help_panel=COLUMN_SECTION),
]
Decimal = Annotated[
    str | None,
    typer.Option(
        help="Decimal mark: . or ,", show_default="guessed", rich_help_panel=COLUMN_SECTION
    ),
]
PlanFile = Annotated[
    Path | None,
    typer.Option(
        "--plan", help="FILE.toml that `bayespoint check` wrote.", rich_help_panel=COLUMN_SECTION
    ),
]


def make_column_wishes(
    columns: Only = None,
    drop: Drop = None,
    ignore: Ignore = None,
    keep: KeepColumn = None,
    categorical: Categorical = None,
    numeric: Numeric = None,
    dates: Dates = None,
    texts: Texts = None,
    decimal: Decimal = None,
    plan_file: PlanFile = None,
) -> Any:
    """Return what the user says about the columns."""
    from ..io.tables.wishes import make_wishes

    return make_wishes(
        columns=columns or (),
        drop=[*(drop or ()), *(ignore or ())],
        keep=keep or (),
        categorical=categorical or (),
        numeric=numeric or (),
        date=dates or (),
        text=texts or (),
        decimal=decimal,
        plan=plan_file,
    )


ColumnWishes = Annotated[Any, Group(make_column_wishes)]
MinClassRows = Annotated[
    int, typer.Option(min=2, help="Leave out classes with fewer rows than this.")
]
MaxClasses = Annotated[
    int | None,
    typer.Option(min=2, help="Most classes.", show_default="1000, or 50 if they are numbers"),
]


def make_plan(
    read_options: FileOptions,
    classifier: Classifier = "auto",
    wishes: ColumnWishes = None,
    min_class_rows: MinClassRows = 2,
    max_classes: MaxClasses = None,
    max_time: MaxTime = None,
    class_weight: ClassWeight = None,
    max_memory: MaxMemory = None,
    seed: Seed = 0,
    features: Features = None,
) -> Any:
    """Return what to train, with which columns, and within which limits."""
    import time
    from dataclasses import replace

    began = time.perf_counter()  # before the imports, which take a second
    from .limits import parse_size
    from .source import Plan

    return Plan(
        classifier=classifier,
        wishes=wishes,
        min_class_rows=min_class_rows,
        max_classes=max_classes,
        max_time=max_time,
        class_weight=class_weight,
        max_memory=None if max_memory is None else parse_size(max_memory),
        began=began,
        seed=seed,
        read_options=replace(read_options, n_features=features),
    )


TrainingPlan = Annotated[Any, Group(make_plan)]


SHOWN_SECTION = "What the page shows"
LabelTarget = Annotated[
    str | None, typer.Option(help="Column for the classes; it need not be in the file.")
]
LabelMaxError = Annotated[
    float | None,
    typer.Option(
        min=1e-6, max=0.999, help="Promise at most this error among the rows that are answered."
    ),
]
LabelSeed = Annotated[
    int | None, typer.Option(min=0, help="Seed of all random choices.", show_default="random")
]
Show = Annotated[
    list[str] | None,
    typer.Option(
        help="Show this column; repeatable.",
        show_default="all that are used",
        rich_help_panel=SHOWN_SECTION,
    ),
]
ImageColumn = Annotated[
    str | None,
    typer.Option(
        help="It holds files of pictures, or data URIs; not used by the model.",
        rich_help_panel=SHOWN_SECTION,
    ),
]
ImageFolder = Annotated[
    Path | None,
    typer.Option(
        help="Folder of the pictures.",
        show_default="the folder of the file",
        rich_help_panel=SHOWN_SECTION,
    ),
]


def make_shown(
    show: Show = None, image: ImageColumn = None, image_folder: ImageFolder = None
) -> Any:
    """Return which columns the page shows, and where pictures are."""
    from .pool import Shown

    return Shown(show or (), image), image_folder


ShownColumns = Annotated[Any, Group(make_shown)]
