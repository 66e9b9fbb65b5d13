"""A categorical feature whose categories fall into two sets."""

from __future__ import annotations

from dataclasses import dataclass

from omnitree.tree.splits.multiway import MultiwaySplit


@dataclass(frozen=True)
class SubsetSplit(MultiwaySplit):
    """Branch 0 or 1 for each category, -1: cannot tell."""

    kind = "subset"
    title = "categories in two groups"

    @property
    def n_children(self) -> int:
        return 2
