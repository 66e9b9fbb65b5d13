"""The stubs of compiled modules name what is compiled."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import inspect
from pathlib import Path

import pytest

TOOL = Path(__file__).parents[2] / "tools" / "stubs.py"
_spec = importlib.util.spec_from_file_location("stubs", TOOL)
stubs = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(stubs)


def functions(tree: ast.Module) -> dict[str, list[str]]:
    """Names of public functions and of their parameters."""
    found = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            own = node.args
            found[node.name] = [a.arg for a in (*own.posonlyargs, *own.args)]
            found[node.name] += [a.arg for a in own.kwonlyargs]
    return found


@pytest.mark.parametrize(
    "path", stubs.SOURCES, ids=lambda p: f"{p.parent.name}-{p.stem}"
)
def test_stub(path):
    module = importlib.import_module(f"omnitree._core.{path.parent.name}.{path.stem}")
    compiled = {
        name: list(inspect.signature(value).parameters)
        for name, value in vars(module).items()
        if not name.startswith("_") and type(value).__name__.startswith("cython")
    }
    assert functions(ast.parse(stubs.stub_of(path))) == compiled and compiled
