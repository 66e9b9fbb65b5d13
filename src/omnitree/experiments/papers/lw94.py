"""Liu & White (1994): experiments I to III, tables 1 to 7 and the figures in the text.

Every data set (100 cases, 50 of each class) is one task: leave-one-out by dynamic path
generation under random attribute selection and under H_T, on the same data. The preset is
`random-attribute`; H_T is its `choice="best"`. 100 data sets a condition, 20 with --quick.

Readings: position 1 of table 6 is the root (the count of observations in table 7 says so);
table 3 counts paths that branch on the signal at the root (its means say so), and how many
do anywhere is given beside it. Standard errors are over data sets: paths within one share
their training cases.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from omnitree.experiments import anova, plots, statistics
from omnitree.experiments.data import generate
from omnitree.experiments.methods import Method
from omnitree.experiments.papers.base import (
    Cell,
    Lab,
    PaperTable,
    Reproduction,
    chosen,
    figure_cell,
    published,
    standard_error,
    statistic_cell,
)
from omnitree.experiments.protocols import LeaveOneOut
from omnitree.experiments.report import Figure
from omnitree.experiments.runner import Result, Task
from omnitree.experiments.tables import Table

TITLE = "Liu & White (1994), The importance of attribute selection measures"
TABLES = {
    "1": "accuracy, experiment I",
    "2": "split-plot ANOVA of table 1",
    "3": "cases that branch on the signal at the root, random selection",
    "4": "accuracy on the cases of table 3",
    "5": "split-plot ANOVA of table 4",
    "6": "importance level by position in the path, experiment III",
    "7": "ANOVA of table 6",
    "I": "tests in the text, experiment I",
    "II": "accuracy and test, experiment II",
    "III": "accuracy, path lengths and tests, experiment III",
}
NOISE = (1, 5, 10, 20, 40, 80)
METHODS = {
    "random": Method("random-attribute", label="random"),
    "H_T": Method("random-attribute", {"choice": "best"}, label="H_T"),
}
POSITIONS = range(1, 7)


@dataclass(frozen=True)
class Condition:
    """All data sets of one condition: arrays (data sets x cases) by method."""

    right: dict[str, np.ndarray]
    paths: dict[str, list[list[list[int]]]]

    def accuracy(self, method: str) -> np.ndarray:
        """Percent of the cases classified rightly, by data set."""
        return 100 * self.right[method].mean(axis=1)

    def on_signal(self) -> np.ndarray:
        """Whether each case's path under random selection begins with the signal."""
        return np.array(
            [[p[:1] == [0] for p in cases] for cases in self.paths["random"]]
        )

    def signal_anywhere(self) -> np.ndarray:
        """Cases a data set whose path under random selection has the signal at all."""
        return np.array([sum(0 in p for p in cases) for cases in self.paths["random"]])

    def lengths(self, method: str) -> np.ndarray:
        """Length of each path."""
        return np.array([[len(p) for p in cases] for cases in self.paths[method]])


def reproduce(lab: Lab, wanted: Sequence[str] = ()) -> Reproduction:
    """Run what the wanted tables need and set them beside the published ones."""
    numbers = chosen(wanted, list(TABLES))
    n = 20 if lab.quick else 100
    designs: list[tuple[int, int]] = []
    if set(numbers) - {"6", "7", "II", "III"}:
        designs += [(1, noise) for noise in NOISE]
    if "II" in numbers:
        designs.append((2, 0))
    if {"6", "7", "III"} & set(numbers):
        designs.append((3, 0))
    conditions = _simulate(lab, designs, n)
    one = {noise: conditions[1, noise] for noise in NOISE if (1, noise) in conditions}
    makers = {
        "1": lambda: _table1(one),
        "2": lambda: _table2(one),
        "3": lambda: _table3(one),
        "4": lambda: _table4(one),
        "5": lambda: _table5(one),
        "6": lambda: _table6(conditions[3, 0]),
        "7": lambda: _table7(conditions[3, 0]),
        "I": lambda: _text1(one),
        "II": lambda: _text(conditions[2, 0], "II"),
        "III": lambda: _text(conditions[3, 0], "III"),
    }
    tables = [makers[number]() for number in numbers]
    figures, others = [], []
    if one and "1" in numbers:
        figures.append(_figure1(one))
    if one and "3" in numbers:
        others.append(_anywhere(one))
    if "6" in numbers:
        figures.append(_figure2(conditions[3, 0]))
    notes = [f"{n} data sets a condition, seed {lab.seed}."]
    return Reproduction(tables, figures, notes, others)


