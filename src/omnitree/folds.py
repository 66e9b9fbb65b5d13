"""Stratified folds that depend on what rows hold, not on where they stand.

Rows are ordered within their class by a seeded hash of their cells and cut into folds of
equal weight. Equal rows share a fold. So a row of weight two gives the same folds as the
row given twice, the order of rows and of named columns does not matter, and a copy of a row
can never stand in both the training and the pruning part. Used by prunings that hold rows
out.
"""

from __future__ import annotations

from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from omnitree.table import Table


def stratified_folds(
    table: Table,
    y: NDArray[np.int32],
    weight: NDArray[np.float64],
    n_folds: float,
    seed: int,
) -> NDArray[np.int64]:
    """Fold of each row, each with 1 / n_folds of every class's weight.

    A fractional `n_folds` makes the last fold smaller: 1 / share as `n_folds` puts that
    share into fold 0.
    """
    key = _row_hash(table, seed)
    order = np.lexsort((key, y))
    new_class = np.concatenate([[True], np.diff(y[order]) != 0])
    new_block = new_class | np.concatenate([[True], np.diff(key[order]) != 0])
    running = np.cumsum(weight[order]) - weight[order]
    block = np.cumsum(new_block) - 1
    group = np.cumsum(new_class) - 1
    begin = running[new_block][block] - running[new_class][group]
    size = np.bincount(group, weights=weight[order])[group]
    block_weight = np.bincount(block, weights=weight[order])[block]
    # A random start per class keeps small classes from all falling into fold 0.
    start = np.random.default_rng(seed).random(group[-1] + 1)[group]
    place = ((begin + block_weight / 2) / size + start) % 1.0
    fold = np.empty(len(y), dtype=np.int64)
    fold[order] = (place * n_folds).astype(np.int64)
    return fold


def _row_hash(table: Table, seed: int) -> NDArray[np.uint64]:
    """A 64-bit hash of each row's cells; all gaps are alike, and so are 0.0 and -0.0.

    A sum over the columns, each with a key made of its name: their order does not matter.
    """
    h = np.zeros(table.n_rows, dtype=np.uint64)
    for j, name in enumerate(table.schema.names):
        column = table.values[:, j] + 0.0
        column[np.isnan(column)] = np.nan
        digest = blake2b(f"{seed}:{name}".encode(), digest_size=8).digest()
        h += _mix(column.view(np.uint64) ^ np.uint64(int.from_bytes(digest, "little")))
    return _mix(h)


def _mix(z: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """splitmix64, elementwise."""
    z = z + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))
