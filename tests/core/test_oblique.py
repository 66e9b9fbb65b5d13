"""Steps and climbs of linear tests: compiled equals naive, and what holds at any size."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from tests import naive, naive_oblique
from tests.tables import random_weight

from omnitree._core.linear import oblique
from omnitree.parts.merit import MERITS

NAIVE = {"gini": naive.gini, "gain": naive.gain, "twoing": naive_oblique.twoing}
CLIMB = {
    "order": 0,
    "picks": 0,
    "jumps": 0,
    "stagnation": 0,
    "tolerance": 0.0,
    "epsilon": 0.0,
    "seed": 0,
}
ORDERS = ["sequential", "best", "random"]


def by_hand(name):
    return NAIVE.get(name) or (lambda table: float(MERITS[name]()(table)))


def rows(rng, n=None, k=None, p=2):
    """Columns, classes and weights; half of the time coarse numbers with many ties."""
    n = n or int(rng.integers(2, 25))
    k = k or int(rng.integers(2, 5))
    z = rng.normal(size=(n, p))
    if rng.random() < 0.5:
        z = np.round(2 * z) / 2
    y = rng.integers(0, k, size=n).astype(np.int32)
    if rng.random() < 0.5:
        y = np.digitize(
            z.sum(axis=1) + 0.3 * rng.normal(size=n), np.arange(k - 1) - 0.5
        )
    return z, y.astype(np.int32), random_weight(rng, n), k


# -- one step ------------------------------------------------------------------------


@pytest.mark.parametrize("name", [n for n in MERITS if n != "variance"])
def test_step_equals_naive(name, rng):
    merit = MERITS[name]()
    none = 0
    for _ in range(100):
        z, y, weight, k = rows(rng)
        v = np.ascontiguousarray(z @ rng.integers(-1, 2, size=2) + rng.choice([0, 0.3]))
        d = np.ones(len(v)) if rng.random() < 0.3 else np.ascontiguousarray(z[:, 0])
        t, found = oblique.best_step(v, d, y, weight, k, merit.code)
        t_naive, best = naive_oblique.best_step(v, d, y, weight, k, by_hand(name))
        assert found == pytest.approx(best, rel=1e-9, abs=1e-11)
        if best == naive_oblique.NONE:
            none += 1
            assert np.isnan(t)
        else:
            assert t == pytest.approx(t_naive, rel=1e-9, abs=1e-12)
    assert none < 60


def best_by_sorting(v, d, y, weight, k, merit):
    """Best merit of all steps for many rows, by NumPy."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(d != 0, -v / d, np.inf)
    order = np.argsort(ratio, kind="stable")
    order = order[: np.count_nonzero(d)]
    one_hot = np.zeros((len(y), k))
    one_hot[np.arange(len(y)), y] = weight
    low = one_hot[(d > 0) | ((d == 0) & (v <= 0))].sum(axis=0)
    move = -np.cumsum(one_hot[order] * np.sign(d[order])[:, None], axis=0)
    ordered = ratio[order]
    after = np.flatnonzero(np.diff(ordered) > 1e-10 * (1 + np.abs(ordered[:-1])))
    below = low + move[after]
    tables = np.stack([below, one_hot.sum(axis=0) - below], axis=1)
    usable = (tables.sum(axis=2) > 1e-9).all(axis=1)
    return merit(tables)[usable].max()


@pytest.mark.parametrize("k", [2, 3, 9])
@pytest.mark.parametrize("name", ["gini", "gain", "twoing", "entropy", "chi_square"])
def test_many_rows(name, k, rng):
    """From some 256 rows on only some bins of ratios are sorted, without loss."""
    merit = MERITS[name]()
    for n, shape in itertools.product(
        (300, 2_000, 21_000),
        ("noise", "clear", "coarse", "outlier", "missing"),
    ):
        z = rng.normal(size=(n, 2))
        if shape == "coarse":
            z = np.round(4 * z) / 4
        score = z[:, 0] + 0.5 * z[:, 1] + (shape != "clear") * rng.normal(size=n)
        y = np.digitize(score, np.linspace(-1, 1, k - 1)).astype(np.int32)
        weight = random_weight(rng, n)
        v, d = z[:, 0] + 0.1, z[:, 1].copy()
        if shape == "outlier":
            v[0] = 1e9
        if shape == "missing":
            d[rng.random(n) < 0.3] = 0.0
        t, found = oblique.best_step(v, d, y, weight, k, merit.code)
        assert found == pytest.approx(
            best_by_sorting(v, d, y, weight, k, merit), rel=1e-7
        )
        table = np.zeros((2, k))
        np.add.at(table, ((v + t * d > 0).astype(int), y), weight)
        assert found == pytest.approx(float(merit(table)), rel=1e-7)


