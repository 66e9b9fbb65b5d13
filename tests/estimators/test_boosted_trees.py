"""Single trees of LightGBM and XGBoost: the same answers, whatever the cells."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from omnitree import from_lightgbm, from_sklearn, from_xgboost, load, save


def table(seed: int, n: int = 300):
    """Numbers with gaps and ties, and categories; a target that depends on all of them."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "a": rng.normal(size=n),
            "b": rng.integers(-3, 4, n).astype(float),
            "c": pd.Categorical(rng.choice(list("uvwxyz"), n)),
            "d": rng.normal(size=n) * 1e-3,
        }
    )
    X.loc[rng.random(n) < 0.15, "a"] = np.nan
    y = (
        X.a.fillna(2)
        + X.b * (X.d > 0)
        + 2.0 * X.c.isin(["u", "y"])
        + 0.1 * rng.random(n)
    )
    return X, y


def hostile(X: pd.DataFrame):
    """Rows beyond the training ones: extremes, missing cells in every column."""
    more = X[:40].copy()
    more.loc[more.index[:5], ["a", "b"]] = [1e300, -1e300]
    more.loc[more.index[5:10], "b"] = np.nan
    more.loc[more.index[10:15], "c"] = None
    more.loc[more.index[15:20], ["a", "b", "d"]] = 0.0
    more.loc[more.index[20:25], "d"] = np.nan
    return pd.concat([X, more], ignore_index=True)


# -- LightGBM ------------------------------------------------------------------------

LIGHT = {
    "num_leaves": 12,
    "min_child_samples": 5,
    "min_data_per_group": 3,
    "cat_smooth": 1.0,
    "verbose": -1,
    "num_threads": 1,
}


@pytest.fixture(scope="module")
def lightgbm():
    return pytest.importorskip("lightgbm", reason="needs LightGBM")


@pytest.mark.parametrize("seed", range(3))
def test_lightgbm_trees_answer_the_same(seed, lightgbm, tmp_path):
    X, y = table(seed)
    model = lightgbm.LGBMRegressor(n_estimators=4, **LIGHT).fit(X, y)
    rows = hostile(X)
    kinds = set()
    for t in range(4):
        ours = from_lightgbm(model, t)
        kinds |= {n["kind"] for n in ours.tree_.to_dict()["nodes"]}
        theirs = model.booster_.predict(
            rows, start_iteration=t, num_iteration=1, raw_score=True
        )
        np.testing.assert_array_equal(ours.predict(rows), theirs)
    assert kinds == {"leaf", "axis", "subset"}
    save(ours, tmp_path / "tree.json")
    np.testing.assert_array_equal(load(tmp_path / "tree.json").predict(rows), theirs)


def test_lightgbm_of_classes_and_arrays(lightgbm):
    X, y = table(5)
    cells = np.column_stack([X.a, X.b, X.c.cat.codes, X.d])
    label = np.digitize(y, np.quantile(y, [0.3, 0.7]))
    model = lightgbm.LGBMClassifier(n_estimators=2, **LIGHT)
    model.fit(cells, label, categorical_feature=[2])
    raw = sum(from_lightgbm(model, t).predict(cells) for t in (0, 3))
    whole = model.predict(cells, raw_score=True)
    np.testing.assert_allclose(raw, whole[:, 0], rtol=1e-12)
    names = [f.name for f in from_lightgbm(model.booster_).tree_.schema.features]
    assert names == ["x0", "x1", "x2", "x3"]


def test_lightgbm_refuses(lightgbm):
    X, y = table(1)
    numbers = X.drop(columns="c").fillna(0)
    with pytest.raises(TypeError, match="LightGBM, not DataFrame"):
        from_lightgbm(X)
    model = lightgbm.LGBMRegressor(n_estimators=2, **LIGHT).fit(numbers, y)
    with pytest.raises(ValueError, match="0 to 1, not 2"):
        from_lightgbm(model, 2)
    model = lightgbm.LGBMRegressor(n_estimators=2, linear_tree=True, **LIGHT)
    with pytest.raises(ValueError, match="linear models"):
        from_lightgbm(model.fit(numbers, y), 1)
    model = lightgbm.LGBMRegressor(n_estimators=30, zero_as_missing=True, **LIGHT)
    model.fit(numbers, y)
    refused = 0
    for t in range(30):
        try:
            ours = from_lightgbm(model, t)
        except ValueError as error:
            assert "zero_as_missing" in str(error)
            refused += 1
            continue
        theirs = model.booster_.predict(
            numbers, start_iteration=t, num_iteration=1, raw_score=True
        )
        np.testing.assert_array_equal(ours.predict(numbers), theirs)
    assert refused > 0


