"""The code that reads dates, for exports to Python: `data.date_text` without comments.

Used by `omnitree.export.python`.
"""

from __future__ import annotations

import ast
import inspect
from functools import cache

from omnitree.data import date_text


@cache
def dates_source() -> str:
    """Source of `data.date_text` without docstrings, annotations and future imports."""
    tree = _Plain().visit(ast.parse(inspect.getsource(date_text)))
    imports = [n for n in tree.body if isinstance(n, ast.Import)]
    rest = [n for n in tree.body if not isinstance(n, ast.Import)]
    blocks = ["\n".join(map(ast.unparse, imports))]
    for node in rest:
        space = "\n\n" if isinstance(node, ast.FunctionDef) else ""
        blocks.append(space + ast.unparse(node))
    return "\n".join(blocks) + "\n"


class _Plain(ast.NodeTransformer):
    """Leaves out what only people and type checkers read."""

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        """`__future__` and `typing` serve annotations."""

    def visit_Expr(self, node: ast.Expr) -> ast.Expr | None:
        """Without docstrings."""
        return None if isinstance(node.value, ast.Constant) else node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """Without annotations."""
        node.returns = None
        for argument in node.args.args:
            argument.annotation = None
        return self.generic_visit(node)
