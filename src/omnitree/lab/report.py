"""Reports: tables and figures in one file, its form chosen by the file's name.

`.html` (one offline page; everything from the data is escaped; extra `lab`), `.md`, `.tex`
and `.csv`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import numpy as np

from omnitree.data.files import replace_file
from omnitree.data.reading import InputError
from omnitree.lab import plots
from omnitree.lab.comparison import TITLES, Comparison
from omnitree.lab.extras import need
from omnitree.lab.tables import Table

SUFFIXES = (".html", ".md", ".tex", ".csv")


@dataclass(frozen=True)
class Figure:
    """A title and a drawing as SVG text."""

    title: str
    svg: str


@dataclass(frozen=True)
class Text:
    """A title, lines of text as they are, and the name of a file beside the report."""

    title: str
    text: str
    link: str


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
    tables: Sequence[Table],
    figures: Sequence[Figure] = (),
    texts: Sequence[Text] = (),
) -> None:
    """Write a report; `figures` and `texts` go into HTML only."""
    suffix = path.suffix.lower()
    if suffix == ".html":
        text = html(title, lines, tables, figures, texts)
    elif suffix == ".md":
        parts = [f"# {title}", *lines, *(table.markdown() for table in tables)]
        text = "\n\n".join(parts) + "\n"
    elif suffix == ".tex":
        heads = [f"% {line}" for line in (title, *lines)]
        text = "\n\n".join([*heads, *(table.latex() for table in tables)]) + "\n"
    else:
        text = "\n".join(f"# {table.title}\n{table.csv()}" for table in tables)
    replace_file(path, text)


def html(
    title: str,
    lines: Sequence[str],
    tables: Sequence[Table],
    figures: Sequence[Figure] = (),
    texts: Sequence[Text] = (),
) -> str:
    """A page that needs nothing from elsewhere."""
    jinja = need("jinja2")
    markup = need("markupsafe").Markup
    source = files("omnitree.lab").joinpath("report.html.j2").read_text("utf-8")
    template = jinja.Environment(autoescape=True).from_string(source)
    drawn = [{"title": f.title, "svg": markup(f.svg)} for f in figures]
    return template.render(
        title=title, lines=lines, texts=texts, tables=tables, figures=drawn
    )


def can_draw() -> bool:
    """Whether figures can be drawn: the library for them is there."""
    try:
        need("matplotlib")
    except ImportError:
        return False
    return True


def figures_of(comparison: Comparison) -> list[Figure]:
    """Box plots, nodes by level and, where ranks can be tested, their diagram."""
    out = []
    methods = comparison.methods
    for name, by in comparison.by_data.items():
        groups = {}
        for measure in ("error", "parameters", "seconds"):
            values = [by[m].scores(measure) for m in methods if m in by]
            if all(np.isfinite(v).sum() > 1 for v in values):
                groups[TITLES[measure]] = values
        if groups:
            out.append(Figure(f"{name}: folds", plots.box_plots(groups, methods)))
        levels = [
            Figure(f"{name}, {m}: decision nodes by level", plots.nodes_by_level(c, m))
            for m in methods
            if m in by and (c := level_counts(by[m].folds))
        ]
        out += levels
    complete = comparison.mean_scores("error")
    if len(methods) > 2 and len(complete) > 1:
        scores = np.array(list(complete.values()))
        drawing = plots.critical_difference_diagram(scores, methods)
        out.append(Figure("Mean ranks of the errors", drawing))
    return out


def level_counts(folds: Sequence) -> dict[str, list[float]]:
    """Mean number of decision nodes a tree, by kind and level."""
    trees = [fold.detail["nodes"] for fold in folds if "nodes" in fold.detail]
    depth = max((level for nodes in trees for _, level, *_ in nodes), default=0)
    out: dict[str, list[float]] = {}
    for nodes in trees:
        for kind, level, *_ in nodes:
            out.setdefault(kind, [0.0] * depth)[level - 1] += 1 / len(trees)
    return out
