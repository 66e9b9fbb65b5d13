"""The command line: each command is a few lines over the public API.

Exit code 0: done; 1: the user's input is at fault, said in one line on stderr; 2: wrong
usage. Everything heavy is imported inside the commands, so that `--help` stays quick.
Tables are CSV or TSV with a header; cells that are empty, `?`, `NA`, `nan` or `NaN` are
gaps. An output file is replaced only when the new one is complete.
"""

from __future__ import annotations

import csv
import io
import math
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

GAPS = ["", "?", "NA", "nan", "NaN"]
FRONT_DOOR = "omni"
DEMO_PRESETS = [FRONT_DOOR, "c4.5", "cart", "rp-c4.5", "ldt"]
FOLDS = 10


class InputError(Exception):
    """The user's input is at fault; the message is the one line they read."""


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
    help="Decision trees whose every node is as complex as its data needs.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

DataFile = Annotated[Path, typer.Argument(metavar="DATA.csv", help="CSV or TSV file.")]
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


@app.command()
def demo(
    folder: Annotated[
        Path, typer.Option(help="Where the demo's files are written.")
    ] = Path("demo"),
) -> None:
    """Fit, show and compare trees on built-in data (under a minute)."""
    from sklearn.datasets import load_breast_cancer, load_iris, load_wine

    from omnitree import save

    model, text = folder / "model.json", folder / "tree.txt"
    with _input_at_fault():
        folder.mkdir(parents=True, exist_ok=True)
    _check_output(model)
    _check_output(text)
    sources = {
        "iris": load_iris,
        "wine": load_wine,
        "breast_cancer": load_breast_cancer,
    }
    data = {}
    for name, source in sources.items():
        bunch = source(as_frame=True)
        data[name] = (bunch.data, bunch.target_names[bunch.target])
    clf = _estimator(FRONT_DOOR, seed=1).fit(*data["iris"])
    typer.echo("OmniTreeClassifier on iris; a leaf shows its rows/wrong ones:\n")
    typer.echo(clf.describe() + "\n")
    _print_comparison(data)
    with _input_at_fault():
        save(clf, model)
    _put(text, clf.describe() + "\n")
    typer.echo(f"The iris tree: {model} (for `omnitree show` and `predict`) and {text}")


@app.command()
def fit(
    data: DataFile,
    target: Annotated[str, typer.Option(help="Column with the class of each row.")],
    preset: Annotated[
        str, typer.Option(help="A published system; see `omnitree presets`.")
    ] = FRONT_DOOR,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the model here.")
    ] = None,
    seed: Seed = 0,
) -> None:
    """Fit a tree, print it and estimate its error on new rows."""
    from omnitree import save

    clf = _estimator(preset, seed)
    _check_output(output, data)
    X, y = _features_and_target(_read_table(data), target)
    with _input_at_fault():
        clf.fit(X, y)
    typer.echo(clf.describe() + "\n")
    typer.echo(_error_report(preset, X, y, seed))
    if output is not None:
        with _input_at_fault():
            save(clf, os.path.realpath(output))
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
    """Add predicted classes and their probabilities to a table."""
    _check_output(output, model, data)
    clf = _load(model)
    table = _read_table(data, clf.tree_.schema)
    labels = [str(c) for c in clf.classes_]
    new = ["predicted", *(f"p({label})" for label in labels)]
    for name in new:
        if name in table.header:
            raise InputError(f"{data} has a column {name!r} already: rename it first")
    with _input_at_fault():
        proba = clf.predict_proba(table.frame)
    text = io.StringIO()
    out = csv.writer(text, delimiter=table.separator, lineterminator="\n")
    out.writerow([*table.header, *new])
    for row, shares in zip(table.rows(), proba, strict=True):
        out.writerow([*row, labels[shares.argmax()], *(f"{p:.6g}" for p in shares)])
    _put(output, text.getvalue())


