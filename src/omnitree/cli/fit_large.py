"""`omnitree fit` for Parquet files that do not fit into memory.

The tree grows from sums over blocks of rows, and its error is that of a tree without a
tenth of the rows on that tenth. Used by the command `fit`.
"""

from __future__ import annotations

import glob
import sys
from dataclasses import dataclass
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np
import pandas as pd
import typer

from omnitree.data.reading import InputError, input_at_fault
from omnitree.data.reading.targets import MOST_CLASSES
from omnitree.data.sources import Block
from omnitree.data.sources.base import Roles
from omnitree.data.sources.files import DatasetSource, open_files
from omnitree.data.sources.held_out import ShareOfSource
from omnitree.estimators.memory import COPIES, memory_limit
from omnitree.growing.blocks.dask_engine import engine_for
from omnitree.lab.intervals import wilson
from omnitree.lab.procedure import Procedure

HELD_OUT = 0.1
WIDTH = 88


def beyond_memory(
    path: Path,
    target: str,
    weight: str | None,
    drop: list[str],
    max_memory: str | None,
) -> DatasetSource | None:
    """The files as a source, if they are Parquet and do not fit into memory."""
    names = sorted(glob.glob(str(path))) if glob.has_magic(str(path)) else [str(path)]
    if not names or not all(name.endswith((".parquet", ".pq")) for name in names):
        return None
    if not all(Path(name).is_file() for name in names):
        return None
    with input_at_fault():
        limit = memory_limit(max_memory)
        try:
            source = open_files(names, Roles(target, weight), None)
            columns = [n for n in source.names if n not in (target, weight, *drop)]
            source = DatasetSource(source.dataset, source.roles, columns)
            large = COPIES * source.n_bytes > limit
        except (OSError, ImportError) as error:
            raise InputError(str(error)) from None
    return source if large else None


@dataclass(frozen=True, eq=False)
class Labels:
    """Labels of a target: at most a few more than a number may have to be a class."""

    found: frozenset[Any]
    fractional: bool

    def __add__(self, other: Labels) -> Labels:
        return Labels(self.found | other.found, self.fractional or other.fractional)


def labels_of(block: Block) -> Labels:
    """Labels of a block with one column, and whether some are fractional numbers."""
    y = block.X.column(0).to_numpy()
    fractional = y.dtype.kind == "f" and bool((y[np.isfinite(y)] % 1 != 0).any())
    labels = () if fractional else np.unique(y[~pd.isna(y)]).tolist()
    return Labels(frozenset(labels), fractional)


def is_number(source: DatasetSource, task: str | None) -> tuple[bool, list[Any]]:
    """Whether the target is a number to predict, and its labels if it is not."""
    if task == "regression":
        return True, []
    assert isinstance(source.roles.y, str)
    only_target = DatasetSource(source.dataset, Roles(), [source.roles.y])
    found = engine_for(only_target, None).map_blocks(labels_of)
    labels = sorted(found.found) if found is not None else []
    numeric = bool(labels) and not isinstance(labels[0], str | bool)
    many = found is not None and (found.fractional or len(labels) > MOST_CLASSES)
    if task is None and (numeric or not labels) and many:
        return True, []
    return False, labels


def fit_large(source: Any, procedure: Procedure, labels: list[Any]) -> Any:
    """The fitted model; on a terminal, bars show how far it is."""
    with input_at_fault():
        model = procedure.make(np.array(labels))
        model.set_params(verbose=int(sys.stdout.isatty()))
        return model.fit(source).set_params(verbose=0)


def print_error(source: Any, procedure: Procedure, labels: list[Any]) -> None:
    """Print the error of a tree without a tenth of the rows on that tenth."""
    others = ShareOfSource(source, procedure.seed + 1, HELD_OUT, False)
    model = fit_large(others, procedure, labels)
    tenth = ShareOfSource(source, procedure.seed + 1, HELD_OUT, True)
    found = engine_for(tenth, None).map_blocks(Wrong(model, procedure.numeric))
    if found is None:
        typer.echo("No estimate of the error: no rows were held out.")
        return
    n, weight, lost, total, squares = found
    how = (
        f"of a tree that was grown without {int(n):,} rows, a tenth, on those rows"
        f"{', weighted' if source.roles.weight else ''}."
    )
    if procedure.numeric:
        spread = squares - total**2 / weight
        text = (
            f"Root mean squared error on new rows: {np.sqrt(lost / weight):.4g} "
            f"(R2 {1 - lost / spread:.3f}), {how}"
        )
    else:
        share = wilson(lost / weight, n)
        text = (
            f"Error on new rows: {share.value:.2%} (95% interval {share.low:.2%} to "
            f"{share.high:.2%}), {how}"
        )
    typer.echo(fill(text, WIDTH, break_on_hyphens=False))


@dataclass(frozen=True, eq=False)
class Wrong:
    """Rows, weight, errors (squared, of numbers), sum and sum of squares of the target."""

    model: Any
    numeric: bool

    def __call__(self, block: Block) -> np.ndarray:
        y = np.asarray(block.y)
        weight = np.ones(len(y)) if block.weight is None else np.asarray(block.weight)
        answer = self.model.predict(block.X)
        if not self.numeric:
            return np.array([len(y), weight.sum(), weight[answer != y].sum(), 0, 0])
        y = y.astype(float)
        lost = weight @ (answer - y) ** 2
        return np.array([len(y), weight.sum(), lost, weight @ y, weight @ y**2])