# -- XGBoost -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def xgboost():
    return pytest.importorskip("xgboost", reason="needs XGBoost")


def margin(xgboost, booster, rows, t):
    """What one tree adds, without the base score."""
    data = xgboost.DMatrix(rows, enable_categorical=True)
    data.set_base_margin(np.zeros(len(rows)))
    return booster.predict(data, output_margin=True, iteration_range=(t, t + 1))


@pytest.mark.parametrize("one_hot", [1, 10])
@pytest.mark.parametrize("seed", range(2))
def test_xgboost_trees_answer_the_same(seed, one_hot, xgboost):
    X, y = table(seed)
    options = {"n_estimators": 4, "max_depth": 4, "n_jobs": 1, "tree_method": "hist"}
    model = xgboost.XGBRegressor(
        enable_categorical=True, max_cat_to_onehot=one_hot, **options
    ).fit(X, y)
    rows = hostile(X).replace([1e300, -1e300], [1e30, -1e30])
    # Cells at the thresholds, where < and <= differ.
    for j, name in enumerate(["a", "b"]):
        cuts = model.get_booster().get_split_value_histogram(name)["SplitValue"][:20]
        rows.loc[rows.index[j * 20 : j * 20 + len(cuts)], name] = cuts.to_numpy()
    kinds = set()
    for t in range(4):
        ours = from_xgboost(model, t)
        kinds |= {n["kind"] for n in ours.tree_.to_dict()["nodes"]}
        theirs = margin(xgboost, model.get_booster(), rows, t)
        np.testing.assert_array_equal(ours.predict(rows).astype(np.float32), theirs)
    assert kinds == {"leaf", "axis", "subset"}


def test_xgboost_of_classes_and_arrays(xgboost):
    X, y = table(3)
    cells = X.drop(columns="c").to_numpy()
    label = np.digitize(y, np.quantile(y, [0.3, 0.7]))
    model = xgboost.XGBClassifier(n_estimators=2, max_depth=3, n_jobs=1)
    booster = model.fit(cells, label).get_booster()
    data = xgboost.DMatrix(cells)
    data.set_base_margin(np.zeros((len(cells), 3)))
    whole = booster.predict(data, output_margin=True)
    raw = sum(from_xgboost(booster, t).predict(cells) for t in (0, 3))
    np.testing.assert_allclose(raw, whole[:, 0], rtol=1e-5, atol=1e-6)


def test_xgboost_refuses(xgboost):
    X, y = table(1)
    numbers = X.drop(columns="c")
    with pytest.raises(TypeError, match="XGBoost, not int"):
        from_xgboost(3)
    for booster, more in (("gblinear", {}), ("dart", {"rate_drop": 0.9})):
        model = xgboost.XGBRegressor(booster=booster, n_estimators=4, n_jobs=1, **more)
        with pytest.raises(ValueError, match=f"'{booster}'"):
            from_xgboost(model.fit(numbers, y))
    model = xgboost.XGBRegressor(n_estimators=2, n_jobs=1).fit(numbers, y)
    with pytest.raises(ValueError, match="0 to 1, not -1"):
        from_xgboost(model, -1)
    with pytest.raises(TypeError, match="from_xgboost"):
        from_sklearn(model)


def test_everything_works_on_such_a_tree(xgboost, tmp_path):
    X, y = table(2)
    model = xgboost.XGBRegressor(
        n_estimators=1, max_depth=3, n_jobs=1, enable_categorical=True
    ).fit(X, y)
    ours = from_xgboost(model)
    assert "leaves" in ours.describe() and "SELECT" not in ours.export("sql")
    assert ours.to_html(tmp_path / "tree.html", X, y).stat().st_size > 10_000
    source: dict = {}
    exec(ours.export("python"), source)
    row = X.iloc[0].to_dict()
    assert source["predict"](row) == ours.predict(X[:1])[0]
