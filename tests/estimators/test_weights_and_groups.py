"""A row is the unit of evidence wherever rows are held out; groups stay on one side."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import GroupKFold, cross_validate
from tests.checks import resamples
from tests.presets.test_all import ESTIMATORS, SETS, read
from tests.samples import sample_of

from omnitree import (
    OmniTreeClassifier,
    OmniTreeRegressor,
    TreeClassifier,
    TreeRegressor,
    presets,
)
from omnitree.estimators.row_inputs import scaled
from omnitree.learners import Boosted, Omnivariate, Softmax
from omnitree.parts.leaves import LogisticLeaves
from omnitree.pruning import CostComplexity
from omnitree.pruning.cost_complexity import standard_error
from omnitree.resampling.held_out import HeldOut, effective_rows

HOLDING_OUT = [name for name, make in ESTIMATORS.items() if resamples(make())]
COUNTING = [name for name in ESTIMATORS if name not in HOLDING_OUT]


def noise(seed=0, n=2000, share=0.03):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 3)), (rng.random(n) < share).astype(int)


@dataclass
class Patients:
    """Each has five equal rows; nothing tells their classes or values."""

    X: np.ndarray
    y: np.ndarray
    target: np.ndarray
    groups: np.ndarray


@pytest.fixture
def patients():
    rng = np.random.default_rng(0)
    rows = np.repeat(np.arange(100), 5)
    return Patients(
        rng.normal(size=(100, 3))[rows],
        rng.integers(0, 2, 100)[rows],
        rng.normal(size=100)[rows],
        rows,
    )


# -- weights -------------------------------------------------------------------------


def test_which_presets_hold_rows_out():
    assert {"id3", "c4.5", "lmdt", "random-attribute", "omni-aic", "omni-bic"} <= set(
        COUNTING
    )
    assert {"OmniTreeClassifier", "cart", "lmt", "omni", "omni-cv", "ldt"} <= set(
        HOLDING_OUT
    )


@pytest.mark.parametrize("name", presets.names())
def test_presets_say_what_weights_are(name):
    words = "only their proportions" if name in HOLDING_OUT else "counts as two rows"
    assert words in presets.describe(name)


def test_weights_of_noise_do_not_leak():
    """Five times the weight is no evidence: the tree stays a leaf."""
    for seed in range(3):
        X, y = noise(seed)
        for weight in (None, np.full(2000, 5.0), np.full(2000, 0.1)):
            clf = OmniTreeClassifier(random_state=0).fit(X, y, sample_weight=weight)
            assert clf.tree_.n_leaves == 1
            assert clf.tree_.value[0].sum() == pytest.approx(2000)


@pytest.mark.parametrize("name", ["OmniTreeClassifier", "cart"])
def test_class_weights_of_noise_do_not_leak(name):
    """Held-out errors are about a half, as far as so few rows of a class can tell."""
    for seed in range(3):
        X, y = noise(seed)
        clf = ESTIMATORS[name](random_state=0, class_weight="balanced").fit(X, y)
        counts = np.bincount(y)
        rows = effective_rows(1.0 / counts[y])
        assert rows == pytest.approx(4 * counts.prod() / counts.sum())
        deviation = 0.5 / np.sqrt(rows)
        if name == "OmniTreeClassifier":
            assert clf.tree_.n_leaves == 1
        if clf.tree_.n_nodes > 1:
            for candidate in clf.tree_.split(0).candidates:
                assert candidate.score > 0.5 - 3 * deviation
        new, truth = noise(seed + 100, share=0.5)
        assert abs(clf.score(new, truth) - 0.5) < 0.1


@pytest.mark.parametrize("name", HOLDING_OUT)
def test_scale_of_weights(name, rng):
    """Multiplying all weights by a constant changes nothing."""
    X = rng.normal(size=(150, 4)).round(1)
    y = (X[:, 0] + X[:, 1] + rng.normal(size=150) > 0).astype(int) + (X[:, 2] > 1)
    weight = rng.integers(1, 5, size=150) / 2
    make = ESTIMATORS[name]
    one = make(random_state=0).fit(X, y, sample_weight=weight).tree_.to_dict()
    for constant in (5.0, 1 / 3, 1e-6):
        other = make(random_state=0).fit(X, y, sample_weight=constant * weight)
        assert other.tree_.to_dict() == one


@pytest.mark.parametrize("name", COUNTING)
def test_weights_are_repeats_without_folds(name, rng):
    X = rng.normal(size=(80, 3)).round(1)
    y = (X[:, 0] + X[:, 1] + rng.normal(size=80) > 0).astype(int)
    times = rng.integers(1, 4, size=80)
    rows = np.repeat(np.arange(80), times)
    make = ESTIMATORS[name]
    one = make(random_state=0).fit(X, y, sample_weight=times)
    two = make(random_state=0).fit(X[rows], y[rows])
    np.testing.assert_allclose(one.predict_proba(X), two.predict_proba(X), atol=1e-6)


@pytest.mark.parametrize("name", HOLDING_OUT)
@pytest.mark.parametrize("grouped", [False, True])
def test_order_of_rows_with_copies_and_weights(name, grouped, rng):
    """Equal rows with other weights, too: the same rows are in the same leaves.

    Groups k and k + 20 hold copies of the same rows, often with the same sum of weights.
    """
    X = rng.integers(-3, 4, size=(120, 3)) / 2
    X[60:] = X[:60]
    y = (X[:, 0] + X[:, 1] + rng.normal(size=120) > 0).astype(int)
    weight = rng.integers(1, 4, size=120).astype(float)
    groups = np.arange(120) % 40 if grouped else None
    order = rng.permutation(120)
    make = ESTIMATORS[name]
    one = make(random_state=0).fit(X, y, weight, groups=groups)
    other = None if groups is None else 7 - groups[order]
    two = make(random_state=0).fit(X[order], y[order], weight[order], groups=other)
    np.testing.assert_array_equal(one.apply(X), two.apply(X))


def test_rows_of_weight_zero_are_left_out(rng):
    X, y = noise(1, 200, 0.4)
    y = (X[:, 0] + 0.5 * y > 0.3).astype(int)
    weight = np.ones(260)
    weight[200:] = 0.0
    more = np.concatenate([X, rng.normal(size=(60, 3))])
    labels = np.concatenate([y, rng.integers(0, 2, 60)])
    one = OmniTreeClassifier(random_state=0).fit(X, y)
    two = OmniTreeClassifier(random_state=0).fit(more, labels, sample_weight=weight)
    assert one.tree_.to_dict() == two.tree_.to_dict()


def test_scaled_weights():
    weight = np.array([2.0, 0.0, 6.0])
    assert scaled(weight, always=True).tolist() == [0.5, 0.0, 1.5]
    assert scaled(weight, always=False).tolist() == [2.0, 0.0, 6.0]
    assert scaled(weight / 10, always=False) == pytest.approx([0.5, 0.0, 1.5])
    odd = np.random.default_rng(0).random(1000)
    for constant in (3.0, 1 / 7, 1e-9, 1e12):
        np.testing.assert_array_equal(scaled(constant * odd, True), scaled(odd, True))
    np.testing.assert_allclose(scaled(odd, True), odd / odd.mean(), rtol=1e-11)


def test_rows_are_the_unit_of_standard_errors(rng):
    weight = np.array([1.0, 1.0, 5.0, 0.0])

    def lost(*errors, scale=1.0, groups=None):
        return HeldOut(scale * weight, np.array(errors), np.zeros(4), groups)

    # Right, wrong and wrong against wrong, wrong and right: 1 + 0 - 5 over its deviation.
    new, old = lost(0.0, 1.0, 1.0, 0.0), lost(1.0, 1.0, 0.0, 1.0)
    gain = new.gain(old, "errors")
    assert gain == pytest.approx((1 + 0 - 5) / np.sqrt(1 + 0 + 25))
    again = lost(0.0, 1.0, 1.0, 0.0, scale=7.0)
    assert again.gain(old, "errors") == pytest.approx(gain)
    assert new.gain(old, "log_loss") == 0
    # Groups are units: the first two rows together, 1 - 1, against the third.
    grouped = lost(0.0, 1.0, 1.0, 0.0, groups=np.array([1, 1, 0, 0]))
    gain = grouped.gain(lost(1.0, 0.0, 0.0, 1.0), "errors")
    assert gain == pytest.approx((1 - 1 - 5) / np.sqrt(0 + 25))
    # The standard error of an error, by drawing which rows are wrong.
    weight = rng.integers(1, 9, size=500).astype(float)
    drawn = (rng.random((4000, 500)) < 0.2) @ weight
    errors = np.array([[0.2 * weight.sum()]])
    assert standard_error(errors, 0, weight, True) == pytest.approx(
        drawn.std(), rel=0.05
    )
    assert standard_error(3 * errors, 0, 3 * weight, True) == pytest.approx(
        3 * standard_error(errors, 0, weight, True)
    )


def test_parts_that_hold_rows_out():
    assert Softmax().resamples and Boosted().resamples
    assert Omnivariate(choice="5x2t").resamples
    assert Omnivariate(choice="one_se").resamples
    assert not Omnivariate(choice="bic").resamples
    assert LogisticLeaves().resamples and not LogisticLeaves(steps=5).resamples
    assert not resamples(TreeClassifier()) and not resamples(TreeRegressor())
    assert resamples(TreeRegressor(leaves="ridge"))
    assert resamples(OmniTreeRegressor())


def test_standard_errors_of_groups():
    """Five equal rows a group say as much as one row."""
    X, y = noise(5, 150, 0.4)
    rows = np.repeat(np.arange(150), 5)
    one = sample_of(X, y)
    many = replace(one.take(rows), weight=np.full(750, 0.2), groups=rows)
    assert effective_rows(one.units) == effective_rows(many.units) == 150
    errors = np.array([[30.0, 20.0, 22.0, 26.0, 33.0]])
    chosen = [CostComplexity(se=1).choose(errors, r.units, True) for r in (one, many)]
    assert chosen == [2, 2]  # 20 of 150 have a standard error of 4.2


# -- groups --------------------------------------------------------------------------


@pytest.mark.parametrize("name", HOLDING_OUT)
def test_patients_are_not_memorised(name, patients):
    make = ESTIMATORS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of the copies
        alone = make(random_state=0).fit(patients.X, patients.y)
    together = make(random_state=0).fit(patients.X, patients.y, groups=patients.groups)
    assert together.tree_.n_leaves < alone.tree_.n_leaves
    assert together.score(patients.X, patients.y) < 0.75
    if name in ("OmniTreeClassifier", "omni", "cart", "lmt"):
        assert alone.score(patients.X, patients.y) > 0.98
        assert together.tree_.n_leaves <= 2


@pytest.mark.parametrize(
    "regressor",
    [
        OmniTreeRegressor(random_state=0),
        TreeRegressor(pruning="cost_complexity", random_state=0),
    ],
    ids=["omni", "cost_complexity"],
)
def test_patients_with_numbers(regressor, patients):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        alone = clone(regressor).fit(patients.X, patients.target)
    together = clone(regressor).fit(patients.X, patients.target, groups=patients.groups)
    assert alone.score(patients.X, patients.target) > 0.9
    assert together.tree_.n_leaves == 1


def test_ridge_leaves_leave_groups_out():
    """Ten columns of noise and five equal rows a patient: a constant is no worse."""
    rng = np.random.default_rng(3)
    rows = np.repeat(np.arange(25), 5)
    X, y = rng.normal(size=(25, 10))[rows], rng.normal(size=25)[rows]
    reg = TreeRegressor(leaves="ridge", max_depth=0)
    assert reg.fit(X, y, groups=rows).tree_.model(0) is None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        assert reg.fit(X, y).tree_.model(0) is not None


def test_kinds_of_groups_are_alike(patients):
    names = np.array([f"patient {g}" for g in patients.groups])
    mixed = [g if g % 2 else f"p{g}" for g in patients.groups]
    trees = [
        presets.make("ldt", random_state=0)
        .fit(patients.X, patients.y, groups=groups)
        .tree_.to_dict()
        for groups in (
            patients.groups,
            names,
            names.tolist(),
            pd.Series(names, index=patients.groups),
            pl.Series(names),
            pd.Series(mixed, dtype=object),
        )
    ]
    assert all(tree == trees[0] for tree in trees)


def test_one_group_leaves_nothing_to_hold_out(patients):
    one = np.zeros(500)
    for name in ("OmniTreeClassifier", "lmt", "omni-cv", "ldt"):
        clf = ESTIMATORS[name](random_state=0)
        assert clf.fit(patients.X, patients.y, groups=one).tree_.n_leaves >= 1
    clf = TreeClassifier(learner="softmax", random_state=0)
    assert clf.fit(patients.X, patients.y, groups=one).tree_.n_leaves == 1
    OmniTreeRegressor(random_state=0).fit(patients.X, patients.target, groups=one)


@pytest.mark.parametrize("name", ["c4.5", "id3", "lmdt"])
def test_groups_are_nothing_to_those_who_hold_no_rows_out(name, patients):
    make = ESTIMATORS[name]
    one = make(random_state=0).fit(patients.X, patients.y).tree_.to_dict()
    two = make(random_state=0).fit(patients.X, patients.y, groups=patients.groups)
    assert two.tree_.to_dict() == one


@pytest.mark.parametrize("make", [OmniTreeClassifier, OmniTreeRegressor])
@pytest.mark.parametrize(
    ("groups", "words"),
    [
        (np.arange(3), r"groups has shape \(3,\); one group a row is needed, \(40,\)"),
        (np.zeros((40, 2)), "one group a row"),
        ("a", "one group a row"),
        (np.r_[np.zeros(39), np.nan], "groups has a missing value in row 39"),
        ([None] + ["a"] * 39, "missing value in row 0: give each row that belongs to"),
        (pd.Series([1] * 20 + [pd.NA] * 20), "missing value in row 20"),
    ],
)
def test_bad_groups(make, groups, words):
    X, y = noise(0, 40, 0.5)
    with pytest.raises(ValueError, match=words):
        make().fit(X, y, groups=groups)


@pytest.mark.parametrize("name", ["OmniTreeClassifier", "cart"])
def test_metadata_routing(name, patients):
    """`GroupKFold` outside and the folds inside get the same groups."""
    X, y, groups = patients.X, patients.y, patients.groups
    with sklearn.config_context(enable_metadata_routing=True):
        clf = ESTIMATORS[name](random_state=0).set_fit_request(groups=True)
        found = cross_validate(
            clf,
            X,
            y,
            params={"groups": groups},
            cv=GroupKFold(4),
            return_estimator=True,
            return_indices=True,
        )
    for fitted, train in zip(
        found["estimator"], found["indices"]["train"], strict=True
    ):
        clf = ESTIMATORS[name](random_state=0)
        clf.fit(X[train], y[train], groups=groups[train])
        assert fitted.tree_.to_dict() == clf.tree_.to_dict()


# -- copies --------------------------------------------------------------------------


def oversampled(rng):
    X, y = noise(2, 300, 0.1)
    rare = np.flatnonzero(y)
    rows = np.concatenate([np.arange(300), rng.choice(rare, size=200)])
    return X[rows], y[rows], rows


@pytest.mark.parametrize("make", [OmniTreeClassifier, OmniTreeRegressor])
def test_oversampled_tables_are_warned_about(make, rng):
    X, y, rows = oversampled(rng)
    frame = pd.DataFrame(X, columns=["age", "weight", "height"])
    with pytest.warns(
        UserWarning, match="200 of 500 rows .40%. repeat other rows"
    ) as caught:
        make(random_state=0).fit(frame, y)
    (warning,) = caught
    assert warning.filename == __file__
    for word in ("40%", "'age'", "oversampled", "groups="):
        assert word in str(warning.message)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        make(random_state=0).fit(frame, y, groups=rows)


def assert_quiet(X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        presets.make("ldt-u1", random_state=0).fit(X, y)


def test_natural_copies_are_not_warned_about(rng):
    assert_quiet(*load_iris(return_X_y=True))
    few = rng.integers(0, 4, size=(400, 3))
    assert_quiet(few, rng.integers(0, 2, 400))
    ages = np.column_stack([rng.integers(20, 90, 400), rng.integers(0, 2, 400)])
    assert_quiet(ages, rng.integers(0, 2, 400))
    assert_quiet(few.astype(str).tolist(), rng.integers(0, 2, 400))
    X, y, _ = oversampled(rng)  # no rows are held out
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        presets.make("c4.5").fit(X, y)


@pytest.mark.parametrize("dataset", SETS)
def test_data_sets_are_not_warned_about(dataset):
    assert_quiet(*read(dataset))


# -- rare classes --------------------------------------------------------------------


@pytest.mark.parametrize("name", HOLDING_OUT)
@pytest.mark.parametrize("rows", [1, 2, 3])
def test_a_class_that_is_rarer_than_the_folds(name, rows, rng):
    X = rng.normal(size=(90, 3))
    y = np.where(X[:, 0] > 0, "a", "b").astype(object)
    y[:rows] = "rare"
    X[:rows] += 9.0
    for seed in range(2):
        clf = ESTIMATORS[name](random_state=seed).fit(X, y)
        assert clf.classes_.tolist() == ["a", "b", "rare"]
        assert clf.predict_proba(X).shape == (90, 3)
        assert clf.score(X, y) > 0.8


def test_losses_of_rows_that_were_not_held_out_stay():
    old = HeldOut(np.ones(4), np.zeros(4), np.full(4, 0.1))
    part = HeldOut(np.array([1.0, 0.0]), np.ones(2), np.full(2, 9.0))
    new = old.put(np.array([1, 3]), part, np.ones(2))
    assert new.errors.tolist() == [0, 1, 0, 0]
    assert new.log_loss.tolist() == [0.1, 9.0, 0.1, 0.1]
