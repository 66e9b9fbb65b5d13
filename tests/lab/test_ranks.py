"""Ranks: Demsar's worked example, scipy, statsmodels; tables of wins by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from omnitree.lab.ranks import (
    cliques,
    critical_difference,
    friedman,
    holm,
    holm_adjust,
    mean_ranks,
    nemenyi,
    win_table,
)
from omnitree.lab.statistics import HypothesisTest

# Demsar (2006), table 6: AUC of C4.5, C4.5+m, C4.5+cf, C4.5+m+cf on 14 data sets.
DEMSAR = np.array(
    [
        [0.763, 0.768, 0.771, 0.798],
        [0.599, 0.591, 0.590, 0.569],
        [0.954, 0.971, 0.968, 0.967],
        [0.628, 0.661, 0.654, 0.657],
        [0.882, 0.888, 0.886, 0.898],
        [0.936, 0.931, 0.916, 0.931],
        [0.661, 0.668, 0.609, 0.685],
        [0.583, 0.583, 0.563, 0.625],
        [0.775, 0.838, 0.866, 0.875],
        [1.000, 1.000, 1.000, 1.000],
        [0.940, 0.962, 0.965, 0.962],
        [0.619, 0.666, 0.614, 0.669],
        [0.972, 0.981, 0.9751, 0.975],
        [0.957, 0.978, 0.946, 0.970],
    ]
)


def test_demsars_example():
    assert mean_ranks(-DEMSAR).round(3).tolist() == [3.143, 2.0, 2.893, 1.964]
    # The paper's 9.28 and 3.69 leave the correction for ties out.
    result = friedman(-DEMSAR)
    n, k = DEMSAR.shape
    plain = 12 * n / (k * (k + 1)) * ((mean_ranks(-DEMSAR) - (k + 1) / 2) ** 2).sum()
    assert plain == pytest.approx(9.28, abs=0.01)
    assert (n - 1) * plain / (n * (k - 1) - plain) == pytest.approx(3.69, abs=0.01)
    assert result.chi_square >= plain
    assert critical_difference(4, 14, 0.10) == pytest.approx(1.12, abs=0.01)


def test_nemenyis_table_of_q():
    """Demsar (2006), table 5(a): q at 0.05 for 2 to 10 methods."""
    table = [1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164]
    for k, q in enumerate(table, start=2):
        ours = critical_difference(k, 30) / np.sqrt(k * (k + 1) / 180)
        assert ours == pytest.approx(q, abs=2e-3)


def test_friedman_is_scipys(rng: np.random.Generator):
    for _ in range(10):
        table = rng.integers(4, size=(8, 4)).astype(float)
        expected = stats.friedmanchisquare(*table.T)
        ours = friedman(table)
        assert (ours.chi_square, ours.p) == pytest.approx(tuple(expected))


def test_nemenyi_and_the_critical_difference_agree(rng: np.random.Generator):
    """The formula of Demsar (2006), pair by pair."""
    table = rng.normal(size=(12, 5)) + np.arange(5) * 0.6
    p, rank = nemenyi(table), mean_ranks(table)
    far = critical_difference(5, 12)
    for i in range(5):
        for j in range(5):
            q = abs(rank[i] - rank[j]) / np.sqrt(5 * 6 / (6 * 12)) * np.sqrt(2)
            if i != j:
                assert p[i, j] == pytest.approx(
                    min(1.0, stats.studentized_range.sf(q, 5, np.inf))
                )
            assert (p[i, j] < 0.05) == (abs(rank[i] - rank[j]) > far)


def test_nemenyi_is_scikit_posthocs(rng: np.random.Generator):
    table = rng.normal(size=(12, 5)) + np.arange(5) * 0.6
    posthocs = pytest.importorskip(
        "scikit_posthocs", reason="scikit-posthocs is not installed"
    )
    expected = posthocs.posthoc_nemenyi_friedman(table).to_numpy()
    np.testing.assert_allclose(nemenyi(table), expected, atol=2e-3)


def test_holm_is_statsmodels(rng: np.random.Generator):
    multitest = pytest.importorskip(
        "statsmodels.stats.multitest", reason="statsmodels is not installed"
    )
    for n in range(1, 9):
        p = rng.random(n) ** 3
        expected = multitest.multipletests(p, method="holm")[1]
        np.testing.assert_allclose(holm_adjust(p), expected)
    table = rng.normal(size=(10, 4)) + np.array([0, 0, 0, 2])
    p = holm(table, control=3)
    assert p[3] == 1 and (p[:3] < 0.2).all()


def test_cliques():
    assert cliques([1, 2, 3], 0.5) == []
    assert cliques([3, 1, 2], 5) == [[1, 2, 0]]
    assert cliques([1.0, 1.8, 2.6], 1.0) == [[0, 1], [1, 2]]


def test_win_table_counts_data_sets_not_pairs():
    def test(a: np.ndarray, b: np.ndarray) -> HypothesisTest:
        return HypothesisTest(0.0, 0.0 if abs(a.mean() - b.mean()) > 1 else 1.0)

    scores = {
        "one": {"x": np.array([1.0]), "y": np.array([3.0]), "z": np.array([5.0])},
        "two": {"x": np.array([1.0]), "y": np.array([1.5]), "z": np.array([1.7])},
        "three": {"x": np.array([9.0]), "z": np.array([5.0])},
    }
    table = win_table(scores, test)
    assert table.loc["x"].tolist() == [0, 1, 1, 1]
    assert table.loc["y"].tolist() == [0, 0, 1, 1]
    assert table.loc["z"].tolist() == [1, 0, 0, 1]
    assert table.loc["SUM"].tolist() == [1, 1, 1, 0]


def test_missing_are_refused():
    with pytest.raises(ValueError, match="every cell"):
        mean_ranks([[1, np.nan], [1, 2]])
