"""The tree as a picture: boxes with tests, bars of class shares, conditions on branches."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap
from typing import Any

from omnitree.export.model import Model, branch_names
from omnitree.export.palette import class_colours
from omnitree.export.pictures.canvas import (
    QUIET,
    axes,
    legend,
    plain,
    shortened,
)
from omnitree.export.words import (
    branch_text,
    counted,
    largest,
    model_kind,
    subject_text,
)

# In inches: a box and the room around it.
WIDTH, HEIGHT, SPACE_X, SPACE_Y = 1.9, 0.62, 0.25, 0.7
LETTERS = 26
# Terms of a sum that a box has room for.
BOX_TERMS = 3


def plot_tree(
    tree: dict[str, Any],
    labels: Sequence[int] | None,
    *,
    max_depth: int | None = None,
    ax: Any = None,
) -> Any:
    """Draw a tree whose nodes answer `labels` from the top down; see `Showing.plot`."""
    if max_depth is not None and not max_depth >= 0:
        raise ValueError(f"max_depth must be at least 0, not {max_depth!r}")
    model = Model(tree)
    places = _places(tree["nodes"], max_depth)
    wide = 1 + max(x for x, _ in places.values())
    deep = 1 + max(y for _, y in places.values())
    size = (wide * (WIDTH + SPACE_X), deep * (HEIGHT + SPACE_Y) + 0.4)
    ax = axes(ax, size)
    numeric = tree["task"] == "regression"
    shades = class_colours(1 if numeric else len(tree["classes"]))
    for node in tree["nodes"]:
        if node["id"] not in places:
            continue
        if node["parent"] in places:
            _draw_branch(ax, model, labels, node, places)
        label = None if labels is None else labels[node["id"]]
        _draw_box(ax, model, node, label, places, shades)
    ax.set_xlim(-0.55, wide - 0.45)
    ax.set_ylim(deep - 0.45, -0.45)
    ax.axis("off")
    if numeric:
        return ax
    names = [str(c) for c in tree["classes"]]
    # Below the drawing, so that it hides no node.
    legend(
        ax,
        names,
        shades,
        loc="upper center",
        bbox_to_anchor=(0.5, 0.02),
        ncols=min(len(names), 6),
    )
    return ax


def _places(nodes: list[dict[str, Any]], max_depth: int | None) -> dict[int, Any]:
    """Column and level of every node drawn: ends side by side, parents in the middle."""
    level = {0: 0}
    order = []
    stack = [0]
    while stack:
        at = stack.pop()
        order.append(at)
        if max_depth is None or level[at] < max_depth:
            for child in reversed(nodes[at].get("children", ())):
                level[child] = level[at] + 1
                stack.append(child)
    column: dict[int, float] = {}
    ends = 0
    for at in order:
        below = [c for c in nodes[at].get("children", ()) if c in level]
        if not below:
            column[at] = ends
            ends += 1
    for at in reversed(order):
        if at not in column:
            below = nodes[at]["children"]
            column[at] = (column[below[0]] + column[below[-1]]) / 2
    return {at: (column[at], level[at]) for at in order}


def _draw_branch(ax: Any, model: Model, labels, node, places) -> None:
    tree = model.tree
    (x0, y0), (x1, y1) = places[node["parent"]], places[node["id"]]
    parent = tree["nodes"][node["parent"]]
    ax.plot([x0, x1], [y0, y1], color="#cfd8e1", lw=1.5, zorder=0)
    names: tuple[str, ...] = ()
    if labels is not None:
        below = [labels[c] for c in parent["children"]]
        names = branch_names(below, tree.get("classes", []))
    side = _side(model, parent, node["id"] - parent["children"][0], names)
    ax.text(
        x0 + (x1 - x0) * 0.55,
        y0 + (y1 - y0) * 0.55,
        plain(shortened(side, LETTERS)),
        ha="center",
        va="center",
        fontsize=7,
        color=QUIET,
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 1},
    )


def _side(model: Model, parent: dict[str, Any], branch: int, names) -> str:
    """The condition of a branch without what the box of its parent says already."""
    test, tree = model.tests(parent["id"])[0], model.tree
    if test.is_machine:
        return largest(branch, names)
    deviations = tree.get("deviations")
    text = branch_text(test, branch, tree["schema"], deviations, BOX_TERMS)
    return text.removeprefix(subject_text(test, tree, BOX_TERMS) + " ")


def _draw_box(ax, model: Model, node, best: int | None, places, shades) -> None:
    from matplotlib.patches import FancyBboxPatch, Rectangle

    tree = model.tree
    x, y = places[node["id"]]
    w, h = WIDTH / (WIDTH + SPACE_X), HEIGHT / (HEIGHT + SPACE_Y)
    box = FancyBboxPatch(
        (x - w / 2, y - h / 2),
        w,
        h,
        boxstyle="round,pad=0,rounding_size=0.04",
        facecolor="white",
        edgecolor="#b9c4cf",
    )
    ax.add_patch(box)
    nearest = model.spoken_for[node["id"]]
    counts = nearest["value"]
    numeric = tree["task"] == "regression"
    total = sum(counts)
    leaf = node["kind"] == "leaf"
    if numeric:
        answer = f"{nearest['constant']:.6g}"
        if "model" in node:
            answer = model_kind(node["model"])
    else:
        answer = str(tree["classes"][best])
    test = None if leaf else model.tests(node["id"])[0]
    title = answer if test is None else subject_text(test, tree, BOX_TERMS)
    lines = [shortened(title, LETTERS)]
    if test and not test.can_fail:  # a sum: two lines of small print
        lines = wrap(title, 34, max_lines=2, placeholder=" …")
    ax.text(
        x,
        y - h * 0.22,
        plain("\n".join(lines)),
        ha="center",
        va="center",
        fontsize=8 if len(lines) == 1 else 6.5,
        weight="bold" if leaf else "normal",
    )
    rows = f"#{node['id']}: {counted(sum(node['value']))}"
    of_class = leaf and best is not None
    note = f"{rows}, {counts[best] / total:.0%}" if of_class else rows
    if numeric:
        note = f"{rows}, mean {nearest['constant']:.4g}"
    ax.text(x, y + h * 0.12, note, ha="center", va="center", fontsize=7, color=QUIET)
    left = x - w * 0.44
    if numeric:  # how far up among the means of all nodes this one is
        means = [other["constant"] for other in model.spoken_for]
        low, high = min(means), max(means)
        part = (nearest["constant"] - low) / (high - low) if high > low else 0.5
        counts, total, shades = [part, 1 - part], 1.0, [*shades, "#e8edf2"]
    for k, count in enumerate(counts):
        part = w * 0.88 * count / total
        ax.add_patch(Rectangle((left, y + h * 0.28), part, h * 0.12, color=shades[k]))
        left += part
