"""A share of the rows of a source, by their hashes: the same ones in any division."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from omnitree.data.sources.base import BLOCK_CELLS, Block, BlockSource, SourcePart
from omnitree.data.sources.coding import read_rows


@dataclass(frozen=True, eq=False)
class ShareOfRows:
    """A part without the rows that belong to the others."""

    part: SourcePart
    seed: int
    share: float
    apart: bool

    def blocks(self) -> Iterator[Block]:
        """The rows with small hashes if `apart`, else all others."""
        for block in self.part.blocks():
            key = read_rows(replace(block, weight=None), self.seed).key
            taken = (key < np.uint64(int(self.share * 2**64))) == self.apart
            if taken.any():
                yield replace(
                    block,
                    X=_taken(block.X, taken),
                    y=None if block.y is None else block.y[taken],
                    weight=None if block.weight is None else block.weight[taken],
                )


@dataclass(frozen=True, eq=False)
class ShareOfSource:
    """A source with a share of its rows, or with all others.

    Equal rows stay together.
    """

    source: BlockSource
    seed: int
    share: float
    apart: bool
    n_rows = None

    @property
    def travels(self) -> bool:
        """Whether parts can be sent to other machines."""
        return self.source.travels

    @property
    def n_bytes(self) -> int | None:
        """Size in memory, about."""
        whole = self.source.n_bytes
        share = self.share if self.apart else 1 - self.share
        return None if whole is None else int(whole * share)

    def parts(self, cells: int = BLOCK_CELLS) -> Iterator[ShareOfRows]:
        """Parts with some of their rows."""
        for part in self.source.parts(cells):
            yield ShareOfRows(part, self.seed, self.share, self.apart)


def _taken(X: Any, taken: np.ndarray) -> Any:
    if isinstance(X, np.ndarray):
        return X[taken]
    import narwhals as nw

    return nw.from_native(X, eager_only=True).filter(taken.tolist()).to_native()