@pytest.mark.parametrize("name", ["gini", "gain", "twoing"])
def test_bins_equal_sorting(name, rng):
    """Coarse columns with many zeros, where the best partition may lie beyond all cuts."""
    merit = MERITS[name]()
    for _ in range(100):
        n, k = int(rng.integers(256, 500)), int(rng.integers(2, 9))
        z, y, weight, k = rows(rng, n=n, k=k)
        v, d = z @ rng.normal(size=2) + 0.3, np.maximum(z[:, 0], rng.choice([0, -9]))
        _, found = oblique.best_step(v, d, y, weight, k, merit.code)
        best = best_by_sorting(v, d, y, weight, k, merit)
        assert found == pytest.approx(best, rel=1e-9)


def test_no_step():
    y, weight = np.array([0, 1, 1], dtype=np.int32), np.ones(3)
    v = np.array([1.0, 2.0, 3.0])
    for d in (np.zeros(3), v.copy()):  # nothing moves; all rows change at once
        t, merit = oblique.best_step(v, d, y, weight, 2, 0)
        assert np.isnan(t)
        assert merit == -np.inf


def test_bad_arguments():
    v, y, weight = np.ones(3), np.array([0, 1, 5], dtype=np.int32), np.ones(3)
    with pytest.raises(ValueError, match="out of range"):
        oblique.best_step(v, v, y, weight, 2, 0)
    with pytest.raises(ValueError, match="no compiled merit"):
        oblique.best_step(v, v, y, weight, 6, 11)
    with pytest.raises(ValueError, match="of one length"):
        oblique.best_step(v[:2], v, y, weight, 6, 0)
    with pytest.raises(ValueError, match="fit together"):
        oblique.climb(np.ones((2, 3)), y, weight, 6, 0, np.zeros(1), CLIMB, np.ones(2))


# -- a climb -------------------------------------------------------------------------


def both(rng, name, **options):
    """The merit, the test and the partition of a compiled and a naive climb."""
    p = int(rng.integers(1, 4))
    z, y, weight, k = rows(rng, p=p)
    w = rng.uniform(-1, 1, size=p + 1)
    gammas = options.pop("gammas", (0.0,))
    slow = naive_oblique.Climb(z, y, weight, k, by_hand(name), w, gammas, **options)
    best = slow.run()
    compiled = w.copy()
    found, pure = oblique.climb(
        np.ascontiguousarray(z.T),
        y,
        weight,
        k,
        MERITS[name]().code,
        np.array(gammas),
        CLIMB | options | {"order": ORDERS.index(options.get("order", "sequential"))},
        compiled,
    )
    assert found == pytest.approx(best, rel=1e-9, abs=1e-11)
    assert pure == slow.pure()
    if best > naive_oblique.NONE:
        # But for the threshold, which at last is put between the two branches.
        np.testing.assert_allclose(compiled[:-1], slow.w[:-1], rtol=1e-6, atol=1e-9)
        values = z @ compiled[:-1] + compiled[-1]
        np.testing.assert_array_equal(values > 0, slow.values(slow.w) > 0)
        assert values[values > 0].min() == pytest.approx(-values[values <= 0].max())
    return len(slow.trace)


@pytest.mark.parametrize("name", ["twoing", "gini", "gain", "misclassification"])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"jumps": 3},
        {"stagnation": 4, "jumps": 2, "tolerance": 1e-4},
        {"order": "best", "jumps": 2},
        {"order": "random", "picks": 12, "jumps": 2},
        {"gammas": (-0.25, 0.0, 0.25), "epsilon": 1e-3},
    ],
    ids=str,
)
def test_climb_equals_naive(name, options, rng):
    taken = sum(both(rng, name, seed=i, **options) for i in range(12))
    assert taken > 5


def test_climb_never_goes_down(rng):
    for i in range(50):
        z, y, weight, k = rows(rng, n=60, p=4)
        columns, w = np.ascontiguousarray(z.T), rng.uniform(-1, 1, size=5)
        values = z @ w[:-1] + w[-1]
        before = naive_oblique.rate(values, y, weight, k, by_hand("gini"))
        options = CLIMB | {"jumps": 5, "stagnation": 10, "seed": i}
        found, _ = oblique.climb(columns, y, weight, k, 0, np.zeros(1), options, w)
        assert found >= before - 1e-12
        values = z @ w[:-1] + w[-1]
        assert found == pytest.approx(
            naive_oblique.rate(values, y, weight, k, by_hand("gini"))
        )


def test_weights_are_repeats(rng):
    for i in range(50):
        z, y, _, k = rows(rng, n=20, p=3)
        times = rng.integers(1, 4, size=20)
        start = rng.uniform(-1, 1, size=4)
        found = []
        for rep, weight in (
            (np.arange(20), times.astype(float)),
            (np.repeat(np.arange(20), times), np.ones(times.sum())),
        ):
            w = start.copy()
            columns = np.ascontiguousarray(z[rep].T)
            options = CLIMB | {"jumps": 3, "stagnation": 5, "seed": i}
            merit, _ = oblique.climb(
                columns, y[rep], weight, k, 4, np.zeros(1), options, w
            )
            found.append((merit, *w))
        np.testing.assert_allclose(found[0], found[1], rtol=1e-6, atol=1e-9)
