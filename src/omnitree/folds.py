"""Stratified folds that depend on what rows hold, not on where they stand.

Rows are ordered within their class by a seeded hash of their cells and dealt to the folds
in turn. Equal rows are dealt as one block that is spread over the folds, in parts of a row
where it must be: so a row of weight two gives the same folds as the row given twice, and
the order of rows and of named columns does not matter. Used by prunings that hold rows out.
"""

from __future__ import annotations

from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from omnitree.table import Table


def fold_weights(
    table: Table,
    y: NDArray[np.int32],
    weight: NDArray[np.float64],
    n_folds: float,
    seed: int,
) -> NDArray[np.float64]:
    """Weight of each row in each fold, shape (n_rows, number of folds).

    A fold has 1 / n_folds of every class. A fractional `n_folds` makes the last fold
    smaller: 1 / share as `n_folds` puts that share into fold 0.
    """
    return deal(row_hash(table, seed), y, weight, n_folds, seed)


def deal(
    key: NDArray[np.uint64],
    y: NDArray[np.int32],
    weight: NDArray[np.float64],
    n_folds: float,
    seed: int,
) -> NDArray[np.float64]:
    """The same for rows whose hash is known."""
    order = by_class_and_key(y, key)
    new_class = np.concatenate([[True], np.diff(y[order]) != 0])
    new_block = new_class | np.concatenate([[True], np.diff(key[order]) != 0])
    block = np.cumsum(new_block) - 1
    size = np.bincount(block, weights=weight[order])
    group = (np.cumsum(new_class) - 1)[new_block]
    # Each class is laid out block after block on a line that the folds divide into units,
    # again and again. A random start keeps small classes from all falling into fold 0.
    begin = np.cumsum(size) - size
    start = np.random.default_rng(seed).integers(
        int(np.ceil(n_folds)), size=group[-1] + 1
    )
    begin = begin - begin[new_class[new_block]][group] + start[group]
    # What is less than two rows is not divided: it falls where its middle lies.
    light = size < 2 - 1e-9
    folds = np.arange(int(np.ceil(n_folds)))
    fold = np.floor((begin + size / 2) % n_folds)
    share = (fold[:, None] == folds).astype(np.float64)
    if not light.all():
        low, size = begin[~light], size[~light]
        parts = _dealt(low + size, folds, n_folds) - _dealt(low, folds, n_folds)
        share[~light] = parts / size[:, None]
    out = np.empty((len(y), len(folds)))
    out[order] = share[block] * weight[order][:, None]
    return out


def by_class_and_key(y: NDArray[np.int32], key: NDArray[np.uint64]) -> NDArray[np.intp]:
    """Order of rows by class and then by key; equal ones stay as they stand."""
    if len(y) and y.max() < 256:
        # One sort of numbers, which is faster, if it leaves no ties.
        both = y.astype(np.uint64) << np.uint64(56) | key >> np.uint64(8)
        order = np.argsort(both)
        if (np.diff(both[order]) > 0).all():
            return order
    return np.lexsort((key, y))


def _dealt(t: NDArray, folds: NDArray, n_folds: float) -> NDArray[np.float64]:
    """How much of the line up to `t` each fold has got."""
    width = np.minimum(n_folds - folds, 1.0)
    rounds, rest = np.divmod(t[:, None], n_folds)
    return rounds * width + np.clip(rest - folds, 0.0, width)


def halve(
    key: NDArray[np.uint64], y: NDArray[np.int32], repeats: int
) -> NDArray[np.bool_] | None:
    """Which half each row is in, (repeats, n), at most 15 times, by hashes.

    The rows of a class, in the order of their hashes, are paired, each time otherwise, and
    the two of a pair part at random. One sort serves all repeats. None where rows are
    equal: these count as one of weight two, which has to be divided (`deal`).
    """
    order = by_class_and_key(y, key)
    y, key = y[order], key[order] >> np.uint64(8)
    if ((key[1:] == key[:-1]) & (y[1:] == y[:-1])).any():
        return None
    first = np.flatnonzero(np.diff(y, prepend=-1))
    place = np.arange(len(y)) - np.repeat(first, np.diff(first, append=len(y)))
    # Of places and hashes only the last bits matter, one a repeat.
    place_bits = (place & 0x7FFF).astype(np.int16)
    coin = (key & np.uint64(0x7FFF)).astype(np.int16)
    bits, lower = np.zeros(len(y), dtype=np.int16), coin.copy()
    for r in range(repeats):
        upper = place_bits >> r & 1
        # The hash of the pair's lower row decides; a row without a partner is alone.
        lower[1 << r :] = coin[: -(1 << r)]
        bits |= (upper ^ (np.where(upper, lower, coin) >> r & 1)) << r
    out = np.empty_like(bits)
    out[order] = bits
    return (out >> np.arange(repeats, dtype=np.int16)[:, None] & 1).astype(bool)


def row_hash(table: Table, seed: int) -> NDArray[np.uint64]:
    """A 64-bit hash of each row's cells; all gaps are alike, and so are 0.0 and -0.0.

    A sum over the columns, each with a key made of its name: their order does not matter.
    """
    h = np.zeros(table.n_rows, dtype=np.uint64)
    for j, name in enumerate(table.schema.names):
        column = table.values[:, j] + 0.0
        column[np.isnan(column)] = np.nan
        digest = blake2b(f"{seed}:{name}".encode(), digest_size=8).digest()
        h += mix(column.view(np.uint64) ^ np.uint64(int.from_bytes(digest, "little")))
    return mix(h)


def mix(z: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """splitmix64, elementwise."""
    z = z + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))
