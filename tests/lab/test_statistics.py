"""Tests of pairs: known values, and other people's libraries on random scores."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from omnitree.lab.statistics import (
    corrected_t,
    five_by_two_f,
    five_by_two_t,
    mcnemar,
    paired_t,
)


def test_paired_t_is_scipys(rng: np.random.Generator):
    for _ in range(20):
        a, b = rng.normal(size=(2, 12))
        expected = stats.ttest_rel(a, b)
        np.testing.assert_allclose(paired_t(a, b), tuple(expected))


def test_corrected_t_widens_the_paired_t(rng: np.random.Generator):
    a, b = rng.normal(size=(2, 10))
    plain, wide = paired_t(a, b), corrected_t(a, b, 1 / 9)
    assert wide.statistic == pytest.approx(
        plain.statistic * np.sqrt(1 / 10) / np.sqrt(1 / 10 + 1 / 9)
    )
    assert wide.p > plain.p
    np.testing.assert_allclose(corrected_t(a, b, 0.0), plain)


def test_5x2_is_mlxtends_on_shared_splits(seed: int):
    """mlxtend fits the two models itself; the same folds are scored here."""
    evaluate = pytest.importorskip(
        "mlxtend.evaluate", reason="mlxtend is not installed"
    )
    from sklearn.datasets import load_wine
    from sklearn.model_selection import train_test_split
    from sklearn.naive_bayes import GaussianNB
    from sklearn.tree import DecisionTreeClassifier

    X, y = load_wine(return_X_y=True)
    one = DecisionTreeClassifier(max_depth=1, random_state=0)
    two = GaussianNB()
    errors = np.empty((2, 5, 2))
    draw = np.random.RandomState(seed)  # the way mlxtend draws its halves
    for r in range(5):
        at = draw.randint(low=0, high=32767)
        halves = train_test_split(X, y, test_size=0.5, random_state=at)
        for m, clf in enumerate((one, two)):
            a, b, ya, yb = halves
            errors[m, r, 0] = 1 - clf.fit(a, ya).score(b, yb)
            errors[m, r, 1] = 1 - clf.fit(b, yb).score(a, ya)
    options = {"estimator1": one, "estimator2": two, "X": X, "y": y}
    # mlxtend subtracts scores, we errors: the sign of t turns.
    t, p = evaluate.paired_ttest_5x2cv(**options, random_seed=seed)
    ours = five_by_two_t(errors[0], errors[1])
    assert (-ours.statistic, ours.p) == pytest.approx((t, p))
    f, p = evaluate.combined_ftest_5x2cv(**options, random_seed=seed)
    assert tuple(five_by_two_f(errors[0], errors[1])) == pytest.approx((f, p))


def test_mcnemar_is_statsmodels(rng: np.random.Generator):
    tables = pytest.importorskip(
        "statsmodels.stats.contingency_tables", reason="statsmodels is not installed"
    )
    for n in (12, 40, 300):
        a, b = rng.random((2, n)) < 0.7
        counts = [[(a & b).sum(), (a & ~b).sum()], [(~a & b).sum(), (~a & ~b).sum()]]
        for exact in (True, False):
            expected = tables.mcnemar(counts, exact=exact, correction=True)
            ours = mcnemar(a, b, exact)
            assert ours.p == pytest.approx(expected.pvalue)
            assert ours.statistic == pytest.approx(expected.statistic)


def test_no_difference_and_a_constant_one():
    same = np.full(10, 0.3)
    for test in (paired_t, five_by_two_t, five_by_two_f):
        assert tuple(test(same, same)) == (0.0, 1.0)
        assert test(same + 0.1, same).p == 0.0
    assert mcnemar([True, False], [True, False]).p == 1.0


def test_bad_shapes():
    with pytest.raises(ValueError, match="ten scores"):
        five_by_two_f([1, 2, 3], [1, 2, 3])
    with pytest.raises(ValueError, match="one length"):
        paired_t([1, 2, 3], [1, 2])
    with pytest.raises(ValueError, match="two pairs"):
        paired_t([1], [2])
