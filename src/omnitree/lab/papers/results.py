"""Published tables of raw results: a mean and deviation per data set and method.

The files have the columns dataset, method, variant, metric, mean, std. A `Study` says which
of our methods stands for which published one, and what the data sets are called here; it
runs what a table needs and makes its cells. A published method without a preset is left
out, and said so. Used by the papers whose experiments are methods x data sets.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from omnitree import presets
from omnitree.lab import ranks
from omnitree.lab.data import Dataset
from omnitree.lab.methods import Method
from omnitree.lab.papers.base import (
    Lab,
    PaperCell,
    PaperTable,
    figure_cell,
    published,
    standard_error,
)
from omnitree.lab.protocols import Protocol
from omnitree.lab.runner import Result, Task
from omnitree.lab.store import Fold

Published = tuple[str, str | None]  # a method of a paper, and its variant


@dataclass(frozen=True)
class Metric:
    """How a published measure is made of ours, and which direction is better.

    `measure` names a measure of the folds, or makes one of a fold.
    """

    measure: str | Callable[[Fold], float]
    better: str
    accuracy: bool = False

    def of(self, result: Result) -> np.ndarray:
        """Values of the folds."""
        scores = self.cost(result)
        return 100 - scores if self.accuracy else scores

    def cost(self, result: Result) -> np.ndarray:
        """Values of the folds where smaller is better."""
        if isinstance(self.measure, str):
            return result.scores(self.measure)
        return np.array([self.measure(fold) for fold in result.folds], dtype=float)


def printed_complexity(fold: Fold) -> float:
    """Decision nodes and the dimensions of the root's test; 0 for a single leaf.

    What the omnivariate paper's table 2 has, against its text (see tables/README.md, O2).
    """
    if fold.failure is not None:
        return math.nan
    nodes = fold.detail["nodes"]
    return len(nodes) + nodes[0][6] - 1 if nodes else 0


METRICS = {
    "accuracy": Metric("error", "larger", accuracy=True),
    "error": Metric("error", "smaller"),
    "tree_size": Metric("nodes", "size"),
    "tree_complexity": Metric("parameters", "size"),
    "model_complexity": Metric(printed_complexity, "size"),
    "learning_time": Metric("seconds", "unknown"),
}


@dataclass(frozen=True)
class Study:
    """Methods, data sets and protocol of a paper.

    `methods` are by published method and variant, of which None stands for any. `data`
    has our names of data sets by the published ones, where they differ; `only` some of
    these (published names) are run, if it is not empty. `coded` says how the paper codes a
    data set, where otherwise than the file.
    """

    lab: Lab
    protocol: Protocol
    methods: Mapping[Published, Method]
    data: Mapping[str, str]
    only: Sequence[str] = ()
    coded: Mapping[str, Callable[[Dataset], Dataset]] = field(default_factory=dict)

    def method(self, name: str, variant: str | None) -> Method | None:
        """Our method for a published one; None if it has no preset (yet)."""
        found = self.methods.get(self.known_as(name, variant))
        return found if found and found.preset in presets.names() else None

    def known_as(self, name: str, variant: str | None) -> Published:
        """How `methods` has a published method: with its variant, or for any."""
        return (name, variant if (name, variant) in self.methods else None)

    def load(self, name: str) -> Dataset:
        """A data set by its published name, coded as the paper has it."""
        found = self.lab.load(self.data.get(name, name))
        return self.coded[name](found) if name in self.coded else found

    def table(self, number: str, title: str, file: str) -> PaperTable:
        """A published table beside ours."""
        frame = self.rows(published(file))
        missing = {
            str(row["method"])
            for _, row in frame.iterrows()
            if self.method(row["method"], _variant(row)) is None
        }
        note = f"Left out, no preset: {', '.join(sorted(missing))}." if missing else ""
        keys = ("data set", "method")
        return PaperTable(number, title, keys, tuple(self.cells(file)), note)

    def cells(self, file: str, only: Published | None = None) -> list[PaperCell]:
        """The figures of a published table beside ours, of all methods or of one."""
        frame = self.rows(published(file))
        frame = frame[frame["mean"].notna()]
        if only is not None:
            known = [
                self.known_as(r["method"], _variant(r)) for _, r in frame.iterrows()
            ]
            frame = frame[[name == only for name in known]]
        results = self.run(frame)
        return [
            self._cell(row, results[key])
            for _, row in frame.iterrows()
            if (key := (row["dataset"], row["method"], _variant(row))) in results
        ]

    def wins(self, number: str, title: str, file: str, pairs: str) -> PaperTable:
        """A published table of pairwise wins beside ours, on the raw results of `file`."""
        frame = self.rows(published(file))
        (name_of_metric,) = frame["metric"].unique()
        metric = METRICS[name_of_metric]
        scores: dict[str, dict[str, np.ndarray]] = {}
        for (name, method, _), result in self.run(frame).items():
            if not result.failures:
                scores.setdefault(name, {})[method] = metric.cost(result)
        counts = ranks.win_table(scores, self.protocol.compare)
        print_ = published(pairs)
        print_ = print_[print_["metric"] == name_of_metric]
        known = set(counts.index) - {"SUM"}
        cells = []
        for _, row in print_.iterrows():
            first, second = row["row_method"], row["col_method"]
            if {first, second} <= known:
                ours, labels = (
                    float(counts.loc[first, second]),
                    (f"{first} over {second}",),
                )
                theirs = float(row["count"])
                cells.append(figure_cell(labels, theirs, ours, math.nan, "unknown"))
        total = published(file)["dataset"].nunique()
        note = (
            f"Significant wins on {len(scores)} data sets ({self.protocol.test_name}); "
            f"published: on {total}. Counts have no standard error and get no verdict."
        )
        return PaperTable(number, title, ("pair",), tuple(cells), note, digits=0)

    def rows(self, frame: pd.DataFrame) -> pd.DataFrame:
        """What is published on the data sets of this study."""
        frame = frame[frame["dataset"] != "ALL"]
        files = frame["dataset"].replace(dict(self.data))
        frame = frame[~files.isin(self.lab.missing)]
        return frame[frame["dataset"].isin(self.only)] if self.only else frame

    def run(self, frame: pd.DataFrame) -> dict[tuple[str, str, str | None], Result]:
        """The results that a table needs, by data set, method and variant."""
        keys, tasks = [], []
        loaded: dict[str, Dataset] = {}
        for _, row in frame.iterrows():
            method = self.method(row["method"], _variant(row))
            if method is None:
                continue
            name = row["dataset"]
            if name not in loaded:
                loaded[name] = self.load(name)
            keys.append((name, row["method"], _variant(row)))
            tasks.append(Task(loaded[name], method, self.protocol, self.lab.seed))
        # The smallest data sets first, so that a run that is stopped has much to show.
        order = sorted(range(len(tasks)), key=lambda i: len(tasks[i].data.y))
        found = dict(zip(order, self.lab.run([tasks[i] for i in order]), strict=True))
        return {key: found[i] for i, key in enumerate(keys)}

    def _cell(self, row: pd.Series, result: Result) -> PaperCell:
        metric = METRICS[row["metric"]]
        ours = metric.of(result)
        ours = ours[np.isfinite(ours)]
        variant = _variant(row)
        shown = row["method"]
        if (row["method"], variant) in self.methods and variant is not None:
            shown = f"{shown}, {variant}"
        labels = (row["dataset"], shown)
        n = len(ours)
        if n < 2:
            return figure_cell(labels, row["mean"], math.nan, math.nan, metric.better)
        error = standard_error((row["std"], n), (float(ours.std(ddof=1)), n))
        mean = float(ours.mean())
        return figure_cell(labels, row["mean"], mean, error, metric.better, row["std"])


def _variant(row: pd.Series) -> str | None:
    return None if pd.isna(row["variant"]) else str(row["variant"])
