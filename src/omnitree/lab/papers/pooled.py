"""Whether a method, or a data set, drifts: differences too small to show in single cells.

Three standard errors hide a method that is a little worse everywhere. Over the accuracies
(or errors) of a method, each in standard errors of its difference, the sum divided by the
root of their number is a standard normal number if nothing but chance is at work. Cells of
one method on different data sets are independent. Those of one data set are not, since all
methods saw the same rows: there the mean is what to look at. Used by the reproductions.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import pandas as pd

from omnitree.lab.papers.base import PaperTable
from omnitree.lab.tables import TextTable


def pooled(tables: Sequence[PaperTable]) -> list[TextTable]:
    """Mean and pooled z of every method and of every data set; positive: ours is better."""
    frame = _scores(tables)
    notes = {
        "method": "Beyond 2 in size: more than chance.",
        "data set": "The cells of a data set share its rows, so the pooled z exaggerates.",
    }
    return [_table(frame, key, note) for key, note in notes.items() if len(frame)]


def pooled_methods(
    tables: Sequence[PaperTable],
) -> list[tuple[str, int, float, float]]:
    """Of every method the number of its cells, their mean z and the pooled z."""
    return _by(_scores(tables), "method")


def _scores(tables: Sequence[PaperTable]) -> pd.DataFrame:
    """The z of every cell; a published figure that several tables repeat counts once."""
    found = {
        (by["data set"], by["method"], cell.published): cell.z
        for table in tables
        if {"data set", "method"} <= set(table.keys)
        for cell in table.cells
        if math.isfinite(cell.z)
        for by in [dict(zip(table.keys, cell.labels, strict=True))]
    }
    return pd.DataFrame(
        [(name, method, z) for (name, method, _), z in found.items()],
        columns=["data set", "method", "z"],
    )


def _by(frame: pd.DataFrame, key: str) -> list[tuple[str, int, float, float]]:
    of = frame.groupby(key, sort=False)["z"].agg(["size", "mean", "sum"])
    return [
        (str(name), int(n), float(mean), float(total) / math.sqrt(n))
        for name, n, mean, total in of.itertuples()
    ]


def _table(frame: pd.DataFrame, key: str, note: str) -> TextTable:
    rows = tuple(
        (name, str(n), f"{mean:+.2f}", f"{total:+.2f}")
        for name, n, mean, total in _by(frame, key)
    )
    title = f"Accuracy in standard errors, by {key}"
    return TextTable(title, (key, "cells", "mean z", "pooled z"), rows, note)
