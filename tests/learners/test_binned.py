"""Tests from histograms: the best edge of all features, however many are scored at once."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from omnitree.data.schema import Feature, Schema
from omnitree.growing.blocks.sum_node import SumNode
from omnitree.growing.missing import Mean, Surrogate
from omnitree.learners import binned
from omnitree.parts.merit import MERITS

SCALE = 0.3  # sums are no whole numbers, so that they are rounded


def node_of(rng, n_statistics, missing):
    """A node with features of several widths, some constant, some with missing values."""
    widths = [int(w) for w in rng.choice([1, 2, 3, 9, 40], rng.integers(1, 25))]
    histograms, edges = [], []
    for width in widths:
        most = int(rng.choice([1, 2, 5, 1000]))
        counts = SCALE * rng.integers(0, most + 1, (width + 1, n_statistics))
        counts[rng.random(width + 1) < 0.3] = 0.0
        if rng.random() < 0.5:
            counts[-1] = 0.0
        if n_statistics == 2:
            counts[:, 1] = counts[:, 0] * rng.normal(size=width + 1)
        histograms.append(counts)
        edges.append(np.arange(width - 1) + 0.5)
    features = tuple(Feature(f"x{j}", "numeric") for j in range(len(widths)))
    return SumNode(
        Schema(features, True),
        SimpleNamespace(missing=missing),
        0 if n_statistics == 2 else n_statistics,
        np.zeros(n_statistics),
        0.0,
        edges,
        [np.zeros(width, dtype=bool) for width in widths],
        histograms,
    )


def explained(table):
    """Decrease of the variance by two branches with these weights and sums."""
    whole = table.sum(axis=0)
    inside = sum(s * s / w for w, s in table)
    return (inside - whole[1] ** 2 / whole[0]) / whole[0]


def best_values(node, merit, min_branch):
    """What the best edge of each feature is worth, one table after the other."""
    found = []
    for counts, edges in zip(node.histograms, node.edges, strict=True):
        known = counts[:-1].copy()
        size = known[:, 0] if merit is None else known.sum(axis=1)
        best = -np.inf
        if np.count_nonzero(size) > 1:
            if isinstance(node.rules.missing, Mean):
                known[binned._usual_bin(edges, size)] += counts[-1]
            for cut in range(1, len(known)):
                table = np.stack([known[:cut].sum(axis=0), known[cut:].sum(axis=0)])
                weight = table[:, 0] if merit is None else table.sum(axis=1)
                if weight.min() <= 0 or weight.min() < min_branch - 1e-9:
                    continue
                value = explained(table) if merit is None else float(merit(table))
                every = counts[:, 0] if merit is None else counts.sum(axis=1)
                best = max(best, value * weight.sum() / every.sum())
        found.append(best)
    return np.array(found)


@pytest.mark.parametrize("cells", [1, 500, 1 << 15])
@pytest.mark.parametrize("name", ["gini", "gain", None])
def test_the_best_edge_of_all_features_is_found(monkeypatch, name, cells):
    monkeypatch.setattr(binned, "SCORED_CELLS", cells)
    merit = None if name is None else MERITS.resolve(name)
    for seed in range(40):
        rng = np.random.default_rng(seed)
        policy = Mean() if seed % 2 else Surrogate()
        node = node_of(rng, 2 if name is None else int(rng.integers(3, 12)), policy)
        min_branch = float(rng.choice([0.0, 20.0]))
        expected = best_values(node, merit, min_branch)
        found = binned.best_binned(node, merit, min_branch, lambda rows: None)
        if found is None:
            assert expected.max() == -np.inf
            continue
        assert found.split.merit == pytest.approx(expected.max(), rel=1e-9, abs=1e-12)
        value = expected[found.split.feature]
        assert value == pytest.approx(expected.max(), rel=1e-9, abs=1e-12)
        counts = node.histograms[found.split.feature]
        sizes = counts[:, 0] if merit is None else counts.sum(axis=1)
        edge = int(
            np.searchsorted(node.edges[found.split.feature], found.split.threshold)
        )
        below = sizes[: edge + 1].sum() + (found.split.missing == 0) * sizes[-1]
        assert found.shares[0] == pytest.approx(below / sizes.sum())


def test_gain_ratio_compares_features_of_at_least_average_gain():
    merit, gain = MERITS.resolve("gain_ratio"), MERITS.resolve("gain")
    for seed in range(40):
        node = node_of(np.random.default_rng(seed), 4, Surrogate())
        gains = best_values(node, gain, 0.0)
        possible = np.isfinite(gains)
        found = binned.best_binned(node, merit, 0.0, lambda rows: None)
        if found is None:
            assert not possible.any()
            continue
        assert gains[found.split.feature] >= gains[possible].mean() - 1e-9
