"""What a tree learns from: which columns become features, and what to report.

A column is taken as it is, with these exceptions, so that no learner has to deal with
the identifiers and dates that real tables contain. Text means strings without a
categorical type of pandas or polars.

- Dates, and text in which nearly all cells are dates, become those parts that vary: year,
  month, weekday, hour, days since the first (`data.encoding.dates`); the days alone if
  none does.
- Text with more than `FEW_CATEGORIES` different values, which are more than half as many
  as the cells that are not missing, identifies rows (names, ids, remarks). It is left out.
  Where there are more than `MANY_CATEGORIES` values, a fifth is enough.
- Of more than `MANY_CATEGORIES` values, those in fewer than `ENOUGH_ROWS` rows, and all but
  the `MOST_CATEGORIES` most frequent, count as missing, like those that come up later. If
  they are more than half of all cells, the column is left out.
- Text with more than `TRIAL_CATEGORIES` values that tells nothing about the target beyond
  chance (`omnitree.data.encoding.informative`) is left out, unless no other column is left:
  tests with so many ways to divide the rows would be chosen for their luck.
- Whole numbers that count the rows, in any order, are kept, but reported.

The limits were chosen on real tables with names, ids and places
(`benchmarks/id_columns.py`), and such that none of the published data sets meets them.
`Report.warn` says in one warning what was done. Used by `omnitree.data.table`.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from omnitree.data.encoding import dates
from omnitree.data.encoding.columns import TableColumn, translate
from omnitree.data.schema import Feature

FloatArray = NDArray[np.float64]

TRIAL_CATEGORIES = 10
FEW_CATEGORIES = 20
MANY_CATEGORIES = 64
MOST_CATEGORIES = 256
ENOUGH_ROWS = 3
# Shorter columns of whole numbers in a row are no surprise.
FEW_ROWS = 50
LONGEST_LIST = 10
IDENTIFIER = re.compile(r"(?:^|[^A-Za-z])(?:id|ID|Id)$|[a-z]I[dD]$")
CATEGORICAL = (
    "make it categorical: astype('category'), or --categorical on the command line."
)
FINDINGS = {
    "left_out": "Left out, because their values identify rows: {}. To use such a column "
    f"anyway, {CATEGORICAL}",
    "uninformative": "Left out, because their many categories tell nothing of the target "
    f"beyond chance: {{}}. To use such a column all the same, {CATEGORICAL}",
    "rare": f"Rare categories count as missing: {{}}. To keep them all, {CATEGORICAL}",
    "no_dates": "Cells that are not dates count as missing: {}. To take the column as "
    "categories instead, make it categorical.",
    "counting": "Columns that count the rows are kept: {}. Drop such a column unless its "
    "order means something.",
    "identifying": "Columns that are called identifiers are kept as numbers: {}. Where rows "
    "with the same one belong together, give it as groups (--groups); else drop it unless "
    "its order means something.",
}


@dataclass
class ColumnReport:
    """What was done to columns that say too little or too much."""

    left_out: list[str] = field(default_factory=list)
    uninformative: list[str] = field(default_factory=list)
    rare: list[str] = field(default_factory=list)
    no_dates: list[str] = field(default_factory=list)
    counting: list[str] = field(default_factory=list)
    identifying: list[str] = field(default_factory=list)

    def text(self) -> str:
        """The report in words; empty if there is nothing to report."""
        sentences = []
        for finding, sentence in FINDINGS.items():
            names = getattr(self, finding)
            listed = ", ".join(names[:LONGEST_LIST])
            if len(names) > LONGEST_LIST:
                listed += f" and {len(names) - LONGEST_LIST} more"
            if names:
                sentences.append(sentence.format(listed))
        return " ".join(sentences)

    def warn(self, stacklevel: int) -> None:
        """Say it, once, if there is anything to say."""
        if text := self.text():
            warnings.warn(text, UserWarning, stacklevel=stacklevel + 1)


def learn_columns(
    columns: Sequence[TableColumn], informs: Callable[[FloatArray], bool] | None = None
) -> tuple[tuple[Feature, ...], list[FloatArray], ColumnReport]:
    """The features that columns become, their values, and what to tell the user.

    `informs` says whether categories, given as codes, tell anything of the target; None:
    there is no target to ask.

    Examples
    --------
    >>> words = tuple(f"Mr. {i:02}" for i in range(99))
    >>> name = TableColumn("name", "categorical", np.arange(99.0), words)
    >>> age = TableColumn("age", "numeric", np.arange(99.0) % 50)
    >>> features, _, report = learn_columns([name, age])
    >>> [f.name for f in features], report.left_out
    (['age'], ["'name' (99 different values in 99 rows)"])
    """
    report = ColumnReport()
    found = [pair for column in columns for pair in _learn(column, report, informs)]
    if not found and report.uninformative:
        return learn_columns(columns)
    numbers = {f.name: v for f, v in found if f.kind == "numeric" and f.part is None}
    report.counting += counting_columns([*numbers], numbers.values(), len(columns))
    report.identifying += [
        f"{name!r} ({len(set(cells))} different values in {len(cells)} rows)"
        for name, cells in numbers.items()
        if IDENTIFIER.search(name)
        and not any(text.startswith(f"{name!r} (") for text in report.counting)
        and (cells % 1 == 0).all()
        and len(set(cells)) > FEW_CATEGORIES
    ]
    if not found:
        raise ValueError(f"No column is left to learn from. {report.text()}")
    return tuple(f for f, _ in found), [v for _, v in found], report


def counting_columns(
    names: Sequence[str], values: Iterable[FloatArray], n_columns: int
) -> list[str]:
    """Columns of numbers that count the rows, in words.

    A table with no other column than that is not suspected.

    Examples
    --------
    >>> counting_columns(["id", "size"], [np.arange(99.0), np.ones(99)], 2)
    ["'id' (0 to 98)"]
    """
    if n_columns < 2:
        return []
    return [
        f"{name!r} ({cells.min():.0f} to {cells.max():.0f})"
        for name, cells in zip(names, values, strict=True)
        if _counts_rows(cells)
    ]


def _counts_rows(cells: FloatArray) -> bool:
    """Whether the cells are whole numbers in a row, each once, in any order."""
    n = len(cells)
    if n <= FEW_ROWS or cells[0] % 1 != 0 or cells[-1] % 1 != 0:
        return False
    low, high = cells.min(), cells.max()
    if high - low != n - 1 or (cells % 1 != 0).any():
        return False
    return bool((np.bincount((cells - low).astype(np.intp)) == 1).all())


def _learn(
    column: TableColumn,
    report: ColumnReport,
    informs: Callable[[FloatArray], bool] | None,
) -> list[tuple[Feature, FloatArray]]:
    """The features of one column and their values; none if it is left out."""
    if column.kind == "date":
        return _parts(column.name, column.values, day_first=False)
    if column.kind != "categorical" or column.declared or column.categories is None:
        return [(column.feature(), column.values)]
    words = [str(category) for category in column.categories]
    present = ~np.isnan(column.values)
    counts = np.bincount(column.values[present].astype(np.intp), minlength=len(words))
    if (learned := dates.learn_text(words, counts)) is not None:
        moments, day_first = learned
        if odd := int(counts[np.isnan(moments)].sum()):
            report.no_dates.append(f"{column.name!r} ({odd} of {counts.sum()} cells)")
        values = translate(column.values, moments)
        return _parts(column.name, values, day_first=day_first)
    keep = _worth_keeping(counts)
    if not keep.any():
        report.left_out.append(
            f"{column.name!r} ({len(words)} different values in {counts.sum()} rows)"
        )
        return []
    if not keep.all():
        codes = np.where(keep, np.cumsum(keep) - 1.0, np.nan)
        column = replace(
            column,
            values=translate(column.values, codes),
            categories=tuple(
                w for w, k in zip(column.categories, keep, strict=True) if k
            ),
        )
    if informs and keep.sum() > TRIAL_CATEGORIES and not informs(column.values):
        report.uninformative.append(f"{column.name!r} ({len(words)} categories)")
        return []
    if not keep.all():
        report.rare.append(f"{column.name!r} ({(~keep).sum()} of {len(words)})")
    return [(column.feature(), column.values)]


def _worth_keeping(counts: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Which categories are kept, by their numbers of rows; none: leave the column out."""
    n, rows = len(counts), counts.sum()
    many = n > MANY_CATEGORIES
    if n > FEW_CATEGORIES and (5 if many else 2) * n > rows:
        return np.zeros(n, dtype=bool)
    if not many:
        return np.ones(n, dtype=bool)
    frequent = np.argsort(-counts, kind="stable")[:MOST_CATEGORIES]
    keep = np.zeros(n, dtype=bool)
    keep[frequent] = counts[frequent] >= ENOUGH_ROWS
    return keep if 2 * counts[keep].sum() >= rows else np.zeros(n, dtype=bool)


def _parts(
    name: str, moments: FloatArray, *, day_first: bool
) -> list[tuple[Feature, FloatArray]]:
    """The parts of dates that vary, as features, and their values."""
    if np.isnan(moments).all():
        return [(Feature(name, "numeric", ()), moments)]
    return [
        (Feature.of_part(part), dates.part_values(moments, part))
        for part in dates.parts_of(name, moments, day_first=day_first)
    ]
