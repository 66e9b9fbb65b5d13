"""`omnitree fit`: read, fit, print, save, estimate the error.

Heavy imports happen inside, so that `--help` stays quick. Columns with weights or
groups, and dropped ones, are not features: the model does not need them later.
"""

from __future__ import annotations

import os
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Annotated, Any

import typer

from omnitree.cli.commands import check_output, print_tables
from omnitree.cli.file_options import (
    Comment,
    Decimal,
    Encoding,
    Missing,
    Sep,
    Sheet,
    file_format,
)
from omnitree.data.reading import (
    FileFormat,
    InputError,
    TableFile,
    as_numbers,
    input_at_fault,
    is_numeric,
    read_table,
)

if TYPE_CHECKING:
    from omnitree.lab.procedure import Procedure, Rows

DEFAULT_PRESET = "omni"
# Folds of the error estimate, and of that for tables of more than LARGE cells.
FOLDS = 10
FEW_FOLDS = 3
LARGE = 1_000_000
WIDTH = 88  # the same as in `describe`
TASKS = ["classification", "regression"]
LOSSES = ["error", "log_loss", "cost"]


def fit(
    data: Annotated[
        Path,
        typer.Argument(
            metavar="DATA.csv",
            help="CSV or similar, possibly compressed; Excel, ARFF or Parquet file.",
        ),
    ],
    target: Annotated[
        str, typer.Option(help="Column to predict: a class or a number.")
    ],
    preset: Annotated[
        str,
        typer.Option(
            help="A published system; see `omnitree presets`. With options: "
            "bu95:coefficients=thermal:selection=sbe."
        ),
    ] = DEFAULT_PRESET,
    task: Annotated[
        str | None,
        typer.Option(
            help="classification or regression. Default: regression if the target has "
            "fractional numbers or more than 30 different whole ones."
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="File for the model.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Random seed.")] = 0,
    folds: Annotated[
        int | None,
        typer.Option(
            help=f"Folds of the error estimate: 2 or more, or 0 for no estimate. Default: "
            f"{FOLDS}, for large tables {FEW_FOLDS}.",
        ),
    ] = None,
    drop: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COL",
            help="Column to leave out, or several: a,b,c; may be repeated.",
        ),
    ] = None,
    categorical: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COL",
            help="Column to treat as categorical, whatever its cells look like, or "
            "several: a,b,c; may be repeated.",
        ),
    ] = None,
    weight: Annotated[
        str | None, typer.Option(metavar="COL", help="Column with row weights.")
    ] = None,
    groups: Annotated[
        str | None,
        typer.Option(
            metavar="COL",
            help="Column that says which rows belong together, such as those of one "
            "patient; they are always in the same fold.",
        ),
    ] = None,
    class_weight: Annotated[
        str | None,
        typer.Option(
            metavar="balanced|LABEL=W,...",
            help="Class weights; classes that are not named have weight 1.",
        ),
    ] = None,
    cost: Annotated[
        str | None,
        typer.Option(
            metavar="TRUE:ANSWER=C,...",
            help="Costs of wrong predictions; pairs that are not named cost 1. Or a file "
            "with the true classes in its first column and a column per prediction.",
        ),
    ] = None,
    optimise: Annotated[
        str | None,
        typer.Option(
            metavar="error|log_loss|cost",
            help="What the preset omni minimises on held-out rows: wrong predictions, log "
            "loss or costs. Default: costs if there are any, else wrong predictions.",
        ),
    ] = None,
    sep: Sep = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    comment: Comment = None,
    sheet: Sheet = None,
    missing: Missing = None,
) -> None:
    """Fit a tree, print it and estimate its error on new rows.

    The error is estimated by cross-validation of the whole procedure.

    \b
    Examples:
      omnitree fit DATA.csv --target class -o model.json
      omnitree fit DATA.csv --target class --preset c4.5 --folds 0
      omnitree fit DATA.csv --target price --task regression
      omnitree fit DATA.csv --target class --drop id,name --class-weight balanced
      omnitree fit DATA.csv --target risk --cost bad:good=5,good:bad=1
      omnitree fit DATA.csv.gz --target class --sep ";" --decimal , --missing -999
    """
    from omnitree import save
    from omnitree.growing.part import unknown
    from omnitree.lab.methods import parse

    if folds is not None and (folds < 0 or folds == 1):
        raise InputError(f"--folds must be 0 or at least 2, not {folds}")
    if task not in (None, *TASKS):
        raise InputError(unknown("task", task, TASKS))
    if optimise not in (None, *LOSSES):
        raise InputError(unknown("loss", optimise, LOSSES))
    if optimise == "cost" and cost is None:
        raise InputError("--optimise cost needs --cost")
    parse(preset)  # raises before a file is read
    check_output(output, data)
    format = file_format(sep, decimal, encoding, comment, sheet, missing)
    rows, numeric = _learning_rows(
        data, format, target, task, drop, categorical, weight, groups
    )
    procedure = _procedure(preset, seed, numeric, rows, class_weight, cost, optimise)
    with input_at_fault():
        model = procedure.fit(rows)
    typer.echo(model.describe() + "\n")
    if output is not None:  # before the estimate, which may take long
        with input_at_fault():
            save(model, os.path.realpath(output))
    if folds != 0:
        _print_report(procedure, rows, folds, model)
    if output is not None:
        typer.echo(f"Model: {output}")


