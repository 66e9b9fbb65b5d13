"""The package as a reader finds it: few folders, short modules, each class name once."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "src" / "omnitree"
CLASSES = {
    "*.py": re.compile(r"^\s*class (\w+)", re.MULTILINE),
    "*.hpp": re.compile(r"^\s*(?:struct|class) (\w+)[^;()]*?\{", re.MULTILINE),
}


def test_the_top_has_few_folders():
    entries = [p for p in PACKAGE.iterdir() if p.name != "__pycache__"]
    # `omnitree.dask` is a public name, and all that it has to offer is one short module.
    files = {"__init__.py", "dask.py", "py.typed"}
    assert {p.name for p in entries if p.is_file()} == files
    assert len(entries) - len(files) <= 15


@pytest.mark.parametrize("files", ["*.py", "*.pyx", "*.hpp", "*.js"])
def test_no_module_is_long(files):
    lengths = {p: len(p.read_text("utf-8").splitlines()) for p in PACKAGE.rglob(files)}
    assert {p.name: n for p, n in lengths.items() if n > 500} == {}


@pytest.mark.parametrize("files", CLASSES)
def test_no_class_name_occurs_twice(files):
    found: Counter[str] = Counter()
    for path in PACKAGE.rglob(files):
        found.update(CLASSES[files].findall(path.read_text("utf-8")))
    assert len(found) > 50
    assert [name for name, n in found.items() if n > 1] == []
