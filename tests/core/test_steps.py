"""The compiled boosting of cuts against the obvious one."""

from __future__ import annotations

import numpy as np
import pytest
from tests import naive_steps as naive

from omnitree._core.linear import steps as kernel


def sample(seed: int):
    """A small table: empty bins, weights, missing values, absent classes, equal columns."""
    rng = np.random.default_rng(seed)
    n, p, k = (
        int(rng.integers(1, 40)),
        int(rng.integers(1, 5)),
        int(rng.integers(2, 12)),
    )
    sizes, missing, between, codes = [], [], [], []
    for _ in range(p):
        n_values = int(rng.integers(2, 6))
        gone = int(rng.random() < 0.4)
        code = rng.integers(0, n_values + gone, n)
        if rng.random() < 0.2:
            code[:] = code[0]
        sizes.append(n_values + gone)
        missing.append(gone)
        between.append(rng.random() if n_values == 2 and rng.random() < 0.5 else np.nan)
        codes.append(code)
    if p > 1 and rng.random() < 0.3:
        codes[-1], sizes[-1], missing[-1] = codes[0], sizes[0], missing[0]
        between[-1] = between[0]
    y = rng.integers(0, k if rng.random() < 0.7 else 1, n).astype(np.int32)
    weight = rng.integers(1, 4, n).astype(float) if rng.random() < 0.5 else np.ones(n)
    start = rng.normal(size=(n, k))
    return codes, sizes, missing, np.array(between), y, weight, start


def arguments(codes, sizes, missing, between):
    """As the kernel takes them."""
    first = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return np.array(codes, np.uint8), first, np.array(missing, np.uint8), between


def run(codes, sizes, missing, between, y, weight, start, steps, rate, ridge):
    """Sums, functions and number of steps of the kernel."""
    given = arguments(codes, sizes, missing, between)
    k, sums = start.shape[1], start.copy()
    curves = np.zeros((int(given[1][-1]), 1 if k == 2 else k))
    made = kernel.boost(*given, y, weight, sums, steps, rate, ridge, curves)
    return sums, curves, made


@pytest.mark.parametrize("seed", range(300))
def test_steps_are_the_obvious_ones(seed):
    table = sample(seed)
    how = (1 + seed % 4, (0.3, 1.0)[seed % 2], (1.0, 0.1)[seed % 3 == 0])
    got, want = run(*table, *how), naive.boost(*table, *how)
    assert got[2] == want[2]
    for a, b in zip(got[:2], want[:2], strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("seed", range(30))
def test_functions_give_the_sums(seed):
    *table, y, weight, start = sample(seed)
    sums, curves, _ = run(*table, y, weight, start, 15, 0.3, 1.0)
    codes, first, *_ = arguments(*table)
    again = start.copy()
    kernel.add(codes, first, curves, again)
    np.testing.assert_allclose(again, sums, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("seed", range(30))
def test_a_weight_of_two_is_the_row_twice(seed):
    codes, *table, y, weight, start = sample(seed)
    many = np.repeat(np.arange(len(y)), weight.astype(int))
    one = run(codes, *table, y, weight, start, 3, 0.3, 1.0)
    twice = [code[many] for code in codes]
    two = run(twice, *table, y[many], np.ones(len(many)), start[many], 3, 0.3, 1.0)
    np.testing.assert_allclose(one[1], two[1], rtol=1e-6, atol=1e-8)


def test_steps_can_go_on():
    table = sample(7)
    whole = run(*table, 6, 0.3, 1.0)
    half = run(*table, 3, 0.3, 1.0)
    rest = run(*table[:-1], half[0], 3, 0.3, 1.0)
    np.testing.assert_allclose(rest[0], whole[0], rtol=1e-9)
    np.testing.assert_allclose(half[1] + rest[1], whole[1], rtol=1e-9, atol=1e-12)


def test_no_columns():
    codes, first = np.empty((0, 5), np.uint8), np.zeros(1, np.int64)
    y, sums, curves = np.zeros(5, np.int32), np.zeros((5, 2)), np.zeros((0, 1))
    more = np.empty(0), y, np.ones(5), sums, 3, 0.3, 1.0, curves
    assert kernel.boost(codes, first, np.empty(0, np.uint8), *more) == 0
    kernel.add(codes, first, curves, sums)
    assert (sums == 0).all()


def test_the_clock_ends_it():
    rng = np.random.default_rng(0)
    n, p = 5000, 10
    codes = rng.integers(0, 32, (p, n)).astype(np.uint8)
    given = codes, np.arange(p + 1) * 32, np.zeros(p, np.uint8), np.full(p, np.nan)
    y = rng.integers(0, 3, n).astype(np.int32)

    def run(tick):
        curves = np.zeros((32 * p, 3))
        more = np.ones(n), np.zeros((n, 3)), 100_000, 0.3, 1.0, curves, tick
        return kernel.boost(*given, y, *more)

    seen = []
    assert run(lambda part: seen.append(part) or len(seen) == 2) < 100_000
    assert len(seen) == 2 and 0 < seen[0] < seen[1]

    def broken(part):
        raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        run(broken)
