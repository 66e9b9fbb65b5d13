"""Thresholds against Bayes' rule, scikit-learn and plain search."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize, stats
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)

from omnitree.data.table import learn_table
from omnitree.growing.node_columns import NodeColumns
from omnitree.growing.standard_columns import StandardColumns
from omnitree.parts.merit import MERITS, Gain, GainRatio
from omnitree.parts.threshold import (
    THRESHOLDS,
    EqualVariance,
    Exhaustive,
    UnequalVariance,
)
from omnitree.parts.threshold.base import Projected
from omnitree.parts.threshold.exhaustive import KolmogorovSmirnovCut


def project(x, y, weight=None):
    """One feature as a projection, class 0 as the left group."""
    table = learn_table(np.asarray(x, dtype=float)[:, None])
    weight = np.ones(len(x)) if weight is None else weight
    standard = StandardColumns.of(table, weight)
    k = int(y.max()) + 1
    rows = NodeColumns.of(standard, np.arange(len(x)), y.astype(np.int32), weight, k)
    left = (np.arange(k) == 0)[None]
    return Projected(rows, np.asarray(x, dtype=float)[:, None], left)


def crossing(model, low, high):
    """Where a model of scikit-learn changes its mind between two points."""

    def missing(x):
        log = model.predict_log_proba([[x]])[0]
        return log[0] - log[1]

    return optimize.brentq(missing, low, high)


def sample(rng, sd=1.0, n=(300, 200)):
    x = np.concatenate([rng.normal(0, 1, n[0]), rng.normal(3, sd, n[1])])
    return x, np.repeat([0, 1], n)


def bayes(x, y, sd):
    """Where two normal densities, weighted by their shares, cross between the means."""
    mean = [x[y == k].mean() for k in (0, 1)]

    def missing(t):
        return sum(
            (1 - 2 * k)
            * (np.log((y == k).mean()) + stats.norm.logpdf(t, mean[k], sd[k]))
            for k in (0, 1)
        )

    return optimize.brentq(missing, *mean)


def test_equal_variance_is_bayes_rule(rng):
    x, y = sample(rng)
    cut = EqualVariance().find(project(x, y), Gain())[0]
    scatter = sum(((x[y == k] - x[y == k].mean()) ** 2).sum() for k in (0, 1))
    sd = np.sqrt(scatter / (len(x) - 2))
    assert cut == pytest.approx(bayes(x, y, [sd, sd]), rel=1e-9)


@pytest.mark.parametrize("sd", [0.4, 1.7])
def test_unequal_variance_is_bayes_rule(rng, sd):
    x, y = sample(rng, sd)
    cut = UnequalVariance().find(project(x, y), Gain())[0]
    own = [x[y == k].std(ddof=1) for k in (0, 1)]
    assert cut == pytest.approx(bayes(x, y, own), rel=1e-9)


# scikit-learn divides scatters by other numbers of rows; with many rows that is nothing.
MANY = (30_000, 20_000)


def test_equal_variance_is_lda_in_one_dimension(rng):
    x, y = sample(rng, n=MANY)
    cut = EqualVariance().find(project(x, y), Gain())[0]
    lda = LinearDiscriminantAnalysis(solver="svd").fit(x[:, None], y)
    assert cut == pytest.approx(crossing(lda, 0, 3), rel=5e-5)


@pytest.mark.parametrize("sd", [0.4, 1.7])
def test_unequal_variance_is_qda_in_one_dimension(rng, sd):
    x, y = sample(rng, sd, n=MANY)
    cut = UnequalVariance().find(project(x, y), Gain())[0]
    qda = QuadraticDiscriminantAnalysis().fit(x[:, None], y)
    assert cut == pytest.approx(crossing(qda, 0, 3), rel=5e-5)


@pytest.mark.parametrize("threshold", [EqualVariance, UnequalVariance])
def test_order_of_groups_and_offset_do_not_matter(rng, threshold):
    x, y = sample(rng, 1.5)
    cut = threshold().find(project(x, y), Gain())[0]
    assert threshold().find(project(x, 1 - y), Gain())[0] == pytest.approx(cut)
    assert threshold().find(project(x + 1e6, y), Gain())[0] - 1e6 == pytest.approx(cut)
    assert -threshold().find(project(-x, y), Gain())[0] == pytest.approx(cut)


def test_no_root_between_the_means_gives_the_midpoint():
    x = np.array([-10.0, 10.0, -9, 9, 0.1, 0.2, 0.15])
    y = np.array([0, 0, 0, 0, 1, 1, 1])
    cut = UnequalVariance().find(project(x, y), Gain())[0]
    assert cut == pytest.approx((x[y == 0].mean() + x[y == 1].mean()) / 2)


@pytest.mark.parametrize("name", [n for n in MERITS if n != "variance"])
def test_exhaustive_is_the_best_cut(rng, name):
    x = rng.integers(6, size=30) / 2
    y = rng.integers(3, size=30)
    merit = MERITS[name]()
    inner = Gain() if isinstance(merit, GainRatio) else merit
    projected = project(x, y)
    cut = Exhaustive().find(projected, merit)[0]
    values = np.unique(x)
    cuts = (values[:-1] + values[1:]) / 2
    scores = [float(inner(projected.counts(np.array([c])))[0]) for c in cuts]
    assert float(inner(projected.counts(np.array([cut])))[0]) == pytest.approx(
        max(scores)
    )


def test_kolmogorov_smirnov_cut(rng):
    x, y = sample(rng, 1.3)
    cut = KolmogorovSmirnovCut().find(project(x, y), Gain())[0]
    distance = abs((x[y == 0] <= cut).mean() - (x[y == 1] <= cut).mean())
    assert distance == pytest.approx(stats.ks_2samp(x[y == 0], x[y == 1]).statistic)


@pytest.mark.parametrize("name", list(THRESHOLDS))
def test_weights_are_repeats(rng, name):
    x, y = sample(rng, 1.2, n=(12, 9))
    weight = rng.integers(1, 4, size=len(x))
    a = THRESHOLDS[name]().find(project(x, y, weight.astype(float)), Gain())
    b = THRESHOLDS[name]().find(
        project(np.repeat(x, weight), np.repeat(y, weight)), Gain()
    )
    np.testing.assert_allclose(a, b, rtol=1e-9)