def _simulate(
    lab: Lab, designs: Sequence[tuple[int, int]], n: int
) -> dict[tuple[int, int], Condition]:
    """Both methods on n data sets of each design (experiment, noise attributes)."""
    tasks = []
    for experiment, noise in designs:
        for i in range(n):
            # One seed a data set, so that its rows and draws are its own.
            seed = 10**6 * lab.seed + 10**5 * experiment + 10**3 * noise + i
            data = generate("lw94", experiment=experiment, noise=noise, seed=seed)
            tasks += [
                Task(data, m, LeaveOneOut(paths=True), seed) for m in METHODS.values()
            ]
    results = iter(lab.run(tasks))
    out = {}
    for design in designs:
        by: dict[str, list[Result]] = {name: [] for name in METHODS}
        for _ in range(n):
            for name in METHODS:
                by[name].append(next(results))
        out[design] = Condition(
            {m: np.array([1 - r.wrong() for r in rs]) for m, rs in by.items()},
            {m: [r.folds[0].detail["paths"] for r in rs] for m, rs in by.items()},
        )
    return out


def _row(table: pd.DataFrame, **where: object) -> pd.Series:
    for column, value in where.items():
        table = table[table[column] == value]
    (row,) = (row for _, row in table.iterrows())
    return row


def _mean_cell(labels: tuple[str, ...], row: pd.Series, ours: np.ndarray, size: int):
    error = standard_error((row["std"], size), (ours.std(ddof=1), len(ours)))
    return figure_cell(labels, row["mean"], float(ours.mean()), error)


def _title(noise: int) -> str:
    return f"1 signal and {noise} noise"


def _table1(one: dict[int, Condition]) -> PaperTable:
    print_ = published("liuwhite1994_table1")
    cells = [
        _mean_cell(
            (_title(noise), method),
            _row(print_, n_noise=noise, method=method),
            condition.accuracy(method),
            100,
        )
        for noise, condition in one.items()
        for method in METHODS
    ]
    return PaperTable("1", TABLES["1"], ("condition", "selection"), tuple(cells))


def _anova_cells(
    ours: pd.DataFrame, name: str, sources: dict[str, str], value: str = "F"
) -> tuple[Cell, ...]:
    print_ = published(name)
    cells = []
    for source, row_name in sources.items():
        row = _row(print_, source=source)
        significant = float(str(row["p"]).lstrip("<")) < 0.05
        found = ours.loc[row_name]
        cells.append(
            statistic_cell(
                (source, value), row[value], found[value], significant, found["p"]
            )
        )
    return tuple(cells)


SPLIT_PLOT = {
    "condition": "condition",
    "measure": "measure",
    "condition*measure": "condition*measure",
}


def _split_plot(scores: dict[int, np.ndarray]) -> pd.DataFrame:
    group = np.concatenate([[k] * len(v) for k, v in scores.items()])
    stacked = np.concatenate(list(scores.values()))
    return anova.split_plot(stacked, group, ("condition", "measure"))


def _table2(one: dict[int, Condition]) -> PaperTable:
    scores = {
        noise: np.stack([c.accuracy(m) for m in METHODS], axis=1)
        for noise, c in one.items()
    }
    cells = _anova_cells(_split_plot(scores), "liuwhite1994_table2_anova", SPLIT_PLOT)
    return PaperTable("2", TABLES["2"], ("source", "statistic"), cells, digits=1)


def _table3(one: dict[int, Condition]) -> PaperTable:
    print_ = published("liuwhite1994_table3")
    cells = []
    for noise, condition in one.items():
        row = _row(print_, n_noise=noise)
        ours = condition.on_signal().sum(axis=1)
        error = standard_error((row["std"], 100), (ours.std(ddof=1), len(ours)))
        labels = (_title(noise),)
        mean = float(ours.mean())
        cells.append(figure_cell(labels, row["mean"], mean, error, "neither"))
    return PaperTable("3", TABLES["3"], ("condition",), tuple(cells))


