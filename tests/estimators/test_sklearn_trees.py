"""Trees of scikit-learn as omnitree's: the same answers, and all that omnitree adds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.ensemble import ExtraTreesRegressor, RandomForestClassifier
from sklearn.tree import (
    DecisionTreeClassifier,
    ExtraTreeClassifier,
)
from tests.export.runs import run

from omnitree import from_sklearn, load, save


def near_thresholds(theirs, n: int, rng) -> np.ndarray:
    """Rows of numbers on both sides of thresholds, in float64 and float32 steps."""
    cuts = theirs.tree_.threshold[theirs.tree_.feature >= 0]
    cuts = cuts[np.isfinite(cuts)]
    steps = [0, 1e-16, -1e-16, 3e-8, -3e-8, 6e-8, -6e-8]
    near = np.concatenate([cuts * (1 + s) for s in steps] + [cuts.astype(np.float32)])
    return rng.choice(near, size=(n, theirs.n_features_in_))


@pytest.mark.parametrize("with_missing", [False, True])
@pytest.mark.parametrize("model", [DecisionTreeClassifier, ExtraTreeClassifier])
def test_same_answers(model, with_missing: bool, rng):
    for size in (1e-3, 1.0, 1e6):
        X = rng.normal(size=(200, 4)) * size
        if with_missing:
            X[rng.random(X.shape) < 0.1] = np.nan
        y = rng.choice(["a", "b", "c"], 200)
        theirs = model(random_state=0).fit(X, y, rng.random(200))
        ours = from_sklearn(theirs)
        assert ours.tree_.n_nodes == theirs.tree_.node_count
        for Z in (X, near_thresholds(theirs, 500, rng)):
            assert (ours.predict(Z) == theirs.predict(Z)).all()
            np.testing.assert_allclose(
                ours.predict_proba(Z), theirs.predict_proba(Z), atol=1e-12
            )


def test_a_tree_of_a_forest(rng):
    X, y = load_iris(return_X_y=True, as_frame=True)
    forest = RandomForestClassifier(3, random_state=0).fit(X, y)
    theirs = forest.estimators_[1]
    ours = from_sklearn(theirs)
    assert (ours.predict(X.to_numpy()) == theirs.predict(X.to_numpy())).all()


def test_words_export_and_saving(tmp_path: Path):
    X, y = load_iris(return_X_y=True, as_frame=True)
    theirs = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y)
    ours = from_sklearn(theirs)
    assert list(ours.feature_names_in_) == list(X.columns)
    assert "petal width (cm) <= 0.8: 0 (50 rows)" in ours.describe()
    assert ours.explain(X.iloc[0]).label == 0
    rows = X.to_numpy().tolist()
    for format in ("python", "c", "sqlite", "onnx", "pmml"):
        labels, _ = run(format, ours, rows, tmp_path)
        assert labels == theirs.predict(X).tolist()
    save(ours, tmp_path / "model.json")
    assert load(tmp_path / "model.json").describe() == ours.describe()


def test_refusals():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(TypeError, match="not ExtraTreesRegressor"):
        from_sklearn(ExtraTreesRegressor(2).fit(X, y))
    with pytest.raises(ValueError, match="not fitted"):
        from_sklearn(DecisionTreeClassifier())
    two = DecisionTreeClassifier().fit(X, np.column_stack([y, y]))
    with pytest.raises(ValueError, match="several targets"):
        from_sklearn(two)
