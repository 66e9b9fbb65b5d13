"""Published tables beside ours, one module per paper.

A paper's module has `TITLE`, `TABLES` (number of each table to what it shows) and
`reproduce(lab, wanted)`, which returns a `Reproduction`. A new paper is a file here and a
line in `PAPERS`. The published figures are in `tables/`, with notes on what is doubtful in
them in its README.md.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from omnitree.data.reading import InputError
from omnitree.growing.part import unknown

PAPERS = {
    "lw94": "omnitree.lab.papers.lw94",
    "bu95": "omnitree.lab.papers.bu95",
    "ldt05": "omnitree.lab.papers.ldt05",
    "lmdt91": "omnitree.lab.papers.lmdt91",
    "omni": "omnitree.lab.papers.omni",
}


def find(name: str) -> Any:
    """The module of a paper.

    >>> find("lw94").TITLE
    'Liu & White (1994), The importance of attribute selection measures'
    """
    if name not in PAPERS:
        raise InputError(unknown("paper", name, list(PAPERS)))
    return import_module(PAPERS[name])