def _anywhere(one: dict[int, Condition]) -> Table:
    rows = tuple(
        (_title(noise), f"{c.signal_anywhere().mean():.2f}") for noise, c in one.items()
    )
    note = "What the paper's words say that table 3 counts; its figures do not fit."
    return Table(
        "Cases with the signal anywhere in the pruned path, random selection",
        ("condition", "ours"),
        rows,
        note,
    )


def _subset(one: dict[int, Condition]) -> dict[int, np.ndarray]:
    """Accuracy of both methods on the cases of table 3, where a data set has any."""
    out = {}
    for noise, condition in one.items():
        signal = condition.on_signal()
        some = signal.sum(axis=1) > 0
        columns = []
        for method in METHODS:
            right = (condition.right[method] * signal).sum(axis=1)[some]
            columns.append(100 * right / signal.sum(axis=1)[some])
        out[noise] = np.stack(columns, axis=1)
    return out


def _table4(one: dict[int, Condition]) -> PaperTable:
    print_ = published("liuwhite1994_table4")
    cells = []
    for noise, scores in _subset(one).items():
        for j, method in enumerate(METHODS):
            row = _row(print_, n_noise=noise, method=method)
            cells.append(
                _mean_cell(
                    (_title(noise), method), row, scores[:, j], row["n_datasets"]
                )
            )
    return PaperTable("4", TABLES["4"], ("condition", "selection"), tuple(cells))


def _table5(one: dict[int, Condition]) -> PaperTable:
    ours = _split_plot(_subset(one))
    cells = _anova_cells(ours, "liuwhite1994_table5_anova", SPLIT_PLOT)
    return PaperTable("5", TABLES["5"], ("source", "statistic"), cells)


def _importance(three: Condition) -> pd.DataFrame:
    """Data set, method, position (1 is the root) and importance of every branching."""
    rows = [
        (i, method, at + 1, feature + 1)
        for method in METHODS
        for i, cases in enumerate(three.paths[method])
        for path in cases
        for at, feature in enumerate(path[: POSITIONS[-1]])
    ]
    return pd.DataFrame(rows, columns=["set", "method", "position", "importance"])


def _table6(three: Condition) -> PaperTable:
    print_ = published("liuwhite1994_table6")
    found = _importance(three)
    cells = []
    for position in POSITIONS:
        for method in METHODS:
            row = _row(print_, position=position, method=method)
            ours = found[(found.method == method) & (found.position == position)]
            # Not printed, so taken as ours: the error over data sets.
            se = _clustered_error(ours)
            size = len(three.right[method])
            error = se * np.sqrt(1 + size / 100)
            mean = float(ours.importance.mean()) if len(ours) else np.nan
            labels = (str(position), method)
            cells.append(figure_cell(labels, row["mean"], mean, error, "neither"))
    note = "Standard errors are those of a mean over data sets (a ratio estimate), for both."
    return PaperTable(
        "6", TABLES["6"], ("position", "selection"), tuple(cells), note, digits=3
    )


def _clustered_error(rows: pd.DataFrame) -> float:
    """Standard error of the mean importance when data sets, not paths, are drawn."""
    if not len(rows):
        return np.nan
    mean = rows.importance.mean()
    sums = (rows.importance - mean).groupby(rows["set"]).sum().to_numpy()
    m = len(sums)
    if m < 2:
        return np.nan
    return float(np.sqrt(m / (m - 1) * (sums**2).sum()) / len(rows))


def _table7(three: Condition) -> PaperTable:
    found = _importance(three)
    ours = anova.factorial(
        found.importance, {"position": found.position, "condition": found.method}
    )
    sources = {s: s for s in ("position", "condition", "position*condition")}
    cells = _anova_cells(ours, "liuwhite1994_table7_anova", sources)
    note = f"{len(found)} branchings; published: 63836. Unique sums of squares."
    return PaperTable("7", TABLES["7"], ("source", "statistic"), cells, note)


