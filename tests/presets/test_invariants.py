"""What holds for every fitted tree, on tables that hypothesis chooses.

Orders of rows and columns, and weights as repeats, are in `test_all.py` and
`estimators/test_weights_and_groups.py`. OMNITREE_EXAMPLES=100 tries more tables.
"""

from __future__ import annotations

import os
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from tests import naive
from tests.tables import random_sample

from omnitree import (
    OmniTreeClassifier,
    OmniTreeRegressor,
    TreeClassifier,
    TreeRegressor,
    load,
    presets,
    save,
)
from omnitree.pruning import PRUNINGS

EXAMPLES = int(os.environ.get("OMNITREE_EXAMPLES", "2"))
CLASSIFIERS = {
    "TreeClassifier": TreeClassifier,
    "OmniTreeClassifier": OmniTreeClassifier,
    **{
        name: (lambda name=name, **changes: presets.make(name, **changes))
        for name in presets.names()
    },
}
REGRESSORS = {
    "TreeRegressor": TreeRegressor,
    "TreeRegressor, ridge": lambda **o: TreeRegressor(leaves="ridge", **o),
    "OmniTreeRegressor": OmniTreeRegressor,
}
few = settings(max_examples=EXAMPLES, database=None)
cases = st.tuples(
    st.integers(0, 2**32 - 1),
    st.sampled_from([0.0, 0.15]),
    st.sampled_from([0.0, 0.5, 1.0]),
    st.sampled_from(["one", "whole", "fraction"]),
    st.integers(12, 60),
)


def sample_of(case, **options):
    seed, missing_share, categorical, weight, n = case
    return random_sample(
        np.random.default_rng(seed),
        n=n,
        missing_share=missing_share,
        categorical=categorical,
        weight=weight,
        **options,
    )


def outputs(model, X):
    return getattr(model, "predict_proba", model.predict)(X)


def assert_walked(model, sample):
    """Every row is where a walk through the public tree leads it."""
    tree = model.tree_.to_dict()
    table = model._encode(sample.frame)
    shares = model.tree_.leaf_shares(table).toarray()
    for row in range(min(len(shares), 15)):
        expected = naive.leaf_shares(tree, table.values[row])
        found = {int(i): float(shares[row, i]) for i in np.flatnonzero(shares[row])}
        expected = {leaf: share for leaf, share in expected.items() if share > 0}
        assert found == pytest.approx(expected, abs=1e-12)
        if model.tree_.models is None and not hasattr(model, "predict_proba"):
            number = sum(s * tree["nodes"][i]["constant"] for i, s in expected.items())
            assert outputs(model, sample.frame)[row] == pytest.approx(number, rel=1e-9)


def check(model, sample, target, path):
    """All that one fit can show."""
    X = sample.frame
    model.fit(X, target, sample_weight=sample.weight)
    tree, answers = model.tree_, outputs(model, X)
    sums = np.zeros_like(tree.value)
    np.add.at(sums, tree.parent[1:], tree.value[1:])
    inner = tree.kind != 0
    np.testing.assert_allclose(sums[inner], tree.value[inner], rtol=1e-9, atol=1e-9)
    assert_walked(model, sample)

    n = len(X)
    alone = [outputs(model, X.iloc[[i]])[0] for i in range(0, n, 5)]
    np.testing.assert_array_equal(alone, answers[::5])
    parts = [outputs(model, X.iloc[i : i + 7]) for i in range(0, n, 7)]
    np.testing.assert_array_equal(np.concatenate(parts), answers)
    np.testing.assert_array_equal(outputs(model, X.iloc[::-1])[::-1], answers)

    save(model, path)
    again = [load(path), pickle.loads(pickle.dumps(model))]
    again.append(clone(model).set_params(n_jobs=2).fit(X, target, sample.weight))
    for other in again:
        assert other.tree_.to_dict() == tree.to_dict()
        np.testing.assert_array_equal(outputs(other, X), answers)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_one_fit(name, tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "model.json"

    @few
    @given(cases)
    def holds(case):
        sample = sample_of(case)
        check(CLASSIFIERS[name](random_state=0), sample, sample.y, path)

    holds()


@pytest.mark.parametrize("name", REGRESSORS)
def test_one_fit_to_numbers(name, tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "model.json"

    @few
    @given(cases)
    def holds(case):
        sample = sample_of(case)
        target = np.nan_to_num(sample.values).sum(axis=1) + sample.y / 8
        check(REGRESSORS[name](random_state=0), sample, target, path)

    holds()


@pytest.mark.parametrize("name", CLASSIFIERS)
@few
@given(case=cases)
def test_small_floats(name, case):
    """Numbers that float32 holds exactly give the same tree and answers."""
    sample = sample_of((*case[:2], 0.0, *case[3:]))
    one = CLASSIFIERS[name](random_state=0).fit(sample.values, sample.y)
    small = sample.values.astype(np.float32)
    two = CLASSIFIERS[name](random_state=0).fit(small, sample.y)
    assert two.tree_.to_dict() == one.tree_.to_dict()
    np.testing.assert_array_equal(
        two.predict_proba(small), one.predict_proba(sample.values)
    )


@pytest.mark.parametrize("name", CLASSIFIERS)
@few
@given(case=cases)
def test_names_of_classes(name, case):
    """Labels in the same order are the same classes, whatever they are called."""
    sample = sample_of(case)
    one = CLASSIFIERS[name](random_state=0).fit(sample.frame, sample.y)
    labels = np.array([f"class {k}" for k in range(sample.n_classes)])
    two = CLASSIFIERS[name](random_state=0).fit(sample.frame, labels[sample.y])
    assert two.tree_.to_dict()["nodes"] == one.tree_.to_dict()["nodes"]


# Cross-validated pruning grows trees of its own: it works inside fit alone.
@pytest.mark.parametrize("name", [n for n in PRUNINGS if n != "cross_validated"])
@settings(max_examples=max(EXAMPLES, 4), database=None)
@given(case=cases)
def test_pruning_never_grows(name, case):
    sample = sample_of(case)
    X, y = sample.frame, sample.y
    half = np.arange(len(y)) % 2 == 0
    half |= ~np.isin(y, y[half])
    whole = TreeClassifier(random_state=0).fit(X[half], y[half])
    n_leaves, depth = whole.tree_.n_leaves, whole.tree_.depth
    known = np.isin(y, y[half])
    pruned = whole.prune(PRUNINGS[name](), X[known], y[known])
    assert pruned.tree_.n_leaves <= n_leaves
    assert pruned.tree_.depth <= depth
