"""Figures of the lab (matplotlib, extra `lab`), each returned as SVG text.

Box plots of error, complexity and time (OMNI figures 1-2), decision nodes by level (OMNI
figures 3-5), importance by position (LW94 figure 2), critical-difference diagrams
(Demsar 2006). No state of matplotlib is touched: figures are made without pyplot. A
notebook shows them as pictures. On a page that defines the explorer's colours as CSS
variables they take those, so they follow its dark theme.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from importlib.util import find_spec
from typing import Any

import numpy as np

from omnitree.export.palette import PALETTE, class_colours
from omnitree.lab import ranks
from omnitree.lab.extras import need

# Colours that a page may replace, by the names of its CSS variables.
INK, QUIET, LINE, PAPER = "#1c2632", "#566474", "#dce2e8", "#ffffff"
ACCENT, SOFT, BAD = "#2f6aa8", "#e3edf7", "#b3424a"
VARIABLES = {
    INK: "ink",
    QUIET: "quiet",
    LINE: "line",
    PAPER: "paper",
    ACCENT: "accent",
    SOFT: "accent-soft",
    BAD: "bad",
}
STYLE = {
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": QUIET,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": QUIET,
    "ytick.color": QUIET,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "grid.color": LINE,
    "axes.axisbelow": True,
    "legend.frameon": False,
    "svg.hashsalt": "omnitree",
    "svg.fonttype": "path",
}
# Families of tests in the order of their colours, the same in every chart.
FAMILIES = ("univariate", "linear", "quadratic", "additive", "network")


class Svg(str):
    """The text of a picture."""

    def _repr_html_(self) -> str:
        return str(self)


def _styled(draw: Callable[..., Svg]) -> Callable[..., Svg]:
    """Draw in our colours, whatever matplotlib's settings are."""

    @wraps(draw)
    def styled(*args: Any, **options: Any) -> Svg:
        with need("matplotlib").rc_context(STYLE):
            return draw(*args, **options)

    return styled


def can_draw() -> bool:
    """Whether figures can be drawn: the library for them is installed."""
    return find_spec("matplotlib") is not None


@_styled
def box_plots(
    groups: Mapping[str, Sequence[np.ndarray]],
    methods: Sequence[str],
    published: Mapping[str, Sequence[tuple[float, float]]] | None = None,
) -> Svg:
    """One panel per measure, one box per method.

    Parameters
    ----------
    groups : mapping of a measure's title to the values of each method
    methods : sequence of str
    published : mapping of a measure's title to mean and deviation of each method
        Drawn beside the boxes.
    """
    figure = _figure(3.4 * len(groups), 0.35 * len(methods) + 1.4)
    axes = figure.subplots(1, len(groups), sharey=True, squeeze=False)[0]
    for axis, (title, values) in zip(axes, groups.items(), strict=True):
        axis.boxplot(
            [np.asarray(v)[np.isfinite(v)] for v in values],
            orientation="horizontal",
            widths=0.6,
            patch_artist=True,
            boxprops={"facecolor": SOFT, "edgecolor": ACCENT},
            whiskerprops={"color": ACCENT},
            capprops={"color": ACCENT},
            medianprops={"color": INK},
            flierprops={"markersize": 3, "markeredgecolor": ACCENT},
        )
        for i, (mean, deviation) in enumerate((published or {}).get(title, ()), 1):
            axis.errorbar(mean, i + 0.4, xerr=deviation, fmt="D", color=QUIET, ms=3)
        axis.set_title(title, fontsize=10)
        axis.grid(axis="x")
    axes[0].set_yticks(range(1, len(methods) + 1), list(methods))
    axes[0].invert_yaxis()
    return _svg(figure)


@_styled
def regions(
    X: np.ndarray,
    y: np.ndarray,
    predict: Callable[[np.ndarray], np.ndarray],
    labels: tuple[str, str],
) -> Svg:
    """Rows of two features by class, on what a model says everywhere between them."""
    classes, codes = np.unique(y, return_inverse=True)
    low, high = X.min(axis=0) - 0.3, X.max(axis=0) + 0.3
    first, second = (np.linspace(low[j], high[j], 120) for j in (0, 1))
    grid = np.stack(np.meshgrid(first, second), axis=-1)
    said = np.searchsorted(classes, predict(grid.reshape(-1, 2))).reshape(120, 120)
    figure = _figure(4.2, 3.2)
    axis = figure.subplots()
    edges = np.arange(len(classes) + 1) - 0.5
    colours = class_colours(len(classes))
    axis.contourf(first, second, said, edges, alpha=0.25, colors=colours)
    marks = zip(classes, colours, "os^Dv<>p*", strict=False)
    for k, (label, colour, marker) in enumerate(marks):
        rows = X[codes == k]
        axis.scatter(*rows.T, s=12, marker=marker, color=colour, label=str(label))
    axis.set(xlabel=labels[0], ylabel=labels[1])
    axis.legend(fontsize=8)
    return _svg(figure)


