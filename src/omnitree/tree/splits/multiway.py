"""A categorical feature with a branch for each category."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from omnitree.data.schema import Schema
from omnitree.tree.expression import Lookup
from omnitree.tree.splits.base import Split, one_feature_problem


@dataclass(frozen=True)
class MultiwaySplit(Split):
    """`branch[code]` is where a category goes, -1: cannot tell."""

    feature: int
    branch: tuple[int, ...]
    kind = "multiway"
    family = "univariate"
    title = "one branch per category"

    @property
    def n_children(self) -> int:
        return max(self.branch) + 1

    @property
    def rule(self) -> Lookup:
        return Lookup(self.feature, self.branch)

    def problem(self, schema: Schema) -> str | None:
        if problem := one_feature_problem(self.rule, schema):
            return problem
        sound = all(-1 <= b < self.n_children for b in self.branch)
        return None if sound else "branch out of range"

    def _layout(self):
        return (self.feature, *self.branch), ()

    @classmethod
    def unpack(cls, index: list[int], weight: list[float], **rest: Any):
        return cls(index[0], tuple(index[1:]), **rest)
