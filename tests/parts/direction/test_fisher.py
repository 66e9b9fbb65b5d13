"""Fisher's direction: the axes of a scatter, and columns made a piece at a time."""

from __future__ import annotations

import numpy as np
import pytest
from tests.samples import root_of

from omnitree.data.table import learn_table
from omnitree.growing import node_columns, standard_columns
from omnitree.parts.direction import fisher


def test_axes_of_one_column():
    """LAPACK is not asked: SciPy 1.11 gives it too little room for one column."""
    values, vectors = fisher._axes(np.array([[2.5]]))
    assert values.tolist() == [2.5] and vectors.tolist() == [[1.0]]


def test_pieces_change_no_bit(rng, monkeypatch):
    """Columns are scaled as they would be in one piece."""
    X, y = (
        rng.normal(size=(40, 60)) * 10.0 ** rng.integers(-3, 4, 60),
        np.arange(40) % 3,
    )
    rows = root_of(learn_table(X), y, np.ones(40), 3).view("linear")
    centred = (rows.columns - rows.mean) * np.sqrt(rows.weight)[:, None]
    known = fisher._inverse_scale((centred**2).sum(axis=0))
    for piece in (1, 61, 500, 10**6):
        monkeypatch.setattr(fisher, "PIECE", piece)
        scaled, inverse = fisher._scaled(rows)
        np.testing.assert_array_equal(inverse, known)
        np.testing.assert_array_equal(scaled, centred * known)


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("epsilon", [0.9, 1.0])
def test_products_made_a_few_at_a_time_give_the_same(
    rng, epsilon, missing, monkeypatch
):
    """Against all columns at once: sums, directions, ranks and projections."""
    X, y, weight = rng.normal(size=(30, 9)), np.arange(30) % 3, rng.uniform(0.5, 2, 30)
    X[:, 4] = 2.0  # a constant column has no products
    if missing:
        X[rng.random(X.shape) < 0.1] = np.nan
    node = root_of(learn_table(X), y, weight, 3)
    direction = fisher.Fisher("always", epsilon)
    whole = direction.project(node.view("quadratic"))
    columns, scores = whole.rows.columns, whole.scores
    assert not whole.rows.wide
    node.views.clear()
    monkeypatch.setattr(node_columns, "ROOM", 0)
    monkeypatch.setattr(standard_columns, "PIECE", 30 * 7)
    few = direction.project(node.view("quadratic"))
    assert few.rows.wide
    np.testing.assert_allclose(few.rows.sums, whole.rows.sums, atol=1e-12)
    assert few.rank == whole.rank
    np.testing.assert_allclose(few.basis, whole.basis, atol=1e-9)
    np.testing.assert_allclose(few.scores, scores, atol=1e-9)
    weights = rng.normal(size=columns.shape[1])
    sums = few.rows.weighted_sums(weights)
    np.testing.assert_allclose(sums, columns @ weights, atol=1e-9)
    assert not few.rows.remembered
