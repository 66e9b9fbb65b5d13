"""Yildiz & Alpaydin (2005), Linear discriminant trees: tables 3-22.

Five runs of two-fold cross-validation, mean and deviation over the ten folds, combined 5x2cv
F test. Their "C4.5" is not Quinlan's program; its preset is `c4.5:variant=ldt05`. `monks` is
taken as the first of the three problems, which the paper does not name; its features are
numbers by table 2, so the repository's codes are. C5.0 has no preset.
"We always use post-pruning", with a fifth of the training rows: so CART, OC1 and LMDT of
tables 20 to 22 are pruned in that way here, too, not in their own. LMDT's published numbers
of parameters are those of machines over all columns (39 on wine, 3 x 13), so it is also run
without its elimination of variables. Parameters: a univariate test counts two, a linear test
its weights and its threshold, a machine those of all its functions, a leaf one. On sets of
categories alone (car, mushroom, ...) CART can combine nothing, and its tests are univariate.
Pre-pruning stops at 5 % "of the total number of elements in the dataset", which may be the
training half or both halves: both are run. By the paper's words a subtree that errs as often
as a leaf on the held-out fifth stays, its authors' program cuts it: the tables are of the
latter, whose trees have the published sizes, and the former is run beside it. Principal
components are those of the scatter within the groups, at nodes where it is singular, as the
paper's section 2.2 has them; run beside it are those of the total scatter, which the preset
`ldt` takes to be faster, and components at every node, as the authors' program takes them.
Times are of another machine and get no verdict. With --quick: seven small data sets.

Tables 18 and 19 count nodes of the hybrid tree, `hybrid-5x2f`. In table 18 level 1 is the
root and rows are those the tree was grown on, without the fifth it was pruned on: the paper
says neither. Its counts have no deviations; those of ours over the ten folds stand for both.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from omnitree.growing.stopping import PrePruning
from omnitree.lab import plots
from omnitree.lab.methods import Method
from omnitree.lab.papers import base
from omnitree.lab.papers.ldt05_figures import (
    OPERATORS,
    iris_figures,
    shares_figure,
    tree_over_nodes,
)
from omnitree.lab.papers.pooled import pooled
from omnitree.lab.papers.readings import read_otherwise, side_by_side
from omnitree.lab.papers.results import Study
from omnitree.lab.papers.sources import as_numbers
from omnitree.lab.protocols import RepeatedFolds
from omnitree.lab.report import Figure
from omnitree.learners import Analytic, Linear, Omnivariate
from omnitree.parts.choice import CombinedF
from omnitree.parts.direction import Fisher
from omnitree.parts.grouping import TwoMeans
from omnitree.pruning import ReducedError

TITLE = "Yildiz & Alpaydin (2005), Linear discriminant trees"

MEASURES = ("accuracy", "treesize", "time")
GROUPS = {
    3: "univariate methods",
    6: "LDT: grouping of classes",
    9: "LDT: principal components",
    12: "LDT: pruning",
    15: "LDT: split point",
    20: "seven methods",
}
TABLES = {
    str(first + i): f"{measure}, {what}"
    for first, what in GROUPS.items()
    for i, measure in enumerate(MEASURES)
}
TABLES["21"] = "complexity, seven methods"
TABLES |= {
    "18": "rules, nodes of the hybrid tree by kind and place",
    "19": "nodes, the hybrid tree by kind",
}
TABLES = {number: TABLES[number] for number in sorted(TABLES, key=int)}
PAIRWISE = ("3", "4", "5", "20", "21", "22")

POST_PRUNED = {"pruning": "reduced_error"}  # holds out a fifth


def _ldt(**options: Any) -> Method:
    """LDTm by the paper's equations: components of the scatter within the groups."""
    return Method("ldt", {"scatter": "within"} | options)