def _text1(one: dict[int, Condition]) -> PaperTable:
    print_ = published("liuwhite1994_prose_exp1")
    accuracy = {m: [c.accuracy(m) for c in one.values()] for m in METHODS}
    subset = _subset(one)
    groups = {
        "one-way ANOVA of accuracy over conditions": accuracy,
        "one-way ANOVA of accuracy on signal-branching subset": {
            m: [v[:, j] for v in subset.values()] for j, m in enumerate(METHODS)
        },
        "one-way ANOVA of cases branching on signal over conditions": {
            "random": [c.on_signal().sum(axis=1) for c in one.values()]
        },
    }
    cells = []
    for _, row in print_.iterrows():
        if row["statistic"] == "t":
            first = one[1]
            test = statistics.paired_t(first.accuracy("H_T"), first.accuracy("random"))
            statistic, p = test
        else:
            scores = groups[row["analysis"]][row["method"]]
            label = np.concatenate([[k] * len(s) for k, s in enumerate(scores)])
            found = anova.factorial(np.concatenate(scores), {"condition": label})
            statistic, p = found.loc["condition", ["F", "p"]]
        labels = (row["analysis"], row["method"], row["statistic"])
        significant = str(row["p"]).startswith("<")
        cells.append(statistic_cell(labels, row["value"], statistic, significant, p))
    keys = ("analysis", "method", "statistic")
    return PaperTable("I", TABLES["I"], keys, tuple(cells))


def _text(condition: Condition, experiment: str) -> PaperTable:
    print_ = published("liuwhite1994_prose_exp2_exp3")
    print_ = print_[print_.experiment == experiment]
    cells = []
    for (analysis, method), rows in print_.groupby(["analysis", "method"], sort=False):
        values = rows.set_index("statistic")["value"]
        labels = (str(analysis), str(method))
        if "accuracy" in analysis and "t" not in values:
            row = pd.Series({"mean": values["mean"], "std": values["std"]})
            ours = condition.accuracy(method)
            cells.append(_mean_cell((*labels, "mean"), row, ours, 100))
        elif "t" in values:
            cells.append(_paired(condition, labels, values["t"]))
        else:
            lengths = condition.lengths(method)
            by_set = lengths.mean(axis=1)
            sd = float(by_set.std(ddof=1))
            error = standard_error((sd, 100), (sd, len(by_set)))
            cells.append(
                figure_cell(
                    (*labels, "mean"),
                    values["mean"],
                    float(by_set.mean()),
                    error,
                    "neither",
                )
            )
            for end, ours in (("min", lengths.min()), ("max", lengths.max())):
                # The ends of a range have no standard error; they are only shown.
                cells.append(
                    figure_cell(
                        (*labels, end), values[end], float(ours), np.nan, "unknown"
                    )
                )
    keys = ("analysis", "method", "statistic")
    return PaperTable(experiment, TABLES[experiment], keys, tuple(cells))


def _paired(condition: Condition, labels: tuple[str, str], t: float) -> Cell:
    if "path length" in labels[0]:
        a, b = (condition.lengths(m).ravel() for m in ("random", "H_T"))
    else:
        a, b = (condition.accuracy(m) for m in ("H_T", "random"))
    test = statistics.paired_t(a, b)
    return statistic_cell((*labels, "t"), t, test.statistic, True, test.p)


def _figure1(one: dict[int, Condition]) -> Figure:
    print_ = published("liuwhite1994_table1")
    series = {}
    for method in METHODS:
        ours = [float(c.accuracy(method).mean()) for c in one.values()]
        series[method] = (list(NOISE), ours)
        theirs = print_[print_.method == method]["mean"].tolist()
        series[f"{method}, published"] = (list(NOISE), theirs)
    labels = ("noise attributes", "percent right")
    return Figure("Figure 1", plots.lines_by_position(series, labels))


def _figure2(three: Condition) -> Figure:
    print_ = published("liuwhite1994_table6")
    found = _importance(three)
    series = {}
    for method in METHODS:
        mean = found[found.method == method].groupby("position").importance.mean()
        series[method] = (mean.index.tolist(), mean.tolist())
        theirs = print_[print_.method == method]["mean"].tolist()
        series[f"{method}, published"] = (list(POSITIONS), theirs)
    labels = ("position in the path", "mean importance level")
    return Figure("Figure 2", plots.lines_by_position(series, labels))
