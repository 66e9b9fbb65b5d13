"""Readings that decide how large trees are, beside the papers' figures.

Ties: Quinlan's reduced-error pruning cuts a subtree that errs as often as a leaf on held-out
rows. The words of Brodley & Utgoff (1995) and of Yildiz & Alpaydin (2005) keep it, but the
former name Quinlan's method and the latter's program cuts.

The end of thermal training (Brodley & Utgoff 1995): when corrections were small "for the
last 2 * n instances". Rows that are right have none, so that training ends after a few
passes; `to the end` goes on until nothing changes. How long the pocket algorithm trains is
not told: 100 passes here, and 3.

All are run by the papers' protocols on their smaller data sets. Sizes and accuracies stand
beside the published ones: means over the cells, how many differ by more than three standard
errors, and which way.

    python benchmarks/pruning_ties.py --data FOLDER --store ties.sqlite \
        -o benchmarks/results/pruning_ties.md
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np
from page import versions

from omnitree.lab.methods import Method
from omnitree.lab.papers import bu95, bu95_runs, ldt05
from omnitree.lab.papers.base import Lab, PaperTable, published
from omnitree.lab.papers.readings import SUMMED_UP, summed_up
from omnitree.lab.papers.results import Study
from omnitree.lab.protocols import RepeatedFolds
from omnitree.lab.store import Store
from omnitree.lab.tables import TextTable
from omnitree.parts.coefficients import Coefficients, Pocket, Thermal
from omnitree.pruning import ReducedError

WAYS = {
    "cut": ReducedError(ties="cut"),
    "keep": ReducedError(ties="keep"),
    "cut, top down": ReducedError(order="top_down"),
}
# Methods of the first paper, and what takes the place of their coefficient learner.
GROUPS: dict[str, tuple[tuple[str, ...], Coefficients | None]] = {
    "univariate": (("Uni-G", "Uni-I"), None),
    "RLS": (("RLS",), None),
    "pocket": (("Pocket",), None),
    "pocket, 3 passes": (("Pocket",), Pocket(passes=3)),
    "thermal": (("Thermal",), None),
    "thermal, to the end": (("Thermal",), Thermal(alpha=0.0)),
}
BU95_SETS = ("bupa", "breast", "cleveland", "hepatitis")
BU95_TABLES = ("5", "9", "13", "16")
LDT05_TABLES = ("3", "4", "6", "7", "15", "16")


def with_pruning(method: Method, pruning: ReducedError) -> Method:
    """The method pruned in this way, if it is pruned by held-out rows at all."""
    own = getattr(method.make(0), "pruning", None)
    if not isinstance(own, ReducedError):
        return method
    return replace(method, options=method.options | {"pruning": pruning})


def bu95_tables(lab: Lab, pruning: ReducedError, group: str) -> list[PaperTable]:
    """Tables of the first paper on a few data sets, from three runs."""
    methods, instead = GROUPS[group]
    frames = {n: bu95._published(n, False) for n in BU95_TABLES}
    frames = {n: f[f["dataset"].isin(BU95_SETS)] for n, f in frames.items()}
    keys = {
        key
        for number, frame in frames.items()
        for _, row in frame.iterrows()
        for key in bu95_runs.keys_of(number, row)
        if key.method in methods
    }
    own = bu95_runs.method_of

    def changed(key: bu95_runs.Key) -> Method:
        method = with_pruning(own(key), pruning)
        if instead is None:
            return method
        return replace(method, options=method.options | {"coefficients": instead})

    try:
        bu95_runs.method_of = changed
        scores = bu95_runs.run(lab, sorted(keys), 3)
    finally:
        bu95_runs.method_of = own
    tables = []
    for number, frame in frames.items():
        known = [
            all(key in scores for key in bu95_runs.keys_of(number, row))
            for _, row in frame.iterrows()
        ]
        if any(known):
            tables.append(bu95._table(number, frame[known], scores))
    return tables


def ldt05_tables(lab: Lab, pruning: ReducedError) -> list[PaperTable]:
    """Tables of the second paper on its small data sets."""
    methods = {k: with_pruning(m, pruning) for k, m in ldt05.METHODS.items()}
    study = Study(lab, RepeatedFolds(2, 5), methods, ldt05.DATA, ldt05.QUICK)
    tables = []
    for number in LDT05_TABLES:
        title = ldt05.TABLES[number]
        file = f"yildiz2005_table{int(number):02d}_{title.split(',')[0]}"
        assert len(published(file))
        tables.append(study.table(number, title, file))
    return tables


def summary(paper: str, tables: dict[str, list[PaperTable]]) -> list[tuple[str, ...]]:
    """A line for each way and kind of figure."""
    rows = []
    for kind, better in (("accuracy", "larger"), ("size", "size")):
        for way, found in tables.items():
            cells = [c for t in found for c in t.cells if c.better == better]
            cells = [c for c in cells if np.isfinite(c.error)]
            rows.append((paper, kind, way, *summed_up(cells)))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--store", type=Path)
    parser.add_argument("-o", "--out", type=Path)
    asked = parser.parse_args()
    lab = Lab(Store(asked.store), asked.data)
    rows = []
    for group in GROUPS:
        found = {way: bu95_tables(lab, WAYS[way], group) for way in ("cut", "keep")}
        rows += summary(f"BU95, {group}", found)
    found = {way: ldt05_tables(lab, p) for way, p in WAYS.items()}
    rows += summary("LDT05", found)
    columns = ("paper", "figure", "ties", *SUMMED_UP)
    table = TextTable("Ties in reduced-error pruning", columns, tuple(rows), "", 3)
    head = f"# Ties in reduced-error pruning\n\n{__doc__}\n{versions()}."
    text = f"{head}\n\n{table.markdown()}\n"
    if asked.out is None:
        print(text)
    else:
        asked.out.write_text(text)


if __name__ == "__main__":
    main()
