"""Class costs: answers of least expected cost, in every place that shows an answer."""

import json
import re
from importlib.resources import files

import jsonschema
import numpy as np
import pytest
from sklearn.datasets import load_iris
from tests.samples import sample_of

from omnitree import OmniTreeClassifier, TreeClassifier, presets
from omnitree.data.table import encode
from omnitree.estimators.persistence import load, save
from omnitree.pruning import CostComplexity
from omnitree.pruning.base import errors_as_leaves, training_errors
from omnitree.refinement import Contest
from omnitree.tree.tree import Tree

COSTS = np.array([[0.0, 1.0, 2.0], [9.0, 0.0, 1.0], [1.0, 30.0, 0.0]])


def noisy_iris(seed=0):
    X, y = load_iris(return_X_y=True)
    rng = np.random.default_rng(seed)
    return X, np.where(rng.random(len(y)) < 0.25, rng.integers(0, 3, len(y)), y)


@pytest.mark.parametrize("smoothing", [None, "laplace", 4.0])
def test_answers_cost_least_and_probabilities_stay(smoothing):
    X, y = noisy_iris()
    plain = TreeClassifier(smoothing=smoothing, max_depth=3).fit(X, y)
    clf = TreeClassifier(cost_matrix=COSTS, smoothing=smoothing, max_depth=3).fit(X, y)
    proba = clf.predict_proba(X)
    np.testing.assert_array_equal(proba, plain.predict_proba(X))
    expected = [
        min(range(3), key=lambda j, p=p: sum(p[i] * COSTS[i, j] for i in range(3)))
        for p in proba
    ]
    np.testing.assert_array_equal(clf.predict(X), expected)
    assert (clf.predict(X) != plain.predict(X)).any()


def test_equal_costs_change_nothing():
    X, y = noisy_iris()
    costs = 1 - np.eye(3)
    for parts in (
        {},
        {"pruning": "cost_complexity"},
        {"pruning": "reduced_error"},
        {"refinement": Contest(folds=3)},
    ):
        plain = TreeClassifier(**parts, random_state=0).fit(X, y)
        clf = TreeClassifier(**parts, random_state=0, cost_matrix=costs)
        same = clf.fit(X, y).tree_.to_dict()
        assert same.pop("costs") == costs.tolist()
        for node, other in zip(
            same["nodes"], plain.tree_.to_dict()["nodes"], strict=True
        ):
            for record in (node, other):
                record.pop("held_out", None)  # not told where errors cost
                for candidate in record.get("candidates", ()):
                    candidate.pop("criterion")
            assert node == other


def test_dict_of_labels():
    X, y = load_iris(return_X_y=True)
    names = np.array(["c", "a", "b"])[y]
    costs = {"a": {"b": 2, "c": 3}, "b": {"a": 1, "c": 4}, "c": {"a": 5, "b": 6}}
    clf = TreeClassifier(cost_matrix=costs).fit(X, names)
    np.testing.assert_array_equal(clf.tree_.costs, [[0, 2, 3], [1, 0, 4], [5, 6, 0]])


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        ([[0, 1], [1, 0]], r"\(3, 3\) is needed"),
        (COSTS - 1, "at least 0"),
        (np.where(COSTS > 0, np.inf, 0), "at least 0"),
        (COSTS + np.eye(3), "diagonal"),
        ({0: {1: 2}}, "says nothing of answer 2"),
        ({0: {7: 2}}, "unknown class in cost_matrix"),
    ],
)
def test_bad_matrices(costs, message):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=message):
        TreeClassifier(cost_matrix=costs).fit(X, y)


def leaves_of(text):
    """The class behind the test of every leaf of a description."""
    ends = [line.rsplit(": ", 1)[1] for line in text.split("\n") if line.endswith(")")]
    return [end.split(" ")[0] for end in ends]