@app.command()
def show(
    model: ModelFile,
    format_: Annotated[
        str,
        typer.Option(
            "--format",
            help="text, c, dot, json, onnx, pmml, python, rules or sql.",
        ),
    ] = "text",
    proba: Annotated[
        bool, typer.Option("--proba", help="With sql: the probabilities, too.")
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write here instead of standard output."),
    ] = None,
) -> None:
    """Print a saved tree, or write it in another format.

    Examples: omnitree show model.json --format sql;
    omnitree show model.json --format onnx -o model.onnx
    """
    from omnitree.export import FORMATS
    from omnitree.parts import unknown

    known = ["text", *FORMATS]
    if format_ not in known:
        raise InputError(unknown("format", format_, known))
    if format_ == "onnx" and output is None:
        raise InputError("onnx is no text: name a file with -o")
    _check_output(output, model)
    clf = _load(model)
    try:
        with _input_at_fault():
            options = {"proba": True} if proba else {}
            content = (
                clf.describe() + "\n"
                if format_ == "text" and not proba
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
) -> None:
    """Say why one row gets its class, and what would change it.

    Example: omnitree explain model.json DATA.csv --row 1
    """
    clf = _load(model)
    table = _read_table(data, clf.tree_.schema)
    if row > len(table.frame):
        raise InputError(f"{data} has {len(table.frame)} rows; there is no row {row}")
    with _input_at_fault():
        text = str(clf.explain(table.frame.iloc[[row - 1]], max_changes))
    _put(None, text + "\n")


@app.command(name="presets")
def presets_(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="One preset, in full.")
    ] = None,
) -> None:
    """List the published systems, or describe one."""
    from omnitree import OmniTreeClassifier, presets

    if name is not None:
        _check_preset(name)
        front = OmniTreeClassifier.__doc__ or ""
        typer.echo(_first_part(front) if name == FRONT_DOOR else presets.describe(name))
        return
    rows = [(FRONT_DOOR, "The front door, OmniTreeClassifier: nothing to choose.")]
    rows += [(n, presets.describe(n).split("\n")[0]) for n in presets.names()]
    _print_pairs(rows)


@app.command()
def parts() -> None:
    """List the parts a tree can be composed of."""
    from omnitree.persistence import REGISTRIES

    for kind, registry in REGISTRIES.items():
        typer.echo(f"{kind}:")
        _print_pairs([(name, part.summary()) for name, part in registry.items()], "  ")


# -- estimators -----------------------------------------------------------------------


def _check_preset(name: str) -> None:
    from omnitree import presets
    from omnitree.parts import unknown

    known = list(dict.fromkeys([FRONT_DOOR, *presets.names()]))
    if name not in known:
        raise InputError(unknown("preset", name, known))


def _estimator(preset: str, seed: int) -> Any:
    """An unfitted estimator: the front door, or a preset."""
    from omnitree import OmniTreeClassifier, presets

    _check_preset(preset)
    if preset == FRONT_DOOR:
        return OmniTreeClassifier(random_state=seed)
    return presets.make(preset, random_state=seed)


def _load(path: Path) -> Any:
    from omnitree import load

    _check_input(path)
    with _input_at_fault():
        return load(path)


@dataclass(frozen=True)
class _Scores:
    """Errors in percent and numbers of leaves, fold by fold."""

    error: np.ndarray
    leaves: np.ndarray


def _cross_validate(preset: str, X: Any, y: Any, seed: int, folds: int) -> _Scores:
    """Fit on all folds but one and count the errors on that one, in turn."""
    import numpy as np
    from sklearn.model_selection import StratifiedKFold

    error, leaves = [], []
    cut = StratifiedKFold(folds, shuffle=True, random_state=seed)
    with warnings.catch_warnings():  # a class may have fewer rows than there are folds
        warnings.simplefilter("ignore", UserWarning)
        splits = list(cut.split(np.zeros(len(y)), y))
    for train, test in splits:
        clf = _estimator(preset, seed).fit(X.iloc[train], y[train])
        error.append(100 * float(np.mean(clf.predict(X.iloc[test]) != y[test])))
        leaves.append(clf.tree_.n_leaves)
    return _Scores(np.array(error), np.array(leaves))


