"""Exporters: a tree in other formats. All of them read only `Tree.to_dict()`.

`export` finds the exporter of a format; each is a module that is imported when needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from omnitree.export.merging import merged
from omnitree.export.model import Model

# Format: module and function, and the options that the function takes.
FORMATS: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "c": ("c", "to_c", ()),
    "dot": ("dot", "to_dot", ()),
    "onnx": ("onnx", "to_onnx", ()),
    "pmml": ("pmml", "to_pmml", ()),
    "python": ("python", "to_python", ()),
    "rules": ("rules", "to_rules", ()),
    "sql": ("sql", "to_sql", ("proba",)),
}
# What an estimator's `export` takes: "json" is its whole document (`estimators.documents`).
NAMES = tuple(sorted([*FORMATS, "json"]))
# Formats that run; of leaves that share a model they need only one.
RUNNING = ("c", "onnx", "pmml", "python", "sql")


def export(
    tree: dict[str, Any],
    format: str,
    outputs: Sequence[Sequence[float]] | None = None,
    **options: Any,
) -> str | bytes:
    """A tree in another format.

    Parameters
    ----------
    tree : dict
        As `Tree.to_dict` gives it.
    format : str
        One of `FORMATS`.
    outputs : sequence of sequences, optional
        Class probabilities of each node, where they are not the shares of its counts.
    **options
        ``proba=True`` for "sql": the probabilities, too.

    Returns
    -------
    str, or bytes for "onnx"
    """
    if format == "json" and options:
        raise ValueError("format 'json' has no options")
    if format not in FORMATS:
        from omnitree.growing.part import unknown

        raise ValueError(unknown("format", format, list(NAMES)))
    module, name, known = FORMATS[format]
    for option in options:
        if option not in known:
            listed = ", ".join(known) or "none"
            raise ValueError(
                f"format {format!r} has no option {option!r}; has: {listed}"
            )
    function = getattr(import_module(f"omnitree.export.{module}"), name)
    model = Model(tree, outputs)
    return function(merged(model) if format in RUNNING else model, **options)
