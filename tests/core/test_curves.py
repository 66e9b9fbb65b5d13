"""Columns of curves, filled in one pass, against NumPy's interpolation."""

from __future__ import annotations

import numpy as np
import pytest

from omnitree._core.linear import curves


def naive_columns(z, knots, values):
    """Column by column."""
    out = np.empty((len(z), values.shape[1]))
    for k in range(values.shape[1]):
        out[:, k] = np.interp(z, knots, values[:-1, k])
        out[np.isnan(z), k] = values[-1, k]
    return out


def test_columns_are_those_of_interpolation(rng):
    """To the last bit, at knots, between and beyond them, and where values are missing."""
    for _ in range(50):
        m, c = int(rng.integers(1, 9)), int(rng.integers(1, 6))
        knots = np.cumsum(rng.exponential(size=m)) * 10.0 ** rng.integers(-3, 4)
        values = rng.normal(size=(m + 1, c))
        inside = rng.uniform(knots[0], knots[-1], 20)
        beyond = [knots[0] - 1.0, knots[-1] + 1.0, -np.inf, np.inf, np.nan]
        z = np.concatenate([knots, inside, beyond])
        wide = np.full((len(z), c + 3), 7.0)
        curves.fill(z, knots, values, wide[:, 2 : 2 + c])
        np.testing.assert_array_equal(
            wide[:, 2 : 2 + c], naive_columns(z, knots, values)
        )
        assert (wide[:, [0, 1, -1]] == 7.0).all()


def test_no_rows():
    out = np.empty((0, 2))
    curves.fill(np.empty(0), np.array([0.0, 1.0]), np.zeros((3, 2)), out)
    assert out.shape == (0, 2)


def naive_bends(knots, lines, room):
    """All knots that could leave are tried each time."""

    def off(keep):
        straight = [np.interp(knots, knots[keep], line[keep]) for line in lines]
        apart = np.subtract(straight, lines)
        return np.abs(apart).max() if len(apart) == 1 else np.ptp(apart, axis=0).max()

    keep = list(range(len(knots)))
    while len(keep) > 2:
        fewer = [keep[:i] + keep[i + 1 :] for i in range(1, len(keep) - 1)]
        lost = [off(own) for own in fewer]
        if min(lost) > room:
            break
        keep = fewer[int(np.argmin(lost))]
    return keep


def test_bends_are_those_that_all_tries_leave(rng):
    for i in range(400):
        m, k = int(rng.integers(2, 14)), int(rng.integers(1, 5))
        knots = np.cumsum(rng.exponential(size=m))
        steps = rng.normal(size=(k, m)) * rng.choice([0.0, 0.05, 0.3], size=(k, m))
        lines = np.cumsum(steps, axis=1)
        if i % 3 == 0:  # many that differ alike
            knots, lines = np.arange(m) * 1.0, np.round(lines, 1)
        assert curves.bends(knots, lines, 0.07) == naive_bends(knots, lines, 0.07)


@pytest.mark.parametrize("m", [0, 1, 2])
def test_few_knots_stay(m):
    """Ends are no bends that could leave, and there may be no knot at all."""
    lines = np.arange(2.0 * m).reshape(2, m)
    assert curves.bends(np.arange(1.0 * m), lines, 9.0) == list(range(m))
