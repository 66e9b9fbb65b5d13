"""What a source of blocks is, and how the target and weights are found in it.

A source is a sequence of parts that can be gone through any number of times; a part reads
its rows when asked, in blocks of at most `BLOCK_ROWS` rows and `BLOCK_CELLS` cells, or fewer
where little may be held. Python's share of the work falls with the size of the blocks, and
threads take turns there. Parts are small values, so an engine may send them to other threads
or processes and ask again for one that was lost.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

BLOCK_ROWS, BLOCK_CELLS = 1 << 16, 1 << 21


def block_rows(n_columns: int, cells: int = BLOCK_CELLS, n_rows: int = 0) -> int:
    """Rows of a block of a table with so many columns.

    If the number of rows is known, blocks are equal: no thread waits for one with a large
    last block, and each block fits where the one before was.

    Examples
    --------
    >>> block_rows(4), block_rows(1000), block_rows(1000, n_rows=3000)
    (65536, 2097, 1500)
    """
    most = max(1, min(BLOCK_ROWS, cells // max(n_columns, 1)))
    return -(-n_rows // -(-n_rows // most)) if n_rows else most


def block_cells(memory: int) -> int:
    """Cells of a block where so many bytes may be held: a quarter of them at most.

    Examples
    --------
    >>> block_cells(2**30), block_cells(2**24)
    (2097152, 524288)
    """
    return min(BLOCK_CELLS, max(memory // 32, 1 << 17))


@dataclass(frozen=True, eq=False)
class Block:
    """Some rows."""

    X: Any  # the columns that are features
    y: Any = None
    weight: Any = None
    place: str = "the data"  # where the rows come from, for errors

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.X.shape[0])


class SourcePart(Protocol):
    """A piece of a source that is read at once, by one thread or worker."""

    def blocks(self) -> Iterator[Block]:
        """Read the rows; the same ones each time."""


class BlockSource(Protocol):
    """A table as a sequence of parts.

    Attributes
    ----------
    n_rows, n_bytes : int or None
        Number of rows and size in memory, where that is known before reading.
    travels : bool
        Whether parts are small values that mean the same on other machines.
    """

    @property
    def n_rows(self) -> int | None: ...
    @property
    def n_bytes(self) -> int | None: ...
    @property
    def travels(self) -> bool: ...

    def parts(self, cells: int = BLOCK_CELLS) -> Iterator[SourcePart]:
        """Go through the parts, in any order; their blocks have at most so many cells."""


@dataclass(frozen=True, eq=False)
class Roles:
    """Where target and weights are: names of columns, or arrays over all rows."""

    y: Any = None
    weight: Any = None

    @property
    def names(self) -> list[str]:
        """Columns that are not features."""
        return [role for role in (self.y, self.weight) if isinstance(role, str)]

    def check(self, columns: list[str]) -> None:
        """Refuse names that are no columns."""
        for name in self.names:
            if name not in columns:
                listed = ", ".join(map(repr, columns[:20]))
                raise ValueError(f"There is no column {name!r} among {listed}.")

    def check_length(self, n_rows: int | None) -> None:
        """Refuse arrays that are not one number a row."""
        for what, role in (("y", self.y), ("sample_weight", self.weight)):
            if role is None or isinstance(role, str) or n_rows is None:
                continue
            if len(role) != n_rows:
                raise ValueError(
                    "Found input variables with inconsistent numbers of samples: "
                    f"{[n_rows, len(role)]} (X and {what})"
                )

    def block(self, X: Any, start: int, place: str) -> Block:
        """The rows of `X`, which begin at number `start` of the table."""

        def own(role: Any) -> Any:
            if isinstance(role, str):
                return _column(X, role)
            return None if role is None else _rows_of(role, start, start + len(X))

        rest = _without(X, self.names) if self.names else X
        return Block(rest, own(self.y), own(self.weight), place)


def _column(X: Any, name: str) -> Any:
    """A column of a frame as an array."""
    # Of pyarrow's tables without narwhals, which takes 0.5 ms of Python for each block.
    return (X if _is_arrow(X) else _frame(X))[name].to_numpy()


def _without(X: Any, names: list[str]) -> Any:
    """A frame without some columns."""
    return X.drop_columns(names) if _is_arrow(X) else _frame(X).drop(names).to_native()


def _is_arrow(X: Any) -> bool:
    return hasattr(X, "drop_columns")


def _frame(X: Any) -> Any:
    import narwhals as nw

    return nw.from_native(X, eager_only=True)


def _rows_of(values: Any, start: int, stop: int) -> Any:
    """Some rows of an array or a series, as an array."""
    rows = slice(start, stop)
    return np.asarray(values.iloc[rows] if hasattr(values, "iloc") else values[rows])
