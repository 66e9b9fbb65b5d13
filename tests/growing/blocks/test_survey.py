"""The survey: the same whatever the blocks, and the rows with the smallest hashes."""

from __future__ import annotations

import numpy as np
import pytest

from omnitree.data.sources import Block
from omnitree.growing.blocks.sizes import Sizes
from omnitree.growing.blocks.survey import SurveyBlock


def surveyed(X, y, pieces, sample_rows):
    task = SurveyBlock(0, True, Sizes(sample_rows=sample_rows))
    total = None
    for at in pieces:
        found = task(Block(X[at], y[at]))
        total = found if total is None else total + found
    return total.finished()


@pytest.mark.parametrize("seed", range(4))
def test_the_sample_has_the_smallest_hashes_and_counts_equal_rows(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 12, (900, 2)).astype(float)
    X[rng.random((900, 2)) < 0.1] = np.nan
    y = rng.integers(0, 2, 900)
    whole = surveyed(X, y, [np.arange(900)], 10**6)
    assert whole.complete
    assert whole.sample.count.sum() == whole.n_rows == 900
    different = {(str(a), str(b), int(k)) for (a, b), k in zip(X, y, strict=True)}
    assert len(whole.sample) == len(different)
    for n_pieces in (1, 5, 90):
        pieces = np.array_split(rng.permutation(900), n_pieces)
        some = surveyed(X, y, pieces, 40)
        assert not some.complete and len(some.sample) == 40
        expected = whole.sample
        assert (some.sample.rows.key == expected.rows.key[:40]).all()
        assert (some.sample.count == expected.count[:40]).all()
        for found, column in zip(
            some.sample.rows.columns, expected.rows.columns, strict=True
        ):
            np.testing.assert_array_equal(found.values, column.values[:40])
        assert some.labels == whole.labels
        np.testing.assert_array_equal(some.low, np.nanmin(X, axis=0))
        np.testing.assert_array_equal(some.high, np.nanmax(X, axis=0))
        assert some.missing.all()


@pytest.mark.parametrize("n_pieces", [1, 3, 30])
def test_the_sample_knows_no_categories_of_other_rows(n_pieces):
    rng = np.random.default_rng(n_pieces)
    X = np.array([f"word {i}" for i in range(300)], dtype=object)[:, None]
    pieces = np.array_split(rng.permutation(300), n_pieces)
    found = surveyed(X, np.arange(300) % 2, pieces, 40)
    (column,) = found.sample.rows.columns
    assert not found.complete
    assert len(column.categories) == 40
    assert sorted(column.values) == list(range(40))
