"""Published tables beside methods that are read otherwise than in the main tables.

Where a paper can be read in two ways, one is run for the main tables and counted there. The
other is run on the same folds, shown beside it and not counted: `side_by_side` sums both up,
and `read_otherwise` has all figures. Used by `ldt05` and `benchmarks/pruning_ties.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from omnitree.lab.methods import Method
from omnitree.lab.papers.base import PaperCell, PaperTable
from omnitree.lab.papers.results import Published, Study
from omnitree.lab.tables import TextTable

SUMMED_UP = (
    *("published", "ours", "same", "better or larger", "worse or smaller"),
    "mean difference in s.e.",
)
Readings = Mapping[Published, Mapping[str, Method]]  # methods by words


def read_otherwise(
    study: Study, number: str, title: str, file: str, readings: Readings
) -> PaperTable | None:
    """The cells of a published table whose methods have other readings, if it has any."""
    cells: list[PaperCell] = []
    for published, others in readings.items():
        for words, method in others.items():
            other = replace(study, methods={**study.methods, published: method})
            for cell in other.cells(file, only=published):
                cells.append(replace(cell, labels=(*cell.labels, words)))
    if not cells:
        return None
    keys = ("data set", "method", "reading")
    return PaperTable(number, f"{title}, read otherwise", keys, tuple(cells))


def side_by_side(pairs: Iterable[tuple[PaperTable, PaperTable]]) -> TextTable:
    """Both readings of every method, from tables and the same tables read otherwise."""
    rows = []
    for main, other in pairs:
        own = {cell.labels: cell for cell in main.cells}
        for method, words in dict.fromkeys(cell.labels[1:] for cell in other.cells):
            cells = [cell for cell in other.cells if cell.labels[1:] == (method, words)]
            first = [own[cell.labels[0], method] for cell in cells]
            for reading, found in (("as run", first), (words, cells)):
                rows.append((other.number, method, reading, *summed_up(found)))
    columns = ("table", "method", "reading", *SUMMED_UP)
    note = "Means over the data sets. Only what was run as the first is counted above."
    return TextTable("Two readings side by side", columns, tuple(rows), note, 3)


def summed_up(cells: list[PaperCell]) -> list[str]:
    """Means of cells, how many are apart and which way, by the columns `SUMMED_UP`."""
    counts = Counter(cell.verdict for cell in cells)
    high, low = counts["better"] + counts["larger"], counts["worse"] + counts["smaller"]
    apart = [cell.difference / cell.error for cell in cells if cell.error > 0]
    published, ours = (
        np.mean([getattr(c, n) for c in cells]) for n in ("published", "ours")
    )
    return [
        *(f"{published:.2f}", f"{ours:.2f}", str(counts["same"]), str(high), str(low)),
        f"{np.mean(apart):+.2f}" if apart else "",
    ]
