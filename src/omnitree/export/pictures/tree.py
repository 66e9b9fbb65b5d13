"""The tree as a picture: boxes with tests, bars of class shares, conditions on branches.

Small trees go from the top down, larger ones from the left to the right (`layout.py`). With
rows, each decision node shows how what it tests is distributed over them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from textwrap import wrap
from typing import Any

import numpy as np

from omnitree.export.model import Model, NodeTest, branch_names
from omnitree.export.palette import class_colours
from omnitree.export.pictures.canvas import QUIET, axes, legend, plain, shortened
from omnitree.export.pictures.layout import (
    FOOT,
    HEIGHT,
    LARGEST,
    LETTER,
    PICTURE,
    SMALL,
    TEXT,
    Arrangement,
    arrange,
)
from omnitree.export.pictures.node import draw_rows_at
from omnitree.export.sample import ShownRows
from omnitree.export.words import (
    branch_text,
    column_name,
    counted,
    largest,
    model_kind,
    subject_text,
    term_names,
)

LETTERS = 26
# Terms of a sum that a box has room for.
BOX_TERMS = 3
# Inches of a term of a machine.
TERM = 0.135
LINE_COLOUR = "#aab5c1"


def plot_tree(
    tree: dict[str, Any],
    labels: Sequence[int] | None,
    *,
    sample: ShownRows | None = None,
    max_depth: int | None = None,
    ax: Any = None,
) -> Any:
    """Draw a tree whose nodes answer `labels`; see `Showing.plot`."""
    if max_depth is not None and not max_depth >= 0:
        raise ValueError(f"max_depth must be at least 0, not {max_depth!r}")
    shown = _Shown(Model(tree), labels, sample)
    room = None
    if ax is not None:
        extent, dpi = ax.get_window_extent(), ax.figure.dpi
        room = (extent.width / dpi, extent.height / dpi)
    layout = arrange(
        tree["nodes"],
        max_depth,
        room,
        shown.height,
        shown.line,
        pictures=sample is not None,
    )
    if ax is None:
        wide, high = (
            min(own, most) for own, most in zip(layout.size, LARGEST, strict=True)
        )
        ax = axes(None, (max(wide, 3.0), max(high, 1.5)))
    picture = _Picture(ax, shown, layout)
    for node in layout.places:
        if node:
            picture.branch(node)
    for node in layout.places:
        (picture.line if layout.lines else picture.box)(node)
    picture.foot()
    ax.set_xlim(0, layout.size[0])
    ax.set_ylim(layout.size[1], 0)
    ax.axis("off")
    return ax


@dataclass
class _Shown:
    """What the nodes of a tree say."""

    model: Model
    labels: Sequence[int] | None
    sample: ShownRows | None

    @cached_property
    def shades(self) -> list[str]:
        """Colours of the classes."""
        return class_colours(len(self.model.classes) or 1)

    @cached_property
    def means(self) -> tuple[float, float]:
        """The least and the greatest number that a node answers."""
        every = [node["constant"] for node in self.model.spoken_for]
        return min(every), max(every)

    def test(self, node: int) -> NodeTest | None:
        """The test of a decision node."""
        return None if self.model.is_leaf(node) else self.model.tests(node)[0]

    def height(self, node: int) -> float:
        """Inches of a box from the top down."""
        test = self.test(node)
        if test is not None and self.sample is not None:
            return PICTURE
        terms = [] if test is None else self.main_terms(test)
        return HEIGHT + max(TERM * len(terms) - 0.08, 0.0)

    def title(self, node: int) -> str:
        """What is tested, or the answer."""
        test = self.test(node)
        if test is None:
            return self.answer(node)
        if test.is_machine and (terms := self.main_terms(test)):
            return "scores of " + ", ".join(name for name, _ in terms)
        return subject_text(test, self.model.tree, BOX_TERMS)

    def answer(self, node: int) -> str:
        """The class or the number of a leaf, or what kind of model it has."""
        if self.model.numeric:
            if "model" in self.model.nodes[node]:
                return model_kind(self.model.nodes[node]["model"]) + " model"
            return f"{self.model.spoken_for[node]['constant']:.6g}"
        assert self.labels is not None
        return str(self.model.classes[self.labels[node]])

    def note(self, node: int) -> str:
        """Number of the node, its rows, and in a leaf the share of its class."""
        record, nearest = self.model.nodes[node], self.model.spoken_for[node]
        rows = f"#{node}: {counted(sum(record['value']))}"
        if self.model.numeric:
            return f"{rows}, mean {nearest['constant']:.4g}"
        if not self.model.is_leaf(node) or self.labels is None:
            return rows
        counts = nearest["value"]
        return f"{rows}, {counts[self.labels[node]] / sum(counts):.0%}"

    @staticmethod
    def short_note(note: str) -> str:
        """A note without the number of the node, for which a line has no room."""
        return note.partition(": ")[2]

    def line(self, node: int) -> tuple[str, str]:
        """What stands in a line for a node, and on the branch that leads to it."""
        title, note = self.title(node), self.note(node)
        if self.model.is_leaf(node):
            title = f"{shortened(title, LETTERS)}  {self.short_note(note)}"
        side = "" if self.model.above(node) < 0 else self.side(node)
        return shortened(title, 2 * LETTERS), side

    def side(self, node: int) -> str:
        """The condition of a branch without what the box of its parent says already."""
        tree = self.model.tree
        parent = tree["nodes"][tree["nodes"][node]["parent"]]
        branch = node - parent["children"][0]
        test = self.model.tests(parent["id"])[0]
        if test.is_machine:
            names: tuple[str, ...] = ()
            if self.labels is not None:
                below = [self.labels[c] for c in parent["children"]]
                names = branch_names(below, tree.get("classes", []))
            return largest(branch, names)
        deviations = tree.get("deviations")
        text = branch_text(test, branch, tree["schema"], deviations, BOX_TERMS)
        return text.removeprefix(subject_text(test, tree, BOX_TERMS) + " ")

    def shares(self, node: int) -> list[tuple[float, str]]:
        """Parts of a bar with their colours: class shares, or how far up a number is."""
        nearest = self.model.spoken_for[node]
        if not self.model.numeric:
            total = sum(nearest["value"])
            parts = (count / total for count in nearest["value"])
            return list(zip(parts, self.shades, strict=True))
        low, high = self.means
        part = (nearest["constant"] - low) / (high - low) if high > low else 0.5
        return [(part, self.shades[0]), (1 - part, "#e8edf2")]

    def main_terms(self, test: NodeTest) -> list[tuple[str, list[float]]]:
        """The terms that set the scores of a machine apart most: names and weights.

        Weights are by standard deviation, so that they can be compared.
        """
        if not test.is_machine or "weights" not in test.data:
            return []
        data, tree = test.data, self.model.tree
        names = [column_name(c, self.model.features) for c in data["columns"]]
        deviations = tree.get("deviations")
        scale = [1.0 if deviations is None else deviations[c] for c in data["columns"]]
        terms = data.get("terms") or [(j, -1) for j in range(len(names))]
        size = [scale[a] * (scale[b] if b >= 0 else 1.0) for a, b in terms]
        weights = np.array(data["weights"], dtype=float) * size
        if not weights.size:
            return []
        order = np.argsort(-np.ptp(weights, axis=0), kind="stable")[:BOX_TERMS]
        named = term_names(data, names)
        return [
            (named[t], weights[:, t].tolist()) for t in order if weights[:, t].any()
        ]


@dataclass
class _Picture:
    """An Axes that a tree is drawn on."""

    ax: Any
    shown: _Shown
    layout: Arrangement

    def write(self, x: float, y: float, text: str, size: float, **look: Any) -> None:
        """Write text of a size that fits the axes."""
        look = {"ha": "center", "va": "center"} | look
        self.ax.text(x, y, plain(text), fontsize=size * self.layout.text, **look)

    def branch(self, node: int) -> None:
        """The line from a node's parent, with the condition."""
        above = self.shown.model.above(node)
        (x0, y0), (x1, y1) = self.layout.places[above], self.layout.places[node]
        look = {"color": LINE_COLOUR, "lw": 1.3 * self.layout.text, "zorder": 0}
        side = self.shown.side(node)
        ground = {"facecolor": "white", "edgecolor": "none", "pad": 0.6}
        if not self.layout.lines:
            self.ax.plot([x0, x1], [y0, y1], **look)
            x, y = x0 + (x1 - x0) * 0.55, y0 + (y1 - y0) * 0.55
            text = shortened(side, LETTERS)
            self.write(x, y, text, SMALL, color=QUIET, bbox=ground)
            return
        right = x0 + self.layout.boxes[above][0] / 2
        left = x1 - self.layout.boxes[node][0] / 2
        turn = right + 0.08
        self.ax.plot([right, turn, turn, left], [y0, y0, y1, y1], **look)
        text = shortened(side, int((left - turn) / LETTER))
        self.write(left - 0.03, y1, text, SMALL, color=QUIET, ha="right", bbox=ground)

    def frame(self, node: int) -> tuple[float, float, float, float]:
        """Draw the box of a node; gives its middle and its size."""
        from matplotlib.patches import FancyBboxPatch

        (x, y), (w, h) = self.layout.places[node], self.layout.boxes[node]
        box = FancyBboxPatch(
            (x - w / 2, y - h / 2),
            w,
            h,
            boxstyle="round,pad=0,rounding_size=0.04",
            facecolor="white",
            edgecolor="#b9c4cf",
            linewidth=self.layout.text,
        )
        self.ax.add_patch(box)
        return x, y, w, h

    def bar(self, node: int, left: float, top: float, width: float, high: float):
        """Class shares as one bar."""
        from matplotlib.patches import Rectangle

        for part, shade in self.shown.shares(node):
            if part:
                corner = (left, top)
                bar = Rectangle(corner, width * part, high, color=shade, linewidth=0)
                self.ax.add_patch(bar)
            left += width * part

    def line(self, node: int) -> None:
        """A node as one line: its title, in a leaf the rows, and a bar below."""
        x, y, w, h = self.frame(node)
        leaf = self.shown.model.is_leaf(node)
        room = int((w - 0.08) / LETTER)
        note = self.shown.short_note(self.shown.note(node))
        title = self.shown.title(node)
        if leaf:
            title = shortened(title, max(room - len(note) - 2, 4))
            self.write(x + w / 2 - 0.05, y - 0.02, note, SMALL, color=QUIET, ha="right")
        else:
            title = shortened(title, room)
        weight = "bold" if leaf else "normal"
        left = x - w / 2 + 0.05
        self.write(left, y - 0.02, title, SMALL, ha="left", weight=weight)
        self.bar(node, x - w / 2, y + h / 2 - 0.035, w, 0.035)

    def box(self, node: int) -> None:
        """A node from the top down: title, or a picture, then rows and a bar."""
        x, y, w, h = self.frame(node)
        top = y - h / 2
        test = self.shown.test(node)
        if test is not None and self.shown.sample is not None:
            self.rows(node, x, top, w, h)
        elif test is not None and (terms := self.shown.main_terms(test)):
            self.terms(node, test, terms, x, top, w)
        else:
            title = self.shown.title(node)
            lines = [shortened(title, LETTERS)]
            if test and not test.can_fail:  # a sum: two lines of small print
                lines = wrap(title, 34, max_lines=2, placeholder=" …")
            size = TEXT if len(lines) == 1 else 0.8 * TEXT
            weight = "bold" if test is None else "normal"
            self.write(x, top + 0.28 * HEIGHT, "\n".join(lines), size, weight=weight)
        below = y + h / 2
        note = self.shown.note(node)
        if node in self.cut_off:
            note += " …"
        self.write(x, below - 0.38 * HEIGHT, note, SMALL, color=QUIET)
        self.bar(node, x - 0.44 * w, below - 0.2 * HEIGHT, 0.88 * w, 0.12 * HEIGHT)

    @cached_property
    def cut_off(self) -> set[int]:
        """Nodes whose children are not drawn."""
        places, model = self.layout.places, self.shown.model
        below = {at: model.children(at) for at in places}
        return {
            at
            for at, children in below.items()
            if children and children[0] not in places
        }

    def terms(self, node: int, test: NodeTest, terms, x, top, w) -> None:
        """The main terms of a machine: a dot for each score, on one scale."""
        children = self.shown.model.children(node)
        classes = (
            []
            if self.shown.labels is None
            else [self.shown.labels[c] for c in children]
        )
        shades = class_colours(len(children))
        if len(set(classes)) == len(children):
            shades = [self.shown.shades[k] for k in classes]
        longest = max(abs(v) for _, values in terms for v in values)
        zero, half = x + 0.27 * w, 0.19 * w
        self.write(x, top + 0.1, f"largest of {len(children)} scores", 0.9 * SMALL)
        for i, (name, values) in enumerate(terms):
            y = top + 0.25 + TERM * i
            text = shortened(name, 17)
            self.write(x - 0.46 * w, y, text, 0.9 * SMALL, ha="left", color=QUIET)
            self.ax.plot([zero, zero], [y - 0.05, y + 0.05], color=LINE_COLOUR, lw=0.6)
            at = [zero + half * v / longest for v in values]
            size = (4.2 * self.layout.text) ** 2
            self.ax.scatter(at, [y] * len(at), s=size, c=shades, zorder=3, linewidths=0)

    def rows(self, node: int, x, top, w, h) -> None:
        """The distribution of what a node tests, as `plot_node` draws it, small."""
        size = self.layout.text
        place = (x - 0.46 * w, top + 0.08, 0.92 * w, h - 0.62)
        panel = self.ax.inset_axes(place, transform=self.ax.transData)
        assert self.shown.sample is not None
        if not len(self.shown.sample.at(node)[0]):
            panel.axis("off")
            self.write(x, top + 0.3 * h, "no rows", SMALL, color=QUIET)
            return
        draw_rows_at(panel, self.shown.model, node, self.shown.sample, brief=True)
        panel.set_ylabel("")
        panel.set_yticks([])
        panel.patch.set_alpha(0)
        panel.spines[["left"]].set_visible(False)
        panel.tick_params(labelsize=0.75 * SMALL * size, length=2 * size, pad=1)
        title = shortened(self.shown.title(node), LETTERS + 4)
        panel.set_xlabel(plain(title), fontsize=0.9 * SMALL * size, labelpad=1)

    def foot(self) -> None:
        """The legend, and what is not drawn."""
        wide, high = self.layout.size
        classes = [str(c) for c in self.shown.model.classes]
        size = self.layout.text
        if classes:
            legend(
                self.ax,
                classes,
                self.shown.shades,
                loc="lower center",
                ncols=min(len(classes), 10),
                fontsize=max(TEXT * size, 5),
                borderaxespad=0,
            )
        if self.layout.n_left_out:
            text = (
                f"{self.layout.n_left_out} nodes of the lower levels are not drawn: "
                "use larger axes, max_depth, or to_html"
            )
            self.write(
                0.5 * wide, high - FOOT + 0.06, text, SMALL, style="italic", color=QUIET
            )
