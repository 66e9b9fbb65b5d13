"""The stubs of compiled modules are those of their sources, and name what is compiled."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import inspect
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
_spec = importlib.util.spec_from_file_location("stubs", ROOT / ".ci" / "stubs.py")
stubs = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(stubs)
STUBS = sorted(stubs.stubs())


def functions(tree: ast.Module) -> dict[str, list[str]]:
    """Names of public functions and of their parameters."""
    found = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            own = node.args
            found[node.name] = [a.arg for a in (*own.posonlyargs, *own.args)]
            found[node.name] += [a.arg for a in own.kwonlyargs]
    return found


@pytest.mark.parametrize("path", STUBS, ids=lambda p: f"{p.parent.name}-{p.stem}")
def test_stub(path):
    text = path.read_text()
    assert text == stubs.stubs()[path], "run python .ci/stubs.py"
    module = importlib.import_module(f"omnitree._core.{path.parent.name}.{path.stem}")
    compiled = {
        name: list(inspect.signature(value).parameters)
        for name, value in vars(module).items()
        if not name.startswith("_") and type(value).__name__.startswith("cython")
    }
    assert functions(ast.parse(text)) == compiled and compiled


def test_all_modules_have_stubs():
    assert {p.with_suffix(".pyx") for p in STUBS} == set(stubs.CORE.glob("*/*.pyx"))
