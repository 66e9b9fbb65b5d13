"""A page for each preset, written before Sphinx looks for its sources.

Each has what its docstring says (paper, parts, differences), how it is composed, and a
picture: what it draws between the penguins by bill and flipper, and its tree. Used by
`conf.py`. A picture is made again when the preset's tree changes.
"""

from __future__ import annotations

import re
from hashlib import sha256
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt

from omnitree import presets
from omnitree.lab import data

FEATURES = ["bill_length_mm", "flipper_length_mm"]
# The dimensions that the docstrings of presets name, in the order of the papers.
DIMENSIONS = (
    "Node",
    "Branching",
    "Grouping of classes",
    "Merit",
    "Direction",
    "Threshold",
    "Columns",
    "Missing values",
    "Pruning",
    "Refinement",
)
# What a paragraph about differences from the paper or the program begins with.
DIFFERENCES = ("Differs", "Follows", "Assumptions", "Not as")


def write(folder: Path) -> None:
    """All pages; files that would not change are left alone."""
    folder.mkdir(parents=True, exist_ok=True)
    table = data.load("penguins")
    X = table.X[FEATURES]
    there = X.notna().all(axis=1).to_numpy()
    X, y = X[there], table.y[there]
    for name in presets.names():
        clf = presets.make(name, random_state=0).fit(X, y)
        picture = folder / f"{_file(name)}.png"
        mark = sha256(clf.export("json").encode()).hexdigest()
        stamp = folder / f"{_file(name)}.digest"
        if not picture.exists() or not stamp.exists() or stamp.read_text() != mark:
            _draw(clf, X, y, picture)
            stamp.write_text(mark)
        put(folder / f"{_file(name)}.md", _page(name, clf))


def put(path: Path, text: str) -> None:
    """Write a file unless it has this text already."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def _file(name: str) -> str:
    return name.replace(".", "_")


def _draw(clf: Any, X: Any, y: Any, path: Path) -> None:
    figure, (left, right) = plt.subplots(
        1, 2, figsize=(10, 3.6), layout="constrained", width_ratios=(1, 1.25)
    )
    clf.plot_boundary(X, y, ax=left)
    left.set(xlabel="bill length (mm)", ylabel="flipper length (mm)")
    clf.plot(ax=right)
    figure.savefig(path, dpi=90)
    plt.close(figure)


def _page(name: str, clf: Any) -> str:
    title, *paragraphs = presets.describe(name).split("\n\n")
    leaves = clf.tree_.n_leaves
    text = [
        f"# {name}: {_short(title)}",
        _joined(title),
        f"![What {name} draws between three species of penguins, and its tree]"
        f"({_file(name)}.png)",
        f"Three species of penguins by the lengths of bill and flipper: {leaves} "
        f"{'leaf' if leaves == 1 else 'leaves'}.",
        f'```python\nfrom omnitree import presets\n\nclf = presets.make("{name}")'
        ".fit(X, y)\n```",
        "## What it consists of",
    ]
    for paragraph in paragraphs:
        joined = _joined(paragraph)
        if joined.startswith("Weights of rows:"):
            text += ["## Weights and groups", joined.removeprefix("Weights of rows: ")]
        elif joined.startswith(DIFFERENCES):
            text += ["## How it differs", joined]
        else:
            text.append(_dimensions(joined))
    text += ["## Its composition", f"```python\n{presets.make(name)!r}\n```"]
    return "\n\n".join(text) + "\n"


def _short(title: str) -> str:
    """A title for the list of pages: without papers, and what follows a comma or colon."""
    words = re.split(r" \(|, |: |; ", title.removesuffix("."))[0]
    return words.replace("`", "").replace("omnitree's ", "")


def _dimensions(paragraph: str) -> str:
    """A paragraph; if it goes through the dimensions, as a table of them."""
    found = re.split(rf"(?:^|(?<=[.)] ))({'|'.join(DIMENSIONS)}): ", paragraph)
    if len(found) < 5 or found[0]:
        return paragraph
    rows = ["| part | of this system |", "|---|---|"]
    for name, what in zip(found[1::2], found[2::2], strict=True):
        rows.append(f"| {name} | {what.strip().removesuffix('.')} |")
    return "\n".join(rows)


def _joined(paragraph: str) -> str:
    """Lines as one, code in single backticks."""
    return " ".join(paragraph.split()).replace("``", "`").replace("|", r"\|")
