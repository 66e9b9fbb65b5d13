"""Analyses of variance against statsmodels' linear models on random designs."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from omnitree.lab.anova import contrast, factorial, split_plot

statsmodels = pytest.importorskip("statsmodels", reason="statsmodels is not installed")


def sum_coded(n: int) -> np.ndarray:
    """n levels as n - 1 columns that add up to zero."""
    return np.vstack([np.eye(n - 1), -np.ones(n - 1)])


def test_one_way_is_scipys(rng: np.random.Generator):
    groups = [rng.normal(i * 0.3, size=n) for i, n in enumerate((5, 9, 7))]
    label = np.repeat(["a", "b", "c"], [5, 9, 7])
    table = factorial(np.concatenate(groups), {"group": label})
    expected = stats.f_oneway(*groups)
    assert (table.F["group"], table.p["group"]) == pytest.approx(tuple(expected))
    parts = table.SS[["group", "error"]].sum()
    assert parts == pytest.approx(table.SS["total"])
    assert list(table.df) == [2, 18, 20]


@pytest.mark.parametrize("balanced", [True, False])
def test_two_way_by_comparing_models(rng: np.random.Generator, balanced: bool):
    """Unique sums: the loss of fit when a source's columns are left out."""
    a = np.repeat([0, 1, 2], 20)
    b = np.tile([0, 1], 30)
    keep = np.arange(60) if balanced else np.sort(rng.permutation(60)[:47])
    a, b = a[keep], b[keep]
    y = rng.normal(size=len(a)) + a * 0.5 + a * b
    table = factorial(y, {"a": a, "b": b})
    code, sign = sum_coded(3)[a], sum_coded(2)[b]
    blocks = {"a": code, "b": sign, "a*b": code * sign}

    def rest(sources):
        X = np.hstack([np.ones((len(y), 1)), *(blocks[s] for s in sources)])
        return ((y - X @ np.linalg.lstsq(X, y, rcond=None)[0]) ** 2).sum()

    full = rest(blocks)
    for source in blocks:
        without = rest([s for s in blocks if s != source])
        assert table.SS[source] == pytest.approx(without - full)
    assert table.SS["error"] == pytest.approx(full)


@pytest.mark.parametrize("sizes", [(6, 6, 6), (3, 8, 5)])
@pytest.mark.parametrize("levels", [2, 4])
def test_split_plot_is_statsmodels(rng, sizes, levels):
    """Outer part: one-way on unit means. Inner part: models with a column per unit."""
    import statsmodels.api as sm

    group = np.repeat(np.arange(len(sizes)), sizes)
    n = len(group)
    y = rng.normal(size=(n, levels)) + rng.normal(size=(n, 1))
    y += group[:, None] * np.arange(levels) * 0.4
    table = split_plot(y, group, ("noise", "measure"))
    outer = stats.f_oneway(*(y.mean(axis=1)[group == g] for g in range(len(sizes))))
    assert (table.F["noise"], table.p["noise"]) == pytest.approx(tuple(outer))
    units = np.repeat(np.eye(n), levels, axis=0)
    level = np.tile(sum_coded(levels), (n, 1))
    noise = np.repeat(sum_coded(len(sizes))[group], levels, axis=0)
    both = (level[:, :, None] * noise[:, None, :]).reshape(n * levels, -1)
    full = sm.OLS(y.ravel(), np.hstack([units, level, both])).fit()
    assert table.SS["error"] == pytest.approx(full.ssr)
    for source, left in (("measure", both), ("noise*measure", level)):
        f, p, df = full.compare_f_test(
            sm.OLS(y.ravel(), np.hstack([units, left])).fit()
        )
        assert tuple(table.loc[source, ["F", "p", "df"]]) == pytest.approx((f, p, df))
    if len(set(sizes)) == 1:
        assert table.SS[:-1].sum() == pytest.approx(table.SS["total"])


def test_contrast_of_two_groups_is_a_t_test(rng: np.random.Generator):
    a, b = rng.normal(size=8), rng.normal(0.5, size=11)
    t, p = stats.ttest_ind(a, b)
    assert tuple(contrast([a, b], [1, -1])) == pytest.approx((t**2, p))


def test_contrast_is_statsmodels(rng: np.random.Generator):
    import statsmodels.api as sm

    groups = [rng.normal(size=n) for n in (6, 9, 4)]
    label = np.repeat([0, 1, 2], [6, 9, 4])
    fitted = sm.OLS(np.concatenate(groups), np.eye(3)[label]).fit()
    expected = fitted.f_test(np.array([[2, -1, -1]]))
    ours = contrast(groups, [2, -1, -1])
    assert tuple(ours) == pytest.approx(
        (float(expected.fvalue), float(expected.pvalue))
    )
    with pytest.raises(ValueError, match="add up to zero"):
        contrast(groups, [1, 1, 1])
