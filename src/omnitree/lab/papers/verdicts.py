"""Verdicts of reproductions, counted by kind of figure, with reasons for what is worse.

Kinds are accuracies and errors, sizes (of trees, tests, numbers of parameters), counts of
nodes, tests of significance, and what has no verdict (times of another machine, numbers of
wins). A reason is a line of a table: a paper, a pattern for the number of a table, one for
the labels of a cell, and the words. Used by `benchmarks/paper_pages.py`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from omnitree.lab.papers.base import VERDICTS, PaperCell, Reproduction
from omnitree.lab.papers.pooled import pooled_methods
from omnitree.lab.tables import TextTable

KINDS = {
    "larger": "accuracy or error",
    "smaller": "accuracy or error",
    "size": "size",
    "neither": "count of nodes",
}
TEST, NONE = "test of significance", "time or number of wins"


@dataclass(frozen=True)
class Reason:
    """Why some cells of a paper are as they are; patterns are as file names have them."""

    paper: str
    table: str
    cell: str
    words: str

    def covers(self, paper: str, table: str, cell: str) -> bool:
        """Whether it is about a cell, by the number of its table and its labels."""
        return (
            self.paper == paper
            and fnmatchcase(table, self.table)
            and fnmatchcase(cell, self.cell)
        )


def kind_of(cell: PaperCell) -> str:
    """What kind of figure a cell has.

    >>> kind_of(PaperCell(("iris",), 95.0, 96.0, 0.5, "same", better="larger"))
    'accuracy or error'
    """
    if cell.better in KINDS:
        return KINDS[cell.better]
    return NONE if cell.verdict == "not compared" else TEST


def counts(found: dict[str, Reproduction]) -> TextTable:
    """Verdicts by paper and kind of figure; the last lines are of all papers."""
    by: dict[tuple[str, str], Counter[str]] = {}
    for paper, reproduction in found.items():
        for table in reproduction.tables:
            for cell in table.cells:
                for name in (paper, "all"):
                    key = name, kind_of(cell)
                    by.setdefault(key, Counter())[cell.verdict] += 1
    order = [*found, "all"]
    rows = []
    for paper, kind in sorted(by, key=lambda key: (order.index(key[0]), key[1])):
        verdicts = by[paper, kind]
        rows.append((paper, kind, *(str(verdicts[v]) for v in VERDICTS)))
    accuracy = by.get(("all", KINDS["larger"]), Counter())
    judged = sum(accuracy[v] for v in ("same", "better", "worse"))
    good = judged - accuracy["worse"]
    note = f"{good} of {judged} accuracies and errors ({100 * good / max(judged, 1):.1f} %) "
    note += "are the published ones within three standard errors, or better."
    columns = ("paper", "figure", *VERDICTS)
    return TextTable("Verdicts by kind of figure", columns, tuple(rows), note, 2)


def worse(found: dict[str, Reproduction], reasons: Sequence[Reason]) -> TextTable:
    """Every accuracy or error that is worse than published, with its reason."""
    rows = [
        (paper, number, label, _apart(cell), _reason(reasons, paper, number, label))
        for paper, number, label, cell in _cells(found)
        if cell.verdict == "worse"
    ]
    without = sum(not row[-1] for row in rows)
    note = f"{len(rows)} cells, {without} of them without a reason."
    columns = ("paper", "table", "cell", "ours less published", "reason")
    return TextTable("Worse than published", columns, tuple(rows), note, 5)


def drifts(found: dict[str, Reproduction], reasons: Sequence[Reason]) -> TextTable:
    """Pooled z of every method of every paper; beyond 2 in size with its reason."""
    rows = []
    for paper, reproduction in found.items():
        for method, n, mean, pooled in pooled_methods(reproduction.tables):
            far = abs(pooled) > 2
            words = _reason(reasons, paper, "method", method) if far else ""
            if far and not words:
                words = "none found"
            rows.append(
                (paper, method, str(n), f"{mean:+.2f}", f"{pooled:+.2f}", words)
            )
    beyond = [row for row in rows if row[-1]]
    note = (
        f"{len(beyond)} of {len(rows)} methods are beyond 2 in size, "
        f"{sum(float(row[4]) < 0 for row in beyond)} of them below the published figures. "
        "Positive: ours is better."
    )
    if not rows:
        note = "No table that went into this page compares methods."
    columns = ("paper", "method", "cells", "mean z", "pooled z", "reason")
    return TextTable(
        "Accuracy in standard errors, by method", columns, tuple(rows), note, 2
    )


def _cells(
    found: dict[str, Reproduction],
) -> Iterator[tuple[str, str, str, PaperCell]]:
    for paper, reproduction in found.items():
        for table in reproduction.tables:
            for cell in table.cells:
                yield paper, table.number, ", ".join(cell.labels), cell


def _apart(cell: PaperCell) -> str:
    z = "" if math.isnan(cell.z) else f" ({cell.z:+.1f} s.e.)"
    return f"{cell.difference:+.2f}{z}"


def _reason(reasons: Iterable[Reason], paper: str, table: str, label: str) -> str:
    return next((r.words for r in reasons if r.covers(paper, table, label)), "")
