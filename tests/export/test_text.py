"""Trees in words: long sums show their largest terms."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from tests import curved

from omnitree import TreeClassifier, presets
from omnitree.data.schema import Feature, Schema
from omnitree.export.curve_words import turns
from omnitree.export.lines import WIDTH
from omnitree.export.model import NodeTest
from omnitree.export.text import describe
from omnitree.export.words import MOST_TERMS, branch_text, term_names
from omnitree.learners import Omnivariate
from omnitree.parts.choice.base import Choice, Verdict
from omnitree.tree.records import NodeRecord
from omnitree.tree.splits import (
    AdditiveSplit,
    LinearSplit,
    MachineSplit,
    NetworkSplit,
    QuadraticMachineSplit,
    QuadraticSplit,
)
from omnitree.tree.tree import tree_from_nodes

D = 20
SCHEMA = Schema(tuple(Feature(f"x{j}", "numeric") for j in range(D)), named=True)
EVERY = tuple((a, b) for a in range(D) for b in range(-1, a + 1))


def long_tests(rng):
    """A test of every kind on all columns."""
    columns, fill = tuple(range(D)), (0.0,) * D

    def some(*shape):
        return tuple(map(tuple, rng.normal(size=shape).tolist()))

    return [
        LinearSplit(columns, some(1, D)[0], fill, 0.5),
        QuadraticSplit(columns, fill, EVERY, some(1, len(EVERY))[0], 0.5),
        MachineSplit(columns, fill, (0.0, 1.0, 2.0), some(3, D)),
        NetworkSplit(columns, fill, (0.1, 0.2), some(2, D), 0.0, (1.0, 2.0)),
        QuadraticMachineSplit(
            columns, fill, EVERY, (0.0, 1.0, 2.0), some(3, len(EVERY))
        ),
    ]


def tree_of(split, deviations=None):
    k = split.n_children
    records = [NodeRecord(-1, np.full(3, float(k)), split, range(1, k + 1))]
    records += [NodeRecord(0, np.ones(3)) for _ in range(k)]
    tree = tree_from_nodes(SCHEMA, ("a", "b", "c"), records).to_dict()
    return tree | ({"deviations": deviations} if deviations else {})


def test_long_sums_are_cut(rng):
    for split in long_tests(rng):
        tree = tree_of(split)
        short, full = describe(tree), describe(tree, full=True)
        assert max(map(len, full.splitlines())) <= WIDTH
        assert len(full) > len(short)
        if split.kind == "network":
            assert f"... {D - MOST_TERMS} more" in short
            assert "x19" in full and "..." not in full
            continue
        n = len(getattr(split, "terms", split.columns))
        weights = np.atleast_2d(split.weights)
        assert short.count(f"+ ... ({n - MOST_TERMS} smaller terms, ") == len(weights)
        assert "smaller" not in full
        sums = re.split(
            r"\S+ = ", short.split("\nsum #0 <=")[0].split("\na largest")[0]
        )
        for text, row in zip(sums[1:], weights, strict=True):
            shown = [float(w) for w in re.findall(r"([\d.e-]+) x\d", text)]
            largest = np.sort(np.abs(row))[::-1][:MOST_TERMS]
            np.testing.assert_allclose(np.abs(shown), largest, rtol=1e-3)


@pytest.mark.parametrize("standardised", [False, True])
def test_terms_are_measured_by_what_they_do(standardised):
    """The column that varies most counts most, whatever the unit of its weight."""
    weights = np.linspace(1.0, 2.0, D)
    split = LinearSplit(tuple(range(D)), tuple(weights), (0.0,) * D, 0.0)
    deviations = [1e6, *[1.0] * (D - 1)]
    text = describe(tree_of(split, deviations), standardised=standardised)
    first = text.splitlines()[2 if standardised else 1]
    assert first.startswith(
        "sum #0 = 1000000 z(x0) + 2 z(x19)" if standardised else "sum #0 = 1 x0 + 2 x19"
    )
    products = QuadraticSplit((0, 1, 2), (0.0,) * 3, ((1, 2), (0, 0)), (5.0, 1.0), 0.0)
    schema = SCHEMA.to_dict()
    one = branch_text(NodeTest.of(products), 0, schema, deviations, 1)
    assert one == "x0^2 + ... (1 smaller term, 0 for an average row) <= 0"
    other = branch_text(NodeTest.of(products), 0, schema, most=1)
    assert other == "5 x1*x2 + ... (1 smaller term, 0 for an average row) <= 0"


@pytest.mark.parametrize(
    "weights, threshold, shown",
    [
        ((4.0,), 6.0, ["x0 <= 1.5", "x0 > 1.5"]),
        ((-4.0,), 6.0, ["x0 >= -1.5", "x0 < -1.5"]),
        ((-4.0,), 0.0, ["x0 >= 0", "x0 < 0"]),
        ((1e-320,), 1.0, ["1e-320 x0 <= 1", "1e-320 x0 > 1"]),
        ((2.0, 3.0), 6.0, ["2 x0 + 3 x1 <= 6", "2 x0 + 3 x1 > 6"]),
        ((-2.0, -3.0), 6.0, ["-2 x0 - 3 x1 <= 6", "-2 x0 - 3 x1 > 6"]),
        ((-2.0, 3.0), 6.0, ["-2 x0 + 3 x1 <= 6", "-2 x0 + 3 x1 > 6"]),
        ((1.0, 0.0), 6.0, ["x0 <= 6", "x0 > 6"]),
    ],
)
def test_sums_are_told_simply(weights, threshold, shown):
    """One column in its own unit, without a minus."""
    columns = tuple(range(len(weights)))
    split = LinearSplit(columns, weights, (0.0,) * len(weights), threshold)
    split = split.in_own_unit()
    tests = [branch_text(NodeTest.of(split), b, SCHEMA.to_dict()) for b in (0, 1)]
    assert tests == shown
    assert [
        line.split(":")[0] for line in describe(tree_of(split)).splitlines()[1:]
    ] == shown


@pytest.mark.parametrize("name", ["ldt", "lin", "fact", "cruise", "lmdt", "id-lp"])
def test_tests_of_one_column_are_told_as_tests_of_its_feature(name, rng):
    """Numbers in their own unit, categories by name; whatever made the test."""
    x, u = rng.normal(300, 50, size=200), rng.choice(["p", "q"], size=200)
    clf = presets.make(name, max_depth=1, random_state=0)
    lines = clf.fit(pd.DataFrame({"x": x}), x > 310).describe().splitlines()[1:]
    told = [re.fullmatch(r"x (<=|<|>=|>) (\d+(\.\d+)?): .*", line) for line in lines]
    assert len(told) == 2 and all(told)
    assert 290 < float(told[0][2]) < 330 and told[0][2] == told[1][2]
    lines = clf.fit(pd.DataFrame({"u": u}), u == "p").describe().splitlines()[1:]
    assert sorted(line.split(":")[0] for line in lines) == ["u = p", "u = q"]
    assert "u = p: True" in " ".join(lines)


@pytest.mark.parametrize(
    "weight, threshold, shown",
    [
        (1.0, 0.0, ["x2 in {b, c}", "x2 = a"]),
        (-3.0, 0.0, ["x2 = a", "x2 in {b, c}"]),
        (1.0, 2.0, ["2 [x2 = a] <= 3", "2 [x2 = a] > 3"]),  # all rows take one branch
    ],
)
def test_a_column_of_a_category_is_told_by_categories(weight, threshold, shown):
    features = [Feature(f"x{j}", "numeric") for j in range(2)]
    schema = Schema((*features, Feature("x2", "categorical", ("a", "b", "c"))), True)
    split = LinearSplit((2,), (weight,), (0.0,), threshold).in_own_unit()
    test = NodeTest.of(split)
    assert [branch_text(test, b, schema.to_dict()) for b in (0, 1)] == shown


def test_a_name_may_begin_with_a_minus():
    schema = Schema((Feature("-x", "numeric"),), named=True).to_dict()
    for weight, shown in ((3.0, "[-x] <= 2"), (-3.0, "[-x] >= -2")):
        split = LinearSplit((0,), (weight,), (0.0,), 6.0).in_own_unit()
        assert branch_text(NodeTest.of(split), 0, schema) == shown


@pytest.mark.parametrize("n_terms", [6, MOST_TERMS, MOST_TERMS + 2])
def test_sums_of_any_length_are_whole_and_measured_from_means(n_terms, rng):
    """What a reader works out from the words is where the tree sends a row."""
    X = pd.DataFrame(rng.normal(50.0, 2.0, size=(200, n_terms))).add_prefix("x")
    clf = presets.make("ldt", max_depth=1).fit(X, X.sum(axis=1) > 50.0 * n_terms)
    text = clf.describe()
    term = r"(-?) ?([\d.e-]+) \((x\d+) - ([\d.]+)\)"
    found = re.findall(term, text)
    assert [name for _, _, name, _ in found] == list(X.columns)
    value = sum(
        float(sign + w) * (X[name] - float(mean)) for sign, w, name, mean in found
    )
    cut = float(re.search(r"sum #0 <= (-?[\d.e-]+)", text)[1])
    assert abs(cut) < 1  # no offset of all means
    clear = abs(value - cut) > 0.01  # weights are rounded
    assert clear.sum() > 150
    assert ((value <= cut) == (clf.apply(X) == 1))[clear].all()
    assert "(x" not in clf.describe(full=True)


def test_flags_are_not_measured_from_means(rng):
    X = pd.DataFrame(rng.normal(50.0, 2.0, size=(300, 6))).add_prefix("x")
    X["flag"] = rng.integers(0, 2, 300)
    clf = presets.make("ldt", max_depth=1).fit(X, X.sum(axis=1) > 300)
    text = clf.describe()
    term = r"(-?) ?([\d.e-]+) (?:\((x\d) - ([\d.]+)\)|flag\b)"
    found = re.findall(term, text)
    assert [name or "flag" for *_, name, _ in found] == list(X.columns)
    value = sum(
        float(sign + w) * (X[name or "flag"] - float(mean or 0))
        for sign, w, name, mean in found
    )
    cut = float(re.search(r"sum #0 <= (-?[\d.e-]+)", text)[1])
    clear = abs(value - cut) > 0.01
    assert clear.sum() > 250
    assert ((value <= cut) == (clf.apply(X) == 1))[clear].all()


def test_describe_of_an_estimator(rng):
    X = pd.DataFrame(rng.normal(size=(300, 12)))
    clf = presets.make("ldt", max_depth=1).fit(X, X.sum(axis=1) > 0)
    assert "(4 smaller terms, 0 for an average row)" in clf.describe()
    assert "smaller" not in clf.describe(full=True)
    assert "smaller" in clf.export("dot")
    assert "smaller" not in clf.export("rules")


def test_a_quadratic_machine_of_few_terms_is_a_rule():
    split = QuadraticMachineSplit(
        (0,), (0.0,), ((0, -1), (0, 0)), (0.0, 1.0), ((0.0, 0.0), (0.0, -1.0))
    )
    clf = TreeClassifier()
    records = [NodeRecord(-1, np.array([2.0, 3.0]), split, range(1, 3))]
    records += [NodeRecord(0, np.array(v)) for v in ([2.0, 0.0], [0.0, 3.0])]
    labels = np.array(["out", "in"])
    clf._set_fitted(tree_from_nodes(SCHEMA, tuple(labels.tolist()), records), labels)
    assert clf.describe().splitlines()[1:] == [
        "x0^2 >= 1: out (2 rows)",
        "x0^2 < 1: in (3 rows)",
    ]


def test_names_that_are_no_words_are_set_off():
    test = QuadraticSplit((0, 1), (0.0,) * 2, ((0, 0), (0, 1)), (1.0, 1.0), 0.0)
    names = term_names(test.to_dict(), ["length (cm)", "[s = a]"])
    assert names == ["[length (cm)]^2", "[length (cm)]*[s = a]"]


def test_categories_in_sums_are_explained(rng):
    X = pd.DataFrame({"a": rng.choice(["p", "q"], 200), "b": rng.normal(size=200)})
    y = np.where(X["a"] == "p", 1.0, -1.0) + X["b"] > 0
    note = "[x = y]: 1 if x is y, else 0"
    assert note in presets.make("ldt").fit(X, y).describe()
    assert note not in presets.make("cart").fit(X, y).describe()
    leafy = presets.make("lmt", random_state=0).fit(X, y).describe()
    assert (note in leafy) == ("[a = q]" in leafy)


@pytest.mark.parametrize(
    ("scores", "behind", "said"),
    [
        (
            (0.1, 0.2),
            None,
            "univariate (u): chosen for a held-out error of 10.0 % (linear (v) 20.0 %)",
        ),
        (
            (0.2, 0.1),
            None,
            "univariate (u): chosen for a held-out error of 20.0 %\n"
            "    (linear (v) 10.0 % but no clear gain)",
        ),
        (
            (0.2, 0.1),
            -0.4,
            "univariate (u): chosen for a held-out error of 20.0 %\n"
            "    (a close choice, within a standard error: "
            "linear (v) 10.0 % but no clear gain)",
        ),
        (
            (0.2, 0.1),
            -37.8,
            "univariate (u): chosen for a held-out error of 20.0 %\n"
            "    (linear (v) 10.0 % but no clear gain)",
        ),
        ((0.2, None), None, None),
    ],
)
def test_why_a_node_has_its_kind(scores, behind, said):
    tree = TreeClassifier().fit([[1.0], [2.0]], ["a", "b"]).tree_.to_dict()
    tree["nodes"][0]["candidates"] = [
        {
            "learner": name,
            "kind": kind,
            "parameters": 2,
            "criterion": "error",
            "score": score,
            "chosen": name == "u",
        }
        for name, kind, score in zip("uv", ("axis", "linear"), scores, strict=True)
    ]
    if behind is not None:
        tree["nodes"][0]["candidates"][1]["behind"] = behind
    lines = describe(tree).splitlines()
    assert lines[1:-2] == (said.splitlines() if said else [])
    assert [line.split(":")[0] for line in lines[-2:]] == ["x0 <= 1.5", "x0 > 1.5"]


def test_long_candidates_are_broken_between_words():
    tree = TreeClassifier().fit([[1.0], [2.0]], ["a", "b"]).tree_.to_dict()
    sums = "linear softmax + additive softmax + additive softmax of steps + lda"
    tree["nodes"][0]["candidates"] = [
        {
            "learner": name,
            "kind": "machine",
            "parameters": 2,
            "criterion": "error",
            "score": 0.1,
            "chosen": name == sums,
            "behind": 0.0,
        }
        for name in (sums, f"stagewise {sums}")
    ]
    lines = describe(tree).splitlines()[1:-2]
    assert max(len(line) for line in lines) <= 88
    assert " ".join(line.strip() for line in lines).count("10.0 %") == 2
    assert not any(line.strip().startswith("%") for line in lines)


class Simplest(Choice):
    """A choice that does not say what its scores are."""

    def choose(self, proposals, rng):
        return Verdict(0, tuple(float(i) for i in range(len(proposals))))


def test_a_choice_without_a_name_for_its_scores(rng):
    X = rng.normal(size=(60, 2))
    learner = Omnivariate(candidates=("analytic", "fisher"), choice=Simplest())
    model = TreeClassifier(learner, max_leaves=2).fit(X, X.sum(axis=1) > 0)
    assert "chosen for a score of 0" in model.describe()


def test_machines_are_named_by_their_classes():
    """By class where every branch answers another one, else by number."""
    split = MachineSplit((0,), (0.0,), (0.0, 1.0, 2.0), ((1.0,), (0.0,), (-1.0,)))
    counts = np.eye(3)
    records = [NodeRecord(-1, np.ones(3), split, range(1, 4))]
    for own in (counts, counts[[0, 0, 1]]):
        tree = tree_from_nodes(
            SCHEMA, ("a", "b", "c"), records + [NodeRecord(0, v) for v in own]
        ).to_dict()
        text = describe(tree)
        if own is counts:
            assert "  a = 0 + 1 x0\n  b = 1\n  c = 2 - 1 x0\n" in text
            assert text.endswith("c is largest: c (1 row)")
        else:
            assert "  branch 1 = 0 + 1 x0\n" in text
            assert text.endswith("branch 3 is largest: b (1 row)")


# -- curves ---------------------------------------------------------------------------


def test_curves_are_told_by_range_and_effect():
    X, y = curved.pima()
    clf = curved.curved_tree(X, y, one_sum=True)
    text = clf.describe()
    (glucose,) = re.findall(r"\(plasma_glucose: (.*?)\)", text)
    test = clf.tree_.split(0)
    knots, line = test.knots[1], test.curve_values[1]
    assert glucose == (
        f"from {line[0]:+.3g} at <= {knots[0]:.4g} to {line[-2]:+.3g} at >= "
        f"{knots[-1]:.4g}, {line[-1]:+.3g} if missing"
    )
    assert text.count(" at <= ") == text.count(" at >= ") == 8
    assert "sum #0 <= " in text and "probability of well: logistic(sum #0" in text
    rules = clf.export("rules")
    assert glucose in rules and "IF sum #0 <= " in rules
    assert "curve(plasma_glucose)" in clf.export("dot")
    assert max(map(len, clf.export("dot").splitlines())) < 400


def test_many_curves_show_the_largest():
    n, knots = 12, (0.0, 1.0, 2.0)
    schema = Schema(tuple(Feature(f"x{j}", "numeric") for j in range(n)), named=True)
    lines = tuple((-float(j), 0.0, float(j), 0.0) for j in range(n))
    test = AdditiveSplit((), (), (), (), tuple(range(n)), (knots,) * n, lines, 0.5)
    root = NodeRecord(-1, [2.0, 2.0], test, [1, 2])
    leaves = [NodeRecord(0, [2.0, 0.0]), NodeRecord(0, [0.0, 2.0])]
    tree = tree_from_nodes(schema, ("a", "b"), [root, *leaves]).to_dict()
    text = describe(tree)
    shown = re.findall(r"\((x\d+): from", text)
    assert shown == [f"x{j}" for j in range(11, 11 - MOST_TERMS, -1)]
    # x0 adds nothing and is no term.
    assert "(3 smaller terms, 0 for an average row)" in text
    assert len(re.findall(r"\(x\d+: from", describe(tree, full=True))) == 11


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ([0.0, 1.0, 2.0], [0, 2]),
        ([0.0, 3.0, 1.0], [0, 1, 2]),
        ([3.0, 3.0, 3.0], [0]),
        ([0.0, 0.05, 0.0, 4.0], [0, 3]),  # a ripple
        ([0.0, -0.02, 1.0, 2.0, 2.9, 3.0], [0, 5]),
        ([0.0, 5.0, 4.9, 4.95, 0.0, 3.0, 0.0], [0, 1, 4, 6]),
    ],
)
def test_turns_of_curves(values, told):
    assert turns(values) == told


def test_opposite_sums_are_told_once(rng):
    """With two classes, the second sum of a logistic model is the first turned round."""
    X = rng.normal(size=(120, 3))
    y = np.where(X[:, 0] + 0.3 * rng.normal(size=120) > 0, "yes", "no")
    text = presets.make("lmt", random_state=0).fit(X, y).describe()
    assert "yes = the same with opposite signs" in text and "no  = " in text
    many = presets.make("lmt", random_state=0).fit(X, rng.choice(list("abc"), 120))
    assert "opposite" not in many.describe()


def test_a_clear_lead_in_log_loss_is_not_called_close():
    tree = TreeClassifier().fit([[1.0], [2.0]], ["a", "b"]).tree_.to_dict()
    tree["nodes"][0]["candidates"] = [
        {
            "learner": name,
            "kind": "linear",
            "parameters": 2,
            "criterion": "held-out log loss",
            "score": score,
            "chosen": name == "u",
            "behind": behind,
        }
        for name, score, behind in (("u", 0.239, 0.0), ("v", 0.225, -37.8))
    ]
    text = describe(tree)
    assert "linear (v) 0.225 but more errors or little saved" in text
    assert "close" not in text