WITHIN, ALWAYS = (Fisher(pca, scatter="within") for pca in ("singular", "always"))
METHODS: dict[tuple[str, str | None], Method] = {
    ("C4.5", None): Method("c4.5", {"variant": "ldt05"}),
    ("LDTu(1)", None): Method("ldt-u1"),
    ("LDTu(2)", None): Method("ldt-u2"),
    ("QUEST", "univariate"): Method("quest-u"),
    ("QUEST", None): Method(
        "quest", {"learner": Linear(TwoMeans(), WITHIN, "unequal_variance")}
    ),
    ("LDT", None): _ldt(),
    ("LDTm", "exchange"): _ldt(),
    ("LDTm", "selection"): _ldt(grouping="selection"),
    ("LDTm", "eps=0.99"): _ldt(),
    ("LDTm", "eps=0.90"): _ldt(epsilon=0.9),
    ("LDTm", "post-pruning"): _ldt(),
    ("LDTm", "pre-pruning"): _ldt(pruning=None, stopping="pre_pruning"),
    ("LDTm", "analytical"): _ldt(),
    ("LDTm", "exhaustive"): _ldt(threshold="exhaustive"),
    ("CART", None): Method("cart-lc", POST_PRUNED),
    ("ID-LP", None): Method("id-lp"),
    ("LMDT", None): Method("lmdt", POST_PRUNED),
    ("OC1", None): Method("oc1", POST_PRUNED),
    ("LDT-hybrid", None): Method(
        "hybrid-5x2f",
        {
            "learner": Omnivariate(
                (Analytic("exchange", "unequal_variance"), Linear("exchange", WITHIN)),
                CombinedF(),
            )
        },
    ),
}
# Methods of the paper's own, whose trees are pruned by its words or by its program.
OWN = (
    *(("C4.5", None), ("LDTu(1)", None), ("LDTu(2)", None), ("QUEST", "univariate")),
    *(("QUEST", None), ("LDT", None), ("LDTm", "exchange"), ("ID-LP", None)),
)
TIES_KEPT = {"pruning": ReducedError(share=0.2, ties="keep")}
READINGS: dict[tuple[str, str | None], dict[str, Method]] = {
    ("LMDT", None): {
        "all variables": Method("lmdt", POST_PRUNED | {"selection": "none"})
    },
    ("LDTm", "pre-pruning"): {
        "5 % of all rows": _ldt(pruning=None, stopping=PrePruning(min_share=0.1))
    },
    **{
        ("LDTm", f"eps={epsilon:.2f}"): {
            "components of the total scatter": Method("ldt", {"epsilon": epsilon}),
            "components at every node": Method(
                "ldt", {"learner": Linear(direction=replace(ALWAYS, epsilon=epsilon))}
            ),
        }
        for epsilon in (0.9, 0.99)
    },
    **{
        key: {
            "ties kept": replace(METHODS[key], options=METHODS[key].options | TIES_KEPT)
        }
        for key in OWN
    },
}
DATA = {"monks": "monks1"}
CODED = {"monks": as_numbers}
QUICK = ("bupa", "ecoli", "glass", "hepatitis", "iris", "wine", "zoo")


def reproduce(lab: base.Lab, wanted: Sequence[str] = ()) -> base.Reproduction:
    """Run what the wanted tables need and set them beside the published ones."""
    only = QUICK if lab.quick else ()
    study = Study(lab, RepeatedFolds(2, 5), METHODS, DATA, only, CODED)
    tables, both = [], []
    for number in base.chosen(wanted, list(TABLES)):
        title = TABLES[number]
        stem = f"yildiz2005_table{int(number):02d}"
        file = f"{stem}_{title.split(',')[0]}"
        if number in ("18", "19"):
            make = _rules if number == "18" else _nodes
            tables.append(make(number, file, _hybrid(study)))
            continue
        tables.append(study.table(number, title, file))
        other = read_otherwise(study, number, title, file, READINGS)
        if other is not None and not title.startswith("time"):
            both.append((tables[-1], other))
        if number in PAIRWISE:
            pairs = f"{stem}_pairwise"
            tables.append(study.wins(f"{number}, wins", f"{title}: wins", file, pairs))
    notes = [f"5x2cv, seed {lab.seed}."]
    others = [base.shortfalls(tables), *pooled(tables)]
    if both:
        others += [side_by_side(both), *(other.table() for _, other in both)]
    figures: list[Figure] = []
    if not wanted or {"18", "19"} & set(wanted):
        nodes = _hybrid(study)
        if nodes["multivariate"].nunique() > 1:  # there may be one kind only
            others.append(tree_over_nodes(nodes))
        if plots.can_draw():
            figures, table = iris_figures()
            figures += shares_figure(nodes)
            others.append(table)
    return base.Reproduction(tables, figures, notes, others)


