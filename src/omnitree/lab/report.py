"""Reports: tables and figures in one file, its form chosen by the file's name.

`.html` (one offline page; everything from the data is escaped; extra `lab`), `.md`, `.tex`
and `.csv`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import numpy as np

from omnitree.data.files import replace_file
from omnitree.data.plain import one_line
from omnitree.data.reading import InputError
from omnitree.lab import plots
from omnitree.lab.comparison import TITLES, MethodComparison
from omnitree.lab.extras import need
from omnitree.lab.tables import TextTable, markdown_text
from omnitree.tree.splits import SPLITS

SUFFIXES = (".html", ".md", ".tex", ".csv")


@dataclass(frozen=True)
class Figure:
    """A title and a drawing as SVG text."""

    title: str
    svg: str


def check(path: Path | None) -> None:
    """Refuse a report that could not be written, before any work."""
    if path is None:
        return
    if path.suffix.lower() not in SUFFIXES:
        raise InputError(
            f"{path}: a report ends in {', '.join(SUFFIXES)}, which says its form"
        )
    if path.suffix.lower() == ".html":
        try:
            need("jinja2")
            need("matplotlib")
        except ImportError as error:
            raise InputError(str(error)) from None


def write(
    path: Path,
    title: str,
    lines: Sequence[str],
    tables: Sequence[TextTable],
    figures: Sequence[Figure] = (),
    safe_csv: bool = False,
) -> None:
    """Write a report; `figures` go into HTML only.

    With `safe_csv`, no cell of a CSV file is a formula.
    """
    suffix = path.suffix.lower()
    if suffix == ".html":
        source = files("omnitree.lab").joinpath("report.html.j2").read_text("utf-8")
        page = need("jinja2").Environment(autoescape=True).from_string(source)
        text = page.render(
            colours=explorer_colours(),
            title=title,
            lines=lines,
            tables=tables,
            figures=figures,
        )
    elif suffix == ".md":
        heads = [markdown_text(line) for line in (f"# {title}", *lines)]
        parts = [*heads, *(table.markdown() for table in tables)]
        text = "\n\n".join(parts) + "\n"
    elif suffix == ".tex":
        heads = [f"% {one_line(line)}" for line in (title, *lines)]
        text = "\n\n".join([*heads, *(table.latex() for table in tables)]) + "\n"
    else:
        text = "\n".join(
            f"# {one_line(table.title)}\n{table.csv(safe_csv)}" for table in tables
        )
    replace_file(path, text)


def explorer_colours() -> str:
    """The explorer's colours as CSS variables: light, and dark where readers prefer it."""
    style = (
        files("omnitree.export.explorer").joinpath("explorer.css").read_text("utf-8")
    )
    light = re.search(r"^:root \{(.*?)^\}", style, re.M | re.S)
    dark = re.search(r'^:root\[data-theme="dark"\] \{(.*?)^\}', style, re.M | re.S)
    assert light and dark, "explorer.css has a block of colours for light and for dark"
    return (
        f":root {{{light[1]}}}\n"
        f"@media (prefers-color-scheme: dark) {{ :root {{{dark[1]}}} }}"
    )


def figures_of(comparison: MethodComparison) -> list[Figure]:
    """Box plots, nodes by level and, where ranks can be tested, their diagram."""
    out = []
    methods = comparison.methods
    for name, by in comparison.by_data.items():
        groups = {}
        for measure in ("error", "log_loss", "parameters", "seconds"):
            values = [by[m].scores(measure) for m in methods if m in by]
            if all(np.isfinite(v).sum() > 1 for v in values):
                groups[TITLES[measure]] = values
        if groups:
            out.append(Figure(f"{name}: folds", plots.box_plots(groups, methods)))
        levels = {m: level_counts(by[m].folds) for m in methods if m in by}
        levels = {m: counts for m, counts in levels.items() if counts}
        if any(len(c) > 1 for counts in levels.values() for c in counts.values()):
            drawing = plots.nodes_by_level(levels)
            out.append(Figure(f"{name}: decision nodes by level", drawing))
    if comparison.can_rank:
        scores = np.array(list(comparison.mean_scores("error").values()))
        drawing = plots.critical_difference_diagram(scores, methods)
        out.append(Figure("Mean ranks of the errors", drawing))
    return out


def level_counts(folds: Sequence) -> dict[str, list[float]]:
    """Mean number of decision nodes per tree, by family and level."""
    trees = [fold.detail["nodes"] for fold in folds if "nodes" in fold.detail]
    depth = max((level for nodes in trees for _, level, *_ in nodes), default=0)
    out: dict[str, list[float]] = {}
    for nodes in trees:
        for kind, level, *_ in nodes:
            family = (SPLITS[kind].family if kind in SPLITS else "") or kind
            out.setdefault(family, [0.0] * depth)[level - 1] += 1 / len(trees)
    return out
