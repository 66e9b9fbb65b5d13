"""The command line: each command is a few lines over the public API.

Exit code 0: done; 1: the user's input is at fault, said in one line on stderr; 2: wrong
usage. Everything heavy is imported inside the commands, so that `--help` stays quick.
Tables are read by `reading`. An output file is replaced only when the new one is complete.
"""

from __future__ import annotations

import csv
import io
import os
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from omnitree.experiments import commands
from omnitree.experiments.demo import demo
from omnitree.reading import (
    InputError,
    as_numbers,
    check_input,
    input_at_fault,
    is_numeric,
    read_table,
)

if TYPE_CHECKING:
    import numpy as np

FRONT_DOOR = "omni"
# Folds of the error estimate, and of that for tables of more than LARGE cells.
FOLDS = 10
FEW_FOLDS = 3
LARGE = 1_000_000
TASKS = ["classification", "regression"]


class _Commands(TyperGroup):
    """Turns an `InputError` into one line on stderr and exit code 1."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except InputError as error:
            typer.echo(f"omnitree: {' '.join(str(error).split())}", err=True)
            raise typer.Exit(1) from None


app = typer.Typer(
    cls=_Commands,
    help="""Decision trees whose every node is as complex as its data needs.

    \b
    Start with one of
      omnitree demo
      omnitree fit DATA.csv --target COLUMN -o model.json
      omnitree show model.json --format html -o tree.html
    """,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

DataFile = Annotated[
    Path, typer.Argument(metavar="DATA.csv", help="CSV, TSV, ARFF or Parquet file.")
]
ModelFile = Annotated[
    Path, typer.Argument(metavar="model.json", help="File written by `fit -o`.")
]
Seed = Annotated[
    int, typer.Option(min=0, max=2**32 - 1, help="Seed of everything random.")
]


def main() -> None:
    """Run the command line."""
    app(prog_name="omnitree")


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"omnitree {version('omnitree')}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            callback=_print_version,
            is_eager=True,
            help="Show the version and exit.",
        ),
    ] = False,
) -> None:
    pass


# -- commands -------------------------------------------------------------------------


app.command()(demo)


@app.command()
def fit(
    data: DataFile,
    target: Annotated[
        str, typer.Option(help="Column with the class, or the number, of each row.")
    ],
    preset: Annotated[
        str,
        typer.Option(
            help="A published system; see `omnitree presets`. Options as "
            "bu95:coefficients=thermal:selection=sbe."
        ),
    ] = FRONT_DOOR,
    task: Annotated[
        str | None,
        typer.Option(
            help="classification or regression. Without it, regression if the target "
            "has fractional numbers or more than 30 different whole ones."
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the model here.")
    ] = None,
    seed: Seed = 0,
    folds: Annotated[
        int | None,
        typer.Option(
            help=f"Folds of the error estimate, from 2, or 0 for none; by default {FOLDS}, "
            f"of large tables {FEW_FOLDS}.",
        ),
    ] = None,
) -> None:
    """Fit a tree, print it and estimate its error on new rows.

    The estimate is that of the whole procedure, fitted anew for every fold.

    \b
    Examples:
      omnitree fit DATA.csv --target class -o model.json
      omnitree fit DATA.csv --target class --preset c4.5 --folds 0
      omnitree fit DATA.csv --target price --task regression
    """
    from omnitree import save
    from omnitree.experiments.methods import parse
    from omnitree.parts import unknown

    if folds is not None and (folds < 0 or folds == 1):
        raise InputError(f"--folds must be 0 or at least 2, not {folds}")
    if task not in (None, *TASKS):
        raise InputError(unknown("task", task, TASKS))
    parse(preset)  # complains before a file is read
    _check_output(output, data)
    X, y, left_out = read_table(data).features_and_target(target)
    if left_out:
        typer.echo(f"note: {left_out} rows without {target!r} left out", err=True)
    if task is None and is_numeric(y):
        task = "regression"
        typer.echo(f"note: {target!r} is taken as a number (--task)", err=True)
    if task == "regression":
        y = as_numbers(y, target)
    elif len(set(y)) == 1:
        raise InputError(
            f"all rows of {data} have the same {target!r}, {str(y[0])!r}: there is nothing "
            "to tell apart"
        )
    clf = _estimator(preset, seed, task == "regression")
    with input_at_fault():
        clf.fit(X, y)
    typer.echo(clf.describe() + "\n")
    if output is not None:  # first: whoever is tired of the estimate has the model
        with input_at_fault():
            save(clf, os.path.realpath(output))
    if folds != 0:
        typer.echo(_error_report(preset, X, y, seed, folds))
    if output is not None:
        typer.echo(f"Model: {output}")


@app.command()
def predict(
    model: ModelFile,
    data: DataFile,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write here instead of standard output."),
    ] = None,
) -> None:
    """Add predictions to a table.

    They are classes with their probabilities, or numbers, in columns behind the others.

    \b
    Example:
      omnitree predict model.json NEW.csv -o out.csv
    """
    _check_output(output, model, data)
    clf = _load(model)
    table = read_table(data, clf.tree_.schema)
    labels = [str(c) for c in clf.tree_.classes]
    new = ["predicted", *(f"p({label})" for label in labels)]
    for name in new:
        if name in table.header:
            raise InputError(f"{data} has a column {name!r} already: rename it first")
    with input_at_fault():
        if labels:
            proba = clf.predict_proba(table.frame)
            answers = clf.predict(table.frame)
            cells = [
                [str(answer), *(f"{v:.6g}" for v in shares)]
                for answer, shares in zip(answers, proba, strict=True)
            ]
        else:
            cells = [[repr(v)] for v in clf.predict(table.frame).tolist()]
    text = io.StringIO()
    out = csv.writer(text, delimiter=table.separator, lineterminator="\n")
    out.writerow([*table.header, *new])
    for row, found in zip(table.rows(), cells, strict=True):
        out.writerow([*row, *found])
    _put(output, text.getvalue())


@app.command()
def show(
    model: ModelFile,
    format_: Annotated[
        str,
        typer.Option(
            "--format",
            help="text, html, c, dot, json, onnx, pmml, python, rules or sql.",
        ),
    ] = "text",
    proba: Annotated[
        bool, typer.Option("--proba", help="With sql: the probabilities, too.")
    ] = False,
    full: Annotated[
        bool, typer.Option("--full", help="With text: all terms of long sums.")
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write here instead of standard output."),
    ] = None,
) -> None:
    """Print a saved tree, or write it in another format.

    html is the explorer, one page for a browser.

    \b
    Examples:
      omnitree show model.json
      omnitree show model.json --format html -o tree.html
      omnitree show model.json --format sql --proba
    """
    from omnitree.export import FORMATS
    from omnitree.parts import unknown

    known = ["text", "html", *FORMATS]
    if format_ not in known:
        raise InputError(unknown("format", format_, known))
    for name, given, fits in (("proba", proba, "sql"), ("full", full, "text")):
        if given and format_ != fits:
            raise InputError(f"--{name} is for --format {fits}, not {format_}")
    if format_ in ("html", "onnx") and output is None:
        raise InputError(f"{format_} is not for a terminal: name a file with -o")
    _check_output(output, model)
    clf = _load(model)
    if format_ == "html":
        with input_at_fault():
            clf.to_html(os.path.realpath(str(output)), title=model.stem)
        return
    try:
        with input_at_fault():
            options = {"proba": True} if proba else {}
            content = (
                clf.describe(full=full) + "\n"
                if format_ == "text"
                else clf.export(format_, **options)
            )
    except ImportError as error:
        raise InputError(str(error)) from None
    _put(output, content)


@app.command()
def explain(
    model: ModelFile,
    data: DataFile,
    row: Annotated[
        int, typer.Option(min=1, help="Which row; the first below the header is 1.")
    ],
    max_changes: Annotated[
        int, typer.Option(min=1, help="Most features the counterfactual may change.")
    ] = 3,
    goal: Annotated[
        str | None,
        typer.Option(help="Of a number: what to reach, as 'above 12.5'."),
    ] = None,
) -> None:
    """Say why one row gets its answer.

    Each test on its way with what every feature adds, and the smallest change of a few
    features that gives another answer.

    \b
    Examples:
      omnitree explain model.json DATA.csv --row 1
      omnitree explain prices.json DATA.csv --row 1 --goal "above 12.5"
    """
    clf = _load(model)
    table = read_table(data, clf.tree_.schema)
    if row > len(table.frame):
        raise InputError(f"{data} has {len(table.frame)} rows; there is no row {row}")
    with input_at_fault():
        options: dict[str, Any] = {}
        if goal is not None:
            if clf.tree_.classes:
                raise ValueError("--goal is for models that answer a number")
            options["goal"] = goal
        text = str(clf.explain(table.frame.iloc[[row - 1]], max_changes, **options))
    _put(None, text + "\n")


@app.command(name="presets")
def presets_(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="One preset, in full.")
    ] = None,
) -> None:
    """List the published systems, or describe one.

    \b
    Examples:
      omnitree presets
      omnitree presets ldt
    """
    from omnitree import presets

    if name is not None:
        _check_preset(name)
        typer.echo(presets.describe(name))
        return
    _print_pairs([(n, presets.describe(n).split("\n")[0]) for n in presets.names()])


@app.command()
def parts() -> None:
    """List the parts a tree can be composed of."""
    from omnitree.persistence import REGISTRIES

    for kind, registry in REGISTRIES.items():
        typer.echo(f"{kind}:")
        _print_pairs([(name, part.summary()) for name, part in registry.items()], "  ")


commands.register(app)


# -- estimators -----------------------------------------------------------------------


def _check_preset(name: str) -> None:
    from omnitree import presets
    from omnitree.parts import unknown

    if name not in presets.names():
        raise InputError(unknown("preset", name, presets.names()))


def _estimator(preset: str, seed: int, numeric: bool = False) -> Any:
    """An unfitted estimator: the front door, or a preset."""
    from omnitree import OmniTreeClassifier, OmniTreeRegressor
    from omnitree.experiments.methods import parse

    if numeric:
        if preset != FRONT_DOOR:
            raise InputError(
                f"the preset {preset!r} is for classes; for a number use {FRONT_DOOR!r}, "
                "or --task classification"
            )
        return OmniTreeRegressor(random_state=seed)
    if preset == FRONT_DOOR:
        return OmniTreeClassifier(random_state=seed)
    return parse(preset).make(seed)


def _load(path: Path) -> Any:
    from omnitree import load

    check_input(path)
    with input_at_fault():
        return load(path)


def _error_report(preset: str, X: Any, y: Any, seed: int, folds: int | None) -> str:
    """The cross-validated error of the whole procedure, in words."""
    import numpy as np

    if folds is None:
        folds = FOLDS if X.size <= LARGE else FEW_FOLDS
    if y.dtype.kind == "f":
        return _loss_report(preset, X, y, seed, folds)
    labels, counts = np.unique(y, return_counts=True)
    if np.sort(counts)[-2] < 2:
        return "No estimate of the error: all classes but one have a single row."
    folds = int(min(folds, max(2, counts.min())))
    with input_at_fault():
        error = _cross_validate(preset, X, y, seed, folds)
    most = str(labels[counts.argmax()])
    chance = 100 * (1 - counts.max() / len(y))
    return (
        f"Error on new rows: {error.mean():.1f} % ± {error.std(ddof=1):.1f}, the mean ± "
        f"sd of {folds}-fold stratified\ncross-validation of the whole procedure on "
        f"{len(y)} rows. Always {most!r}: {chance:.1f} %."
    )


def _cross_validate(preset: str, X: Any, y: Any, seed: int, folds: int) -> np.ndarray:
    """Fit on all folds but one and count the errors on that one, in turn: percents."""
    import numpy as np
    from sklearn.model_selection import StratifiedKFold

    cut = StratifiedKFold(folds, shuffle=True, random_state=seed)
    with warnings.catch_warnings():  # a class may have fewer rows than there are folds
        warnings.simplefilter("ignore", UserWarning)
        splits = list(cut.split(np.zeros(len(y)), y))
    error = []
    for train, test in _watched(splits):
        clf = _estimator(preset, seed).fit(X.iloc[train], y[train])
        error.append(100 * float(np.mean(clf.predict(X.iloc[test]) != y[test])))
    return np.array(error)


def _watched(splits: list[Any]) -> Any:
    """The folds, with a bar that shows the time left on a terminal."""
    from rich.console import Console
    from rich.progress import track

    return track(
        splits,
        "estimating the error",
        console=Console(stderr=True),
        transient=True,
        disable=not sys.stderr.isatty(),
    )


def _loss_report(preset: str, X: Any, y: Any, seed: int, folds: int) -> str:
    """The same for a number: the root of the mean squared error."""
    import numpy as np
    from sklearn.model_selection import KFold

    folds = min(folds, len(y) // 2)
    if folds < 2:
        return "No estimate of the error: too few rows."
    answer = np.empty(len(y))
    with input_at_fault():
        cut = KFold(folds, shuffle=True, random_state=seed)
        for train, test in _watched(list(cut.split(y))):
            model = _estimator(preset, seed, numeric=True)
            answer[test] = model.fit(X.iloc[train], y[train]).predict(X.iloc[test])
    error, spread = np.sqrt(np.mean((answer - y) ** 2)), y.std()
    return (
        f"Error on new rows: {error:.4g}, the root mean squared error of {folds}-fold\n"
        f"cross-validation of the whole procedure on {len(y)} rows. Always the mean: "
        f"{spread:.4g}."
    )


# -- files and printing ---------------------------------------------------------------


def _check_output(path: Path | None, *inputs: Path) -> None:
    """Refuse, before any work, an output that cannot or should not be replaced."""
    if path is None:
        return
    if path.exists() and not path.is_file():
        raise InputError(f"{path} is no regular file: choose another output")
    if not path.absolute().parent.is_dir():
        raise InputError(f"there is no folder {path.parent} to write to")
    for other in inputs:
        if path.exists() and other.exists() and path.samefile(other):
            raise InputError(f"{path} is an input: choose another output")


def _put(path: Path | None, content: str | bytes) -> None:
    """Print a text, or replace a file once the new one is complete."""
    from omnitree.files import replace_file

    with input_at_fault():
        if path is not None:
            replace_file(path, content)
        else:
            sys.stdout.write(str(content))
            sys.stdout.flush()


def _print_pairs(pairs: list[tuple[str, str]], indent: str = "") -> None:
    width = max(len(name) for name, _ in pairs)
    for name, text in pairs:
        typer.echo(f"{indent}{name:<{width}}  {text}")
