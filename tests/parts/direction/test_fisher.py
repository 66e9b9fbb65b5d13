"""Fisher's direction: the axes of a scatter, and rows scaled a piece at a time."""

from __future__ import annotations

import numpy as np
from tests.samples import root_of

from omnitree.data.table import learn_table
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
