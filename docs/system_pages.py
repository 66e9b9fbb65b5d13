"""A page for each preset, written before Sphinx looks for its sources.

Each has what its docstring says (paper, parts, differences), how it is composed, and a
picture: what it draws between the penguins by bill and flipper, and its tree. Used by
`conf.py`. A picture is made again when the tree or the drawing code changes.
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
from omnitree.export import pictures
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
# How docstrings begin to say what differs from the paper or the program.
DIFFERENCES = re.compile(
    r"(?:^|(?<=[.)] ))(?:Differs|Follows the|Assumption|Not as|From the authors' program|"
    "The defaults are|Left out are)"
)


WEIGHTS = "Weights of rows:"
# What the docstrings cite: a pattern of the citation, and the reference.
PAPERS = [
    line.split("\t")
    for line in Path(__file__)
    .with_name("literature.tsv")
    .read_text("utf-8")
    .splitlines()
]


def write(folder: Path) -> None:
    """All pages; files that would not change are left alone."""
    folder.mkdir(parents=True, exist_ok=True)
    table = data.load("penguins")
    X = table.X[FEATURES]
    there = X.notna().all(axis=1).to_numpy()
    X, y = X[there], table.y[there]
    sources = sorted(Path(pictures.__file__).parent.glob("*.py"))
    drawn_by = b"".join(path.read_bytes() for path in (*sources, Path(__file__)))
    for name in presets.names():
        clf = presets.make(name, random_state=0).fit(X, y)
        picture = folder / f"{_file(name)}.png"
        mark = sha256(drawn_by + clf.export("json").encode()).hexdigest()
        stamp = folder / f"{_file(name)}.digest"
        if not picture.exists() or not stamp.exists() or stamp.read_text() != mark:
            _draw(clf, X, y, picture)
            stamp.write_text(mark)
        put(folder / f"{_file(name)}.md", _page(name, clf))
    put(folder.with_name("system_cards.txt"), _cards())


def _cards() -> str:
    """The pages as cards with their pictures, for the page of all systems."""
    lines = ["::::{grid} 2 3 4 4", ":gutter: 2", ""]
    for name in presets.names():
        title = _title(name, presets.describe(name).split("\n\n")[0])
        at = f"generated/systems/{_file(name)}"
        lines += [f":::{{grid-item-card}} {title}", f":link: {at}", ":link-type: doc"]
        lines += [f":img-bottom: {at}.png", ":::"]
    return "\n".join([*lines, "::::", ""])


def put(path: Path, text: str) -> None:
    """Write a file unless it has this text already."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def _file(name: str) -> str:
    return name.replace(".", "_")


def _draw(clf: Any, X: Any, y: Any, path: Path) -> None:
    """What it draws, and its tree, as two files."""
    figure, axis = plt.subplots(figsize=(6, 4), layout="constrained")
    clf.plot_boundary(X, y, ax=axis)
    axis.set(xlabel="bill length (mm)", ylabel="flipper length (mm)")
    figure.savefig(path, dpi=90)
    plt.close(figure)
    height = min(1.2 + 0.4 * clf.tree_.n_leaves, 6)
    figure, axis = plt.subplots(figsize=(7.5, height), layout="constrained")
    clf.plot(ax=axis)
    tree = path.with_name(f"{path.stem}_tree.png")
    figure.savefig(tree, dpi=110, bbox_inches="tight", pad_inches=0.15)
    plt.close(figure)


def _page(name: str, clf: Any) -> str:
    title, *paragraphs = presets.describe(name).split("\n\n")
    leaves = clf.tree_.n_leaves
    text = [
        f"# {_title(name, title)}",
        _joined(title),
        f"![What {name} draws between three species of penguins]({_file(name)}.png)",
        "Three species of penguins by the lengths of bill and flipper"
        + (f", and the tree: {leaves} leaves." if leaves > 1 else ": a single leaf."),
        f"![The tree of {name}]({_file(name)}_tree.png)" * (leaves > 1),
        f'```python\nfrom omnitree import presets\n\nclf = presets.make("{name}")'
        ".fit(X, y)\n```",
        "## What it consists of",
    ]
    differences, weights = [], ""
    for paragraph in map(_joined, paragraphs):
        if paragraph.startswith(WEIGHTS):
            weights = paragraph.removeprefix(WEIGHTS).strip()
            continue
        found = DIFFERENCES.search(paragraph)
        at = len(paragraph) if found is None else found.start()
        if paragraph[:at].strip():
            text.append(_dimensions(paragraph[:at].strip()))
        if found is not None:
            differences.append(paragraph[at:])
    text += ["## How it differs"]
    text += differences or ["Only in what is said above."]
    if weights:
        text += ["## Weights and groups", weights[0].upper() + weights[1:]]
    known = " ".join(presets.describe(name).split())
    papers = [paper for cited, paper in PAPERS if re.search(cited, known)]
    if papers:
        text += ["## Literature", "\n".join(f"- {paper}" for paper in papers)]
    text += ["## Its composition", f"```python\n{presets.make(name)!r}\n```"]
    return "\n\n".join(filter(None, text)) + "\n"


def _title(name: str, title: str) -> str:
    """A title for the list of pages: the preset, and what it is in a few words.

    >>> _title("c4.5", "C4.5, release 8 (Quinlan 1993, 1996).")
    'C4.5, release 8'
    >>> _title("bu95", "Multivariate trees of Brodley & Utgoff (1995).")
    'bu95: Multivariate trees of Brodley & Utgoff'
    >>> _title("lmdt", "LMDT (Utgoff & Brodley 1991).")
    'LMDT (Utgoff & Brodley 1991)'
    """
    words = title.removesuffix(".").replace("`", "")
    short = re.split(r" \(|: |; |, (?:as|where) ", words)[0]
    whole = re.split(r",? as ", words)[0]
    if short.lower() == name:
        return whole
    is_named = re.match(rf"{re.escape(name)}(?![\w(-])", short.lower())
    return short if is_named else f"{name}: {short}"


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
