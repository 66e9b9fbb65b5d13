"""C4.5: the trees and figures of Quinlan's book, computed by hand, and the naive program."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from tests import naive
from tests.tables import random_sample

from omnitree import presets
from omnitree._core.univariate.estimate import add_errors

# Quinlan (1993), table 2.1.
GOLF = pd.DataFrame(
    [
        ("sunny", 75, 70, "true", "Play"),
        ("sunny", 80, 90, "true", "Don't Play"),
        ("sunny", 85, 85, "false", "Don't Play"),
        ("sunny", 72, 95, "false", "Don't Play"),
        ("sunny", 69, 70, "false", "Play"),
        ("overcast", 72, 90, "true", "Play"),
        ("overcast", 83, 78, "false", "Play"),
        ("overcast", 64, 65, "true", "Play"),
        ("overcast", 81, 75, "false", "Play"),
        ("rain", 71, 80, "true", "Don't Play"),
        ("rain", 65, 70, "true", "Don't Play"),
        ("rain", 75, 80, "false", "Play"),
        ("rain", 68, 80, "false", "Play"),
        ("rain", 70, 96, "false", "Play"),
    ],
    columns=["outlook", "temperature", "humidity", "windy", "class"],
)
X, Y = GOLF.drop(columns="class"), GOLF["class"]


def with_missing():
    """Section 3.2: the outlook of the first overcast case is unknown."""
    out = X.copy()
    out.loc[5, "outlook"] = None
    return out


def branch(clf, node, category):
    """Child of a test on categories."""
    split = clf.tree_.split(node)
    feature = clf.tree_.schema.features[split.feature]
    return (
        int(clf.tree_.first_child[node])
        + split.branch[feature.categories.index(category)]
    )


def test_the_tree_of_the_book():
    clf = presets.make("c4.5").fit(X, Y)
    assert clf.describe() == (
        "8 nodes, 5 leaves, 2 classes\n"
        "outlook = overcast: Play (4 rows)\n"
        "outlook = rain\n"
        "|   windy = false: Play (3 rows)\n"
        "|   windy = true: Don't Play (2 rows)\n"
        "outlook = sunny\n"
        "|   humidity <= 75: Play (2 rows)\n"
        "|   humidity > 75: Don't Play (3 rows)"
    )
    # Section 2.2: gain(outlook) = 0.940 - 0.694 = 0.246 bits, split info 1.577.
    assert clf.tree_.merit[0] == pytest.approx(0.2467 / 1.5774, abs=1e-4)
    assert clf.score(X, Y) == 1


def test_gain_of_the_book():
    clf = presets.make("c4.5", merit="gain", pruning=None).fit(X, Y)
    assert clf.tree_.schema.names[clf.tree_.split(0).feature] == "outlook"
    assert clf.tree_.merit[0] == pytest.approx(0.247, abs=5e-4)


def test_gain_with_a_missing():
    """13 known rows, 8 Play and 5 Don't Play: info 0.961. Sunny 2/3, overcast 3/0, rain 3/2:
    5/13 x 0.971 + 5/13 x 0.971 = 0.747. Gain 13/14 (0.961 - 0.747) = 0.199 bits."""
    clf = presets.make("c4.5", merit="gain", pruning=None).fit(with_missing(), Y)
    assert clf.tree_.merit[0] == pytest.approx(0.199, abs=5e-4)


def test_gain_ratio_with_a_missing():
    """The unknown row is a fourth branch of the split information: 5, 3, 5 and 1 of 14 rows,
    1.809 bits. Ratio 0.199 / 1.809 = 0.110."""
    clf = presets.make("c4.5", pruning=None).fit(with_missing(), Y)
    assert clf.tree_.merit[0] == pytest.approx(0.110, abs=5e-4)


def test_fractions_with_a_missing():
    """The row goes down with weights 5/13, 3/13, 5/13. It has humidity 90 and is windy:
    Don't Play (3.4/0.4) in sunny, Play (3.2) in overcast, Don't Play (2.4/0.4) in rain."""
    clf = presets.make("c4.5").fit(with_missing(), Y)
    value = clf.tree_.value  # Don't Play, Play
    sunny, overcast, rain = (branch(clf, 0, s) for s in ("sunny", "overcast", "rain"))
    np.testing.assert_allclose(value[sunny], [3, 2 + 5 / 13])
    np.testing.assert_allclose(value[overcast], [0, 3 + 3 / 13])
    np.testing.assert_allclose(value[rain], [2, 3 + 5 / 13])
    humid = clf.tree_.first_child[sunny]
    assert clf.tree_.split(sunny).threshold == 75
    np.testing.assert_allclose(value[humid], [0, 2])
    np.testing.assert_allclose(value[humid + 1], [3, 5 / 13])
    np.testing.assert_allclose(value[branch(clf, rain, "true")], [2, 5 / 13])
    np.testing.assert_allclose(value[branch(clf, rain, "false")], [0, 3])
    assert "humidity > 75: Don't Play (3.4 rows, 0.4 wrong)" in clf.describe()


def test_predictions_with_missing():
    """Section 3.3: sunny, humidity unknown: Play 2.0/5.4 x 100 % + 3.4/5.4 x 12 % = 44 %."""
    clf = presets.make("c4.5").fit(with_missing(), Y)
    row = pd.DataFrame([("sunny", 70, np.nan, "false")], columns=X.columns)
    sunny = 5 + 5 / 13
    play = 2 / sunny + (3 + 5 / 13) / sunny * (5 / 13) / (3 + 5 / 13)
    assert play == pytest.approx(0.44, abs=0.005)
    np.testing.assert_allclose(clf.predict_proba(row), [[1 - play, play]])
    assert clf.predict(row) == ["Don't Play"]
    # Outlook unknown, or never seen: 5 + 5/13, 3 + 3/13 and 5 + 5/13 of 14 rows.
    for outlook in (None, "fog"):
        row = pd.DataFrame([(outlook, 70, 70, "true")], columns=X.columns)
        play = sunny / 14 + (3 + 3 / 13) / 14 + sunny / 14 * (5 / 13) / (2 + 5 / 13)
        np.testing.assert_allclose(clf.predict_proba(row), [[1 - play, play]])
    path = clf.decision_path(row).toarray()[0]
    assert path[0] == pytest.approx(1)
    assert path[branch(clf, 0, "overcast")] == pytest.approx((3 + 3 / 13) / 14)


@pytest.mark.parametrize(
    ("n", "e", "limit"),
    [
        (6, 0, 0.206),
        (9, 0, 0.143),
        (1, 0, 0.750),
        (16, 1, 0.157),
        (168, 1, 0.016),
        (15, 2, 0.237),
    ],
)
def test_limits_of_the_book(n, e, limit):
    """Section 4.2: U_25%(E, N), as in the pruning of the congressional votes."""
    tolerance = (
        0.0006 if e == 0 else 0.012
    )  # the book's limits are exact, the program's not
    assert (e + add_errors(n, e, 0.25)) / n == pytest.approx(limit, abs=tolerance)


def test_errors_of_the_book():
    """Section 4.2: leaves of 6, 9 and 1 rows: 3.273 predicted errors, as one leaf 2.512."""
    leaves = sum(add_errors(n, 0, 0.25) for n in (6, 9, 1))
    assert leaves == pytest.approx(3.273, abs=0.005)
    assert 1 + add_errors(16, 1, 0.25) == pytest.approx(2.512, abs=0.2)
    assert 1 + add_errors(16, 1, 0.25) < leaves


def test_subsets():
    """-s: a category's branches that tell the same are merged."""
    rng = np.random.default_rng(0)
    letters = rng.choice(list("abcdef"), size=300)
    y = np.isin(letters, list("ace"))
    plain = presets.make("c4.5").fit(letters[:, None], y)
    merged = presets.make("c4.5", subsets=True).fit(letters[:, None], y)
    assert plain.tree_.n_leaves == 6
    assert merged.tree_.n_leaves == 2
    assert sorted(merged.tree_.split(0).branch) == [0, 0, 0, 1, 1, 1]
    assert merged.score(letters[:, None], y) == 1
    assert merged.tree_.merit[0] == pytest.approx(1)


