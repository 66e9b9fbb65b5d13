"""Stratified folds that depend on what rows hold, not on where they stand.

A row is in one fold, whole, with its weight: a row on both sides would be tested by what it
taught. Within each class rows are ordered by a seeded hash of their cells and dealt to the
folds by turns, so that equal rows, which may be different people, go to different folds.
Neither the order of rows and of named columns nor the weights matter: classes are
stratified by their numbers of rows.

Rows of one group stay together. Large groups are dealt before small ones and groups of a
size, to the power of two, in the order of a hash of their rows, each to the fold that so far
has least of its classes.

Each class starts at a random fold. A class with fewer rows than there are folds is thus in
some folds only, one of a single row in one: that fold tests a class that its training rows
lack, and every other fold trains on it without testing it. Of a share that is held out,
such a class may be on either side.

Used by everything that holds rows out: prunings, choices, learners that cross-validate, and
leaves.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from omnitree.data.table import Table

Ints = NDArray[np.int64]
# Cells that are hashed at once: few enough to stay in a processor's cache.
CELLS = 2**15


def deal(
    key: NDArray[np.uint64],
    strata: NDArray[np.int32],
    n_folds: float,
    seed: int,
    ties: Sequence[NDArray] = (),
    groups: NDArray[np.int64] | None = None,
) -> Ints:
    """Fold of each row, by a hash of its cells.

    A fold has 1 / n_folds of the rows of every stratum. A fractional `n_folds` makes the
    last fold smaller: 1 / share as `n_folds` puts that share into fold 0. Of rows with
    equal cells, `ties` (weights, targets) decide. Rows of one of the `groups` stay together.

    Examples
    --------
    >>> from omnitree.data.table import learn_table
    >>> key = row_hash(learn_table([[1.0], [2.0], [2.0], [2.0], [3.0], [4.0]]), seed=0)
    >>> fold = deal(key, np.zeros(6, dtype=np.int32), 3, seed=0)
    >>> np.bincount(fold).tolist(), sorted(fold[1:4].tolist())
    ([2, 2, 2], [0, 1, 2])
    """
    rng = np.random.default_rng(seed)
    if groups is not None:
        return _deal_groups(key, strata, n_folds, rng, ties, groups)
    order, place = _places(key, strata, ties)
    # A random start keeps rare classes from all falling into fold 0.
    start = rng.integers(int(np.ceil(n_folds)), size=strata.max(initial=0) + 1)
    fold = np.empty(len(key), dtype=np.int64)
    fold[order] = np.floor((place + start[strata[order]] + 0.5) % n_folds)
    return fold


def parts_of(fold: Ints) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Training and test rows of each fold that leaves rows on both sides."""
    for k in np.unique(fold):
        held = fold == k
        if not held.all():
            yield np.flatnonzero(~held), np.flatnonzero(held)


def held_by(deals: Sequence[Ints]) -> NDArray[np.bool_]:
    """The rows (n, m) that each fold holds out, the folds of all deals side by side.

    Examples
    --------
    >>> held_by([np.array([0, 1, 1]), np.array([1, 0, 1])]).astype(int).tolist()
    [[1, 0, 0, 1], [0, 1, 1, 0], [0, 1, 0, 1]]
    """
    return np.hstack([fold[:, None] == np.unique(fold) for fold in deals])


