"""What people use beside the trees: scikit-learn's tools, shap, MLflow."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.compose import ColumnTransformer
from sklearn.inspection import (
    DecisionBoundaryDisplay,
    partial_dependence,
    permutation_importance,
)
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import estimator_html_repr

from omnitree import TreeRegressor, from_sklearn, presets, save


@pytest.fixture(scope="module")
def mixed():
    """Numbers with gaps, a categorical column, and one that means nothing."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "age": rng.normal(50, 10, 240),
            "income": rng.normal(size=240),
            "city": pd.Categorical(rng.choice(["Ankara", "Bergen", "Cologne"], 240)),
        }
    )
    X.loc[::9, "income"] = np.nan
    return X, np.where((X.age > 55) | (X.city == "Bergen"), "yes", "no")


# -- scikit-learn --------------------------------------------------------------------


def test_permutation_importance(mixed):
    X, y = mixed
    clf = presets.make("c4.5", random_state=0).fit(X, y)
    found = permutation_importance(clf, X, y, n_repeats=3, random_state=0)
    age, income, city = found.importances_mean
    assert age > 0.1 and city > 0.1 and abs(income) < 0.02


def test_partial_dependence(mixed):
    """The curve is what predicting with a column set to each value gives."""
    X, y = mixed
    clf = presets.make("cart", random_state=0).fit(X, y)
    options = {"grid_resolution": 7, "categorical_features": ["city"]}
    for name in ("age", "city"):
        found = partial_dependence(clf, X, [name], **options)
        (grid,) = found["grid_values"]
        changed = [X.assign(**{name: pd.Series([v] * len(X))}) for v in grid]
        expected = [clf.predict_proba(rows)[:, 1].mean() for rows in changed]
        np.testing.assert_allclose(found["average"][0], expected)
    numbers = TreeRegressor(max_leaves=5).fit(X, X.age)
    found = partial_dependence(numbers, X, ["age"], grid_resolution=5)
    assert (np.diff(found["average"][0]) >= 0).all()


def test_decision_boundary_display(mixed):
    pytest.importorskip("matplotlib").use("Agg")
    X, y = mixed
    X = X[["age", "income"]].fillna(0)
    clf = presets.make("ldt", random_state=0).fit(X, y)
    shown = DecisionBoundaryDisplay.from_estimator(
        clf, X, grid_resolution=20, response_method="predict_proba"
    )
    assert shown.response.shape[:2] == (20, 20)


def test_names_come_through_set_output(mixed):
    X, y = mixed
    columns = ColumnTransformer(
        [("scale", StandardScaler(), ["age", "income"])],
        remainder="passthrough",
        verbose_feature_names_out=False,
    )
    columns.set_output(transform="pandas")
    pipe = make_pipeline(columns, presets.make("c4.5", random_state=0)).fit(X, y)
    assert pipe[-1].feature_names_in_.tolist() == ["age", "income", "city"]
    kinds = {f.name: f.kind for f in pipe[-1].tree_.schema.features}
    assert kinds == {"age": "numeric", "income": "numeric", "city": "categorical"}
    assert "city" in pipe[-1].describe()
    # A tree is no transformer: there is no output of its own to set.
    assert not hasattr(pipe[-1], "set_output")


def test_metadata_is_routed(mixed):
    """Weights reach the tree through a search and a pipeline, groups through folds."""
    X, y = mixed
    rng = np.random.default_rng(0)
    weight, groups = rng.random(len(X)) + 0.1, np.arange(len(X)) // 4
    with sklearn.config_context(enable_metadata_routing=True):
        tree = presets.make("cart", random_state=0)
        tree.set_fit_request(sample_weight=True, groups=True)
        tree.set_score_request(sample_weight=True)
        cv = GroupKFold(3)
        search = GridSearchCV(tree, {"max_leaves": [2, 8]}, cv=cv)
        search.fit(X, y, sample_weight=weight, groups=groups)
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        pipe = make_pipeline(
            ColumnTransformer([("scale", scaler, ["age"])]),
            presets.make("cart", random_state=0).set_fit_request(sample_weight=True),
        ).fit(X, y, sample_weight=weight)
        scores = cross_validate(
            tree, X, y, cv=cv, params={"sample_weight": weight, "groups": groups}
        )
        plain = presets.make("cart").set_fit_request(sample_weight=False)
        cross_validate(plain, X, y, cv=3, params={})
    best = search.best_estimator_
    alone = presets.make("cart", random_state=0, **search.best_params_)
    alone.fit(X, y, sample_weight=weight, groups=groups)
    assert best.tree_.to_dict() == alone.tree_.to_dict()
    value = pipe[-1].tree_.to_dict()["nodes"][0]["value"]
    share = weight[y == "yes"].sum() / weight.sum()
    assert value[1] / sum(value) == pytest.approx(share)
    assert share != pytest.approx(np.mean(y == "yes"), abs=1e-3)
    assert len(scores["test_score"]) == 3


