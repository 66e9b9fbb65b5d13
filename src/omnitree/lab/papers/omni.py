"""Yildiz & Alpaydin (ECML 2005), Model selection in omnivariate decision trees: tables 1-4,
figures 3-5.

Five runs of two-fold cross-validation, mean and deviation over the ten folds; the 5x2cv F
test for wins (the paper names none). `monks` is taken as the first of the three problems.
Table 2 is counted as printed (see tables/README.md, O2). By the dimensions of its roots
`monks` has numbers (at most 27 terms in QUA) and `balance` categories (16 components in
LIN), so they are coded in that way. Figures 3-5 are given as the numbers of nodes by level.
With --quick: seven small data sets.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from omnitree.lab import plots
from omnitree.lab.methods import Method
from omnitree.lab.papers import base
from omnitree.lab.papers.pooled import pooled
from omnitree.lab.papers.results import METRICS, Study
from omnitree.lab.papers.sources import as_categories, as_numbers
from omnitree.lab.protocols import RepeatedFolds
from omnitree.lab.report import Figure
from omnitree.lab.runner import Result
from omnitree.lab.tables import TextTable

TITLE = "Yildiz & Alpaydin (ECML 2005), Model selection in omnivariate decision trees"
TABLES = {
    "1": "error",
    "2": "model complexity",
    "3": "pairwise wins",
    "4": "nodes of each kind",
    "5": "figures 3-5: nodes of each kind by level",
    "6": "the criteria of this reproduction",
}
PURE = ("UNI", "LIN", "QUA")
OMNIVARIATE = ("AIC", "BIC", "CV")
METHODS: dict[tuple[str, str | None], Method] = {
    ("UNI", None): Method("uni"),
    ("LIN", None): Method("lin"),
    ("QUA", None): Method("qua"),
    ("AIC", None): Method("omni-aic"),
    ("BIC", None): Method("omni-bic"),
    ("CV", None): Method("omni-cv"),
}
KINDS = {
    "axis": "UNI",
    "subset": "UNI",
    "multiway": "UNI",
    "linear": "LIN",
    "quadratic": "QUA",
}
DATA = {"monks": "monks1"}
CODED = {"monks": as_numbers, "balance": as_categories}
QUICK = ("bupa", "ecoli", "glass", "hepatitis", "iris", "wine", "zoo")
# Where the paper says that pure trees differ and omnivariate ones follow the better.
FOLLOWS = ("balance", "car", "pendigits", "segment", "waveform", "wine")

COUNTED = (
    "Decision nodes and dimensions of the root's test, as printed: columns, of LIN and QUA "
    "principal components."
)
ERROR, COMPLEXITY = "omnivariate_table1_error", "omnivariate_table2_complexity"
WINS, NODES = "omnivariate_table3_pairwise", "omnivariate_table4_nodes"

# Figures 1 and 2; published learning times are of another machine.
DRAWN = {"1": "pendigits", "2": "segment"}
PANELS: dict[str, tuple[str, str | None]] = {
    "error, %": ("error", ERROR),
    "complexity": ("model_complexity", COMPLEXITY),
    "CPU seconds": ("learning_time", None),
}


def reproduce(lab: base.Lab, wanted: Sequence[str] = ()) -> base.Reproduction:
    """Run what the wanted tables need and set them beside the published ones."""
    only = QUICK if lab.quick else ()
    study = Study(lab, RepeatedFolds(2, 5), METHODS, DATA, only, CODED)
    tables: list[base.PaperTable] = []
    others: list[TextTable] = []
    for number in base.chosen(wanted, list(TABLES)):
        if number == "1":
            tables.append(study.table("1", TABLES["1"], ERROR))
        elif number == "2":
            table = study.table("2", TABLES["2"], COMPLEXITY)
            tables.append(replace(table, note=COUNTED))
        elif number == "3":
            for file, metric in ((ERROR, "error"), (COMPLEXITY, "model_complexity")):
                title = f"pairwise wins, {metric.replace('_', ' ')}"
                tables.append(study.wins("3", title, file, WINS))
        elif number == "4":
            tables.append(_nodes(study))
        elif number == "5":
            others += _levels(study)
        else:
            others += [_no_worse(study), _follows(study)]
    notes = [f"5x2cv, seed {lab.seed}."]
    figures = _figures(study) if not wanted and plots.can_draw() else []
    return base.Reproduction(tables, figures, notes, [*pooled(tables), *others])


def _figures(study: Study) -> list[Figure]:
    """Figures 1 and 2: error, complexity and time on two data sets, published in grey."""
    results, out = _results(study), []
    methods = (*PURE, *OMNIVARIATE)
    for number, name in DRAWN.items():
        if (name, "UNI") not in results:
            continue
        groups, published = {}, {}
        for title, (metric, file) in PANELS.items():
            own = [METRICS[metric].cost(results[name, m]) for m in methods]
            groups[title] = [values[np.isfinite(values)] for values in own]
            if file is not None:
                rows = base.published(file)
                rows = rows[rows["dataset"] == name].set_index("method")
                published[title] = [
                    (float(rows.loc[m, "mean"]), float(rows.loc[m, "std"]))
                    for m in methods
                ]
        drawn = plots.box_plots(groups, methods, published)
        out.append(Figure(f"Figure {number}: {name}; published in grey", drawn))
    return out


def _results(study: Study) -> dict[tuple[str, str], Result]:
    """All results, by data set and method."""
    found = study.run(study.rows(base.published(ERROR)))
    return {(name, method): result for (name, method, _), result in found.items()}


def _kinds(result: Result, level: int | None = None) -> np.ndarray:
    """Number of nodes UNI, LIN and QUA in each fold, (folds, 3), on one level or all."""
    out = np.zeros((len(result.folds), len(PURE)))
    for i, fold in enumerate(result.folds):
        for kind, depth, *_ in fold.detail["nodes"]:
            if level is None or depth == level:
                out[i, PURE.index(KINDS[kind])] += 1
    return out


def _nodes(study: Study) -> base.PaperTable:
    """Table 4: sums over the ten trees of a data set."""
    results = _results(study)
    cells = []
    for _, row in study.rows(base.published(NODES)).iterrows():
        counts = _kinds(results[row["dataset"], row["method"]])
        counts = counts[:, PURE.index(row["variant"])]
        # The paper gives no deviations; those of ours stand for both.
        error = math.sqrt(2 * len(counts)) * float(counts.std(ddof=1))
        labels = (row["dataset"], row["method"], row["variant"])
        total = float(counts.sum())
        cells.append(
            base.figure_cell(labels, float(row["mean"]), total, error, "neither")
        )
    note = (
        "Sums of ten trees. s.e.: from the deviation of ours over the folds, for both."
    )
    keys = ("data set", "method", "nodes")
    return base.PaperTable("4", TABLES["4"], keys, tuple(cells), note, digits=0)


def _levels(study: Study) -> list[TextTable]:
    """Figures 3-5: nodes of each kind on each level, pendigits, segment and all sets."""
    results = _results(study)
    known = list(dict.fromkeys(name for name, _ in results))
    figures = [
        ("Figure 3: pendigits", ["pendigits"]),
        ("Figure 4: segment", ["segment"]),
    ]
    figures.append(("Figure 5: all data sets", known))
    out = []
    for title, names in figures:
        if not set(names) <= set(known):
            continue
        rows = []
        deepest = max(
            fold.depth or 0
            for (name, method), result in results.items()
            if name in names and method in OMNIVARIATE
            for fold in result.folds
        )
        for level in range(1, deepest + 1):
            row = [str(level)]
            for method in OMNIVARIATE:
                here = [
                    _kinds(results[name, method], level).sum(axis=0) for name in names
                ]
                total = np.sum(here, axis=0)
                share = 100 * total[1:].sum() / max(total.sum(), 1)
                row += [f"{n:.0f}" for n in total] + [f"{share:.1f}"]
            rows.append(tuple(row))
        columns = ["level"]
        for method in OMNIVARIATE:
            columns += [f"{method} {kind}" for kind in PURE] + [f"{method} multi %"]
        note = "Nodes in all ten trees; level 1 is the root. The paper only draws them."
        out.append(TextTable(title, tuple(columns), tuple(rows), note))
    return out


def _no_worse(study: Study) -> TextTable:
    """On how many data sets our error is at most the published mean plus two deviations."""
    results = _results(study)
    frame = study.rows(base.published(ERROR))
    rows = []
    for method in (*PURE, *OMNIVARIATE):
        worse, ours, theirs = [], [], []
        for _, row in frame[frame["method"] == method].iterrows():
            error = float(np.nanmean(results[row["dataset"], method].scores("error")))
            ours.append(error)
            theirs.append(row["mean"])
            if error > row["mean"] + 2 * row["std"] + 1e-9:
                worse.append(f"{row['dataset']} {error - row['mean']:+.1f}")
        rows.append(
            (
                method,
                f"{len(ours) - len(worse)} of {len(ours)}",
                f"{np.mean(theirs):.2f}",
                f"{np.mean(ours):.2f}",
                ", ".join(worse) or "none",
            )
        )
    columns = ("method", "no worse", "published mean", "our mean", "worse")
    note = "No worse: error at most the published mean plus two published deviations."
    return TextTable("Errors no worse than published", columns, tuple(rows), note, 2)


def _follows(study: Study) -> TextTable:
    """Errors of omnivariate trees beside the best and the worst pure one."""
    results = _results(study)
    rows = []
    for name in FOLLOWS:
        if (name, "UNI") not in results:
            continue
        error = {
            method: results[name, method].scores("error")
            for method in (*PURE, *OMNIVARIATE)
        }
        mean = {method: float(np.nanmean(values)) for method, values in error.items()}
        best = min(PURE, key=mean.__getitem__)
        worst = max(PURE, key=mean.__getitem__)
        middle = (mean[best] + mean[worst]) / 2
        nearer = [m for m in OMNIVARIATE if mean[m] < middle]
        rows.append(
            (
                name,
                f"{best} {mean[best]:.1f}",
                f"{worst} {mean[worst]:.1f}",
                *(f"{mean[m]:.1f}" for m in OMNIVARIATE),
                ", ".join(nearer) or "none",
            )
        )
    columns = (
        "data set",
        "best pure",
        "worst pure",
        *OMNIVARIATE,
        "nearer to the best",
    )
    return TextTable(
        "Omnivariate trees follow the better pure tree", columns, tuple(rows)
    )
