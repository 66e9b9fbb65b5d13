"""Memory-mapped arrays, and batches that can be gone through again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from omnitree.data.sources.base import BLOCK_CELLS, Block, Roles, block_rows


@dataclass(frozen=True, eq=False)
class ArrayRows:
    """Consecutive rows of an array on disk."""

    array: Any
    start: int
    stop: int
    roles: Roles

    def blocks(self) -> Iterator[Block]:
        """Read the rows."""
        rows = np.array(self.array[self.start : self.stop])
        yield self.roles.block(rows, self.start, f"rows {self.start} to {self.stop}")

    def __getstate__(self) -> dict[str, Any]:
        # A memory-mapped array travels as its place on disk, not as its cells.
        state = dict(self.__dict__)
        if isinstance(self.array, np.memmap) and self.array.base is not None:
            file = self.array.filename
            shape, dtype, offset = self.array.shape, self.array.dtype, self.array.offset
            order = "C" if self.array.flags.c_contiguous else "F"
            state["array"] = ("memmap", file, dtype, offset, shape, order)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        array = state["array"]
        if isinstance(array, tuple):
            _, file, dtype, offset, shape, order = array
            array = np.memmap(file, dtype, "r", offset, shape, order)
        self.__dict__.update(state | {"array": array})


@dataclass(frozen=True, eq=False)
class ArraySource:
    """A memory-mapped array."""

    array: Any
    roles: Roles
    travels = False

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.array)

    @property
    def n_bytes(self) -> int:
        """Size in memory, as float64."""
        return 8 * self.array.size

    def parts(self, cells: int = BLOCK_CELLS) -> Iterator[ArrayRows]:
        """Runs of rows."""
        if self.roles.names:
            raise ValueError(
                "The columns of an array have no names: give y and sample_weight as arrays."
            )
        self.roles.check_length(self.n_rows)
        step = block_rows(self.array.shape[1], cells)
        for start in range(0, self.n_rows, step):
            stop = min(start + step, self.n_rows)
            yield ArrayRows(self.array, start, stop, self.roles)


@dataclass(frozen=True, eq=False)
class Batch:
    """A batch as it came, and where its rows begin."""

    given: Any
    start: int
    number: int
    roles: Roles
    cells: int = BLOCK_CELLS  # of a block

    def blocks(self) -> Iterator[Block]:
        """The rows in pieces."""
        X, place = self.given, f"batch {self.number}"
        if isinstance(X, tuple):
            X, roles, start = X[0], Roles(*X[1:]), 0
            roles.check_length(len(X))
        else:
            roles, start = self.roles, self.start
        step = block_rows(X.shape[1], self.cells)
        for at in range(0, len(X), step):
            yield roles.block(X[at : at + step], start + at, place)


@dataclass(frozen=True, eq=False)
class BatchSource:
    """Batches: data frames, arrays, or tuples (X, y) and (X, y, weight)."""

    batches: Iterable[Any]
    roles: Roles
    n_rows = None
    n_bytes = None
    travels = False

    def parts(self, cells: int = BLOCK_CELLS) -> Iterator[Batch]:
        """One part a batch."""
        start = 0
        for number, batch in enumerate(self.batches):
            X = batch[0] if isinstance(batch, tuple) else batch
            if self.roles.y is None and not isinstance(batch, tuple):
                raise ValueError(
                    "Batches without y: give tuples (X, y), or the name of a column as y."
                )
            if len(X):
                yield Batch(batch, start, number, self.roles, cells)
            start += len(X)
        self.roles.check_length(start)