def test_html_of_a_pipeline(mixed):
    X, y = mixed
    tree = presets.make("cart", random_state=0)
    pipe = make_pipeline("passthrough", tree)
    for estimator in (pipe, pipe.fit(X, y)):
        page = estimator_html_repr(estimator)
        assert "TreeClassifier" in page and "passthrough" in page
    assert "<iframe" in pipe[-1]._repr_html_()  # fitted, alone: the explorer


# -- shap ----------------------------------------------------------------------------


@pytest.fixture
def shap(monkeypatch):
    # Its kernels need half a minute to compile, and these rows a moment without.
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    return pytest.importorskip("shap", reason="needs shap (omnitree[interop])")


def test_shap_explains_predict_proba(shap, mixed):
    """Model-agnostic, and equal to the exact values from the tree."""
    X, y = mixed
    X = X[["age", "income"]].fillna(0)
    clf = presets.make("ldt", random_state=0).fit(X, y)
    explainer = shap.Explainer(clf.predict_proba, X[:8], algorithm="exact")
    theirs = explainer(X[100:102])
    ours = clf.shapley_values(X[100:102], X[:8])
    np.testing.assert_allclose(theirs.values, ours.values, atol=1e-12)
    np.testing.assert_allclose(theirs.base_values, ours.base_values, atol=1e-12)
    made = shap.Explanation(**ours.to_dict())
    assert made.shape == (2, 2, 2)


def test_shap_of_a_tree_of_scikit_learn(shap, mixed):
    X, y = mixed
    X = X[["age", "income"]].fillna(0)
    theirs = DecisionTreeClassifier(max_depth=4, random_state=0).fit(X, y)
    explainer = shap.TreeExplainer(
        theirs, X[:20].to_numpy(), feature_perturbation="interventional"
    )
    ours = from_sklearn(theirs).shapley_values(X[50:60], X[:20])
    found = np.asarray(explainer.shap_values(X[50:60].to_numpy()))
    np.testing.assert_allclose(found, ours.values, atol=1e-6)  # theirs are float32


# -- MLflow --------------------------------------------------------------------------


def test_mlflow_stores_the_json_model(mixed, tmp_path):
    """The recipe of docs/saving.md."""
    mlflow = pytest.importorskip("mlflow", reason="needs mlflow (omnitree[interop])")
    X, y = mixed
    clf = presets.make("c4.5", random_state=0).fit(X, y)
    file = tmp_path / "tree.json"
    save(clf, file)
    signature = mlflow.models.infer_signature(
        X.astype({"city": str}), clf.predict(X), params={"proba": False}
    )
    mlflow.pyfunc.save_model(
        tmp_path / "model",
        loader_module="omnitree.estimators.mlflow",
        data_path=str(file),
        signature=signature,
        pip_requirements=["omnitree"],
    )
    stored = [p for p in (tmp_path / "model").rglob("*") if p.is_file()]
    assert [p for p in stored if p.suffix in (".pkl", ".pickle")] == []
    assert (tmp_path / "model/data/tree.json").read_text() == file.read_text()
    served = mlflow.pyfunc.load_model(str(tmp_path / "model"))
    rows = X.astype({"city": str})
    assert (served.predict(rows) == clf.predict(X)).all()
    shares = served.predict(rows, params={"proba": True})
    np.testing.assert_array_equal(shares, clf.predict_proba(X))


def test_the_loader_alone(mixed, tmp_path):
    from omnitree.estimators.mlflow import _load_pyfunc

    X, y = mixed
    clf = presets.make("cart", random_state=0).fit(X, y)
    save(clf, tmp_path / "tree.json")
    for given in (tmp_path / "tree.json", tmp_path):
        served = _load_pyfunc(str(given))
        assert (served.predict(X) == clf.predict(X)).all()
    with pytest.raises(ValueError, match="unknown parameter 'probability'"):
        served.predict(X, {"probability": True})
