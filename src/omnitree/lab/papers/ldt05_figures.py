"""Figures 1 to 3 of Yildiz & Alpaydin (2005), and the tree that they grow over node types.

Figures 1 and 2 are trees of LDTm and LDTu on two features of iris, which the paper does not
name. The first cut of its figure 2 lies at -0.39: that is where LDTu(1) cuts petal width in
deviations from the mean, so here they are petal length and width. Figure 3 is the share of
multivariate nodes of the hybrid tree by level, rows, classes and share of the training
rows; the paper draws it, and table 18 has the same shares above and below four cuts, which
are drawn beside ours. The tree is C4.5's, with the node's kind as its class. Used by
`ldt05`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_iris

from omnitree import presets
from omnitree.lab import plots
from omnitree.lab.papers import base
from omnitree.lab.report import Figure
from omnitree.lab.tables import TextTable

PETALS = [2, 3]
IRIS = {"1": ("LDTm", "ldt"), "2": ("LDTu(1)", "ldt-u1")}
PUBLISHED_CUT = -0.39
# What figure 3 has on its axes, with the edges of the bins.
AXES: dict[str, tuple[str, tuple[float, ...]]] = {
    "node_level": ("level", (1, 2, 3, 4, 5, 6, 8, 11, 100)),
    "node_instances": ("rows in the node", (0, 10, 25, 50, 100, 250, 500, 1000, 1e9)),
    "node_classes": ("classes in the node", (2, 3, 4, 5, 6, 8, 11, 100)),
    "node_training_ratio_percent": (
        "% of the training rows",
        (0, 1, 2, 5, 10, 20, 40, 80, 101),
    ),
}
OPERATORS: dict[str, Callable[[Any, float], Any]] = {
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
}
INPUTS = (
    *("node_level", "features", "classes", "node_classes", "rows", "node_instances"),
    "node_training_ratio_percent",
)


def iris_figures() -> tuple[list[Figure], TextTable]:
    """Figures 1 and 2, and a table of their cuts."""
    X, y = load_iris(return_X_y=True)
    X = X[:, PETALS]
    z = (X - X.mean(axis=0)) / X.std(axis=0)
    figures, rows = [], []
    for number, (shown, preset) in IRIS.items():
        clf = presets.make(preset, pruning=None, random_state=0).fit(z, y)
        right = 100 * clf.score(z, y)
        title = f"Figure {number}: splits of {shown} on iris"
        labels = "petal length", "petal width"
        figures.append(Figure(title, plots.regions(z, y, clf.predict, labels)))
        root = clf.tree_.split(0)
        cut = f"{root.threshold:.2f}"
        theirs = f"{PUBLISHED_CUT}" if number == "2" else ""
        leaves = str(clf.tree_.n_leaves)
        rows.append((number, shown, theirs, cut, leaves, f"{right:.1f}"))
    columns = ("figure", "method", "first cut, published", "ours", "leaves", "% right")
    note = (
        "Petal length and width in deviations; the paper does not say which two features "
        "it draws. It says that both trees are equally accurate."
    )
    return figures, TextTable("Figures 1 and 2: iris", columns, tuple(rows), note, 2)


def shares_figure(nodes: pd.DataFrame) -> list[Figure]:
    """Figure 3: percentage of multivariate nodes by place, with that of table 18."""
    rules = base.published("yildiz2005_table18_rules")
    out = []
    for attribute, (label, edges) in AXES.items():
        bins = pd.cut(nodes[attribute], list(edges), right=False)
        share = 100 * nodes.groupby(bins, observed=True)["multivariate"].mean()
        at = [interval.left for interval in share.index]
        # A bin is on the side of its largest whole number.
        last = {interval.left: interval.right - 1 for interval in share.index}
        series = {"ours": (at, share.tolist())}
        own = rules[rules["attribute"] == attribute]
        for _, rule in own.iterrows():
            meets = OPERATORS[rule["op"]]
            here = [a for a in at if meets(last[a], rule["threshold"])]
            if here:
                ends = [min(here), max(here)]
                level = [float(rule["multivariate_percent"])] * 2
                name = f"published, {rule['op']} {rule['threshold']:g}"
                series[name] = (ends, level)
        drawn = plots.lines_by_position(series, (label, "% multivariate"), label)
        out.append(Figure(f"Figure 3: multivariate nodes by {label}", drawn))
    return out


def tree_over_nodes(nodes: pd.DataFrame) -> TextTable:
    """C4.5 with the kind of a node as its class, beside what the paper says of its tree."""
    kinds = np.where(nodes["multivariate"], "multivariate", "univariate")
    X = nodes[list(INPUTS)].astype(float)
    clf = presets.make("c4.5", random_state=0).fit(X, kinds)
    tree = clf.tree_
    rows = (
        ("nodes of hybrid trees", "2244", str(len(nodes))),
        ("nodes of the C4.5 tree", "65", str(tree.n_nodes)),
        ("first test on", "", INPUTS[_feature(tree)] if tree.n_nodes > 1 else "none"),
        ("% right on the same nodes", "", f"{100 * clf.score(X, kinds):.1f}"),
        ("% univariate", "90.4", f"{100 * (1 - nodes['multivariate'].mean()):.1f}"),
    )
    columns = ("", "published", "ours")
    return TextTable("C4.5 over the kinds of nodes (section 7)", columns, rows)


def _feature(tree) -> int:
    (feature,) = tree.split(0).features(tree.schema)
    return int(feature)
