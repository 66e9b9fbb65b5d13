"""What the missing-value policies do, at a node and in a whole tree."""

from __future__ import annotations

import numpy as np
import pytest
from tests import naive
from tests.samples import root_of
from tests.tables import random_sample

from omnitree import TreeClassifier
from omnitree.data.table import learn_table
from omnitree.growing.missing import MISSING, Filled, Surrogate, fill_values
from omnitree.growing.node import make_children
from omnitree.learners import Softmax
from omnitree.tree.splits import AxisSplit

SEEDS = range(15)


def naive_fill(cells, weight, is_numeric):
    """Weighted mean, or the heaviest category, the first of equals."""
    total = {}
    for cell, w in zip(cells, weight, strict=True):
        if cell == cell:
            total[cell] = total.get(cell, 0.0) + w
    if is_numeric:
        return sum(c * w for c, w in total.items()) / sum(total.values())
    return min(total, key=lambda cell: (-total[cell], cell))


@pytest.mark.parametrize("seed", SEEDS)
def test_fill_values(seed):
    rng = np.random.default_rng(seed)
    sample = random_sample(rng, d=4, missing_share=0.3)
    fill = fill_values(sample.table, sample.weight)
    for j, feature in enumerate(sample.table.schema.features):
        cells = sample.values[:, j].tolist()
        expected = naive_fill(cells, sample.weight, feature.kind == "numeric")
        assert fill[j] == pytest.approx(expected)


def test_a_feature_without_values_is_not_filled():
    table = learn_table(np.array([[1.0, np.nan], [3.0, np.nan]]))
    np.testing.assert_array_equal(fill_values(table, np.ones(2)), [2.0, np.nan])


@pytest.mark.parametrize("seed", SEEDS)
def test_a_node_divides_rows_by_the_weight_of_known_ones(seed):
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 4, size=20).astype(float)
    x[:2], x[rng.random(20) < 0.3] = (0.0, 3.0), np.nan
    x[:2] = 0.0, 3.0
    weight = rng.integers(1, 5, size=20) / 2
    root = root_of(x[:, None], rng.integers(0, 2, size=20), weight, n_classes=2)
    known = ~np.isnan(x)
    share = weight[known & (x <= 1)].sum() / weight[known].sum()
    for missing, parts in ((0, (1, 0)), (1, (0, 1)), (-1, (share, 1 - share))):
        children = make_children(root, AxisSplit(0, 1.0, missing=missing))
        for child, part, side in zip(children, parts, (x <= 1, x > 1), strict=True):
            expected = np.where(known, weight * side, weight * part)
            found = np.zeros(20)
            found[child.rows] = child.weight
            np.testing.assert_allclose(found, expected)
        total = sum(child.statistics for child in children)
        np.testing.assert_allclose(total, root.statistics)


@pytest.mark.parametrize("seed", SEEDS)
def test_filled_grows_the_tree_of_the_filled_table(seed):
    rng = np.random.default_rng(seed)
    sample = random_sample(rng, n=40, d=3, missing_share=0.25, weight="whole")
    fill = fill_values(sample.table, sample.weight)
    holes = sample.frame
    full = holes.copy()
    for j, feature in enumerate(sample.table.schema.features):
        value = feature.categories[int(fill[j])] if feature.categories else fill[j]
        full[feature.name] = full[feature.name].fillna(value)
    ours = TreeClassifier(missing="filled").fit(holes, sample.y, sample.weight)
    plain = TreeClassifier().fit(full, sample.y, sample.weight)
    nodes, expected = (m.tree_.to_dict()["nodes"] for m in (ours, plain))
    naive.assert_same_nodes(
        [{**node, "missing": None} for node in nodes],
        [{**node, "missing": None} for node in expected],
    )
    # A missing value takes the branch of what fills it.
    np.testing.assert_array_equal(ours.predict_proba(holes), ours.predict_proba(full))


@pytest.mark.parametrize("missing", list(MISSING))
def test_what_is_kept_for_missing_values(missing):
    rng = np.random.default_rng(3)
    sample = random_sample(rng, n=60, d=3, k=2, missing_share=0.2)
    tree = TreeClassifier(missing=missing).fit(sample.frame, sample.y).tree_
    inner = [node for node in tree.to_dict()["nodes"] if node["kind"] != "leaf"]
    divides = [node["missing"] == "divide" for node in inner]
    assert len(inner) > 3
    assert all(divides) if missing == "fractional" else not any(divides)
    has_surrogates = any(node.get("surrogates") for node in inner)
    assert has_surrogates == (missing == "surrogate")


def test_number_of_surrogates():
    rng = np.random.default_rng(4)
    x = rng.normal(size=(80, 1)) + rng.normal(scale=0.2, size=(80, 5))
    y = (x[:, 0] > 0).astype(int)
    x[rng.random(x.shape) < 0.1] = np.nan
    for limit in (0, 1, 3):
        clf = TreeClassifier(missing=Surrogate(limit), max_depth=1).fit(x, y)
        assert len(clf.tree_.split(0).surrogates) == limit


def test_only_filling_fills():
    assert [name for name, cls in MISSING.items() if cls.fills] == ["filled"]
    assert Filled() == MISSING.resolve("filled")
    with pytest.raises(ValueError, match="did you mean 'surrogate'"):
        TreeClassifier(missing="surogate").fit([[1], [2]], [0, 1])


@pytest.mark.parametrize(
    "learner",
    ["linear", "multivariate", "kway", "network", "softmax", "oc1", "functional"],
)
def test_filled_counts_are_those_of_routed_rows(learner):
    """Tests on several features fill new rows as the training rows were filled."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(150, 3)).round(1).astype(object)
    X = np.column_stack(
        [X, rng.choice(["a", "b", "c"], 150), rng.choice(["u", "v"], 150)]
    )
    y = (X[:, 0] + X[:, 1] + (X[:, 3] == "a") + 0.3 * rng.normal(size=150) > 0.5) * 1
    y = y + (X[:, 2] > 1)
    X[rng.random(X.shape) < 0.25] = None
    options = {"softmax": Softmax("quadratic")}
    clf = TreeClassifier(options.get(learner, learner), missing="filled", max_depth=3)
    tree = clf.fit(X, y).tree_
    assert sum(tree.node_kinds().values()) > tree.node_kinds()["axis"]
    codes = np.searchsorted(clf.classes_, y)
    counts = tree.class_counts(clf._encode(X), codes, np.ones(150))
    np.testing.assert_allclose(tree.value, counts)
