"""Kernels of blocks of rows: hashes, ranges, rows and histograms, beside plain numpy."""

from __future__ import annotations

import numpy as np
import pytest

from omnitree._core.univariate import bins


def draw(seed):
    """Columns with ties, missing values, strides and both zeros."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(1, 40)), int(rng.integers(1, 6))
    cells = np.round(rng.normal(size=(2 * n, d)), int(rng.integers(0, 3)))
    cells[rng.random(cells.shape) < rng.choice([0.0, 0.3, 1.0])] = np.nan
    step = int(rng.choice([1, 2]))
    return rng, [cells[:, j][: step * n : step] for j in range(d)], n


@pytest.mark.parametrize("seed", range(100))
def test_ranges_and_rows(seed):
    rng, columns, n = draw(seed)
    low, high = np.empty((2, len(columns)))
    missing = np.zeros(len(columns), dtype=np.uint8)
    bins.find_ranges(columns, low, high, missing)
    for j, column in enumerate(columns):
        present = column[~np.isnan(column)]
        ends = (present.min(), present.max()) if len(present) else (np.nan, np.nan)
        np.testing.assert_array_equal((low[j], high[j]), ends)
        assert missing[j] == (len(present) < n)
    rows = rng.integers(0, n, int(rng.integers(0, 2 * n)))
    some = np.empty((len(rows), len(columns)), order="F")
    bins.put_rows(columns, rows, some)
    np.testing.assert_array_equal(some, np.column_stack(columns)[rows])
    every = np.empty((n, len(columns)), order="F")
    bins.put_rows(columns, None, every)
    np.testing.assert_array_equal(every, np.column_stack(columns))
    # A row in the middle of others, which stay as they are.
    to = rng.permutation(n + 3)[:n]
    moved = np.full((n + 3, len(columns)), -9.0, order="F")
    bins.scatter_rows(columns, to, moved)
    np.testing.assert_array_equal(moved[to], np.column_stack(columns))
    assert (np.delete(moved, to, axis=0) == -9).all()


@pytest.mark.parametrize("seed", range(50))
def test_hashes_tell_rows_apart_and_add_up(seed):
    rng, columns, n = draw(seed)
    keys = rng.integers(0, 2**63, len(columns)).astype(np.uint64)
    every = np.zeros(n, dtype=np.uint64)
    bins.add_hashes(columns, keys, every)
    by_column = np.zeros(n, dtype=np.uint64)
    for column, key in zip(columns, keys, strict=True):
        bins.add_hashes([column], np.array([key]), by_column)
    np.testing.assert_array_equal(every, by_column)
    text = ["|".join(map(str, row + 0.0)) for row in np.column_stack(columns)]
    assert len(set(every.tolist())) == len(set(text))


def test_no_rows_and_no_columns():
    out, key = np.zeros(0, dtype=np.uint64), np.zeros(1, dtype=np.uint64)
    bins.add_hashes([np.empty(0)], key, out)
    bins.put_rows([], None, np.empty((3, 0), order="F"))
    bins.put_rows([np.empty(0)], None, np.empty((0, 1), order="F"))
    bins.scatter_rows(
        [np.empty(0)], np.empty(0, dtype=np.int64), np.empty((0, 1), order="F")
    )


@pytest.mark.parametrize("seed", range(60))
def test_counts_of_bins(seed):
    rng, columns, n = draw(seed)
    n_slots, k = int(rng.integers(1, 4)), int(rng.integers(1, 4))
    slot = rng.integers(-1, n_slots, (int(rng.integers(1, 3)), n)).astype(np.int32)
    y, weight = rng.integers(0, k, n).astype(np.int32), rng.integers(0, 5, n)
    edges = [np.unique(np.round(rng.normal(size=3), 1)) for _ in columns]
    width = np.array([len(e) + 2 for e in edges], dtype=np.int32)
    sizes = width.astype(np.int64) * n_slots * k
    sums = np.zeros(sizes.sum(), dtype=np.int64)
    bins.count_bins(
        np.column_stack(columns),
        slot,
        weight,
        y,
        None,
        k,
        np.concatenate(edges),
        np.cumsum([0, *map(len, edges)]).astype(np.int64),
        width,
        np.zeros(len(columns), dtype=np.uint8),
        np.cumsum(sizes) - sizes,
        sums,
    )
    wanted = [np.zeros((n_slots, w, k), dtype=np.int64) for w in width]
    for own, column, cuts in zip(wanted, columns, edges, strict=True):
        for tree in slot:
            for i in np.flatnonzero(tree >= 0):
                missing = np.isnan(column[i])
                at = len(cuts) + 1 if missing else np.searchsorted(cuts, column[i])
                own[tree[i], at, y[i]] += weight[i]
    np.testing.assert_array_equal(sums, np.concatenate([w.ravel() for w in wanted]))