def _hybrid(study: Study) -> pd.DataFrame:
    """All decision nodes of the hybrid trees, with what table 18's rules ask."""
    rows = []
    frame = study.rows(base.published("yildiz2005_table19_nodes"))
    found = study.run(frame[frame["variant"] == "univariate"])
    for (name, *_), result in found.items():
        for fold, record in enumerate(result.folds):
            nodes = record.detail["nodes"]
            for kind, level, size, classes, *_ in nodes:
                rows.append(
                    {
                        "dataset": name,
                        "fold": fold,
                        "multivariate": kind == "linear",
                        "node_level": level,
                        "node_instances": size,
                        "node_classes": classes,
                        "node_training_ratio_percent": 100 * size / nodes[0][2],
                        "features": result.task.data.X.shape[1],
                        "classes": len(result.task.data.classes),
                        "rows": nodes[0][2],
                    }
                )
    names = list(dict.fromkeys(name for name, *_ in found))
    out = pd.DataFrame(rows)
    out["dataset"] = pd.Categorical(out["dataset"], names)
    out["fold"] = pd.Categorical(out["fold"], range(len(result.folds)))
    return out


def _nodes(number: str, file: str, nodes: pd.DataFrame) -> base.PaperTable:
    """Table 19: mean number of nodes per tree, by data set and kind."""
    frame = base.published(file)
    print_ = frame[frame["dataset"] != "ALL"].set_index(["dataset", "variant"])
    cells = []
    for variant in ("univariate", "multivariate"):
        kind = nodes[nodes["multivariate"] == (variant == "multivariate")]
        counts = kind.groupby(["dataset", "fold"], observed=False).size().unstack()
        for name, ours in counts.iterrows():
            row = print_.loc[(name, variant)]
            n = len(ours)
            error = base.standard_error((row["std"], n), (float(ours.std(ddof=1)), n))
            labels = (str(name), variant)
            mean = float(ours.mean())
            cells.append(base.figure_cell(labels, row["mean"], mean, error, "neither"))
    total = nodes["fold"].nunique()
    share = 100 * nodes["multivariate"].mean()
    note = (
        f"All data sets: {len(nodes) / total:.1f} nodes, {share:.1f} % of them "
        "multivariate; published: 220.5 on 20 data sets, 9.6 %."
    )
    keys = ("data set", "nodes")
    return base.PaperTable(number, TABLES[number], keys, tuple(cells), note)


def _rules(number: str, file: str, nodes: pd.DataFrame) -> base.PaperTable:
    """Table 18: nodes of both kinds in all trees, by place."""
    whole = nodes["dataset"].cat.categories.size == 20
    cells: list[base.PaperCell] = []
    for _, row in base.published(file).iterrows():
        rule = f"{row['attribute'].replace('_', ' ')} {row['op']} {row['threshold']}"
        meets = OPERATORS[row["op"]](nodes[row["attribute"]], row["threshold"])
        by_fold = nodes[meets].groupby("fold", observed=False)["multivariate"]
        multi, n = by_fold.sum().to_numpy(), by_fold.size().to_numpy()
        folds = len(n)
        share = 100 * multi / np.maximum(n, 1)
        for shown, column, values, ours in (
            ("univariate", "univariate_nodes", folds * (n - multi), None),
            ("multivariate", "multivariate_nodes", folds * multi, None),
            (
                "% multivariate",
                "multivariate_percent",
                share,
                100 * multi.sum() / max(n.sum(), 1),
            ),
        ):
            sd = float(values.std(ddof=1))
            error = math.sqrt(2 / folds) * sd
            mean = float(values.mean()) if ours is None else float(ours)
            better = "neither" if whole else "unknown"
            cells.append(
                base.figure_cell((rule, shown), float(row[column]), mean, error, better)
            )
    note = "Sums over the ten trees of all data sets; published: of 20 data sets."
    keys = ("rule", "nodes")
    return base.PaperTable(number, TABLES[number], keys, tuple(cells), note, digits=0)
