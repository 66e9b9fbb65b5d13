"""Steps of least-squares searches against plain loops."""

from __future__ import annotations

import numpy as np

from omnitree._core.linear import gram


def naive_counts(matrix, score, step, shift, y, weight, n_classes):
    out = np.zeros((n_classes, matrix.shape[1]))
    for i in range(len(y)):
        for j in range(matrix.shape[1]):
            if score[i] + matrix[i, j] * step[j] + shift[j] > 0:
                out[y[i], j] += weight[i]
    return out


def random_step(rng):
    """Values on a grid, so that scores of exactly 0 occur and sums are exact."""
    n, d, k = (
        int(rng.integers(1, 30)),
        int(rng.integers(1, 12)),
        int(rng.integers(1, 5)),
    )
    matrix = rng.integers(-4, 5, size=(n, d)) / 2
    score = rng.integers(-4, 5, size=n) / 2
    step, shift = rng.integers(-2, 3, size=(2, d)) / 2
    y = rng.integers(0, k, size=n).astype(np.int32)
    return matrix, score, step, shift, y, rng.integers(1, 9, size=n) / 4, k


def test_count_above(rng):
    for _ in range(300):
        args = random_step(rng)
        np.testing.assert_array_equal(gram.count_above(*args), naive_counts(*args))


def test_move_to(rng):
    for _ in range(300):
        matrix, score, share, *_ = random_step(rng)
        at, step = int(rng.integers(matrix.shape[1])), float(rng.integers(-3, 4))
        expected = matrix - np.outer(matrix[:, at], share)
        scores = score + step * matrix[:, at]
        gram.move_to(matrix, score, share, step, at)
        np.testing.assert_array_equal(matrix, expected)
        np.testing.assert_array_equal(score, scores)


def test_nothing_to_do():
    empty = gram.count_above(
        np.empty((0, 3)),
        np.empty(0),
        np.ones(3),
        np.zeros(3),
        np.empty(0, np.int32),
        np.empty(0),
        2,
    )
    np.testing.assert_array_equal(empty, np.zeros((2, 3)))
    gram.move_to(np.empty((0, 3)), np.empty(0), np.ones(3), 1.0, 0)
