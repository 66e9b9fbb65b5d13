"""Brodley & Utgoff (1995), Multivariate decision trees: tables 5 to 24.

Ten runs of four folds: a quarter of the rows for testing, half for growing, a quarter for
pruning, the same parts for all methods (`bu95_runs` has the readings). With --quick: two
runs on four small data sets.

Standard errors: published deviations are over ten runs on the same data. For LED, of which
they had one sample and we draw one per run, the deviation between our samples counts once in
full. Sizes and differences are published without deviations; there ours counts for both.
Accuracies without one are of single runs and not compared. Tests of significance are the
paper's: analyses of variance over runs, paired t tests.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd

from omnitree.lab import anova
from omnitree.lab.papers import bu95_runs
from omnitree.lab.papers.base import (
    Lab,
    PaperCell,
    PaperTable,
    Reproduction,
    chosen,
    figure_cell,
    published,
    shortfalls,
    standard_error,
    statistic_cell,
)
from omnitree.lab.papers.bu95_runs import (
    ALGORITHMS,
    GENERATED,
    SELECTIONS,
    TWO_CLASSES,
    Key,
    keys_of,
)
from omnitree.lab.papers.pooled import pooled
from omnitree.lab.statistics import paired_t
from omnitree.lab.tables import TextTable

TITLE = "Brodley & Utgoff (1995), Multivariate decision trees"
# Number of a table: what it shows, and the last part of its file's name.
FILES = {
    "5": ("accuracy of coefficient learning", "accuracy"),
    "6": ("p of the analysis of variance of table 5", "anova"),
    "7": ("p of contrasts in table 5", "contrasts"),
    "8": ("CPU seconds of table 5", "cpu"),
    "9": ("size of the trees of table 5", "treesize"),
    "10": ("accuracy, multivariate tests, two classes", "accuracy"),
    "11": ("accuracy, multivariate tests, more classes", "accuracy"),
    "12": ("CPU seconds of tables 10 and 11", "cpu"),
    "13": ("accuracy, univariate tests allowed, two classes", "accuracy"),
    "14": ("accuracy, univariate tests allowed, more classes", "accuracy"),
    "15": ("p of univariate against multivariate trees", "contrasts"),
    "16": ("size of the trees of table 13", "treesize"),
    "17": ("size of the trees of table 14, glass and LED", "treesize"),
    "18": ("size of the trees of table 14, segment and vowel", "treesize"),
    "19": ("multivariate and univariate tests, two classes", "mvuv"),
    "20": ("multivariate and univariate tests, more classes", "mvuv"),
    "21": ("p of multivariate tests with against without univariate", "m_vs_mu"),
    "22": ("p of Gini against gain ratio", "merit"),
    "23": ("CPU seconds of tables 13 and 14", "cpu"),
    "24": ("pruning of tests (MTP) less basic pruning (BTP)", "pruning"),
}
TABLES = {number: shows for number, (shows, _) in FILES.items()}
BETTER = {
    "accuracy": "larger",
    "test_nodes": "size",
    "leaves": "size",
    "size": "size",
    "features_per_test": "size",
    "mv_tests": "neither",
    "uv_tests": "neither",
    "cpu_time": "unknown",
}
RUNS = 10
QUICK = ("bupa", "glass", "hepatitis", "led")
Scores = dict[Key, pd.DataFrame]


def reproduce(lab: Lab, wanted: Sequence[str] = ()) -> Reproduction:
    """Run what the wanted tables need and set them beside the published ones."""
    numbers = chosen(wanted, list(TABLES))
    frames = {number: _published(number, lab.quick) for number in numbers}
    frames = {n: f[~f["dataset"].isin(lab.missing)] for n, f in frames.items()}
    frames = {number: frame for number, frame in frames.items() if len(frame)}
    keys = dict.fromkeys(
        key
        for number, frame in frames.items()
        for _, row in frame.iterrows()
        for key in keys_of(number, row)
    )
    n_runs = 2 if lab.quick else RUNS
    scores = bu95_runs.run(lab, list(keys), n_runs)
    tables = [_table(number, frame, scores) for number, frame in frames.items()]
    others = [shortfalls(tables), *pooled(tables), *_ranking(scores), *_hybrid(scores)]
    notes = [f"{n_runs} runs of four folds, seed {lab.seed}."]
    return Reproduction(tables, notes=notes, others=others)


def _published(number: str, quick: bool) -> pd.DataFrame:
    """Rows of a published table that have a figure."""
    frame = published(f"brodley1995_table{int(number):02d}_{FILES[number][1]}")
    value = "mean" if "mean" in frame else "p_value"
    frame = frame[frame[value].notna()].copy()
    for text in ("variant", "selection", "criterion"):
        if text in frame:
            frame[text] = frame[text].astype(object).fillna("")
    return frame[frame["dataset"].isin(QUICK)] if quick else frame


def _table(number: str, frame: pd.DataFrame, scores: Scores) -> PaperTable:
    """A published table beside ours."""
    make, names = {
        "6": (_anova_cell, ("data set", "source")),
        "7": (_contrast_cell, ("data set", "contrast")),
        "15": (_group_cell, ("data set", "methods")),
        "21": (_paired_cell, ("data set", "selection")),
        "22": (_paired_cell, ("data set", "selection")),
    }.get(number, (_figure_cell, ("data set", "method", "measure")))
    cells = tuple(
        make(row, keys_of(number, row), scores) for _, row in frame.iterrows()
    )
    digits = 3 if names[-1] != "measure" else 2
    return PaperTable(number, TABLES[number], names, cells, digits=digits)


def _figure_cell(row: pd.Series, keys: list[Key], scores: Scores) -> PaperCell:
    metric = str(row["metric"]).removesuffix("_difference")
    metric = {"time": "cpu_time"}.get(metric, metric)
    values = scores[keys[0]][metric].to_numpy()
    if len(keys) == 2:
        values = values - scores[keys[1]][metric].to_numpy()
    spread, n = float(values.std(ddof=1)), len(values)
    theirs = float(row["std"])
    single_run = metric == "accuracy" and len(keys) == 1
    assumed = math.isnan(theirs) and not single_run and spread > 0
    if assumed:
        theirs = spread
    parts = [(theirs, RUNS), (spread, n)]
    if row["dataset"] == GENERATED:
        parts.append((spread, 1))
    key = keys[0]
    method = "MTP - BTP" if len(keys) == 2 else key.method
    selection = "" if key.method.startswith(key.selection) else key.selection
    shown = " ".join(filter(None, (method, key.variant, selection)))
    return figure_cell(
        (key.dataset, shown.removesuffix(" CART"), metric),
        float(row["mean"]),
        float(values.mean()),
        standard_error(*parts),
        BETTER[metric],
        float(row["std"]),
        assumed,
    )


def _p_cell(row: pd.Series, label: str, p: float, same_side: bool = True) -> PaperCell:
    """Two p-values: the same if both or neither are below 0.05, and agree who wins."""
    theirs = float(row["p_value"])
    labels = (str(row["dataset"]), label)
    cell = statistic_cell(labels, theirs, p, theirs < 0.05, p)
    if cell.verdict == "same" and theirs < 0.05 and not same_side:
        return PaperCell(labels, theirs, p, math.nan, "differs")
    return cell


def _anova_cell(row: pd.Series, keys: list[Key], scores: Scores) -> PaperCell:
    sizes = [len(scores[key]) for key in keys]
    found = anova.factorial(
        np.concatenate([scores[key]["accuracy"] for key in keys]),
        {
            "algorithm": np.repeat([key.method for key in keys], sizes),
            "selection": np.repeat([key.selection for key in keys], sizes),
        },
    )
    return _p_cell(row, str(row["source"]), float(found.loc[row["source"], "p"]))


def _contrast_cell(row: pd.Series, keys: list[Key], scores: Scores) -> PaperCell:
    groups = [
        np.concatenate([scores[key]["accuracy"] for key in keys if key.method == name])
        for name in ALGORITHMS
    ]
    first = str(row["contrast"]).startswith("RLS")
    weights = (2, -1, -1) if first else (0, 1, -1)
    return _p_cell(row, str(row["contrast"]), anova.contrast(groups, weights).p)


def _group_cell(row: pd.Series, keys: list[Key], scores: Scores) -> PaperCell:
    """The univariate control against the multivariate methods as a group."""
    groups = [scores[key]["accuracy"].to_numpy() for key in keys]
    weights = [len(groups) - 1, *[-1] * (len(groups) - 1)]
    return _p_cell(row, str(row["method_group"]), anova.contrast(groups, weights).p)


def _paired_cell(row: pd.Series, keys: list[Key], scores: Scores) -> PaperCell:
    first, second = (scores[key]["accuracy"].to_numpy() for key in keys)
    agree = True
    label = str(row["selection"])
    if "best" in row.index:
        label += f", published best: {row['best']}"
        agree = (first.mean() > second.mean()) == (row["best"] == "M")
    return _p_cell(row, label, paired_t(first, second).p, agree)


def _ranking(scores: Scores) -> list[TextTable]:
    """Mean accuracy of the coefficient learners over data sets and selections."""
    of = {
        name: [
            float(scores[Key(d, name, s)]["accuracy"].mean())
            for d in TWO_CLASSES
            for s in SELECTIONS
            if Key(d, name, s) in scores
        ]
        for name in ALGORITHMS
    }
    if len({len(v) for v in of.values()}) > 1 or not of["RLS"]:
        return []
    theirs = published("brodley1995_table05_accuracy").groupby("method")["mean"].mean()
    rows = tuple(
        (name, f"{np.mean(values):.2f}", f"{theirs[name]:.2f}")
        for name, values in of.items()
    )
    note = f"Mean of {len(of['RLS'])} cells; published: of 12."
    columns = ("algorithm", "ours", "published")
    return [TextTable("Ranking of the coefficient learners", columns, rows, note)]


def _hybrid(scores: Scores) -> list[TextTable]:
    """HSS against SBE and SFS, by paired t tests over runs."""
    rows = []
    for key, ours in scores.items():
        if key.selection != "HSS" or key.method in ("MTP", "BTP"):
            continue
        for other in ("SBE", "SFS"):
            method = key.method.replace("HSS", other)
            rival = scores.get(key._replace(method=method, selection=other))
            if rival is None:
                continue
            a, b = ours["accuracy"].to_numpy(), rival["accuracy"].to_numpy()
            p = paired_t(a, b).p
            apart = a.mean() - b.mean()
            word = "" if p >= 0.05 else "better" if apart > 0 else "worse"
            label = f"{key.method} against {other}"
            rows.append((key.dataset, label, f"{apart:+.2f}", f"{p:.3f}", word))
    if not rows:
        return []
    worse = sum(row[-1] == "worse" for row in rows)
    note = (
        f"Paired t tests over runs: HSS is worse at 0.05 in {worse} of {len(rows)}; "
        f"{0.025 * len(rows):.1f} would be by chance alone."
    )
    columns = ("data set", "methods", "difference", "p", "verdict")
    return [TextTable("HSS against SBE and SFS", columns, tuple(rows), note, 2)]
