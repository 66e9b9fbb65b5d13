"""The compiled leave-one-out paths against plain code, and against the general learner."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from omnitree import TreeClassifier
from omnitree._core.univariate.paths import grow_paths
from omnitree.lab import paths
from omnitree.learners import Univariate


def left_entropy(x: np.ndarray, y: np.ndarray, cut: float) -> float:
    """Rows times bits that remain after a cut."""
    total = 0.0
    for side in (y[x <= cut], y[x > cut]):
        share = np.bincount(side) / len(side)
        total -= len(side) * (share[share > 0] * np.log(share[share > 0])).sum()
    return total


def cuts(x: np.ndarray) -> np.ndarray:
    values = np.unique(x)
    return (values[1:] + values[:-1]) / 2


def tables(rng: np.random.Generator, count: int):
    """Small tables with ties, constant columns and rare classes."""
    for _ in range(count):
        n, d, k = rng.integers(3, 25), rng.integers(1, 5), rng.integers(2, 4)
        x = rng.normal(size=(n, d))
        if rng.random() < 0.5:
            x = rng.integers(4, size=(n, d)).astype(float)
        if rng.random() < 0.3:
            x[:, rng.integers(d)] = 1.0
        yield x, rng.integers(k, size=n).astype(np.int32), int(k)


@pytest.mark.parametrize("random", [False, True])
def test_every_step_is_what_plain_code_finds(rng: np.random.Generator, random: bool):
    for x, y, k in tables(rng, 150):
        n = len(y)
        seed = int(rng.integers(2**63))
        steps = grow_paths(np.asfortranarray(x), y, k, seed, random)
        for i in range(n):
            rows = np.delete(np.arange(n), i)
            for s in range(steps["start"][i], steps["start"][i + 1]):
                f, cut = steps["feature"][s], steps["threshold"][s]
                best = {
                    j: min(
                        left_entropy(x[rows, j], y[rows], c) for c in cuts(x[rows, j])
                    )
                    for j in ([f] if random else range(x.shape[1]))
                    if len(cuts(x[rows, j]))
                }
                got = left_entropy(x[rows, f], y[rows], cut)
                assert got == pytest.approx(min(best.values()), abs=1e-8)
                if not random:  # of equals the first feature
                    assert f == min(j for j in best if best[j] < got + 1e-8)
                low = x[rows, f] <= cut
                counts = [np.bincount(y[rows[b]], minlength=k) for b in (low, ~low)]
                np.testing.assert_array_equal(steps["counts"][s], counts)
                assert steps["branch"][s] == (x[i, f] > cut)
                rows = rows[(x[rows, f] > cut) == (x[i, f] > cut)]
            mixed = len(np.unique(y[rows])) > 1
            assert not mixed or not any(
                len(cuts(x[rows, j])) for j in range(x.shape[1])
            )


def test_random_features_are_drawn_evenly(rng: np.random.Generator):
    x = np.asfortranarray(rng.normal(size=(2000, 4)))
    x[:, 2] = 0.0
    y = rng.integers(2, size=2000).astype(np.int32)
    steps = grow_paths(x, y, 2, int(rng.integers(2**63)), True)
    first = np.bincount(steps["feature"][steps["start"][:-1]], minlength=4)
    assert first[2] == 0
    # 667 expected of each, with a standard deviation of 21.
    assert (np.abs(first[[0, 1, 3]] - 2000 / 3) < 110).all()
    second = steps["feature"][steps["start"][:-1] + 1]
    again = (second == steps["feature"][steps["start"][:-1]]).mean()
    assert again == pytest.approx(1 / 3, abs=0.06)  # draws do not depend on each other


def test_general_and_compiled_paths_agree(rng: np.random.Generator):
    """A limit that never binds keeps the general code from handing over."""
    for _ in range(5):
        X = pd.DataFrame(rng.normal(size=(30, 4)))
        y = rng.integers(2, size=30).astype(str)
        learner = Univariate(merit="gain")
        fast = paths.leave_one_out(TreeClassifier(learner=learner), X, y, 0)
        slow = paths.leave_one_out(
            TreeClassifier(learner=learner, max_depth=1000), X, y, 0
        )
        assert [p.features for p in fast] == [p.features for p in slow]
        assert [p.label for p in fast] == [p.label for p in slow]
