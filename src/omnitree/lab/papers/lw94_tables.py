"""Tables 1 to 7 of Liu & White (1994), beside ours. Used by `lw94`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from omnitree.lab import anova
from omnitree.lab.papers import base
from omnitree.lab.papers.lw94_runs import METHODS, POSITIONS, TABLES, Condition
from omnitree.lab.tables import TextTable


def printed(table: pd.DataFrame, **where: object) -> pd.Series:
    """The row of a published table with the given values."""
    for column, value in where.items():
        table = table[table[column] == value]
    (row,) = (row for _, row in table.iterrows())
    return row


def mean_cell(
    labels: tuple[str, ...],
    row: pd.Series,
    ours: np.ndarray,
    size: int,
    better: str = "larger",
) -> base.PaperCell:
    """A mean over data sets; `ours` is (runs, data sets), with NaN where there is none."""
    spread = float(np.nanstd(ours[0], ddof=1))
    parts = [(row["std"], size), (spread, ours.shape[1]), *between_runs(ours)]
    mean = float(np.nanmean(ours))
    return base.figure_cell(
        labels, row["mean"], mean, base.standard_error(*parts), better
    )


def between_runs(ours: np.ndarray) -> list[tuple[float, float]]:
    """Parts of a standard error: theirs is one sequence of random choices, ours several."""
    if len(ours) < 2:
        return []
    spread = float(np.nanmean(ours, axis=1).std(ddof=1))
    return [(spread, 1), (spread, len(ours))]


def title_of(noise: int) -> str:
    """What a condition of experiment I is called."""
    return f"1 signal and {noise} noise"


def table1(one: dict[int, Condition]) -> base.PaperTable:
    """Accuracy in experiment I."""
    print_ = base.published("liuwhite1994_table1")
    cells = []
    for noise, condition in one.items():
        for method in METHODS:
            row = printed(print_, n_noise=noise, method=method)
            labels, ours = (title_of(noise), method), condition.accuracy(method)
            cells.append(mean_cell(labels, row, ours, 100))
    return base.PaperTable("1", TABLES["1"], ("condition", "selection"), tuple(cells))


def _anova_cells(
    ours: pd.DataFrame, number: int, sources: Sequence[str]
) -> tuple[base.PaperCell, ...]:
    print_ = base.published(f"liuwhite1994_table{number}_anova")
    cells = []
    for source in sources:
        row, found = printed(print_, source=source), ours.loc[source]
        significant = float(str(row["p"]).lstrip("<")) < 0.05
        figures = row["F"], found["F"], significant, found["p"]
        cells.append(base.statistic_cell((source, "F"), *figures))
    return tuple(cells)


def _split_plot_cells(
    scores: dict[int, np.ndarray], number: int
) -> tuple[base.PaperCell, ...]:
    group = np.concatenate([[k] * len(v) for k, v in scores.items()])
    stacked = np.concatenate(list(scores.values()))
    found = anova.split_plot(stacked, group, ("condition", "measure"))
    return _anova_cells(found, number, ("condition", "measure", "condition*measure"))


def table2(one: dict[int, Condition]) -> base.PaperTable:
    """Its split-plot analysis, on the first run."""
    scores = {
        noise: np.stack([c.accuracy(m)[0] for m in METHODS], axis=1)
        for noise, c in one.items()
    }
    cells = _split_plot_cells(scores, 2)
    return base.PaperTable("2", TABLES["2"], ("source", "statistic"), cells, digits=1)


def table3(one: dict[int, Condition]) -> base.PaperTable:
    """Cases whose path begins with the signal."""
    print_ = base.published("liuwhite1994_table3")
    cells, apart = [], []
    for noise, condition in one.items():
        row = printed(print_, n_noise=noise)
        ours = condition.on_signal().sum(axis=2)
        cells.append(mean_cell((title_of(noise),), row, ours, 100, "neither"))
        apart.append(f"{ours.std(axis=1, ddof=1).mean():.2f} ({row['std']:.2f})")
    note = (
        "Deviations between data sets within a run, mean of runs, and (published): "
        f"{', '.join(apart)}."
    )
    return base.PaperTable("3", TABLES["3"], ("condition",), tuple(cells), note)


def anywhere(one: dict[int, Condition]) -> TextTable:
    """Cases whose path has the signal at all."""
    rows = tuple(
        (title_of(noise), f"{c.signal_anywhere():.2f}") for noise, c in one.items()
    )
    note = "What the paper's words say that table 3 counts; its figures do not fit."
    title = "Cases with the signal anywhere in the pruned path, random selection"
    return TextTable(title, ("condition", "ours"), rows, note)


def subset(one: dict[int, Condition]) -> dict[int, np.ndarray]:
    """Accuracy of both methods on the cases of table 3, where a data set has any."""
    out = {}
    for noise, condition in one.items():
        both = np.stack([condition.subset(m, 1)[0] for m in METHODS], axis=1)
        out[noise] = both[~np.isnan(both).any(axis=1)]
    return out


def table4(one: dict[int, Condition]) -> base.PaperTable:
    """Accuracy on the cases of table 3, as another run classified them."""
    print_ = base.published("liuwhite1994_table4")
    cells = []
    for noise, condition in one.items():
        for method in METHODS:
            row = printed(print_, n_noise=noise, method=method)
            ours = condition.subset(method, 1)
            labels = (title_of(noise), method)
            cells.append(mean_cell(labels, row, ours, row["n_datasets"]))
    note = "Branchings of one run, answers of the next."
    return base.PaperTable(
        "4", TABLES["4"], ("condition", "selection"), tuple(cells), note
    )


def same_paths(one: dict[int, Condition]) -> TextTable:
    """Accuracy on the cases of table 3, as the same paths classified them."""
    rows = tuple(
        (title_of(noise), *(f"{np.nanmean(c.subset(m, 0)):.2f}" for m in METHODS))
        for noise, c in one.items()
    )
    note = "What the paper's words say that table 4 gives; its figures do not fit."
    title = "Accuracy on the cases of table 3, branchings and answers of the same paths"
    return TextTable(title, ("condition", *METHODS), rows, note)


def table5(one: dict[int, Condition]) -> base.PaperTable:
    """The split-plot analysis of table 4, on the first run."""
    cells = _split_plot_cells(subset(one), 5)
    return base.PaperTable("5", TABLES["5"], ("source", "statistic"), cells)


def _importance(three: Condition) -> pd.DataFrame:
    """Method, data set, position and importance of every branching of the first run."""
    return pd.concat([three.importance(m) for m in METHODS], ignore_index=True)


def levels_of(three: Condition, method: str) -> np.ndarray:
    """Mean importance by run and position, NaN where no path is so long."""
    runs = range(len(three.paths[method]))
    by_position = [three.importance(method, run).groupby("position") for run in runs]
    return np.array([by.importance.mean().reindex(POSITIONS) for by in by_position])


def table6(three: Condition) -> base.PaperTable:
    """Importance of the attributes by position in the path."""
    print_ = base.published("liuwhite1994_table6")
    first = _importance(three)
    levels = {method: levels_of(three, method) for method in METHODS}
    cells = []
    for position in POSITIONS:
        for method in METHODS:
            row = printed(print_, position=position, method=method)
            rows = first[(first.method == method) & (first.position == position)]
            ours = levels[method][:, [position - 1]]
            # Over data sets, not printed: theirs is taken as ours.
            n = three.right[method].shape[1]
            own = clustered_error(rows) * np.sqrt(n)
            error = base.standard_error((own, 100), (own, n), *between_runs(ours))
            labels = (str(position), method)
            mean = float(np.nanmean(ours)) if len(rows) else np.nan
            cells.append(base.figure_cell(labels, row["mean"], mean, error, "neither"))
    note = (
        "Standard errors are those of a mean over data sets (a ratio estimate), for both, "
        "and the deviation between runs."
    )
    return base.PaperTable(
        "6", TABLES["6"], ("position", "selection"), tuple(cells), note, digits=3
    )


def clustered_error(rows: pd.DataFrame) -> float:
    """Standard error of the mean importance when data sets, not paths, are drawn."""
    if not len(rows):
        return np.nan
    mean = rows.importance.mean()
    sums = (rows.importance - mean).groupby(rows["set"]).sum().to_numpy()
    m = len(sums)
    if m < 2:
        return np.nan
    return float(np.sqrt(m / (m - 1) * (sums**2).sum()) / len(rows))


def table7(three: Condition) -> base.PaperTable:
    """Its analysis of variance, on the first run."""
    found = _importance(three)
    ours = anova.factorial(
        found.importance, {"position": found.position, "condition": found.method}
    )
    cells = _anova_cells(ours, 7, ("position", "condition", "position*condition"))
    note = f"{len(found)} branchings; published: 63836. Unique sums of squares."
    return base.PaperTable("7", TABLES["7"], ("source", "statistic"), cells, note)
