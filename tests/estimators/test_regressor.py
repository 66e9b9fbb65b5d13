"""Regressors as scikit-learn and a user expect them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes, make_friedman1
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils.estimator_checks import check_estimator
from tests.checks import HOLDS_ROWS_OUT, resamples

from omnitree import (
    OmniTreeRegressor,
    TreeClassifier,
    TreeRegressor,
    from_sklearn,
    load,
    save,
)
from omnitree.growing.missing import Surrogate
from omnitree.growing.stopping import Stopping
from omnitree.learners import LEARNERS, KWay, Linear, Omnivariate, Univariate
from omnitree.parts.leaves import RidgeLeaves
from omnitree.parts.merit import Gini
from omnitree.pruning import CostComplexity, InformationPruning

VARIANTS = {
    "univariate": TreeRegressor(random_state=0),
    "absolute": TreeRegressor(
        criterion="absolute_error", stopping=Stopping(10), random_state=0
    ),
    "linear": TreeRegressor("linear", stopping=Stopping(20), random_state=0),
    "residual": TreeRegressor(
        Linear(groups="residual", min_branch=10),
        leaves="ridge",
        stopping=Stopping(20),
        random_state=0,
    ),
    "hinge": TreeRegressor(
        Linear(groups="hinge", min_branch=5),
        leaves="ridge",
        stopping=Stopping(20),
        random_state=0,
    ),
    "sparse": TreeRegressor(
        Linear(max_features_per_test=2), stopping=Stopping(20), random_state=0
    ),
    "quadratic": TreeRegressor(
        Linear(expansion="quadratic"), stopping=Stopping(20), random_state=0
    ),
    "ridge": TreeRegressor(
        leaves="ridge", pruning="cost_complexity", stopping=Stopping(20), random_state=0
    ),
    "bic": TreeRegressor(pruning="information", random_state=0),
    "omnivariate": TreeRegressor(
        Omnivariate(min_branch=5), stopping=Stopping(20), random_state=0
    ),
    "omnivariate-cv": TreeRegressor(
        Omnivariate(("univariate", "sparse"), choice="one_se", min_branch=5),
        stopping=Stopping(30),
        random_state=0,
    ),
    "omni": OmniTreeRegressor(random_state=0),
}


@pytest.fixture(params=list(VARIANTS))
def regressor(request):
    return clone(VARIANTS[request.param])


@pytest.fixture
def mixed(rng) -> tuple[pd.DataFrame, np.ndarray]:
    """Numbers, categories, booleans, missing values, and a target that needs them all."""
    n = 160
    frame = pd.DataFrame(
        {
            "a": rng.normal(size=n),
            "b": rng.normal(size=n).round(1),
            "colour": rng.choice(["red", "green", "blue", "grey"], n),
            "old": rng.random(n) < 0.5,
        }
    )
    y = 2 * frame["a"] + 3.0 * frame["colour"].isin(["red", "blue"]) + frame["old"]
    for name in ("a", "colour"):
        frame.loc[rng.random(n) < 0.1, name] = np.nan
    return frame, y.to_numpy() + 0.1 * rng.normal(size=n)


@pytest.mark.parametrize("name", ["univariate", "ridge", "omnivariate", "omni"])
def test_scikit_learn_checks(name):
    reg = clone(VARIANTS[name])
    expected = HOLDS_ROWS_OUT if resamples(reg) else {}
    found = check_estimator(reg, on_fail=None, expected_failed_checks=expected)
    fine = ("passed", "skipped", "xfail")
    assert [r["check_name"] for r in found if r["status"] not in fine] == []


def test_better_than_the_mean(regressor):
    X, y = make_friedman1(300, noise=1.0, random_state=0)
    reg = regressor.fit(X[:200], y[:200])
    assert reg.score(X[200:], y[200:]) > 0.3
    assert reg.tree_.task == "regression" and reg.tree_.classes == ()


def test_mixed_columns_and_missing(regressor, mixed):
    frame, y = mixed
    reg = regressor.fit(frame, y)
    assert reg.score(frame, y) > 0.5
    assert np.isfinite(reg.predict(frame)).all()
    assert reg.decision_path(frame).shape == (len(frame), reg.tree_.n_nodes)
    assert (reg.tree_.kind[reg.apply(frame)] == 0).all()
    assert reg.describe() and reg.export("rules")
    assert str(reg.explain(frame.iloc[0]))


@pytest.mark.parametrize("missing", ["mean", "fractional", "surrogate"])
@pytest.mark.parametrize("leaves", ["constant", "ridge"])
def test_policies(missing, leaves, mixed):
    frame, y = mixed
    reg = TreeRegressor(Univariate(min_branch=5), missing=missing, leaves=leaves).fit(
        frame, y
    )
    assert reg.score(frame, y) > 0.8
    kinds = reg.tree_.node_kinds()
    assert kinds["axis"] and kinds["subset"]
    surrogates = [reg.tree_.split(i).surrogates for i in np.flatnonzero(reg.tree_.kind)]
    assert any(surrogates) == (missing == "surrogate")
    assert (reg.tree_.missing[reg.tree_.kind > 0] == -1).all() == (
        missing == "fractional"
    )


def test_same_tree_again(regressor, mixed):
    frame, y = mixed
    first = clone(regressor).fit(frame, y).tree_.to_dict()
    again = clone(regressor).set_params(n_jobs=2).fit(frame, y).tree_.to_dict()
    assert first == again


def test_order_of_rows(regressor, rng):
    X, y = make_friedman1(200, noise=1.0, random_state=1)
    order = rng.permutation(len(y))
    one = clone(regressor).fit(X, y).predict(X)
    other = clone(regressor).fit(X[order], y[order]).predict(X)
    np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-6)


def test_weights_are_repeats(regressor, rng):
    if resamples(regressor):
        pytest.skip("holds rows out, and a row is on one side")
    X, y = make_friedman1(120, noise=1.0, random_state=2)
    weight = rng.integers(1, 4, len(y))
    twice = np.repeat(np.arange(len(y)), weight)
    one = clone(regressor).fit(X, y, sample_weight=weight.astype(float)).predict(X)
    other = clone(regressor).fit(X[twice], y[twice]).predict(X)
    np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("constant", [5.0, 1 / 3])
def test_scale_of_weights(constant, regressor, rng):
    """It does not matter where rows are held out."""
    if not resamples(regressor):
        pytest.skip("counts weights as repeats")
    X, y = make_friedman1(120, noise=1.0, random_state=2)
    weight = 0.5 + rng.random(len(y))
    one = clone(regressor).fit(X, y, sample_weight=weight)
    other = clone(regressor).fit(X, y, sample_weight=constant * weight)
    assert one.tree_.to_dict() == other.tree_.to_dict()


def test_weight_zero_leaves_out(regressor):
    X, y = make_friedman1(100, random_state=3)
    weight = np.r_[np.ones(80), np.zeros(20)]
    one = clone(regressor).fit(X, y, sample_weight=weight).predict(X)
    other = clone(regressor).fit(X[:80], y[:80]).predict(X)
    np.testing.assert_allclose(one, other)


def test_save_and_load(regressor, mixed, tmp_path):
    frame, y = mixed
    reg = regressor.fit(frame, y)
    save(reg, tmp_path / "model.json")
    again = load(tmp_path / "model.json")
    assert type(again) is type(reg)
    np.testing.assert_array_equal(again.predict(frame), reg.predict(frame))
    assert again.get_params(deep=False).keys() == reg.get_params(deep=False).keys()


def test_limits(regressor):
    X, y = make_friedman1(150, random_state=4)
    assert clone(regressor).set_params(max_depth=2).fit(X, y).tree_.depth <= 2
    assert clone(regressor).set_params(max_leaves=3).fit(X, y).tree_.n_leaves <= 3
    late = clone(regressor).set_params(max_seconds=0).fit(X, y)
    assert np.isfinite(late.predict(X)).all()
    if "linear" in str(regressor).lower():
        assert late.tree_.n_leaves == 1


def test_constant_target(regressor):
    X = np.arange(20.0)[:, None]
    reg = regressor.fit(X, np.full(20, 7.0))
    assert reg.tree_.n_leaves == 1
    np.testing.assert_array_equal(reg.predict(X), 7.0)


def test_grid_search():
    X, y = make_friedman1(100, random_state=5)
    search = GridSearchCV(
        TreeRegressor(Univariate(), pruning=CostComplexity(folds=3)),
        {"learner__min_branch": [1, 10], "pruning__se": [0.0, 1.0]},
        cv=2,
    ).fit(X, y)
    assert search.best_params_


def test_same_tree_as_scikit_learn():
    """The squared error of complete numbers: as good as DecisionTreeRegressor."""
    X, y = make_friedman1(200, noise=1.0, random_state=11)
    ours = TreeRegressor(max_depth=4).fit(X, y)
    theirs = DecisionTreeRegressor(max_depth=4, random_state=0).fit(X, y)
    assert ours.score(X, y) == pytest.approx(theirs.score(X, y), rel=1e-6)
    assert ours.tree_.n_leaves == theirs.get_n_leaves()
    np.testing.assert_allclose(
        ours.feature_importances_, theirs.feature_importances_, atol=0.01
    )


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error"])
def test_from_scikit_learn(criterion):
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    X = X.mask(np.random.default_rng(0).random(X.shape) < 0.05)
    if criterion == "absolute_error":
        X = X.fillna(0.0)
    theirs = DecisionTreeRegressor(criterion=criterion, max_depth=5, random_state=0)
    theirs.fit(X, y)
    ours = from_sklearn(theirs)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    assert "bmi" in ours.describe()


def test_compiled_and_by_node_alike():
    """With a missing value in a row of no weight the same tree is grown node by node."""
    X, y = make_friedman1(150, noise=0.5, random_state=6)
    fast = TreeRegressor().fit(X, y).tree_
    learner = Univariate()
    learner.grows = lambda node: False
    slow = TreeRegressor(learner).fit(X, y).tree_
    assert fast.n_nodes == slow.n_nodes
    np.testing.assert_allclose(np.sort(fast.constant), np.sort(slow.constant))
    np.testing.assert_allclose(fast.loss[0], slow.loss[0])


def test_subsets_of_categories_are_the_best(rng):
    """Under the squared error no division of the categories beats the one that is found."""
    for _ in range(20):
        codes = rng.integers(0, 5, 60)
        y = rng.normal(size=5)[codes] + rng.normal(size=60)
        reg = TreeRegressor(max_depth=1).fit(pd.DataFrame({"s": codes.astype(str)}), y)
        best = min(
            sum(((y[s] - y[s].mean()) ** 2).sum() for s in (left, ~left))
            for mask in range(1, 31)
            if (left := (mask >> codes & 1).astype(bool)).any() and not left.all()
        )
        assert reg.tree_.loss[1:].sum() == pytest.approx(best)


def test_no_loss_without_time_for_folds(rng):
    X = rng.normal(size=(300, 3))
    reg = OmniTreeRegressor(max_seconds=1e-9, random_state=0).fit(X, X[:, 0])
    assert np.isnan(list(reg.losses_.values())).all()
    assert np.isfinite(reg.predict(X)).all()


def test_a_sample_of_many_rows(rng):
    X = rng.normal(size=(3000, 3))
    y = np.where(X[:, 0] > 0, 3 * X[:, 1], -X[:, 2]) + 0.1 * rng.normal(size=3000)
    reg = OmniTreeRegressor(max_rows=500, random_state=0).fit(X, y)
    assert reg.tree_.value[0, 0] == 3000
    assert reg.score(X, y) > 0.9
    few = OmniTreeRegressor(random_state=0).fit(X[:500], y[:500])
    assert few.tree_.value[0, 0] == 500


def test_the_default_chooses(rng):
    X = rng.uniform(-1, 1, size=(200, 2))
    steps = OmniTreeRegressor(random_state=0).fit(X, (X[:, 0] > 0.1) * 5.0)
    assert steps.tree_.n_leaves == 2
    assert steps.tree_.n_parameters == 4  # one test, two constants
    line = OmniTreeRegressor(random_state=0).fit(X, X @ [2.0, -1.0])
    assert line.kind_ == "additive, univariate"
    assert set(line.losses_) == {"additive, univariate"}  # the other was given up
    assert set(steps.losses_) == {"constant, univariate", "additive, univariate"}


@pytest.mark.parametrize("rows", [2, 3, 10, 50])
def test_few_rows(regressor, rows):
    X, y = make_friedman1(rows, random_state=7)
    assert np.isfinite(regressor.fit(X, y).predict(X)).all()


def test_bad_options():
    X, y = make_friedman1(40, random_state=8)

    def refused(error, word, **options):
        with pytest.raises(error, match=word):
            TreeRegressor(**options).fit(X, y)

    able = "OC1 is not for regression; choose another learner: univariate, linear, omni"
    refused(ValueError, able, learner="oc1")
    refused(ValueError, "squared_error", criterion="huber")
    refused(ValueError, "constant, ridge", leaves="logistic")
    refused(ValueError, "cost_complexity, information", pruning="pessimistic")
    refused(ValueError, "squared error", leaves="ridge", criterion="absolute_error")
    refused(ValueError, "mean, residual, hinge", learner=Linear(groups="sign"))
    refused(ValueError, "min_branch", learner=Univariate(min_branch=-1))
    refused(ValueError, "penalties", leaves=RidgeLeaves(penalties=(-1.0,)))
    refused(ValueError, "AIC or BIC", pruning=InformationPruning("one_se"))
    refused(ValueError, "candidate", learner=Omnivariate(("fisher",)))
    refused(ValueError, "candidate KWay is not", learner=Omnivariate((KWay(),)))
    refused(TypeError, "choice must be", learner=Omnivariate(choice=Gini()))
    refused(ValueError, "itself", learner=Linear(direction="fisher", groups="hinge"))
    logistic = Linear(direction="logistic", max_features_per_test=1)
    refused(ValueError, "no sparse form", learner=logistic)
    with pytest.raises(ValueError, match="max_rows"):
        OmniTreeRegressor(max_rows=0).fit(X, y)
    with pytest.raises(ValueError, match="majority, logistic"):
        TreeClassifier(leaves="ridge").fit(X, y > 10)


@pytest.mark.parametrize(
    ("learner", "task"),
    [
        (Univariate(merit="gain"), "classification"),
        (Univariate(categories="multiway"), "classification"),
        (Univariate(cost_weight=2.0), "classification"),
        (Linear(threshold="exhaustive"), "classification"),
        (Linear(grouping="exchange", fallback=True), "classification"),
        (Omnivariate(merit="gini"), "classification"),
        (Omnivariate((Univariate(merit="gain"),)), "classification"),
        (Linear(groups="residual"), "regression"),
        (Linear(min_branch=2), "regression"),
        (Omnivariate(min_branch=2), "regression"),
        (Omnivariate((Linear(min_branch=2),)), "regression"),
    ],
)
def test_options_of_the_other_task_are_refused(learner, task):
    X, y = make_friedman1(40, random_state=8)
    regressor, classifier = TreeRegressor(learner), TreeClassifier(learner)
    if task == "regression":
        regressor.fit(X, y)
        with pytest.raises(ValueError, match="for regression; leave it out for class"):
            classifier.fit(X, y > 14)
    else:
        classifier.fit(X, y > 14)
        with pytest.raises(ValueError, match="for classification; leave it out for re"):
            regressor.fit(X, y)


@pytest.mark.parametrize("name", ["univariate", "linear", "omnivariate"])
def test_one_learner_serves_both_tasks(name):
    X, y = make_friedman1(80, random_state=9)
    learner = LEARNERS[name]()
    for estimator, target in ((TreeRegressor, y), (TreeClassifier, y > 14)):
        ours = estimator(learner, max_depth=3, random_state=0).fit(X, target)
        named = estimator(name, max_depth=3, random_state=0).fit(X, target)
        assert ours.tree_.to_dict() == named.tree_.to_dict()
        assert ours.score(X, target) > 0.5


@pytest.mark.parametrize(
    "target, word",
    [
        (["a", "b", "c", "d"], "no number"),
        ([1.0, None, 2.0, 3.0], "NaN"),
        ([1.0, np.inf, 2.0, 3.0], "infinity"),
        ([1.0, "x", 2.0, 3.0], "no number"),
    ],
)
def test_bad_targets(target, word):
    X = np.arange(4.0)[:, None]
    with pytest.raises(ValueError, match=word):
        TreeRegressor().fit(X, np.array(target, dtype=object))


def test_prune_set():
    X, y = make_friedman1(200, noise=1.0, random_state=9)
    pruning = CostComplexity(folds=0)
    reg = TreeRegressor(pruning=pruning)
    reg.fit(X[:150], y[:150], prune_set=(X[150:], y[150:]))
    assert 1 < reg.tree_.n_leaves < 150
    held = TreeRegressor(pruning=CostComplexity(folds=0, share=0.3)).fit(X, y)
    assert held.tree_.value[0, 0] == pytest.approx(140)


def test_surrogates_stand_in(rng):
    x = rng.normal(size=200)
    X = np.column_stack([x, x + 0.1 * rng.normal(size=200), rng.normal(size=200)])
    y = 5.0 * (x > 0)
    X[:20, 2] = np.nan
    reg = TreeRegressor(max_depth=1, missing=Surrogate()).fit(X, y)
    incomplete = X.copy()
    incomplete[:, reg.tree_.split(0).feature] = np.nan
    assert np.mean(np.abs(reg.predict(incomplete) - y)) < 1.0


def test_counterfactual_reaches_its_goal(regressor):
    X, y = make_friedman1(200, noise=0.5, random_state=10)
    if isinstance(regressor, TreeRegressor) and regressor.learner == "linear":
        pytest.skip("dense tests need changes of more features")
    reg = regressor.fit(X, y)
    goal = float(np.quantile(reg.predict(X), 0.9))
    found = reg.explain(X[int(y.argmin())], max_changes=5, goal=f"above {goal}")
    if found.counterfactual is not None:
        assert found.counterfactual.label > goal
    low = reg.explain(X[int(y.argmax())], max_changes=5)
    assert low.label == pytest.approx(reg.predict(X[[int(y.argmax())]])[0])
    with pytest.raises(ValueError, match="above NUMBER"):
        reg.explain(X[0], goal="over 3")


def test_pictures(mixed, tmp_path):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    frame, y = mixed
    for leaves in ("constant", "ridge"):
        reg = TreeRegressor(leaves=leaves, max_depth=3).fit(frame, y)
        assert reg.plot() is not None
        assert reg.plot_importance() is not None
        for node in np.flatnonzero(reg.tree_.kind):
            reg.plot_node(int(node), frame, y)
        reg.plot_boundary(frame, y, features=("a", "b"), resolution=20)
        assert reg.to_html(tmp_path / "tree.html", frame, y).exists()
        assert "a number" in reg._repr_html_inner()
        matplotlib.pyplot.close("all")


@pytest.mark.parametrize(
    "estimator", [TreeRegressor(pruning="cost_complexity"), OmniTreeRegressor()]
)
def test_targets_whose_squares_overflow(estimator):
    X = np.arange(40.0)[:, None]
    y = np.where(X[:, 0] < 20, 1.0, -1.0) + X[:, 0] / 100
    assert estimator.fit(X, y * 1e59).score(X, y * 1e59) > 0.9
    for scale in (1e155, 1e300):
        with pytest.raises(ValueError, match="divide y so that it stays below 1e"):
            estimator.fit(X, y * scale)
    with pytest.raises(ValueError, match="divide them so"):
        estimator.fit(X, y, sample_weight=np.full(40, 1e300))
