"""The encoded columns that tests on several features see, by feature and category.

Used by `model.py` and by everything that tells sums in words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any


@dataclass(frozen=True)
class EncodedColumn:
    """An encoded column: a feature, and the code that is +1 in it (-1: a number)."""

    feature: int
    category: int


def encoded_columns(features: Sequence[dict[str, Any]]) -> tuple[EncodedColumn, ...]:
    """Columns that tests on several features see: one for two categories, else one each."""
    return _columns_of(*((f["kind"], len(f["categories"] or ())) for f in features))


@lru_cache(maxsize=64)
def _columns_of(*kinds: tuple[str, int]) -> tuple[EncodedColumn, ...]:
    """The same from kinds and numbers of categories: every sum that is told asks for it."""
    columns: list[EncodedColumn] = []
    for j, (kind, m) in enumerate(kinds):
        if kind in ("numeric", "ordered"):
            columns.append(EncodedColumn(j, -1))
        elif m == 2:
            columns.append(EncodedColumn(j, 1))
        elif m > 2:
            columns.extend(EncodedColumn(j, s) for s in range(m))
    return tuple(columns)
