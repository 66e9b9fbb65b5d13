"""The command line: each command is a few lines over the public API.

Exit code 0: done; 1: something is wrong with the input (one line on stderr says what);
2: wrong usage. Heavy imports happen inside the commands, so that `--help` stays quick.
An output file is replaced only when the new one is complete.
"""

from __future__ import annotations

import csv
import io
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from omnitree.cli import commands
from omnitree.cli.commands import check_output, print_pairs
from omnitree.cli.demo import demo
from omnitree.cli.file_options import SafeCsv, with_file_options
from omnitree.cli.fit_command import fit
from omnitree.data.plain import one_line, safe_cell
from omnitree.data.reading import (
    FileFormat,
    InputError,
    check_input,
    input_at_fault,
    read_table,
)


class _Commands(TyperGroup):
    """One line on stderr for each warning of ours, and for an `InputError`: exit code 1."""

    def invoke(self, ctx: Any) -> Any:
        try:
            with _warnings_as_notes():
                return super().invoke(ctx)
        except InputError as error:
            message = one_line(" ".join(str(error).split()))
            typer.echo(f"omnitree: {message}", err=True)
            raise typer.Exit(1) from None


@contextmanager
def _warnings_as_notes() -> Iterator[None]:
    """Print our own warnings as notes, each once, and hide those of other libraries."""
    printed: set[str] = set()

    def print_note(message: Any, category: type[Warning], *_: Any, **__: Any) -> None:
        text = one_line(" ".join(str(message).split()))
        ours = category is UserWarning or category.__module__.startswith("omnitree")
        if ours and text not in printed:
            printed.add(text)
            typer.echo(f"note: {text}", err=True)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # `module` is where the warning points to: our own code, or one of our commands.
        warnings.filterwarnings("always", category=UserWarning, module="omnitree")
        warnings.showwarning = print_note
        yield


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

DataFile = Annotated[Path, typer.Argument(metavar="DATA.csv", help="As for `fit`.")]
ModelFile = Annotated[
    Path, typer.Argument(metavar="model.json", help="File written by `fit -o`.")
]
Seed = Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Random seed.")]


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
app.command()(fit)


@app.command()
@with_file_options
def predict(
    model: ModelFile,
    data: DataFile,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write here instead of standard output."),
    ] = None,
    safe_csv: SafeCsv = False,
    *,
    format: FileFormat,
) -> None:
    """Add predictions to a table.

    Appends columns with the predicted class and its probabilities, or the predicted number.

    \b
    Example:
      omnitree predict model.json NEW.csv -o out.csv
    """
    check_output(output, model, data)
    clf = _load(model)
    table = read_table(data, clf.tree_.schema, format)
    labels = [str(c) for c in clf.tree_.classes]
    new = ["predicted", *(f"p({label})" for label in labels)]
    for name in new:
        if name in table.header:
            raise InputError(f"{data} already has a column {name!r}: rename it first")
    with input_at_fault():
        answers = clf.predict(table.frame).tolist()
        if labels:
            shares = clf.predict_proba(table.frame).tolist()
            numbers = [[f"{share:.6g}" for share in line] for line in shares]
        else:
            numbers = [[repr(answer)] for answer in answers]
    text = io.StringIO()
    out = csv.writer(text, delimiter=table.separator, lineterminator="\n")
    rows = [[*table.header, *new]]
    for row, answer, found in zip(table.rows(), answers, numbers, strict=True):
        cells = [number.replace(".", table.decimal or ".") for number in found]
        rows.append([*row, *([str(answer)] if labels else ()), *cells])
    for row in rows:
        out.writerow(map(safe_cell, row) if safe_csv else row)
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
        bool, typer.Option("--proba", help="With sql: probabilities as well.")
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

    html writes the explorer, an interactive page for the browser.

    \b
    Examples:
      omnitree show model.json
      omnitree show model.json --format html -o tree.html
      omnitree show model.json --format sql --proba
    """
    from omnitree.export import NAMES
    from omnitree.growing.part import unknown

    known = ["text", "html", *NAMES]
    if format_ not in known:
        raise InputError(unknown("format", format_, known))
    for name, given, fits in (("proba", proba, "sql"), ("full", full, "text")):
        if given and format_ != fits:
            raise InputError(f"--{name} is for --format {fits}, not {format_}")
    if format_ in ("html", "onnx") and output is None:
        raise InputError(
            f"{format_} cannot be printed to a terminal: give a file with -o"
        )
    check_output(output, model)
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
@with_file_options
def explain(
    model: ModelFile,
    data: DataFile,
    row: Annotated[
        int,
        typer.Option(
            min=1, help="Number of the row; the first one below the header is 1."
        ),
    ],
    max_changes: Annotated[
        int,
        typer.Option(
            min=1, help="Maximum number of features that the counterfactual may change."
        ),
    ] = 3,
    goal: Annotated[
        str | None,
        typer.Option(
            help="For a numeric target: what to reach, for example 'above 12.5'."
        ),
    ] = None,
    *,
    format: FileFormat,
) -> None:
    """Explain the prediction for one row.

    Prints each test on its path with the contribution of every feature, and the smallest
    change to a few features that would change the prediction.

    \b
    Examples:
      omnitree explain model.json DATA.csv --row 1
      omnitree explain prices.json DATA.csv --row 1 --goal "above 12.5"
    """
    clf = _load(model)
    table = read_table(data, clf.tree_.schema, format)
    if row > len(table.frame):
        raise InputError(f"{data} has {len(table.frame)} rows; there is no row {row}")
    with input_at_fault():
        if goal is not None and clf.tree_.classes:
            raise ValueError("--goal needs a model with a numeric target")
        options = {} if goal is None else {"goal": goal}
        text = str(clf.explain(table.frame.iloc[[row - 1]], max_changes, **options))
    _put(None, text + "\n")


@app.command(name="presets")
def presets_(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="Preset to describe in full.")
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
        with input_at_fault():
            typer.echo(presets.describe(name))
        return
    print_pairs([(n, presets.describe(n).split("\n")[0]) for n in presets.names()])


@app.command()
def parts() -> None:
    """List the parts that trees are composed of."""
    from omnitree.estimators.registries import REGISTRIES

    for kind, registry in REGISTRIES.items():
        typer.echo(f"{kind}:")
        pairs = []
        for name, part in registry.items():
            package = part.__module__.partition(".")[0]
            origin = "" if registry.is_own(name) else f" (from {package})"
            pairs.append((name, part.summary() + origin))
        print_pairs(pairs, "  ")


commands.register(app)


def _load(path: Path) -> Any:
    from omnitree import load

    check_input(path)
    with input_at_fault():
        return load(path)


def _put(path: Path | None, content: str | bytes) -> None:
    """Print a text, or replace a file once the new one is complete."""
    from omnitree.data.files import replace_file

    with input_at_fault():
        if path is not None:
            replace_file(path, content)
        else:
            sys.stdout.write(str(content))
            sys.stdout.flush()