@_styled
def nodes_by_level(counts: Mapping[str, Mapping[str, Sequence[float]]]) -> Svg:
    """Mean number of decision nodes of each family at each level; the root is level 1.

    One panel per method, all on the same scale.

    Parameters
    ----------
    counts : mapping of a method to a mapping of a family to its numbers by level
    """
    figure = _figure(1.4 + 2.3 * len(counts), 2.8)
    axes = figure.subplots(1, len(counts), sharey=True, squeeze=False)[0]
    found = {family for by_family in counts.values() for family in by_family}
    colours = dict(
        zip((*FAMILIES, *sorted(found - {*FAMILIES})), PALETTE, strict=False)
    )
    families = [family for family in colours if family in found]
    for axis, (method, by_family) in zip(axes, counts.items(), strict=True):
        depth = max((len(values) for values in by_family.values()), default=0)
        base = np.zeros(depth)
        for family in families:
            height = np.zeros(depth)
            values = by_family.get(family, ())
            height[: len(values)] = values
            levels = np.arange(1, depth + 1)
            axis.bar(levels, height, bottom=base, color=colours[family])
            base += height
        axis.set_title(method, fontsize=10)
        axis.set(xlabel="level", xlim=(0.4, max(depth, 3) + 0.6))
        axis.xaxis.get_major_locator().set_params(integer=True)
        axis.grid(axis="y")
    axes[0].set_ylabel("decision nodes per tree")
    patch = need("matplotlib.patches").Patch
    handles = [patch(color=colours[family], label=family) for family in families]
    figure.legend(handles=handles, loc="outside right upper", fontsize=8)
    return _svg(figure)


@_styled
def lines_by_position(
    series: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    labels: tuple[str, str],
    title: str = "",
) -> Svg:
    """Lines with markers, as LW94's figures: name to (positions, values)."""
    figure = _figure(5.0, 3.2)
    axis = figure.subplots()
    marks = zip(series.items(), "s^oDv<>p*", PALETTE, strict=False)
    for (name, (x, y)), marker, colour in marks:
        dashed = "--" if "published" in name else "-"
        axis.plot(x, y, marker=marker, linestyle=dashed, color=colour, label=name)
    axis.set(xlabel=labels[0], ylabel=labels[1], title=title)
    axis.grid()
    axis.legend(fontsize=8)
    return _svg(figure)


@_styled
def critical_difference_diagram(
    scores: np.ndarray, methods: Sequence[str], level: float = 0.05
) -> Svg:
    """Mean ranks on a line; bars join methods that Nemenyi's test cannot tell apart."""
    n, k = np.asarray(scores).shape
    mean = ranks.mean_ranks(scores)
    difference = ranks.critical_difference(k, n, level)
    groups = ranks.cliques(mean, difference)
    order = np.argsort(mean, kind="stable")
    half = (k + 1) // 2
    figure = _figure(6.5, 0.28 * (half + len(groups)) + 1.2, layout=None)
    axis = figure.add_axes((0.28, 0.02, 0.44, 0.96))
    axis.set_axis_off()
    axis.set_xlim(0.2, k + 0.8)
    axis.plot([1, k], [0, 0], color=INK)
    for tick in range(1, k + 1):
        axis.plot([tick, tick], [0, 0.2], color=INK)
        axis.text(tick, 0.35, str(tick), ha="center", fontsize=8)
    axis.plot([1, min(1 + difference, k)], [1.2, 1.2], color=INK, linewidth=2)
    axis.text(1, 1.4, f"critical difference {difference:.2f}", fontsize=8)
    below = 0.35 * len(groups) + 0.4
    axis.set_ylim(-below - 0.6 * half, 2.2)
    for i, method in enumerate(order):
        left = i < half
        y = -below - 0.6 * (i if left else k - 1 - i)
        end = 0.9 if left else k + 0.1
        axis.plot([mean[method]] * 2 + [end], [0, y, y], color=QUIET, linewidth=0.8)
        axis.text(
            end - 0.05 if left else end + 0.05,
            y,
            f"{methods[method]} ({mean[method]:.2f})",
            ha="right" if left else "left",
            va="center",
            fontsize=9,
        )
    for i, group in enumerate(groups):
        y = -0.35 * (i + 1)
        ends = [mean[group[0]] - 0.05, mean[group[-1]] + 0.05]
        axis.plot(ends, [y, y], color=BAD, linewidth=3)
    return _svg(figure)


def _figure(width: float, height: float, layout: str | None = "constrained") -> Any:
    return need("matplotlib.figure").Figure(figsize=(width, height), layout=layout)


def _svg(figure: Any) -> Svg:
    """The figure as an element for a page: without header, date or random ids."""
    out = io.StringIO()
    figure.savefig(out, format="svg", metadata={"Date": None})
    text = out.getvalue()
    for colour, name in VARIABLES.items():
        text = text.replace(f": {colour}", f": var(--{name}, {colour})")
    return Svg(text[text.index("<svg") :])
