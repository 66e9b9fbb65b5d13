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

from omnitree.cli.commands import Scheduler, check_output, cluster, print_tables
from omnitree.cli.file_options import with_file_options
from omnitree.data.plain import one_line
from omnitree.data.reading import (
    FileFormat,
    InputError,
    TableFile,
    as_numbers,
    input_at_fault,
    is_numeric,
    read_table,
)
from omnitree.data.reading.targets import FEW_NUMBERS, n_whole_numbers

if TYPE_CHECKING:
    from omnitree.lab.procedure import LearningRows, Procedure

DEFAULT_PRESET = "omni"
# Folds of the error estimate, and of that for tables of more than LARGE cells.
FOLDS = 10
FEW_FOLDS = 3
LARGE = 1_000_000
WIDTH = 88  # the same as in `describe`
TASKS = ["classification", "regression"]
LOSSES = ["error", "log_loss", "cost"]


@with_file_options
def fit(
    data: Annotated[
        Path,
        typer.Argument(
            metavar="DATA.csv",
            help="CSV or similar, possibly compressed; Excel, ARFF or Parquet file, or a "
            "pattern such as 'part-*.parquet' for several.",
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
    max_memory: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE",
            help="Memory that Parquet files may take, such as 2GB; larger ones are read "
            "again and again, in blocks. Default: half of the free memory.",
        ),
    ] = None,
    scheduler: Scheduler = None,
    *,
    format: FileFormat,
) -> None:
    """Fit a tree, print it and estimate its error on new rows.

    The error is estimated by cross-validation of the whole procedure; of Parquet files that
    do not fit into memory, on a tenth of the rows.

    \b
    Examples:
      omnitree fit DATA.csv --target class -o model.json
      omnitree fit DATA.csv --target class --preset c4.5 --folds 0
      omnitree fit DATA.csv --target price --task regression
      omnitree fit DATA.csv --target class --drop id,name --class-weight balanced
      omnitree fit DATA.csv --target risk --cost bad:good=5,good:bad=1
      omnitree fit DATA.csv.gz --target class --sep ";" --decimal , --missing -999
      omnitree fit 'part-*.parquet' --target class --max-memory 4GB -o model.json
      omnitree fit 'part-*.parquet' --target class --scheduler tcp://HOST:8786
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
    if scheduler is not None:  # workers may have other current folders
        data = data.absolute()
    with cluster(scheduler):
        blocks = _beyond_memory(
            data,
            target,
            weight,
            drop,
            max_memory,
            categorical=categorical,
            groups=groups,
        )
        if scheduler is not None and blocks is None:
            raise InputError(
                "--scheduler is for Parquet files that do not fit into memory: lower "
                "--max-memory, or leave it out"
            )
        if blocks is not None:
            from omnitree.cli.fit_large import fit_large, is_number, print_error

            with input_at_fault():
                numeric, labels = is_number(blocks, task)
            procedure = _procedure(
                preset, seed, numeric, labels, class_weight, cost, optimise, max_memory
            )
            model = fit_large(blocks, procedure, labels)
        else:
            rows, numeric = _learning_rows(
                data, format, target, task, drop, categorical, weight, groups
            )
            labels = [] if numeric else sorted(set(rows.y.tolist()))
            procedure = _procedure(
                preset, seed, numeric, labels, class_weight, cost, optimise
            )
            with input_at_fault():
                model = procedure.fit(rows)
        typer.echo(model.describe() + "\n")
        if output is not None:  # before the estimate, which may take long
            with input_at_fault():
                save(model, os.path.realpath(output))
        if folds != 0 and blocks is not None:
            print_error(blocks, procedure, labels)
        elif folds != 0:
            _print_report(procedure, rows, folds, model)
        if output is not None:
            typer.echo(f"Model: {output}")


def _beyond_memory(
    path: Path,
    target: str,
    weight: str | None,
    drop: list[str] | None,
    max_memory: str | None,
    **in_memory: Any,
) -> Any:
    """Parquet files that do not fit into memory, as a source of blocks; else None."""
    if not path.name.endswith((".parquet", ".pq")):
        return None
    from omnitree.cli.fit_large import beyond_memory

    dropped = [name for given in drop or () for name in given.split(",")]
    source = beyond_memory(path, target, weight, dropped, max_memory)
    if source is None:
        return None
    for name, value in in_memory.items():
        if value:
            raise InputError(
                f"--{name} needs data that fits into memory: raise --max-memory, or "
                "leave it out"
            )
    return source


def _learning_rows(
    path: Path,
    format: FileFormat,
    target: str,
    task: str | None,
    drop: list[str] | None,
    categorical: list[str] | None,
    weight: str | None,
    groups: str | None,
) -> tuple[LearningRows, bool]:
    """The training rows, and whether the target is a number."""
    from omnitree.cli import fit_options
    from omnitree.lab.procedure import LearningRows

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
    elif task is None and (n := n_whole_numbers(y)) > FEW_NUMBERS:
        _note(
            f"the {n} whole numbers of {target!r} are treated as classes "
            "(--task regression predicts a number)"
        )
    numeric = task == "regression"
    rows = LearningRows(X, as_numbers(y, target) if numeric else y, w, g)
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
    labels: list[Any],
    class_weight: str | None,
    cost: str | None,
    optimise: str | None,
    max_memory: str | None = None,
) -> Procedure:
    from omnitree.cli import fit_options
    from omnitree.lab.procedure import Procedure

    options: dict[str, Any] = {"max_memory": max_memory} if max_memory else {}
    if numeric:
        given = {"class-weight": class_weight, "cost": cost, "optimise": optimise}
        for option, value in given.items():
            if value is not None:
                raise InputError(f"--{option} works only for classification")
        return Procedure(preset, seed, numeric, options=options)
    # Labels of files in memory are texts, as written; others are as they are.
    written = {str(label): label for label in labels}
    weights: Any = class_weight and fit_options.class_weights(
        class_weight, list(written)
    )
    if isinstance(weights, dict):
        weights = {written[label]: w for label, w in weights.items()}
    costs: Any = None
    if cost:
        found_costs = fit_options.costs(cost, list(written))
        costs = {
            written[true]: {written[said]: c for said, c in line.items()}
            for true, line in found_costs.items()
        }
    if optimise:
        options["optimise"] = optimise
    return Procedure(
        preset, seed, class_weight=weights or None, costs=costs, options=options
    )


def _print_report(
    procedure: Procedure, rows: LearningRows, folds: int | None, model: Any
) -> None:
    from omnitree.cli.fit_report import FitReport
    from omnitree.lab.estimate import NoEstimate, choose_folds

    wanted = folds or (FOLDS if rows.X.size <= LARGE else FEW_FOLDS)
    try:
        chosen = choose_folds(rows, wanted)
    except NoEstimate as error:
        typer.echo(one_line(f"No estimate of the error: {error}."))
        return
    with input_at_fault():
        parts = list(FitReport(procedure, rows, chosen, model).parts())
    for part in parts:
        if isinstance(part, str):
            typer.echo(fill(one_line(part), WIDTH, break_on_hyphens=False))
        else:
            print_tables([part])


def _note(text: str) -> None:
    typer.echo(one_line(f"note: {text}"), err=True)


def _rows(n: int) -> str:
    return "1 row" if n == 1 else f"{n} rows"
