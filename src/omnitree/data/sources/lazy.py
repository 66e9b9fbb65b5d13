"""Lazy frames of polars, and collections of dask."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from omnitree.data.sources.base import BLOCK_CELLS, Block, Roles, block_rows


@dataclass(frozen=True, eq=False)
class FrameRows:
    """A frame that was read already."""

    frame: Any
    start: int
    roles: Roles

    def blocks(self) -> Iterator[Block]:
        """The rows."""
        yield self.roles.block(self.frame, self.start, f"rows from {self.start}")


@dataclass(frozen=True, eq=False)
class LazyFrameSource:
    """A polars LazyFrame: its query runs once a pass, in polars' streaming engine."""

    frame: Any
    roles: Roles
    columns: Sequence[str] | None = None
    travels = False

    @cached_property
    def query(self) -> Any:
        """The frame with the columns that are read."""
        every = self.frame.collect_schema().names()
        self.roles.check(every)
        if self.columns is None:
            return self.frame
        lacking = [repr(name) for name in self.columns if name not in every]
        if lacking:
            raise ValueError(f"The table lacks column(s) {', '.join(lacking)}.")
        return self.frame.select([*self.columns, *self.roles.names])

    @cached_property
    def n_rows(self) -> int:
        """Number of rows."""
        import polars as pl

        return int(self.frame.select(pl.len()).collect().item())

    @property
    def n_bytes(self) -> int:
        """Size in memory, as float64."""
        return 8 * self.n_rows * len(self.query.collect_schema().names())

    def parts(self, cells: int = BLOCK_CELLS) -> Iterator[FrameRows]:
        """Batches as the query yields them."""
        self.roles.check_length(self.n_rows)
        n_columns = len(self.query.collect_schema().names())
        start, step = 0, block_rows(n_columns, cells)
        if hasattr(self.query, "collect_batches"):
            batches = self.query.collect_batches(chunk_size=step)
        else:  # polars before 1.35
            slices = range(0, self.n_rows, step)
            batches = (self.query.slice(at, step).collect() for at in slices)
        for frame in batches:
            if len(frame):
                yield FrameRows(frame, start, self.roles)
            start += len(frame)


@dataclass(frozen=True, eq=False)
class DelayedRows:
    """A partition of a dask collection, with its part of the target and the weights."""

    X: Any
    y: Any
    weight: Any
    number: int
    client: Any = None  # that computes it; None: this thread
    cells: int = BLOCK_CELLS  # of a block

    def blocks(self) -> Iterator[Block]:
        """Compute the partition, if it is not computed yet, and give it in pieces."""
        import dask

        given = (self.X, self.y, self.weight)
        if self.client is None:
            X, y, weight = dask.compute(*given, scheduler="synchronous")
        else:
            X, y, weight = result_on(self.client, dask.delayed(given))
        place = f"partition {self.number}"
        names = (y, weight)
        roles = Roles(
            *(r if r is None or isinstance(r, str) else np.asarray(r) for r in names)
        )
        roles.check_length(len(X))
        step = block_rows(X.shape[1], self.cells)
        for at in range(0, len(X), step):
            here = slice(at, at + step)
            rows = X.iloc[here] if hasattr(X, "iloc") else X[here]
            yield roles.block(rows, at, place)


@dataclass(frozen=True, eq=False)
class DaskSource:
    """A dask.dataframe, or a dask.array of rows."""

    collection: Any
    roles: Roles
    client: Any = None  # a distributed.Client that computes partitions
    n_rows: int | None = None
    travels = True

    @property
    def n_bytes(self) -> int | None:
        """Size in memory, as float64, once the rows are counted."""
        if self.n_rows is None:
            return None
        return 8 * self.n_rows * self.collection.shape[1]

    @cached_property
    def partitions(self) -> list[tuple[Any, Any, Any]]:
        """What each partition has of the rows, the target and the weights."""
        if hasattr(self.collection, "columns"):
            self.roles.check(list(self.collection.columns))
        X = _partitions(self.collection)
        y, weight = (
            self._along(role, len(X)) for role in (self.roles.y, self.roles.weight)
        )
        return list(zip(X, y, weight, strict=True))

    def parts(self, cells: int = BLOCK_CELLS) -> Iterator[DelayedRows]:
        """One part a partition."""
        for number, rows in enumerate(self.partitions):
            yield DelayedRows(*rows, number, self.client, cells)

    def _along(self, role: Any, n: int) -> list[Any]:
        """What each partition has of the target or the weights."""
        if role is None or isinstance(role, str):
            return [role] * n
        if not hasattr(role, "dask"):
            raise ValueError(
                "With a dask collection, y and sample_weight are names of columns or "
                "dask collections with the same partitions."
            )
        parts = _partitions(role)
        if len(parts) != n:
            raise ValueError(
                f"X has {n} partitions, but y or sample_weight has {len(parts)}; "
                "repartition them alike."
            )
        return parts


def result_on(client: Any, task: Any) -> Any:
    """What a task returns; it is given up if nobody waits for it any more."""
    future = client.compute(task)
    try:
        _leave_pool()
        return future.result()
    except CancelledError as error:
        raise ConnectionError(
            "The Dask client was closed or lost its scheduler during the fit; connect "
            "again and repeat the fit."
        ) from error
    except BaseException:
        with suppress(Exception):
            future.cancel()
        raise


def _leave_pool() -> None:
    """In a task, free the worker's thread: tasks must not all wait for each other."""
    from distributed import get_worker, secede

    try:
        get_worker()
    except ValueError:  # not in a task
        return
    with suppress(KeyError):  # left already
        secede()


def _partitions(collection: Any) -> list[Any]:
    """The partitions as delayed values; those of an array are blocks of whole rows."""
    if hasattr(collection, "rechunk"):
        if collection.ndim == 2 and collection.numblocks[1] > 1:
            collection = collection.rechunk({1: -1})
        return list(collection.to_delayed().ravel())
    return list(collection.to_delayed())