def test_words_and_pictures_say_what_predict_says():
    X, y = noisy_iris()
    clf = TreeClassifier(cost_matrix=COSTS, smoothing=9.0, max_depth=3).fit(X, y)
    tree = clf.tree_
    leaves = [n for n in range(tree.n_nodes) if tree.kind[n] == 0]
    said = {leaf: str(clf.predict(X[clf.apply(X) == leaf])[0]) for leaf in leaves}
    assert sorted(leaves_of(clf.describe())) == sorted(said.values())
    for row in X[::15]:
        assert clf.explain(row).label == clf.predict([row])[0]
    rules = re.findall(r"THEN (\d)", clf.export("rules"))
    assert sorted(rules) == sorted(said.values())
    boxes = re.findall(r'label="(\d)\\n', clf.export("dot"))
    assert sorted(boxes) == sorted(said.values())
    ax = clf.plot()
    titles = [t.get_text() for t in ax.texts if t.get_weight() == "bold"]
    assert sorted(titles) == sorted(said.values())
    document = json.loads(clf.export("json"))
    assert document["tree"]["costs"] == COSTS.tolist()


def test_saved_and_loaded(tmp_path):
    X, y = noisy_iris()
    clf = TreeClassifier(cost_matrix=COSTS).fit(X, y)
    save(clf, tmp_path / "tree.json")
    again = load(tmp_path / "tree.json")
    text = (
        files("omnitree.tree").joinpath("tree.schema.json").read_text(encoding="utf-8")
    )
    jsonschema.validate(clf.tree_.to_dict(), json.loads(text))
    np.testing.assert_array_equal(again.predict(X), clf.predict(X))
    for bad in ([[0, 1], [1, 0]], [[1, 1, 1]] * 3, "x", [[0, -1, 0]] * 3):
        data = clf.tree_.to_dict() | {"costs": bad}
        with pytest.raises(ValueError, match="costs"):
            Tree.from_dict(data)


def test_errors_of_leaves_are_costs():
    X, y = noisy_iris()
    clf = TreeClassifier(cost_matrix=COSTS, missing="fractional").fit(X, y)
    tree = clf.tree_
    rows = sample_of(encode(X, tree.schema), y, costs=COSTS)
    path = tree.decision_path(rows.table).toarray() > 0
    labels = tree.decide(tree.class_shares)
    expected = [
        sum(COSTS[k, labels[n]] for k in y[path[:, n]]) for n in range(tree.n_nodes)
    ]
    np.testing.assert_allclose(errors_as_leaves(tree, rows), expected)
    np.testing.assert_allclose(training_errors(tree, rows), expected)


def mean_cost(clf, X, y, costs):
    return costs[y, clf.predict(X)].mean()


@pytest.mark.parametrize("kind", ["pruned", "cart", "front door"])
def test_costs_pay_on_new_rows(kind):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1200, 4))
    y = (X[:, 0] + X[:, 1] + rng.normal(scale=1.5, size=1200) > 0).astype(int)
    costs, half = np.array([[0.0, 8.0], [1.0, 0.0]]), np.arange(1200) < 600
    make = {
        "pruned": lambda **c: TreeClassifier(pruning=CostComplexity(5), **c),
        "cart": lambda **c: presets.make("cart", **c),
        "front door": lambda **c: OmniTreeClassifier(**c),
    }[kind]
    plain = make(random_state=0).fit(X[half], y[half])
    clf = make(random_state=0, cost_matrix=costs).fit(X[half], y[half])
    always = np.bincount(y[~half]) @ costs / 600
    cost = mean_cost(clf, X[~half], y[~half], costs)
    assert cost < 0.8 * mean_cost(plain, X[~half], y[~half], costs)
    assert cost <= always.min()


def test_altered_priors():
    X, y = noisy_iris()
    costs = np.array([[0, 1, 1], [10, 0, 10], [1, 1, 0]])
    clf = TreeClassifier(cost_matrix=costs, altered_priors=True, max_depth=2).fit(X, y)
    weight = np.array([2.0, 20.0, 2.0])[y]
    heavy = TreeClassifier(max_depth=2).fit(X, y, weight)
    for node in range(clf.tree_.n_nodes):
        if clf.tree_.kind[node]:
            assert clf.tree_.split(node) == heavy.tree_.split(node)
    counts = np.bincount(y)
    np.testing.assert_array_equal(clf.tree_.value[0], counts)
    plain = TreeClassifier(max_depth=2).fit(X, y)
    assert plain.tree_.split(0) != clf.tree_.split(0)
    with pytest.raises(ValueError, match="needs a cost_matrix"):
        TreeClassifier(altered_priors=True).fit(X, y)
    with pytest.raises(ValueError, match="cost something"):
        TreeClassifier(altered_priors=True, cost_matrix=np.zeros((3, 3))).fit(X, y)