def corrected_t_test(difference: np.ndarray) -> float:
    """Two-sided p-value of Nadeau & Bengio's corrected resampled t-test.

    The folds of k-fold cross-validation share training rows, so the variance of the
    mean difference is taken as (1/k + 1/(k - 1)) times that of the differences, not 1/k.

    Examples
    --------
    >>> import numpy as np
    >>> round(corrected_t_test(np.array([1.0, 2.0, 3.0, 2.0, 2.0])), 3)
    0.014
    >>> corrected_t_test(np.zeros(10))
    1.0
    """
    from scipy import stats

    k = len(difference)
    spread = math.sqrt((1 / k + 1 / (k - 1)) * float(difference.var(ddof=1)))
    if spread == 0:
        return 0.0 if difference.any() else 1.0
    return float(2 * stats.t.sf(abs(float(difference.mean())) / spread, k - 1))


def _print_comparison(data: dict[str, tuple[Any, Any]]) -> None:
    """Table of all demo presets on all data sets, each against the front door."""
    from rich.console import Console
    from rich.table import Table

    table = Table(title="10-fold cross-validation, mean ± sd over folds")
    table.add_column("data set")
    table.add_column("preset")
    for column in ("error %", "leaves", f"p against {FRONT_DOOR}"):
        table.add_column(column, justify="right")
    for name, (X, y) in data.items():
        scores = {p: _cross_validate(p, X, y, 0, FOLDS) for p in DEMO_PRESETS}
        for preset, score in scores.items():
            p = corrected_t_test(score.error - scores[FRONT_DOOR].error)
            table.add_row(
                name if preset == FRONT_DOOR else "",
                preset,
                f"{score.error.mean():.1f} ± {score.error.std(ddof=1):.1f}",
                f"{score.leaves.mean():.1f} ± {score.leaves.std(ddof=1):.1f}",
                "" if preset == FRONT_DOOR else f"{p:.3f}",
            )
        table.add_section()
    Console().print(table)
    typer.echo(
        "p: corrected resampled t-test (Nadeau & Bengio) on the errors of the same "
        "folds.\nSmall: chance alone seldom makes such a difference; many are tested "
        "here, so one\nbelow 0.05 says little.\n"
    )


def _error_report(preset: str, X: Any, y: Any, seed: int) -> str:
    """The cross-validated error of the whole procedure, in words."""
    import numpy as np

    labels, counts = np.unique(y, return_counts=True)
    folds = int(min(FOLDS, max(2, counts.min())))
    if np.sort(counts)[-2] < 2:
        return "No estimate of the error: all classes but one have a single row."
    with _input_at_fault():
        error = _cross_validate(preset, X, y, seed, folds).error
    most = str(labels[counts.argmax()])
    chance = 100 * (1 - counts.max() / len(y))
    return (
        f"Error on new rows: {error.mean():.1f} % ± {error.std(ddof=1):.1f}, the mean ± "
        f"sd of {folds}-fold stratified\ncross-validation of the whole procedure on "
        f"{len(y)} rows. Always {most!r}: {chance:.1f} %."
    )


# -- tables ---------------------------------------------------------------------------


@dataclass(frozen=True)
class _TableFile:
    """A CSV or TSV file: its cells as they were written, and parsed."""

    path: Path
    text: str
    separator: str
    header: list[str]
    frame: pd.DataFrame

    def rows(self) -> Iterator[list[str]]:
        """The cells of each row under the header, as they were written."""
        rows = _rows(self.text, self.separator, len(self.header))
        next(rows)
        return (row for _, row in rows)


def _read_table(path: Path, schema: Any = None) -> _TableFile:
    """Read a table; with a schema, its symbols are taken as they are written."""
    import pandas as pd

    _check_input(path)
    with _input_at_fault():
        raw = path.read_bytes()
    if b"\0" in raw[:65536]:
        raise InputError(f"{path} is a binary file, not CSV or TSV")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is no text in UTF-8: {error}") from None
    head = text.lstrip("\r\n").partition("\n")[0]
    tabs = path.suffix.lower() in (".tsv", ".tab") or ("\t" in head and "," not in head)
    separator = "\t" if tabs else ","
    header = _check_rows(path, text, separator)
    symbols = {
        f.name: str
        for f in (schema.features if schema is not None and schema.named else ())
        if f.kind in ("categorical", "ordered")
    }
    try:
        frame = pd.read_csv(
            io.StringIO(text),
            sep=separator,
            keep_default_na=False,
            na_values=GAPS,
            dtype={name: symbols.get(name) for name in header if name in symbols},
            skipinitialspace=True,
            skip_blank_lines=len(header) > 1,
            low_memory=False,
        )
    except ValueError as error:  # pandas' parser errors are ValueErrors
        raise InputError(f"{path} cannot be read: {error}") from None
    return _TableFile(path, text, separator, header, frame)


