"""The public tree as JSON text; `docs/tree_format.md` and `tree.schema.json` describe it."""

from __future__ import annotations

import json

from omnitree.export.model import Model


def to_json(model: Model) -> str:
    """The dict of the tree, indented."""
    return json.dumps(model.tree, indent=1, allow_nan=False) + "\n"
