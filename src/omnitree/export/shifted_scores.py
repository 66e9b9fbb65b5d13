"""Leaves that answer by the scores of one model, each with its own shift, in words.

Their models differ by the biases alone. The model is told once, at the lowest node above
all of them, with biases in the middle; every leaf tells how far it is from there. For
`describe`, rules and pictures.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from omnitree.export.words import counted, model_kind, number


@dataclass(frozen=True)
class SharedScores:
    """A model with biases in the middle, and the shifts of each of its leaves."""

    model: dict[str, Any]
    shifts: dict[int, list[float]]

    def title(self) -> str:
        """What the lines of the model are."""
        return (
            f"scores, by one {model_kind(self.model)} model in {len(self.shifts)} leaves, "
            "each with its own shift; the largest sum decides:"
        )

    def leaf(self, at: int, classes: Sequence[Any], rows: float) -> str:
        """What a leaf answers."""
        return f"scores with shift {self.shift(at, classes)} ({counted(rows)})"

    def shift(self, at: int, classes: Sequence[Any]) -> str:
        """The shifts of a leaf, for classes that have one."""
        parts = [
            f"{label} {'+' if shift >= 0 else ''}{number(shift, 2)}"
            for label, shift in zip(classes, self.shifts[at], strict=True)
            if abs(shift) > 5e-3
        ]
        return ", ".join(parts) or "0"


def shared_scores(nodes: Sequence[dict[str, Any]]) -> dict[int, SharedScores]:
    """By the lowest node above them: models of several leaves that differ by biases alone.

    Models for numbers, of which the bias is no shift of scores, are left out.
    """
    groups: dict[str, list[int]] = {}
    for node in nodes:
        model = node.get("model")
        if node["kind"] != "leaf" or not model or model["link"] != "softmax":
            continue
        if model["columns"] or "knots" in model:  # else its scores are constants
            functions = {name: v for name, v in model.items() if name != "bias"}
            groups.setdefault(repr(functions), []).append(node["id"])
    found = {}
    for leaves in groups.values():
        biases = np.array([nodes[leaf]["model"]["bias"] for leaf in leaves])
        if (biases == biases[0]).all():
            continue
        weight = np.array([sum(nodes[leaf]["value"]) for leaf in leaves])
        middle = np.average(biases, axis=0, weights=np.maximum(weight, 1e-9))
        shifts = dict(zip(leaves, (biases - middle).tolist(), strict=True))
        model = nodes[leaves[0]]["model"] | {"bias": middle.tolist()}
        found[_above(nodes, leaves)] = SharedScores(model, shifts)
    return found


def _above(nodes: Sequence[dict[str, Any]], leaves: Sequence[int]) -> int:
    """The lowest node above some leaves."""
    common: list[int] | None = None
    for leaf in leaves:
        path, at = [], nodes[leaf]["parent"]
        while at is not None and at >= 0:
            path.append(at)
            at = nodes[at]["parent"]
        common = path if common is None else [n for n in common if n in set(path)]
    assert common
    return common[0]