def collapse_useless(node):
    """C4.5, as soon as a tree is grown: a subtree that saves no training error is a leaf."""
    as_leaf = sum(node["value"]) - max(node["value"])
    if not node["children"]:
        return as_leaf
    errors = sum(collapse_useless(c) for c in node["children"])
    if errors >= as_leaf - 1e-3:
        node["children"] = []
        return as_leaf
    return errors


@pytest.mark.parametrize("subsets", [False, True])
@pytest.mark.parametrize("merit", ["gain_ratio", "gain"])
def test_whole_program_equals_naive(merit, subsets, rng):
    """Labour-like tables: few rows, many columns of both kinds, many cells empty."""
    for missing_share in (0.0, 0.1, 0.35, 0.35):
        sample = random_sample(
            rng, n=57, d=10, k=2, missing_share=missing_share, weight="one", most=4
        )
        rules = naive.Rules(
            merit=naive.gain,
            ratio=merit == "gain_ratio",
            categories="groups" if subsets else "multiway",
            missing="fractional",
            min_rows=4,
            min_branch=2,
            release8=True,
            threshold="value",
        )
        n_categories = sample.table.schema.n_categories
        nodes = naive.Grower(
            sample.values, sample.y, sample.weight, n_categories, 2, rules
        ).grow()
        root = naive.nested(nodes)
        collapse_useless(root)
        grown = {
            "schema": sample.table.schema.to_dict(),
            "classes": [0, 1],
            "nodes": naive.flat(root),
        }
        clf = presets.make("c4.5", merit=merit, subsets=subsets, pruning=None)
        clf.fit(sample.frame, sample.y)
        naive.assert_same_nodes(clf.tree_.to_dict()["nodes"], grown["nodes"])
        expected = naive.prune_error_based(
            grown, sample.values, sample.y, sample.weight
        )
        clf = presets.make("c4.5", merit=merit, subsets=subsets).fit(
            sample.frame, sample.y
        )
        naive.assert_same_nodes(clf.tree_.to_dict()["nodes"], expected)


def test_fewer_than_four_rows_are_a_leaf():
    clf = presets.make("c4.5", pruning=None).fit([[1], [2], [3]], [0, 0, 1])
    assert clf.tree_.n_nodes == 1


def test_variant_of_ldt05():
    """Gain, binary numbers, pruned top-down on a held-out fifth."""
    clf = presets.make("c4.5", variant="ldt05")
    assert clf.learner.merit == "gain"
    assert (clf.pruning.share, clf.pruning.order) == (0.2, "top_down")
    clf.set_params(random_state=0).fit(X, Y)
    assert clf.tree_.value[0].sum() < 14
