"""What a node's test sees: a histogram by class with the cut, or bars per category.

Of a tree that answers a number: the target over what the test sees. Curves of a test, or of
a leaf's model, are drawn beside it, each with the rows under it.
"""

from __future__ import annotations

from textwrap import fill
from typing import Any

import numpy as np

from omnitree.data.schema import Schema
from omnitree.export.model import Model, NodeTest
from omnitree.export.palette import class_colours
from omnitree.export.pictures.canvas import (
    axes,
    legend,
    plain,
    shortened,
    stacked,
    whole_ticks,
)
from omnitree.export.pictures.curves import CurveRows, draw_curves, figure_size
from omnitree.export.sample import (
    ShownRows,
    bins_at_cut,
    cut_of,
    in_bins,
    in_categories,
    project,
)
from omnitree.export.words import (
    MOST_TERMS,
    Sides,
    known_of,
    subject_text,
    sum_name,
    sums_of,
)


def plot_node(
    tree: dict[str, Any], at: int, sample: ShownRows, *, ax: Any = None
) -> Any:
    """Draw the rows at a decision node as its test sees them; see `Showing.plot_node`.

    Of a machine, the discriminant of its largest branch is set against the best
    of the others. Curves get panels of their own, inside the Axes.
    """
    if not 0 <= at < len(tree["nodes"]):
        raise ValueError(f"node must be 0 to {len(tree['nodes']) - 1}, not {at!r}")
    node = tree["nodes"][at]
    model = Model(tree)
    test = model.model(at) if node["kind"] == "leaf" else model.tests(at)[0]
    if test is None or (node["kind"] == "leaf" and "knots" not in test.data):
        raise ValueError(
            f"node {at} is a leaf and has no test, nor a model with curves"
        )
    if sample.labels is None and sample.target is None:
        raise ValueError("plot_node needs y, the classes of the rows")
    if not len(sample.at(at)[0]):
        raise ValueError(f"none of the rows comes to node {at}")
    names = [] if sample.labels is None else [str(c) for c in tree["classes"]]
    here = _rows_at(model, at, sample)

    def sees(panel: Any) -> None:
        draw_rows_at(panel, model, at, sample)
        if sample.target is not None:
            panel.legend(fontsize=8)

    if "knots" not in test.data:
        ax = axes(ax, (6.4, 3.6))
        sees(ax)
        if names:
            legend(ax, names, here.shades)
    else:
        inner = node["kind"] != "leaf"
        ax = axes(ax, figure_size(test, inner))
        draw_curves(ax, model, test, here, sees if inner else None)
        if names:  # above the panels, so that it hides none
            place = {"loc": "lower right", "bbox_to_anchor": (1.0, 1.0)}
            legend(ax, names, here.shades, ncols=min(len(names), 6), **place)
    ax.set_title(f"Node {at}", loc="left")
    return ax


def _rows_at(model: Model, at: int, sample: ShownRows) -> CurveRows:
    rows, weight = sample.at(at)
    if sample.labels is None:
        return CurveRows(
            sample.values[rows], np.zeros(len(rows), int), weight, ["#9aa7b4"]
        )
    shades = class_colours(len(model.classes))
    return CurveRows(sample.values[rows], sample.labels[rows], weight, shades)


def draw_rows_at(
    ax: Any, model: Model, at: int, sample: ShownRows, brief: bool = False
) -> None:
    """Draw how the rows at a decision node lie along what it tests.

    `brief` is for a panel beside a condition in one line.
    """
    tree, node, test = model.tree, model.nodes[at], model.tests(at)[0]
    here = _rows_at(model, at, sample)
    if sample.target is not None:
        target = sample.target[sample.at(at)[0]]
        _draw_target(ax, tree, node, test, here.values, target, brief)
    else:
        _draw_counts(ax, tree, node, test, here, brief)
    ax.spines[["top", "right"]].set_visible(False)


