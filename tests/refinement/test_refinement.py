"""What holds for every refinement."""

from __future__ import annotations

import numpy as np
import pytest
from tests.tables import random_sample
from tests.tree.test_rebuilding import assert_counts_add_up

from omnitree import TreeClassifier, TreeRegressor, load, save
from omnitree.growing.missing import MISSING
from omnitree.learners import Softmax
from omnitree.refinement import REFINEMENTS, Contest, FeatureElimination

# With options under which something is replaced as often as possible.
EAGER = {
    "contest": Contest((Softmax(),), "log_loss", folds=3, se=0.0, min_rows=10),
    "feature_elimination": FeatureElimination(ties=True),
}


@pytest.mark.parametrize("missing", list(MISSING))
@pytest.mark.parametrize("name", list(REFINEMENTS))
@pytest.mark.parametrize("learner", ["univariate", "multivariate"])
def test_counts_add_up_in_every_node(name, missing, learner, tmp_path):
    changed = 0
    for seed in range(3):
        rng = np.random.default_rng(seed)
        sample = random_sample(
            rng, n=200, d=4, k=3, missing_share=0.15, categorical=0.3
        )
        clf = TreeClassifier(learner, missing=missing, random_state=0, max_depth=4)
        given = {"sample_weight": sample.weight}
        if name == "feature_elimination":
            given["prune_set"] = sample.frame[::2], sample.y[::2]
        plain = clf.fit(sample.frame, sample.y, **given).tree_
        part = EAGER.get(name) or REFINEMENTS[name]()
        clf.set_params(refinement=part).fit(sample.frame, sample.y, **given)
        tree = clf.tree_
        # What is scaled to average one, and a tie broken by a part in 10^9, is no matter.
        assert_counts_add_up(tree.replace(value=np.round(tree.value, 6)), atol=1e-4)
        np.testing.assert_allclose(
            tree.value[tree.kind == 0].sum(), tree.value[0].sum(), rtol=1e-8
        )
        shares = tree.value[0] / tree.value[0].sum()
        np.testing.assert_allclose(shares, plain.value[0] / plain.value[0].sum())
        changed += tree.to_dict()["nodes"] != plain.to_dict()["nodes"]
    assert changed or name != "contest"
    save(clf, tmp_path / "model.json")
    again = load(tmp_path / "model.json")
    np.testing.assert_array_equal(
        again.predict_proba(sample.frame), clf.predict_proba(sample.frame)
    )


@pytest.mark.parametrize("name", list(REFINEMENTS))
def test_classes_only(name):
    reg = TreeRegressor(refinement=name)
    with pytest.raises(ValueError, match=r"not for regression.* there is none"):
        reg.fit([[0.0], [1.0]] * 6, [0.0, 1.0] * 6)


@pytest.mark.parametrize("name", ["contest", "feature_elimination"])
def test_models_in_leaves_are_refused(name):
    clf = TreeClassifier(leaves="logistic", refinement=name)
    X = np.random.default_rng(0).normal(size=(60, 2))
    with pytest.raises(ValueError, match="leaves='majority'"):
        clf.fit(X, X[:, 0] > 0)


@pytest.mark.parametrize("wrong", ["contests", 3, "cost_complexity", Softmax()])
def test_no_refinement(wrong):
    clf = TreeClassifier(refinement=wrong)
    with pytest.raises((TypeError, ValueError), match="refinement"):
        clf.fit([[1], [2], [3]], [0, 0, 1])
