"""The figures in the text of Liu & White (1994), and its drawings. Used by `lw94`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from omnitree.lab import anova, plots, statistics
from omnitree.lab.papers import base
from omnitree.lab.papers import lw94_tables as tables
from omnitree.lab.papers.lw94_runs import METHODS, NOISE, POSITIONS, TABLES, Condition
from omnitree.lab.report import Figure


def text1(one: dict[int, Condition]) -> base.PaperTable:
    """Tests in the text of experiment I."""
    print_ = base.published("liuwhite1994_prose_exp1")
    accuracy = {m: [c.accuracy(m)[0] for c in one.values()] for m in METHODS}
    subset = tables.subset(one)
    groups = {
        "one-way ANOVA of accuracy over conditions": accuracy,
        "one-way ANOVA of accuracy on signal-branching subset": {
            m: [v[:, j] for v in subset.values()] for j, m in enumerate(METHODS)
        },
        "one-way ANOVA of cases branching on signal over conditions": {
            "random": [c.on_signal()[0].sum(axis=1) for c in one.values()]
        },
    }
    cells = []
    for _, row in print_.iterrows():
        if row["statistic"] == "t":
            first = [one[1].accuracy(method)[0] for method in ("H_T", "random")]
            statistic, p = statistics.paired_t(*first)
        else:
            scores = groups[row["analysis"]][row["method"]]
            label = np.concatenate([[k] * len(s) for k, s in enumerate(scores)])
            found = anova.factorial(np.concatenate(scores), {"condition": label})
            statistic, p = found.loc["condition", ["F", "p"]]
        labels = (row["analysis"], row["method"], row["statistic"])
        significant = str(row["p"]).startswith("<")
        cells.append(
            base.statistic_cell(labels, row["value"], statistic, significant, p)
        )
    keys = ("analysis", "method", "statistic")
    return base.PaperTable("I", TABLES["I"], keys, tuple(cells))


def text(condition: Condition, experiment: str) -> base.PaperTable:
    """What the text says of experiment II or III."""
    print_ = base.published("liuwhite1994_prose_exp2_exp3")
    print_ = print_[print_.experiment == experiment]
    cells = []
    for (analysis, method), rows in print_.groupby(["analysis", "method"], sort=False):
        values = rows.set_index("statistic")["value"]
        labels = (str(analysis), str(method))
        if "accuracy" in analysis and "t" not in values:
            row = pd.Series({"mean": values["mean"], "std": values["std"]})
            ours = condition.accuracy(method)
            cells.append(tables.mean_cell((*labels, "mean"), row, ours, 100))
        elif "t" in values:
            cells.append(_paired(condition, labels, values["t"]))
        else:
            lengths = condition.lengths(method)
            by_set = lengths.mean(axis=2)
            # The deviation over data sets is not printed: theirs is taken as ours.
            row = pd.Series({"mean": values["mean"], "std": by_set[0].std(ddof=1)})
            mean = (*labels, "mean")
            cells.append(tables.mean_cell(mean, row, by_set, 100, "neither"))
            for end, ours in (("min", lengths.min()), ("max", lengths.max())):
                # The ends of a range have no standard error; they are only shown.
                figures = values[end], float(ours), np.nan, "unknown"
                cells.append(base.figure_cell((*labels, end), *figures))
    keys = ("analysis", "method", "statistic")
    return base.PaperTable(experiment, TABLES[experiment], keys, tuple(cells))


def _paired(condition: Condition, labels: tuple[str, str], t: float) -> base.PaperCell:
    if "path length" in labels[0]:
        a, b = (condition.lengths(m)[0].ravel() for m in ("random", "H_T"))
    else:
        a, b = (condition.accuracy(m)[0] for m in ("H_T", "random"))
    test = statistics.paired_t(a, b)
    return base.statistic_cell((*labels, "t"), t, test.statistic, True, test.p)


def figure1(one: dict[int, Condition]) -> Figure:
    """Accuracy by the number of noise attributes."""
    ours = {m: [float(c.accuracy(m).mean()) for c in one.values()] for m in METHODS}
    labels = ("noise attributes", "percent right")
    return _figure(1, "liuwhite1994_table1", NOISE, ours, labels)


def figure2(three: Condition) -> Figure:
    """Importance by position."""
    levels = {m: np.nanmean(tables.levels_of(three, m), axis=0) for m in METHODS}
    labels = ("position in the path", "mean importance level")
    return _figure(2, "liuwhite1994_table6", POSITIONS, levels, labels)


def _figure(
    number: int,
    file: str,
    at: Sequence[int],
    ours: Mapping[str, Sequence[float]],
    labels: tuple[str, str],
) -> Figure:
    """Means of ours and of a published table, method by method."""
    print_ = base.published(file)
    series = {}
    for method in METHODS:
        series[method] = (at, ours[method])
        theirs = print_[print_.method == method]["mean"].tolist()
        series[f"{method}, published"] = (at, theirs)
    return Figure(f"Figure {number}", plots.lines_by_position(series, labels))