def _draw_target(ax, tree, node, test, values, target, brief) -> None:
    """The target over what the test sees, with the cut and the means of the branches."""
    categories = _has_categories(tree, test)
    if categories:
        feature = tree["schema"]["features"][test.feature]
        z = values[:, test.feature]
        at = np.arange(len(feature["categories"]))
        ax.set_xticks(at, [_tick(node, test, feature, s) for s in at.tolist()])
        ax.set_xlabel(plain(feature["name"]))
    else:
        name, cut = _axis(tree, test, 0, brief)
        z = project(test, Schema.from_dict(tree["schema"]), values, 0)
        z = z - (cut_of(test) - cut)
        whole_ticks(ax, z[np.isfinite(z)])
        ax.axvline(cut, color="black", ls="--", lw=1.2)
        ax.set_xlabel(plain(_wrapped(name)))
    shades = class_colours(len(node["children"]))
    for child, shade in zip(node["children"], shades, strict=True):
        mean = tree["nodes"][child]["constant"]
        ax.axhline(mean, color=shade, lw=1.5, label=f"node {child}: {mean:.4g}")
    ax.scatter(z, target, s=14, c="#333333", edgecolors="white", linewidths=0.4)
    ax.set_ylabel("target")


def _draw_counts(ax, tree, node, test, rows: CurveRows, brief: bool) -> None:
    """The rows by class over what the test sees."""
    parts = (rows.values, rows.labels, rows.weight, rows.shades)
    if _has_categories(tree, test):
        _draw_categories(ax, tree, node, test, *parts)
    else:
        _draw_histogram(ax, tree, node, test, *parts, brief)
    ax.set_ylabel("rows")


def _has_categories(tree: dict[str, Any], test: NodeTest) -> bool:
    features = tree["schema"]["features"]
    return test.can_fail and bool(features[test.feature]["categories"])


def _draw_histogram(
    ax, tree, node, test, values, labels, weight, shades, brief
) -> None:
    schema = Schema.from_dict(tree["schema"])
    branch = 0
    if test.is_machine:
        size = [sum(tree["nodes"][c]["value"]) for c in node["children"]]
        branch = int(np.argmax(size))
    z = project(test, schema, values, branch)
    known = np.isfinite(z)
    if not known.any():
        raise ValueError(f"the rows at node {node['id']} lack the tested feature")
    name, cut = _axis(tree, test, branch, brief)
    z = z - (cut_of(test) - cut)
    edges = bins_at_cut(z[known], cut)
    counts = in_bins(z[known], edges, labels[known], weight[known], len(shades))
    stacked(ax, edges[:-1], np.diff(edges), counts, shades, align="edge")
    whole_ticks(ax, z[known])
    ax.axvline(cut, color="black", ls="--", lw=1.2)
    ax.set_xlabel(plain(_wrapped(name)))


def _wrapped(name: str) -> str:
    return fill(name, 70, max_lines=3, placeholder=" …")


def _axis(
    tree: dict[str, Any], test: NodeTest, branch: int, brief: bool
) -> tuple[str, float]:
    """What an axis shows, and where it is cut: of a sum, the terms as words have them.

    The value of a test may be these and a constant, which the axis goes without.
    """
    if test.is_machine:
        name = f"score of {test.names[branch]} minus the largest of the others"
        return name, cut_of(test)
    if test.can_fail:
        return subject_text(test, tree), cut_of(test)
    known = known_of(tree)
    found = sums_of(test, tree["schema"], **known, most=MOST_TERMS, brief=brief)
    assert isinstance(found, Sides)
    # Curves are told by the panels beside it.
    name = sum_name(test.node) if "knots" in test.data else " ".join(found.terms)
    return name, found.cut


def _draw_categories(ax, tree, node, test, values, labels, weight, shades) -> None:
    feature = tree["schema"]["features"][test.feature]
    shape = (len(shades), len(feature["categories"]))
    counts = in_categories(values[:, test.feature], labels, weight, shape)
    at = np.arange(counts.shape[1])
    stacked(ax, at, 0.8, counts, shades)
    ax.set_xticks(at, [_tick(node, test, feature, s) for s in at.tolist()])
    if "branch" not in test.data:
        ax.axvline(np.floor(cut_of(test)) + 0.5, color="black", ls="--", lw=1.2)
    ax.set_xlabel(plain(feature["name"]))


def _tick(
    node: dict[str, Any], test: NodeTest, feature: dict[str, Any], category: int
) -> str:
    """A category and, under it, the node it leads to."""
    name = plain(shortened(str(feature["categories"][category]), 18))
    if "branch" not in test.data:
        return name
    branch = test.data["branch"][category]
    return f"{name}\n→ {node['children'][branch]}" if branch >= 0 else name
