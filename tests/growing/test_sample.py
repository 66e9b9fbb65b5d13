"""Samples: some of the rows, folds, units of evidence, what is made once."""

from __future__ import annotations

import numpy as np
import pytest
from tests.samples import sample_of
from tests.tables import random_sample

from omnitree.growing.standard_columns import StandardColumns
from omnitree.resampling.folds import row_hash


def grouped(rng, n=60, numbers=False):
    found = random_sample(rng, n=n, d=4, missing_share=0.1)
    y = rng.normal(size=n) if numbers else found.y
    groups = rng.integers(n // 4, size=n)
    return sample_of(found.table, y, found.weight, groups=groups)


@pytest.mark.parametrize("numbers", [False, True])
def test_some_of_the_rows(numbers, rng):
    sample = grouped(rng, numbers=numbers)
    rows = rng.choice(60, size=25, replace=False)
    for taken in (sample.take(rows), sample.part(rows)):
        assert len(taken) == 25 and type(taken.target) is type(sample.target)
        np.testing.assert_array_equal(taken.table.values, sample.table.values[rows])
        np.testing.assert_array_equal(taken.y, sample.y[rows])
        np.testing.assert_array_equal(taken.weight, sample.weight[rows])
        np.testing.assert_array_equal(taken.groups, sample.groups[rows])
    assert sample.take(rows).table.part_of is None
    assert sample.part(rows).table.part_of[0] is sample.table


def test_folds_are_stratified_by_the_target(rng):
    """Of every class each fold has its share; a numeric target is one stratum."""
    X = rng.normal(size=(90, 3))
    y = np.repeat([0, 1, 2], [50, 30, 10])
    classes, numbers = sample_of(X, y), sample_of(X, y.astype(float))
    fold = classes.folds(5, seed=1)
    for k in range(3):
        assert np.ptp(np.bincount(fold[y == k], minlength=5)) <= 1
    assert (np.bincount(numbers.folds(5, seed=1)) == 18).all()
    held_out = classes.folds(1 / 0.2, seed=1) == 0
    assert held_out.sum() == 18


@pytest.mark.parametrize("numbers", [False, True])
def test_groups_stay_together(numbers, rng):
    sample = grouped(rng, numbers=numbers)
    fold = sample.folds(4, seed=3)
    for group in np.unique(sample.groups):
        assert len(set(fold[sample.groups == group])) == 1


def test_units_are_rows_or_groups(rng):
    sample = grouped(rng)
    alone = sample_of(sample.table, sample.y, sample.weight)
    np.testing.assert_array_equal(alone.units, sample.weight)
    assert alone.groups_of(np.arange(3)) is None
    sums = [
        sample.weight[sample.groups == g].sum() for g in range(sample.groups.max() + 1)
    ]
    np.testing.assert_allclose(sample.units, sums)


def test_what_is_made_once(rng):
    sample = grouped(rng)
    assert sample.row_hash(3) is sample.row_hash(3)
    np.testing.assert_array_equal(sample.row_hash(4), row_hash(sample.table, 4))
    assert sample.columns("linear") is sample.standardised
    assert sample.columns("quadratic") is sample.columns("quadratic")
    again = StandardColumns.of(sample.table, sample.weight)
    np.testing.assert_array_equal(sample.standardised.plain, again.plain)
