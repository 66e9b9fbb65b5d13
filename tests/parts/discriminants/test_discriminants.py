"""Discriminant functions against scikit-learn's, and as features in the user's units."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from tests.tables import random_sample

from omnitree.data.table import learn_table
from omnitree.growing.node_columns import NodeColumns
from omnitree.growing.standard_columns import StandardColumns
from omnitree.parts.discriminants import DISCRIMINANTS, LDA, QDA, LogisticDiscriminants


def rows_of(X, y, weight=None, k=None):
    table = learn_table(X)
    weight = np.ones(len(y)) if weight is None else weight
    standard = StandardColumns.of(table, weight)
    k = k or int(y.max()) + 1
    everything = np.arange(len(y))
    return table, NodeColumns.of(standard, everything, y.astype(np.int32), weight, k)


def gaussians(rng, n=400, d=4, k=3, common=True):
    y = np.r_[np.arange(k), rng.integers(k, size=n - k)]
    means = 2 * rng.normal(size=(k, d))
    turns = [np.linalg.qr(rng.normal(size=(d, d)))[0] for _ in range(k)]
    spread = [np.linspace(0.3, 2, d)[:, None] * turn for turn in turns]
    noise = rng.normal(size=(n, d))
    X = [
        means[c] + z @ spread[0 if common else c] for c, z in zip(y, noise, strict=True)
    ]
    return np.array(X) * [1, 10, 0.1, 1][:d] + 5, y


def log_posterior(X, y, covariance):
    """Logarithms of share times normal density, by class; `covariance(k)` of class k."""
    return np.stack(
        [
            np.log((y == k).mean())
            + stats.multivariate_normal.logpdf(X, X[y == k].mean(axis=0), covariance(k))
            for k in range(y.max() + 1)
        ],
        axis=1,
    )


def assert_same_but_for_the_evidence(ours, theirs):
    """Discriminants may differ by one number a row."""
    shift = ours - theirs
    scale = np.abs(theirs).max()
    np.testing.assert_allclose((shift - shift[:, :1]) / scale, 0, atol=1e-8)


@pytest.mark.parametrize("k", [2, 3, 6])
def test_lda_is_bayes_rule(rng, k):
    X, y = gaussians(rng, k=k)
    _, rows = rows_of(X, y)
    ours = LDA().fit(rows).values(rows.columns)
    scatter = sum(np.cov(X[y == c].T) * ((y == c).sum() - 1) for c in range(k))
    theirs = log_posterior(X, y, lambda _: scatter / (len(y) - k))
    assert_same_but_for_the_evidence(ours, theirs)


def test_lda_with_equal_priors(rng):
    X, y = gaussians(rng)
    y[: 3 * len(y) // 4] = np.where(y[: 3 * len(y) // 4] == 2, 0, y[: 3 * len(y) // 4])
    _, rows = rows_of(X, y)
    model = LinearDiscriminantAnalysis(priors=[1 / 3] * 3).fit(X, y)
    ours = LDA().fit(rows, equal_priors=True).values(rows.columns).argmax(axis=1)
    np.testing.assert_array_equal(ours, model.predict(X))


@pytest.mark.parametrize("k", [2, 3])
def test_qda_is_bayes_rule(rng, k):
    X, y = gaussians(rng, k=k, common=False)
    _, rows = rows_of(X, y)
    ours = QDA().fit(rows).values(rows.columns)
    theirs = log_posterior(X, y, lambda c: np.cov(X[y == c].T))
    assert_same_but_for_the_evidence(ours, theirs)
    model = QuadraticDiscriminantAnalysis().fit(X, y)
    # scikit-learn may divide scatters by n: a few rows on the boundary differ.
    assert (ours.argmax(axis=1) == model.predict(X)).mean() > 0.99


def test_contrast_of_two_classes_changes_sign_at_the_boundary(rng):
    X, y = gaussians(rng, k=2, common=False)
    _, rows = rows_of(X, y)
    contrast = QDA().fit(rows).contrasts(rows.class_weight)
    assert len(contrast.classes) == 1
    theirs = log_posterior(X, y, lambda c: np.cov(X[y == c].T))
    ours = contrast.values(rows.columns)[:, 0]
    np.testing.assert_array_equal(ours > 0, theirs[:, 0] > theirs[:, 1])


def test_contrasts_of_linear_functions_point_from_the_mean_to_a_class(rng):
    X, y = gaussians(rng, k=4)
    _, rows = rows_of(X, y)
    contrasts = LDA().fit(rows).contrasts(rows.class_weight)
    within = sum(
        np.cov(rows.columns[y == c].T) * ((y == c).sum() - 1) for c in range(4)
    ) / (len(y) - 4)
    expected = np.linalg.solve(within, (rows.means - rows.mean).T).T
    np.testing.assert_allclose(contrasts.weights, expected, rtol=1e-6)


def test_logistic_is_one_against_the_rest(rng):
    X, y = gaussians(rng)
    _, rows = rows_of(X, y)
    g = LogisticDiscriminants(C=1e6).fit(rows).values(rows.columns)
    for c in range(3):
        # At the optimum the probabilities of the side add up to its rows.
        assert (1 / (1 + np.exp(-g[:, c]))).sum() == pytest.approx((y == c).sum(), 1e-3)


@pytest.mark.parametrize("name", list(DISCRIMINANTS))
def test_weights_are_repeats(rng, name):
    X, y = gaussians(rng, n=60)
    weight = rng.integers(1, 4, size=60)
    again = np.repeat(np.arange(60), weight)
    _, one = rows_of(X, y, weight.astype(float))
    _, two = rows_of(X[again], y[again])
    discriminants = DISCRIMINANTS[name]()
    np.testing.assert_allclose(
        discriminants.fit(one).values(one.columns)[again],
        discriminants.fit(two).values(two.columns),
        rtol=1e-5,
        atol=1e-5,
    )


@pytest.mark.parametrize("name", list(DISCRIMINANTS))
def test_features_route_as_they_are_valued(rng, name):
    """A cut of the values and the split it becomes put every row on the same side."""
    tests = 0
    for _ in range(40):
        sample = random_sample(rng, n=60, missing_share=rng.choice([0.0, 0.2]), k=3)
        standard = StandardColumns.of(sample.table, sample.weight)
        everything = np.arange(60)
        rows = NodeColumns.of(standard, everything, sample.y, sample.weight, 3)
        functions = DISCRIMINANTS[name]().fit(rows).contrasts(rows.class_weight)
        for feature in functions.features(rows):
            ordered = np.unique(feature.values)
            at = len(ordered) // 2
            cut = ordered[at - 1 : at + 1].mean()
            split = feature.cut(cut, merit=1.0)
            assert split.kind == (
                "linear" if functions.curvature is None else "quadratic"
            )
            branch = split.route(sample.table, everything)
            np.testing.assert_array_equal(branch, feature.values > cut)
            tests += 1
    assert tests > 40


@pytest.mark.parametrize("name", list(DISCRIMINANTS))
def test_hard_tables(rng, name):
    """Constant, doubled and class-bound columns, and a class of one row."""
    X, y = gaussians(rng, n=80)
    y[0] = 3
    X = np.column_stack([X, X[:, 0], np.full(80, 3.0), y == 1])
    _, rows = rows_of(X, y)
    values = DISCRIMINANTS[name]().fit(rows).values(rows.columns)
    assert np.isfinite(values).all()
    assert (values.argmax(axis=1) == y).mean() > 0.8


def test_more_columns_than_rows(rng):
    X, y = rng.normal(size=(20, 60)), np.repeat([0, 1], 10)
    X[:, 0] += 4 * y
    _, rows = rows_of(X, y)
    assert (LDA().fit(rows).values(rows.columns).argmax(axis=1) == y).all()


@pytest.mark.parametrize("kind", [LDA, QDA])
def test_rows_that_are_all_alike_give_no_directions(kind):
    """SciPy 1.11 refuses the empty matrices that are left then."""
    table, _ = rows_of(np.arange(9.0)[:, None], np.arange(9) % 2)
    standard = StandardColumns.of(table, np.ones(9))
    here = np.full(4, 3)
    y = np.array([0, 0, 1, 1], dtype=np.int32)
    functions = kind().fit(NodeColumns.of(standard, here, y, np.ones(4), 2))
    assert not functions.weights.any()