def _deal_groups(
    key: NDArray[np.uint64],
    strata: NDArray[np.int32],
    n_folds: float,
    rng: np.random.Generator,
    ties: Sequence[NDArray],
    groups: NDArray[np.int64],
) -> Ints:
    """Fold of each row where the rows of a group stay together."""
    _, member = np.unique(groups, return_inverse=True)
    n = int(member.max(initial=-1)) + 1
    shape = n, int(strata.max(initial=0)) + 1
    counts = np.bincount(member * shape[1] + strata, minlength=n * shape[1])
    counts = counts.reshape(shape).astype(np.float64)
    # Of groups of equal rows, hashes of the ties decide: sums of weights would be equal but
    # for rounding, which depends on the order of rows.
    group_key, tie_key = np.zeros((2, n), dtype=np.uint64)
    row_key = mix(key ^ mix(strata.astype(np.uint64)))
    np.add.at(group_key, member, row_key)
    for tie in ties:
        short = (tie + 0.0).astype(np.float32)  # weights are in a scale that is rounded
        row_key = mix(row_key ^ short.view(np.uint32).astype(np.uint64))
    np.add.at(tie_key, member, row_key)
    size = np.floor(np.log2(counts.sum(axis=1)))
    order = np.lexsort((tie_key, group_key, -size))
    # The squares of the folds' shares of each class shall grow least. Which fold is first
    # among equals is random.
    folds = rng.permutation(int(np.ceil(n_folds)))
    width = np.minimum(n_folds - folds, 1.0)
    dealt = np.zeros((len(folds), shape[1]))
    share = counts / np.maximum(counts.sum(axis=0), 1.0) ** 2
    own = (counts * share).sum(axis=1) / 2
    place = np.empty(n, dtype=np.int64)
    for group in order.tolist():
        best = ((dealt @ share[group] + own[group]) / width).argmin()
        dealt[best] += counts[group]
        place[group] = folds[best]
    return place[member]


def _places(
    key: NDArray[np.uint64], strata: NDArray[np.int32], ties: Sequence[NDArray] = ()
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Order of rows by stratum and then by key, and the place of each in its stratum."""
    order = None
    if len(key) and strata.max() < 256:
        # One sort of numbers, which is faster, if it leaves no ties.
        both = strata.astype(np.uint64) << np.uint64(56) | key >> np.uint64(8)
        order = np.argsort(both)
        if (np.diff(both[order]) == 0).any():
            order = None
    if order is None:
        order = np.lexsort((*ties, key, strata))
    first = np.flatnonzero(np.diff(strata[order], prepend=-1))
    return order, np.arange(len(key)) - np.repeat(
        first, np.diff(first, append=len(key))
    )


def halve(
    key: NDArray[np.uint64], strata: NDArray[np.int32], repeats: int
) -> NDArray[np.bool_] | None:
    """Which half each row is in, (repeats, n), at most 15 times, by hashes.

    The rows of a class, in the order of their hashes, are paired, each time otherwise, and
    the two of a pair part at random. One sort serves all repeats. None where rows are
    equal: it would not part those (`deal` does).
    """
    order, place = _places(key, strata)
    key, strata = key[order], strata[order]
    if ((key[1:] == key[:-1]) & (strata[1:] == strata[:-1])).any():
        return None
    # Of places and hashes only the last bits matter, one a repeat.
    place_bits = (place & 0x7FFF).astype(np.int16)
    coin = (key >> np.uint64(8) & np.uint64(0x7FFF)).astype(np.int16)
    bits, lower = np.zeros(len(key), dtype=np.int16), coin.copy()
    for r in range(repeats):
        upper = place_bits >> r & 1
        # The hash of the pair's lower row decides; a row without a partner is alone.
        lower[1 << r :] = coin[: -(1 << r)]
        bits |= (upper ^ (np.where(upper, lower, coin) >> r & 1)) << r
    out = np.empty_like(bits)
    out[order] = bits
    return (out >> np.arange(repeats, dtype=np.int16)[:, None] & 1).astype(bool)


def row_hash(table: Table, seed: int) -> NDArray[np.uint64]:
    """A 64-bit hash of each row's cells.

    All missing values are alike, and so are 0.0 and -0.0. It is a sum over the columns,
    each with a key made of its name: their order does not matter.
    """
    digests = b"".join(
        blake2b(f"{seed}:{name}".encode(), digest_size=8).digest()
        for name in table.schema.names
    )
    keys = np.frombuffer(digests, dtype="<u8").astype(np.uint64)
    h = np.empty(table.n_rows, dtype=np.uint64)
    step = max(CELLS // max(len(keys), 1), 1)
    for start in range(0, table.n_rows, step):
        cells = table.values[start : start + step] + 0.0
        cells[np.isnan(cells)] = np.nan
        mixed = mix(cells.view(np.uint64) ^ keys)
        h[start : start + step] = mixed.sum(axis=1, dtype=np.uint64)
    return mix(h)


def mix(z: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """splitmix64, elementwise."""
    z = z + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))