def _rows(text: str, separator: str, width: int = 0) -> Iterator[tuple[int, list[str]]]:
    """Line number and cells of each row; blank lines are rows in one-column tables."""
    reader = csv.reader(
        io.StringIO(text, newline=""),
        delimiter=separator,
        skipinitialspace=True,
        strict=True,
    )
    for row in reader:
        width = width or len(row)
        if row or width == 1:
            yield reader.line_num, row or [""]


def _check_rows(path: Path, text: str, separator: str) -> list[str]:
    """The header of a table whose rows are all as long as it is."""
    rows = _rows(text, separator)
    n_rows = -1
    header: list[str] = []
    try:
        for line, row in rows:
            n_rows += 1
            if n_rows == 0:
                header = row
            elif len(row) != len(header):
                raise InputError(
                    f"{path}, line {line}: {len(row)} cells where the header has "
                    f"{len(header)}; is the file cut off, or not CSV?"
                )
    except csv.Error as error:
        raise InputError(f"{path} is damaged or cut off: {error}") from None
    if n_rows < 0:
        raise InputError(f"{path} is empty")
    for i, name in enumerate(header):
        if not name.strip():
            raise InputError(f"{path}: column {i + 1} has no name in the header")
        if name in header[:i]:
            raise InputError(f"{path}: two columns are named {name!r}")
    if n_rows == 0:
        raise InputError(f"{path} has a header but no rows")
    return header


def _features_and_target(table: _TableFile, target: str) -> tuple[Any, np.ndarray]:
    """Columns to learn from, and the labels as they are written."""
    import numpy as np
    import pandas as pd

    if target not in table.header:
        raise InputError(
            f"{table.path} has no column {target!r}; it has {', '.join(table.header)}"
        )
    if len(table.header) == 1:
        raise InputError(f"{table.path} has no column but the target")
    at = table.header.index(target)
    y = np.array([row[at].strip() for row in table.rows()], dtype=object)
    known = ~np.isin(y, GAPS)
    if not known.any():
        raise InputError(f"no row of {table.path} has a value in {target!r}")
    if not known.all():
        typer.echo(f"note: {(~known).sum()} rows without {target!r} left out", err=True)
    numbers = pd.to_numeric(pd.Series(y[known]), errors="coerce")
    if numbers.notna().all() and (numbers % 1 != 0).any():
        raise InputError(
            f"{target!r} holds fractional numbers; omnitree predicts classes only"
        )
    X = table.frame.drop(columns=[target])
    return X[known].reset_index(drop=True), y[known].astype(str)


# -- files and printing ---------------------------------------------------------------


@contextmanager
def _input_at_fault() -> Iterator[None]:
    """What goes wrong in here is the input's fault."""
    try:
        yield
    except BrokenPipeError:  # `| head`: typer ends quietly
        raise
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        raise InputError(f"{where}{error.strerror or error}") from None
    except (ValueError, TypeError) as error:
        raise InputError(str(error)) from None


def _check_input(path: Path) -> None:
    if path.is_dir():
        raise InputError(f"{path} is a folder, not a file")
    if not path.exists():
        raise InputError(f"there is no file {path}")


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

    with _input_at_fault():
        if path is not None:
            replace_file(path, content)
        else:
            sys.stdout.write(str(content))
            sys.stdout.flush()


def _first_part(doc: str) -> str:
    """A docstring up to its sections."""
    import inspect

    return inspect.cleandoc(doc).split("\n\nParameters\n")[0]


def _print_pairs(pairs: list[tuple[str, str]], indent: str = "") -> None:
    width = max(len(name) for name, _ in pairs)
    for name, text in pairs:
        typer.echo(f"{indent}{name:<{width}}  {text}")
