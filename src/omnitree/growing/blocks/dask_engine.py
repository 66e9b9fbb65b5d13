"""Blocks on a Dask cluster: one task a part, sums merged by the workers in a tree.

A task is a pure function of its part and of what the pass asks, so Dask runs it again by
itself where a worker was lost. What the pass asks travels once, and as a task, too: data
that is scattered to a worker would be lost with it. The scheduler sees only tasks, and one
sum comes back. All keys are new in each pass, so fits side by side do not meet. Used for
dask collections if there is a client, and for files if a client is asked for.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from omnitree.data.sources import Block, BlockSource
from omnitree.data.sources.base import BLOCK_CELLS
from omnitree.data.sources.lazy import DaskSource, DelayedRows, result_on
from omnitree.growing.blocks.engine import Engine, LocalEngine, part_sum, plus

T = TypeVar("T")

FAN_IN = 8  # sums that one task adds up
TASKS = 4  # of a pass over files, for each thread of the workers


@dataclass(frozen=True, eq=False)
class DaskEngine:
    """The workers of a `distributed.Client`."""

    source: BlockSource
    client: Any

    def map_blocks(self, function: Callable[[Block], T]) -> T | None:
        from dask import delayed

        check_client(self.client)
        asked = delayed(pickle.loads)(pickle.dumps(function))
        sums, small = [], []
        for part in self.source.parts():
            if isinstance(part, DelayedRows):
                rows = (part.X, part.y, part.weight, part.number)
                sums.append(delayed(partition_sum)(*rows, asked))
            else:
                small.append(part)
        # Parts of files are small values: a task goes through several, with one sum.
        threads = max(sum(self.client.nthreads().values()), 1)
        each = -(-len(small) // (TASKS * threads)) or 1
        for start in range(0, len(small), each):
            sums.append(delayed(parts_sum)(small[start : start + each], asked))
        while len(sums) > 1:
            groups = (sums[i : i + FAN_IN] for i in range(0, len(sums), FAN_IN))
            sums = [delayed(total_of)(group) for group in groups]
        return result_on(self.client, sums[0]) if sums else None


def partition_sum(
    X: Any, y: Any, weight: Any, number: int, function: Callable[[Block], T]
) -> T | None:
    """What a function returns for a partition that was computed."""
    return part_sum(DelayedRows(X, y, weight, number), function)


def parts_sum(parts: list[Any], function: Callable[[Block], T]) -> T | None:
    """What a function returns for several parts."""
    total: T | None = None
    for part in parts:
        total = part_sum(part, function, total)
    return total


def total_of(sums: list[Any]) -> Any:
    """The sum of some sums, where None is nothing."""
    total = None
    for one in sums:
        total = plus(total, one)
    return total


def check_client(client: Any) -> None:
    """Refuse what cannot run tasks now."""
    if not hasattr(client, "compute") or not hasattr(client, "status"):
        raise TypeError(f"client must be a distributed.Client, not {client!r}")
    if client.asynchronous:
        raise TypeError(
            "client is asynchronous: a fit needs Client(asynchronous=False)"
        )
    if client.status != "running":
        raise ConnectionError(
            f"The Dask client is {client.status}: connect again, by "
            "distributed.Client(address), and give the new client."
        )


def engine_for(
    source: BlockSource,
    n_jobs: int | None,
    client: Any = None,
    cells: int = BLOCK_CELLS,
) -> Engine:
    """Who goes through the blocks of a source.

    The client that is given; of dask collections, also the client that there is, and of
    files the one that was made current. Else the threads of this process, with blocks of
    so many cells.
    """
    if client is not None:
        check_client(client)
        if not source.travels:
            raise ValueError(
                "With a Dask client, X is a dask collection, or Parquet files that all "
                "workers can read with y and sample_weight as names of columns. Leave "
                "client out to read this data here."
            )
    elif source.travels:
        client = current_client(allow_global=isinstance(source, DaskSource))
    if client is None:
        return LocalEngine(source, n_jobs, cells)
    if isinstance(source, DaskSource):
        source = replace(source, client=client, n_rows=_number_of_rows(source, client))
    return DaskEngine(source, client)


def _number_of_rows(source: DaskSource, client: Any) -> int | None:
    """Number of rows; None of an array whose chunks have unknown sizes."""
    n = source.collection.shape[0]
    if not isinstance(n, int | float):
        n = result_on(client, n)
    return int(n) if n == n else None


def current_client(allow_global: bool) -> Any:
    """The client that is current or, if allowed, the last one that was made, if any."""
    if "distributed" not in sys.modules:
        return None
    from distributed import Client

    try:
        return Client.current(allow_global)
    except ValueError:
        return None
