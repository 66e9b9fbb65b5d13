"""The curves of a test or of a leaf's model, each with the rows of the node under it.

A panel a curve, the largest first: above what the feature adds, a line for each branch or
class; below the rows by class. The panels lie inside one Axes, so that the picture of a node
can be part of another figure.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from omnitree.export.model import Model, NodeTest
from omnitree.export.palette import class_colours
from omnitree.export.pictures.canvas import (
    QUIET,
    plain,
    shortened,
    stacked,
    whole_ticks,
)
from omnitree.export.sample import in_bins
from omnitree.export.words import less

# Panels at most, and side by side.
MOST_PANELS = 9
ACROSS = 3
N_BINS = 30
INK = "#333333"


@dataclass(frozen=True)
class CurveRows:
    """The rows at a node: cells, positions of their classes, weights, colours of classes."""

    values: NDArray[np.float64]
    labels: NDArray[np.intp]
    weight: NDArray[np.float64]
    shades: list[Any]


def figure_size(test: NodeTest, more: int = 0) -> tuple[float, float]:
    """Inches of a figure with room for the panels of all curves, and more of them."""
    n = min(len(test.data["curve_columns"]) + more, MOST_PANELS)
    return 3.4 * min(n, ACROSS), 2.8 * -(-n // ACROSS) + 0.6


def draw_curves(
    ax: Any,
    model: Model,
    test: NodeTest,
    rows: CurveRows,
    first: Callable[[Any], None] | None = None,
) -> None:
    """Draw panels into an Axes, which is only their frame from then on.

    `first` draws a panel before those of the curves.
    """
    ax.axis("off")
    names, lines, shades = _lines(model, test)
    spread = [max(np.ptp(own[j][:-1]) for own in lines) for j in range(len(lines[0]))]
    order = np.argsort([-s for s in spread], kind="stable").tolist()
    panels: list[int | None] = [None] * (first is not None) + order
    panels = panels[:MOST_PANELS]
    across = min(len(panels), ACROSS)
    down = -(-len(panels) // across)
    for at, j in enumerate(panels):
        left, below = (at % across + 0.17) / across, (down - 1 - at // across) / down
        width = 0.79 / across
        if j is None:
            assert first is not None
            panel = ax.inset_axes((left, below + 0.22 / down, width, 0.7 / down))
            first(panel)
            panel.tick_params(labelsize=8)
            panel.xaxis.label.set_size(9)
            continue
        top = ax.inset_axes((left, below + 0.4 / down, width, 0.52 / down))
        bottom = ax.inset_axes((left, below + 0.22 / down, width, 0.16 / down))
        column = model.columns[test.data["curve_columns"][j]]
        x = rows.values[:, column.feature]
        own = [line[j] for line in lines]
        some_missing = bool(np.isnan(x).any()) or any(line[-1] for line in own)
        knots = test.data["knots"][j]
        ends = _draw_lines(top, knots, own, shades, x, some_missing)
        _draw_rows(bottom, x, rows)
        bottom.set_xlim(ends)
        feature = model.features[column.feature]
        bottom.set_xlabel(plain(shortened(feature["name"], 34)), fontsize=9)
        if feature["kind"] == "ordered":
            every = range(len(feature["categories"]))
            bottom.set_xticks(every, [plain(c) for c in feature["categories"]])
        words = f"{names}  ◆ missing" if some_missing else names
        top.set_title(plain(shortened(words, 48)), fontsize=8, loc="left")


def _lines(model: Model, test: NodeTest) -> tuple[str, list[Any], list[Any]]:
    """What is drawn: its name, for each line the values of all curves, and its colour.

    Of two sums only the difference matters, so that one line is enough.
    """
    values = test.data["curve_values"]
    if "bias" not in test.data:
        return "adds to the sum", [values], [INK]
    if len(values) == 1:
        return "adds to the answer", values, [INK]
    children = model.children(test.node) if test.node >= 0 else ()
    classes = [model.labels[c] for c in children] or list(range(len(values)))
    if len(values) == 2:
        names = test.names or [str(model.classes[k]) for k in classes]
        both = zip(*values, strict=True)
        name = f"for {names[0]} rather than {names[1]}"
        return name, [[less(*two) for two in both]], [INK]
    if model.numeric or len(set(classes)) < len(classes):
        return "adds to each branch", values, class_colours(len(values))
    every = class_colours(len(model.classes))
    return "adds to each class", values, [every[k] for k in classes]


def _draw_lines(
    panel, knots, lines, shades, x, some_missing: bool
) -> tuple[float, float]:
    """Lines of a curve, constant beyond its knots, a diamond where the cell is missing.

    Gives the ends of the axis.
    """
    known = x[np.isfinite(x)]
    low, high = min([knots[0], *known]), max([knots[-1], *known])
    margin = 0.04 * (high - low)
    missing = low - 3 * margin
    for line, shade in zip(lines, shades, strict=True):
        places = [low - margin, *knots, high + margin]
        panel.plot(places, [line[0], *line[:-1], line[-2]], color=shade, lw=1.8)
        panel.plot(knots, line[:-1], color=shade, ls="", marker=".", ms=4)
        if some_missing:
            panel.plot([missing], [line[-1]], color=shade, ls="", marker="D", ms=5)
    panel.axhline(0.0, color=QUIET, lw=0.7, ls=":")
    ends = (missing - margin if some_missing else low - margin, high + margin)
    panel.set_xlim(ends)
    panel.tick_params(labelsize=8, labelbottom=False, bottom=False)
    panel.spines[["top", "right", "bottom"]].set_visible(False)
    return ends


def _draw_rows(panel, x, rows: CurveRows) -> None:
    """Rows by class under a curve."""
    known = np.isfinite(x)
    panel.tick_params(labelsize=8, labelleft=False, left=False)
    panel.spines[["top", "right", "left"]].set_visible(False)
    if not known.any():
        return
    low, high = float(x[known].min()), float(x[known].max())
    if not high > low:
        low, high = low - 0.5, low + 0.5
    edges = np.linspace(low, high, N_BINS + 1)
    parts = rows.labels[known], rows.weight[known]
    counts = in_bins(x[known], edges, *parts, len(rows.shades))
    stacked(panel, edges[:-1], np.diff(edges), counts, rows.shades, align="edge")
    whole_ticks(panel, x[known])