def _learning_rows(
    path: Path,
    format: FileFormat,
    target: str,
    task: str | None,
    drop: list[str] | None,
    categorical: list[str] | None,
    weight: str | None,
    groups: str | None,
) -> tuple[Rows, bool]:
    """The training rows, and whether the target is a number."""
    from omnitree.cli import fit_options
    from omnitree.lab.procedure import Rows

    named = [name for name in (target, weight, groups, *(drop or ())) if name]
    table = read_table(path, format=format, untouched=[n for n in named if n != weight])
    dropped = fit_options.columns(drop or (), table)
    _check_roles(table, target, weight, groups, dropped)
    X, y, left_out = table.features_and_target(target)
    if left_out:
        _note(f"{_rows(left_out)} without a value in {target!r} left out")
    X = X.drop(columns=dropped)
    w = None if weight is None else _weights(X.pop(weight))
    g = None if groups is None else _groups(X.pop(groups))
    if not X.shape[1]:
        raise InputError(f"{path} has no feature columns left")
    for name in fit_options.columns(categorical or (), table):
        if name not in X:
            raise InputError(f"--categorical {name!r}: this column is not a feature")
        X[name] = X[name].astype("category")
    if task is None and is_numeric(y):
        task = "regression"
        _note(f"{target!r} is treated as a number (change with --task)")
    numeric = task == "regression"
    rows = Rows(X, as_numbers(y, target) if numeric else y, w, g)
    if w is not None and not w.all():
        _note(f"{_rows(int((w == 0).sum()))} of weight 0 left out")
        rows = rows.take(w.nonzero()[0])
    if not numeric and len(set(rows.y)) == 1:
        raise InputError(
            f"all rows of {path} have the same {target!r}, {str(rows.y[0])!r}: a "
            "classifier needs at least two classes"
        )
    return rows, numeric


def _check_roles(
    table: TableFile,
    target: str,
    weight: str | None,
    groups: str | None,
    dropped: list[str],
) -> None:
    """Refuse unknown columns and columns with two roles."""
    roles: dict[str, str] = {}
    given = [("target", target), ("weight", weight), ("groups", groups)]
    given += [("drop", name) for name in dropped]
    for option, name in given:
        if name is None:
            continue
        table.check_column(name)
        if name in roles:
            raise InputError(
                f"{name!r} is given as both --{roles[name]} and --{option}"
            )
        roles[name] = option


def _weights(column: Any) -> Any:
    import numpy as np
    from pandas.api.types import is_numeric_dtype

    weight = column.to_numpy(float) if is_numeric_dtype(column) else np.array([np.nan])
    if not (np.isfinite(weight).all() and (weight >= 0).all() and weight.any()):
        raise InputError(
            f"the weights in {column.name!r} must be numbers of at least 0, not all 0 "
            "and none missing"
        )
    return weight


def _groups(column: Any) -> Any:
    """Codes of the groups; a row without one is a group of its own."""
    import numpy as np

    codes, names = column.factorize()
    alone = np.flatnonzero(codes < 0)
    if len(alone):
        _note(
            f"{_rows(len(alone))} without a value in {column.name!r}: each is a "
            "group of its own"
        )
        codes[alone] = len(names) + np.arange(len(alone))
    return codes


def _procedure(
    preset: str,
    seed: int,
    numeric: bool,
    rows: Rows,
    class_weight: str | None,
    cost: str | None,
    optimise: str | None,
) -> Procedure:
    from omnitree.cli import fit_options
    from omnitree.lab.procedure import Procedure

    if numeric:
        for option, value in (
            ("class-weight", class_weight),
            ("cost", cost),
            ("optimise", optimise),
        ):
            if value is not None:
                raise InputError(f"--{option} works only for classification")
        return Procedure(preset, seed, numeric)
    classes = sorted(set(rows.y.tolist()))
    weights = class_weight and fit_options.class_weights(class_weight, classes)
    costs = fit_options.costs(cost, classes) if cost else None
    options = {"optimise": optimise} if optimise else {}
    return Procedure(
        preset, seed, class_weight=weights or None, costs=costs, options=options
    )


def _print_report(
    procedure: Procedure, rows: Rows, folds: int | None, model: Any
) -> None:
    from omnitree.cli.fit_report import Report
    from omnitree.lab.estimate import NoEstimate, choose_folds

    wanted = folds or (FOLDS if rows.X.size <= LARGE else FEW_FOLDS)
    try:
        chosen = choose_folds(rows, wanted)
    except NoEstimate as error:
        typer.echo(f"No estimate of the error: {error}.")
        return
    with input_at_fault():
        report = Report(procedure, rows, chosen, model)
    for part in report.parts():
        if isinstance(part, str):
            typer.echo(fill(part, WIDTH, break_on_hyphens=False))
        else:
            print_tables([part])


def _note(text: str) -> None:
    typer.echo(f"note: {text}", err=True)


def _rows(n: int) -> str:
    return "1 row" if n == 1 else f"{n} rows"
