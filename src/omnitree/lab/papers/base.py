"""What the reproductions share: published figures, cells with verdicts, and the lab.

A cell is a published figure beside ours. The verdict is "same" when the two differ by at
most three standard errors of their difference. Else an accuracy or an error is "better" or
"worse" and a size "smaller" or "larger": a smaller tree is another tree, not a better
reproduction. Other counts "differ". Times of another machine get no verdict. Tests get
"same" when they fall on the same side of 0.05.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from io import StringIO
from pathlib import Path

import pandas as pd

from omnitree.data.reading import InputError
from omnitree.growing.part import unknown
from omnitree.lab.data import Dataset
from omnitree.lab.report import Figure
from omnitree.lab.runner import Result, Task, run
from omnitree.lab.store import Store
from omnitree.lab.tables import TextTable

WITHIN = 3.0  # standard errors
ASSUMED = "≈: no deviation is published; that of ours stands for both."
VERDICTS = ("same", "better", "worse", "smaller", "larger", "differs", "not compared")


@dataclass(frozen=True)
class Lab:
    """Where and how a reproduction runs."""

    store: Store
    folder: Path | None = None
    n_jobs: int = 1
    seed: int = 0
    quick: bool = False
    verbose: bool = False
    missing: tuple[str, ...] = ()  # data sets that are found nowhere: left out

    def run(self, tasks: Sequence[Task]) -> list[Result]:
        """Run tasks, or take them from the store."""
        return run(tasks, self.store, self.n_jobs, verbose=self.verbose)

    def load(self, name: str) -> Dataset:
        """A data set of the folder, else of OpenML."""
        # It reads published tables from here.
        from omnitree.lab.papers import sources

        return sources.load(name, self.folder)


@dataclass(frozen=True)
class PaperCell:
    """A published figure beside ours."""

    labels: tuple[str, ...]  # where in its table it stands
    published: float
    ours: float
    error: float  # standard error of their difference; NaN if unknown
    verdict: str
    deviation: float = math.nan  # the published one, where low means worse
    better: str = "unknown"  # as for `figure_cell`
    assumed: bool = False  # no deviation is published, that of ours stands for both

    @property
    def difference(self) -> float:
        """Ours less published."""
        return self.ours - self.published

    @property
    def z(self) -> float:
        """Standard errors by which an accuracy or error is better; NaN for all else."""
        sign = {"larger": 1, "smaller": -1}.get(self.better, math.nan)
        return sign * self.difference / self.error if self.error > 0 else math.nan


def figure_cell(
    labels: tuple[str, ...],
    published: float,
    ours: float,
    error: float,
    better: str = "larger",
    deviation: float = math.nan,
    assumed: bool = False,
) -> PaperCell:
    """A cell with a number.

    `better` says what is good: "larger" or "smaller"; "size" and "neither" are not judged,
    and "unknown" gets no verdict at all.

    >>> figure_cell(("iris",), 95.0, 96.0, 0.5).verdict
    'same'
    >>> figure_cell(("iris",), 95.0, 99.0, 0.5).verdict
    'better'
    >>> figure_cell(("iris",), 9.0, 5.0, 0.5, better="size").verdict
    'smaller'
    """
    apart = ours - published
    if better == "unknown" or not math.isfinite(error) or not math.isfinite(apart):
        verdict = "not compared"
    elif abs(apart) <= WITHIN * error + 1e-9:
        verdict = "same"
    elif better == "neither":
        verdict = "differs"
    elif better == "size":
        verdict = "larger" if apart > 0 else "smaller"
    else:
        verdict = "better" if (apart > 0) == (better == "larger") else "worse"
    kept = deviation if better == "larger" else math.nan
    return PaperCell(labels, published, ours, error, verdict, kept, better, assumed)


def statistic_cell(
    labels: tuple[str, ...], statistic: float, ours: float, significant: bool, p: float
) -> PaperCell:
    """A cell with a test statistic: the same if both or neither are significant at 0.05."""
    verdict = "same" if significant == (p < 0.05) else "differs"
    return PaperCell(labels, statistic, ours, math.nan, verdict)


@dataclass(frozen=True)
class PaperTable:
    """One published table, cell by cell."""

    number: str
    title: str
    keys: tuple[str, ...]
    cells: tuple[PaperCell, ...]
    note: str = ""
    digits: int = 2

    def __post_init__(self):
        if not self.cells:
            raise ValueError(
                f"table {self.number} ({self.title}) has no cells: no published figure "
                "matches what was run"
            )

    def table(self) -> TextTable:
        """As text."""
        rows = []
        for cell in self.cells:
            numbers = self._number(cell.published), self._number(cell.ours)
            apart = f"{cell.difference:+.{self.digits}f}"
            error = "≈" * cell.assumed + self._number(cell.error)
            rows.append((*cell.labels, *numbers, apart, error, cell.verdict))
        columns = (*self.keys, "published", "ours", "difference", "s.e.", "verdict")
        title = f"Table {self.number}: {self.title}"
        note = self.note
        if any(cell.assumed for cell in self.cells):
            note = f"{note} {ASSUMED}".strip()
        return TextTable(title, columns, tuple(rows), note, len(self.keys))

    def _number(self, value: float) -> str:
        return "" if not math.isfinite(value) else f"{value:.{self.digits}f}"


@dataclass(frozen=True)
class Reproduction:
    """Everything that came of reproducing a paper."""

    tables: list[PaperTable]
    figures: list[Figure] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    others: list[TextTable] = field(default_factory=list)

    def summary(self) -> TextTable:
        """Verdicts counted, table by table."""
        rows = []
        total: Counter[str] = Counter()
        for table in self.tables:
            counts = Counter(cell.verdict for cell in table.cells)
            total += counts
            shown = (str(counts[v]) for v in VERDICTS)
            rows.append((table.number, table.title, *shown))
        rows.append(("all", "", *(str(total[v]) for v in VERDICTS)))
        note = (
            "same: within three standard errors of the difference, or a test that falls "
            "on the same side of 0.05."
        )
        columns = ("table", "shows", *VERDICTS)
        return TextTable("Summary", columns, tuple(rows), note, text_columns=2)


def shortfalls(tables: Sequence[PaperTable]) -> TextTable:
    """Cells more than two published deviations worse than the published mean."""
    rows, n = [], 0
    for table in tables:
        for cell in table.cells:
            if not math.isfinite(cell.deviation):
                continue
            n += 1
            if cell.ours < cell.published - 2 * cell.deviation:
                theirs = f"{cell.published:.2f} ± {cell.deviation:.2f}"
                label = ", ".join(cell.labels)
                rows.append((table.number, label, f"{cell.ours:.2f}", theirs))
    title = "More than two published deviations below the published mean"
    note = f"{len(rows)} of {n} means."
    return TextTable(
        title, ("table", "cell", "ours", "published"), tuple(rows), note, 2
    )


@cache
def published(name: str) -> pd.DataFrame:
    """A table of published figures by the name of its file, without `.csv`.

    >>> published("liuwhite1994_table1")["mean"].tolist()[:2]
    [77.0, 77.98]
    """
    path = files("omnitree.lab.papers") / "tables" / f"{name}.csv"
    return pd.read_csv(StringIO(path.read_text("utf-8")))


def chosen(wanted: Sequence[str], known: Sequence[str]) -> list[str]:
    """The tables asked for, all if none are."""
    for number in wanted:
        if number not in known:
            raise InputError(unknown("table", number, list(known)))
    return list(wanted) or list(known)


def standard_error(*deviations_and_sizes: tuple[float, float]) -> float:
    """Of a difference of means, from (standard deviation, number) of each."""
    return math.sqrt(sum(sd**2 / n for sd, n in deviations_and_sizes))
