"""Exported trees give the library's answers: every format, every kind of test, hard names.

Data sets come from the folder OMNITREE_DATA, else from ../shared/data beside the
repository.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests import curved
from tests.export.runs import cells, run
from tests.trees import (
    SCHEMA,
    calibrated_tree,
    functions_of,
    one_sum,
    random_model,
    random_rows,
    random_tree,
    shifted_tree,
)

from omnitree import TreeClassifier, presets
from omnitree.data.schema import Feature, Schema
from omnitree.data.table import Table
from omnitree.export import FORMATS
from omnitree.export.merging import merged
from omnitree.export.model import Model
from omnitree.export.sql_values import LONGEST_SUM
from omnitree.lab.data import from_folder
from omnitree.tree.expression import Constant, Product, walk
from omnitree.tree.leaf_models import LeafModel, LeafModels
from omnitree.tree.splits import (
    SPLITS,
    AdditiveMachineSplit,
    AdditiveSplit,
    AxisSplit,
    LinearSplit,
    MachineSplit,
    MultiwaySplit,
    NetworkSplit,
)
from omnitree.tree.tree import NodeRecord, Tree, tree_from_nodes

RUN = ["python", "c", "sqlite", "duckdb", "onnx", "pmml"]
# With models in leaves; databases and PMML have an exponential function of their own.
EXACT = ("python", "c", "onnx")


def fitted(tree: Tree, **options) -> TreeClassifier:
    """An estimator around a tree."""
    clf = TreeClassifier(**options)
    clf._set_fitted(tree, np.array(tree.classes))
    return clf


def decoded(values: np.ndarray, schema: Schema) -> list[list]:
    """Cells of encoded rows."""
    return [
        [
            None if np.isnan(v) else f.categories[int(v)] if f.categories else float(v)
            for v, f in zip(row, schema.features, strict=True)
        ]
        for row in values
    ]


def check(clf, rows, table: Table, format: str, folder: Path, exact: bool = True):
    """Same class for every row, and the same probabilities."""
    labels, proba = run(format, clf, rows, folder)
    expected = clf.tree_.predict_value(table, clf._node_outputs())
    best = clf.tree_.decide(expected)
    assert labels == [clf.tree_.classes[k] for k in best]
    tolerance = 0 if exact and format != "pmml" else 1e-12
    np.testing.assert_allclose(proba, expected, rtol=0, atol=tolerance)


# -- every kind of test ---------------------------------------------------------------


@pytest.mark.parametrize("format", RUN)
def test_random_trees(format: str, seed: int, tmp_path: Path):
    rng = np.random.default_rng(seed)
    for n_inner in (0, 1, 2, 5, 12, 25):
        tree = random_tree(rng, tuple(SPLITS), n_inner)
        values = random_rows(rng, 60)
        rows = decoded(values, SCHEMA)
        check(fitted(tree), rows, Table(values, SCHEMA), format, tmp_path)


@pytest.mark.parametrize("format", RUN)
@pytest.mark.parametrize("divide", [False, True])
def test_models_in_leaves(format: str, divide: bool, seed: int, tmp_path: Path):
    rng = np.random.default_rng(seed)
    for n_inner in (0, 1, 4, 10):
        tree = random_tree(rng, tuple(SPLITS), n_inner, models=0.7)
        if not divide:
            tree = tree.replace(missing=np.maximum(tree.missing, 0))
        values = random_rows(rng, 40)
        clf, rows = fitted(tree), decoded(values, SCHEMA)
        exact = format in EXACT
        check(clf, rows, Table(values, SCHEMA), format, tmp_path, exact)


MANY = (
    "linear",
    "quadratic",
    "machine",
    "quadratic_machine",
    "additive",
    "additive_machine",
)


@pytest.mark.parametrize("format", RUN)
@pytest.mark.parametrize("scale", [0.75, None], ids=["own", "other"])
@pytest.mark.parametrize("divide", [False, True])
def test_leaves_that_share_a_model(format, scale, divide, seed, tmp_path: Path):
    """Below machines and tests of two branches; univariate tests above divide rows."""
    rng = np.random.default_rng(seed)
    for n_inner, kinds in ((1, MANY), (1, MANY), (5, ("axis", "multiway", *MANY))):
        tree = calibrated_tree(rng, kinds, scale, n_inner=n_inner)
        if not divide:
            tree = tree.replace(missing=np.maximum(tree.missing, 0))
        values = random_rows(rng, 40)
        clf, rows = fitted(tree), decoded(values, SCHEMA)
        exact = format in EXACT
        check(clf, rows, Table(values, SCHEMA), format, tmp_path, exact)


@pytest.mark.parametrize("format", RUN)
@pytest.mark.parametrize("divide", [False, True])
@pytest.mark.parametrize("n_models", [1, 2])
def test_leaves_that_shift_a_model(format, divide, n_models, seed, tmp_path: Path):
    """Of models with products and curves; some leaves have none."""
    rng = np.random.default_rng(seed)
    for n_inner in (1, 6, 14):
        tree = shifted_tree(rng, n_models=n_models, n_inner=n_inner)
        if not divide:
            tree = tree.replace(missing=np.maximum(tree.missing, 0))
        values = random_rows(rng, 40)
        clf, rows = fitted(tree), decoded(values, SCHEMA)
        check(clf, rows, Table(values, SCHEMA), format, tmp_path, format in EXACT)


def shifting(n_leaves: int) -> TreeClassifier:
    """A chain of tests whose leaves shift a model of 60 terms for each class."""
    p = 60
    schema = Schema(tuple(Feature(f"x{j}", "numeric") for j in range(p)), named=True)
    weights = tuple(tuple(float(k + j / 7) for j in range(p)) for k in range(3))
    model = LeafModel(tuple(range(p)), (0.0,) * p, (0.0,) * 3, weights)
    records = [NodeRecord(-1, np.full(3, 2.0**n_leaves))]
    for at in range(n_leaves - 1):
        first, last = len(records), records[-1]
        last.split, last.children = AxisSplit(at % p, at / 8), range(first, first + 2)
        records += [NodeRecord(first - 1, last.value / 2) for _ in range(2)]
    for i, record in enumerate(records):
        if record.split is None:
            record.model = replace(model, bias=(i / 8, -i / 8, 0.5))
    return fitted(tree_from_nodes(schema, ("a", "b", "c"), records))


@pytest.mark.parametrize("format", ["rules", "dot"])
def test_words_tell_a_model_that_leaves_shift_once(format):
    texts = [shifting(n).export(format) for n in (3, 23)]
    assert [text.count("smaller terms") for text in texts] == [3, 3]  # of three classes
    assert [text.count(" shift ") for text in texts] == [3, 23]


@pytest.mark.parametrize("format", ["c", "python", "sql", "pmml", "onnx"])
def test_a_model_that_leaves_shift_is_written_once(format):
    small, large = (len(shifting(n).export(format)) for n in (3, 23))
    # A further leaf is a test, an answer and its shifts: a fraction of what is there once.
    each = (large - small) / 20
    assert each < 0.2 * (small - 3 * each)


@pytest.mark.parametrize("format", RUN)
def test_tests_that_look_at_no_feature(format, rng, tmp_path: Path):
    """All their weights are 0, so the branch is that of the threshold."""
    test = LinearSplit((0,), (0.0,), (0.0,), -1.0)
    records = [NodeRecord(-1, np.full(3, 4.0), test, range(1, 3))]
    records += [NodeRecord(0, np.array([3.0, 1.0, 0.0])), NodeRecord(0, np.eye(3)[1])]
    clf = fitted(tree_from_nodes(SCHEMA, ("a", "b", "c"), records))
    values = random_rows(rng, 10)
    check(clf, decoded(values, SCHEMA), Table(values, SCHEMA), format, tmp_path)


@pytest.mark.parametrize("format", RUN)
def test_labels_at_ties_are_those_of_the_model(format, tmp_path: Path):
    """Functions that are equal where x = y, times a tenth: rounding decides, alike."""
    schema = Schema((Feature("x", "numeric"), Feature("y", "numeric")), named=True)
    rows = [(a / 7, a / 7) for a in range(-60, 60)] + [(a, 0.5 - a) for a in range(9)]
    values, differs = np.array(rows, dtype=float), 0
    for extra in (-1.0, 0.3):  # a third class that is far away, or near
        weights = ((1.0, 1.0), (3.0, -1.0), (extra, extra))
        test = MachineSplit((0, 1), (0.0, 0.0), (0.0, 0.0, extra), weights)
        model = functions_of(test, 0.1, (0, 1, 2), 3)
        records = [NodeRecord(-1, np.ones(3), test, range(1, 4))]
        records += [NodeRecord(0, line, model=model) for line in np.eye(3)]
        tree = tree_from_nodes(schema, ("a", "b", "c"), records)
        table, folder = Table(values, schema), tmp_path / str(extra)
        folder.mkdir()
        check(fitted(tree), decoded(values, schema), table, format, folder, False)
        differs += (tree.predict_labels(table) != tree.apply(table) - 1).sum()
    assert differs > 10


def test_a_shared_model_is_written_once(rng):
    found = 0
    for _ in range(10):
        tree = calibrated_tree(rng, ("machine", "quadratic_machine"), n_inner=1)
        if not tree.sharing:
            continue
        found += 1
        code = fitted(tree).export("python")
        assert code.count("return CLASSES") == code.count("s = max(") == 1
        assert " b = " not in code
    assert found > 2


@pytest.mark.parametrize("divide", [False, True])
def test_merged_leaves_answer_the_same(divide, seed):
    rng = np.random.default_rng(seed)
    tree = calibrated_tree(rng, ("axis", "subset", *MANY), n_inner=8)
    leaves = np.flatnonzero(tree.kind == 0)
    shared = random_model(rng)  # below univariate tests, too
    models = [tree.model(node) for node in range(tree.n_nodes)]
    for leaf in leaves:
        models[leaf] = models[leaf] or shared
    tree = tree.replace(models=LeafModels.of(models))
    if not divide:
        tree = tree.replace(missing=np.maximum(tree.missing, 0))
    model = Model(tree.to_dict(), tree.class_shares.tolist())
    less = merged(model)
    again = Tree.from_dict(less.tree)
    assert again.n_leaves < tree.n_leaves
    table = Table(random_rows(rng, 50), SCHEMA)
    np.testing.assert_array_equal(
        again.predict_value(table, np.array(less.outputs)),
        tree.predict_value(table, tree.class_shares),
    )
    assert not set(less.shared) - less.dividing
    assert merged(less) is less


@pytest.mark.parametrize("format", RUN)
@pytest.mark.parametrize("kind", list(SPLITS))
def test_one_kind(format: str, kind: str, rng, tmp_path: Path):
    tree = random_tree(rng, (kind,), 6)
    values = random_rows(rng, 60)
    rows = decoded(values, SCHEMA)
    check(fitted(tree), rows, Table(values, SCHEMA), format, tmp_path)


@pytest.mark.parametrize("format", RUN)
@pytest.mark.parametrize("kind", ["linear", "machine", "quadratic_machine", "network"])
def test_weights_of_zero_are_left_out(format: str, kind: str, rng, tmp_path: Path):
    """Half of the weights 0, as in sparse machines: the same answers, from fewer terms."""
    tree = random_tree(rng, (kind,), 6)
    weight = tree.weight.copy()
    inner = np.flatnonzero(tree.kind)
    for node in inner:
        test = tree.test_start[node]
        own = weight[tree.weight_ptr[test] : tree.weight_ptr[test + 1]]
        own[rng.random(len(own)) < 0.5] = 0.0
    tree = tree.replace(weight=weight)
    values = random_rows(rng, 60)
    clf = fitted(tree)
    check(clf, decoded(values, SCHEMA), Table(values, SCHEMA), format, tmp_path)
    if format == "python" and kind != "network":
        assert "+= 0.0 *" not in clf.export("python")
    weights = [
        value.factors[0]
        for test in Model(tree.to_dict()).all_tests
        for value in walk(test.rule)
        if isinstance(value, Product)
    ]
    assert weights and Constant(0.0) not in weights


def awkward_curves(rng: np.random.Generator) -> tuple[Tree, np.ndarray]:
    """Slopes that are no binary fractions; rows at, beside and far beyond the knots.

    Some weights and some curves are 0.
    """
    columns, knots = (0, 5, 6), [np.cumsum(rng.random(n)) - 1 for n in (2, 3, 9)]
    lines = rng.normal(size=(3, 3, 10)) / 3
    lines[0, 1] = 0.0
    model = LeafModel(
        (0, 4),
        (0.1, -0.3),
        tuple(rng.normal(size=3).tolist()),
        ((0.7, 0.0), (0.0, 0.0), (1 / 3, -0.1)),
        curve_columns=columns,
        knots=tuple(tuple(own.tolist()) for own in knots),
        curve_values=tuple(
            tuple(
                tuple(v[: len(own) + 1].tolist())
                for v, own in zip(line, knots, strict=True)
            )
            for line in lines
        ),
    )
    test = AdditiveMachineSplit.of(model)
    records = [NodeRecord(-1, np.ones(3), test, range(1, 4))]
    records += [NodeRecord(0, line) for line in np.eye(3)]
    one = AdditiveSplit.of(one_sum(model))
    records[1].split, records[1].children = one, range(4, 6)
    half = functions_of(test, 1 / 3, (0, 1, 2), 3)
    records += [NodeRecord(1, [0.5, 0.0, 0.0], model=half) for _ in range(2)]
    places = [-1e300, -1e9, *np.concatenate(knots), 1e9, 1e300, np.nan]
    beside = [np.nextafter(v, to) for v in places[2:-3] for to in (-9, 9)]
    places = np.array([*places, *beside, *rng.normal(size=9)])
    values = random_rows(rng, 3 * len(places), missing_share=0.1)
    values[:, 0] = np.tile(places, 3)
    values[:, 4] = rng.permutation(np.tile(places, 3))
    return tree_from_nodes(SCHEMA, ("a", "b", "c"), records), values


@pytest.mark.parametrize("format", RUN)
def test_curves_at_and_beyond_their_knots(format: str, rng, tmp_path: Path):
    tree, values = awkward_curves(rng)
    assert len(np.unique(tree.apply(Table(values, SCHEMA)))) > 2
    rows = decoded(values, SCHEMA)
    exact = format in EXACT
    check(fitted(tree), rows, Table(values, SCHEMA), format, tmp_path, exact)
    if format == "python":
        assert "+= 0.0 *" not in fitted(tree).export("python")


@pytest.mark.parametrize("format", RUN)
@pytest.mark.parametrize("table", [curved.iris, curved.pima])
def test_curves_on_real_tables(format: str, table, tmp_path: Path):
    X, y = table()
    for one in (True, False):
        if one and len(set(y)) > 2:
            X, y = X[y != "setosa"], y[y != "setosa"]
        clf = curved.curved_tree(X, y, one)
        some = X.iloc[::3]
        folder = tmp_path / str(one)
        folder.mkdir()
        check(clf, cells(some), clf._encode(some), format, folder, format in EXACT)


@pytest.mark.parametrize("format", RUN)
def test_categories_never_seen_are_missing(format: str, rng, tmp_path: Path):
    tree = random_tree(rng, tuple(SPLITS), 12)
    values = random_rows(rng, 60)
    rows = decoded(values, SCHEMA)
    for i in range(0, 60, 3):
        values[i, 1], rows[i][1] = np.nan, "mauve"
        values[i, 3], rows[i][3] = np.nan, "s"
    check(fitted(tree), rows, Table(values, SCHEMA), format, tmp_path)


@pytest.mark.parametrize("format", RUN)
@pytest.mark.parametrize("smoothing", ["laplace", 3.5])
def test_smoothing(format: str, smoothing, rng, tmp_path: Path):
    tree = random_tree(rng, tuple(SPLITS), 8)
    values = random_rows(rng, 40)
    clf = fitted(tree, smoothing=smoothing)
    check(clf, decoded(values, SCHEMA), Table(values, SCHEMA), format, tmp_path)


@pytest.mark.parametrize("format", RUN)
@pytest.mark.parametrize("smoothing", [None, 2.5])
@pytest.mark.parametrize("models", [0.0, 0.7])
def test_costs(format: str, smoothing, models: float, seed: int, tmp_path: Path):
    rng = np.random.default_rng(seed)
    for n_inner in (0, 3, 10):
        kinds = ("axis", "multiway", "subset", "linear", "machine")
        tree = random_tree(rng, kinds, n_inner, models=models)
        n = len(tree.classes)
        costs = rng.integers(1, 20, (n, n)) * (1.0 - np.eye(n))
        tree = tree.replace(costs=costs)
        values = random_rows(rng, 40)
        table, rows = Table(values, SCHEMA), decoded(values, SCHEMA)
        clf = fitted(tree, smoothing=smoothing)
        proba = tree.predict_value(table, clf._node_outputs())
        np.testing.assert_array_equal(
            tree.decide(proba), (proba @ costs).argmin(axis=1)
        )
        exact = format in EXACT or not models
        check(clf, rows, table, format, tmp_path, exact)


@pytest.mark.parametrize("format", RUN)
@pytest.mark.parametrize(
    "classes", [(1, 2, 3), (0.5, 1.5, 2.5), (False, True), ("it's", 'a "b"')]
)
def test_labels(format: str, classes: tuple, tmp_path: Path):
    schema = Schema((Feature("x", "numeric"),), named=True)
    n = len(classes)
    records = [NodeRecord(-1, [4.0] * n, AxisSplit(0, 0.5, missing=1), [1, 2])]
    records.append(NodeRecord(0, [3.0] + [0.0] * (n - 1)))
    records.append(NodeRecord(0, [1.0] + [4.0] * (n - 1)))
    tree = tree_from_nodes(schema, classes, records)
    values = np.array([[0.5], [0.6], [np.nan]])
    rows = decoded(values, schema)
    check(fitted(tree), rows, Table(values, schema), format, tmp_path)


@pytest.mark.parametrize("format", RUN)
def test_rows_on_the_boundary(format: str, tmp_path: Path):
    """Sums in the library's order: 0.1 + 0.2 - 0.3 is not 0 and must not be."""
    from omnitree.tree.splits import LinearSplit

    schema = Schema(tuple(Feature(n, "numeric") for n in "abc"), named=True)
    split = LinearSplit((2, 0, 1), (1.0, 1.0, 1.0), (0.0,) * 3, 0.0)
    leaves = [NodeRecord(0, [1.0, 0.0]), NodeRecord(0, [0.0, 1.0])]
    tree = tree_from_nodes(
        schema, ("n", "y"), [NodeRecord(-1, [1.0, 1.0], split, [1, 2]), *leaves]
    )
    rng = np.random.default_rng(0)
    ab = rng.integers(1, 10, size=(300, 2)) / 10
    values = np.column_stack([ab, -(ab[:, 0] + ab[:, 1])])
    rows = decoded(values, schema)
    check(fitted(tree), rows, Table(values, schema), format, tmp_path)


# -- size -----------------------------------------------------------------------------


def chain(depth: int, missing: int) -> Tree:
    """A tree that is a list."""
    schema = Schema((Feature("x", "numeric"),), named=True)
    records = [NodeRecord(-1, [depth + 1.0, 1.0])]
    at = 0
    for i in range(depth):
        first = len(records)
        records[at].split = AxisSplit(0, float(i), missing=missing)
        records[at].children = [first, first + 1]
        records.append(NodeRecord(at, [1.0, i % 2]))
        records.append(NodeRecord(at, [depth - i, 1.0]))
        at = first + 1
    return tree_from_nodes(schema, ("a", "b"), records)


@pytest.mark.parametrize(
    ("format", "depth", "missing"),
    [
        (format, depth, missing)
        for format in RUN
        for depth, missing in ((600, 0), (600, 1), (50, -1))
        if format != "pmml" or missing < 0  # the next test has PMML's limit
    ],
)
def test_deep_trees(format: str, depth: int, missing: int, tmp_path: Path):
    tree = chain(depth, missing)
    values = np.array([[v] for v in (-1.0, 0.5, 70.0, 590.0, 1e9, np.nan)])
    rows = decoded(values, tree.schema)
    check(fitted(tree), rows, Table(values, tree.schema), format, tmp_path)


def test_pmml_of_a_deep_tree():
    text = fitted(chain(2000, 0)).export("pmml")
    assert text.count("<Node ") == text.count("</Node>") == 4001


@pytest.mark.parametrize(
    "format", [pytest.param(f, marks=[pytest.mark.slow] * (f == "duckdb")) for f in RUN]
)
def test_many_columns_and_branches(format: str, tmp_path: Path, rng):
    """More terms in a sum than SQL adds up at once, and a machine of many branches."""
    n, k = LONGEST_SUM + 20, 5
    schema = Schema(tuple(Feature(f"x{j}", "numeric") for j in range(n)), named=True)
    columns = tuple(range(n))
    fill = tuple(rng.normal(size=n).tolist())

    def matrix(rows: int) -> tuple:
        return tuple(map(tuple, rng.normal(size=(rows, n)).tolist()))

    machine = MachineSplit(columns, fill, tuple(range(k)), matrix(k))
    net = NetworkSplit(columns, fill, (0.5, 1.0), matrix(2), 0.1, (1.0, -1.0))
    records = [NodeRecord(-1, [3.0, 9.0], machine, range(1, k + 1))]
    records += [NodeRecord(0, [i % 3, 1.0]) for i in range(k)]
    records[1].split, records[1].children = net, [k + 1, k + 2]
    records += [NodeRecord(1, [1.0, 0.0]), NodeRecord(1, [0.0, 1.0])]
    tree = tree_from_nodes(schema, ("a", "b"), records)
    values = rng.normal(size=(40, n))
    values[rng.random(values.shape) < 0.1] = np.nan
    rows = decoded(values, schema)
    check(fitted(tree), rows, Table(values, schema), format, tmp_path)


# -- names ----------------------------------------------------------------------------

HOSTILE = [
    "<script>alert(1)</script>",
    'quote " and \' and ` and ""',
    "new\nline\r\nand\ttab",
    "*/ #error /* ??/ \\",
    "'''; DROP TABLE t; --",
    "{brace} %s $x ${y}",
    "class",
    "import",
    "ümlaut ☃ \u202e\u2028",
    "t",
]


@pytest.mark.parametrize("format", RUN)
def test_hostile_names_and_categories(format: str, tmp_path: Path):
    """Names, categories and labels of any kind, in univariate and linear tests."""
    rng = np.random.default_rng(0)
    schema = Schema(
        (
            *(Feature(name, "numeric") for name in HOSTILE[:5]),
            *(Feature(name, "categorical", tuple(HOSTILE)) for name in HOSTILE[5:]),
        ),
        named=True,
    )
    tree = random_tree(rng, tuple(SPLITS), 20, schema)
    labels = tuple(sorted(HOSTILE[:3]))
    tree = tree.replace(classes=labels)
    values = random_rows(rng, 50, schema)
    rows = decoded(values, schema)
    check(fitted(tree), rows, Table(values, schema), format, tmp_path)


@pytest.mark.parametrize("format", ["rules", "dot", "text"])
def test_hostile_names_in_words(format: str, rng):
    schema = Schema(tuple(Feature(name, "numeric") for name in HOSTILE), named=True)
    tree = random_tree(rng, ("axis", "linear"), 20, schema)
    clf = fitted(tree.replace(classes=tuple(sorted(HOSTILE[:3]))))
    text = clf.describe() if format == "text" else clf.export(format)
    assert all(c.isprintable() for c in text.replace("\n", ""))
    if format == "text":
        leaves = re.findall(r"^.* rows(?:, [\d.]+ wrong)?\)$", text, re.MULTILINE)
        assert len(leaves) == tree.n_leaves
    if format == "dot":
        string = r'"(?:[^"\\]|\\.)*"'
        bare = re.sub(string, '""', text)
        assert "script" not in bare and "DROP" not in bare
        line = r"  n\d+( -> n\d+)? \[label=\"\"(, fillcolor=\"\")?\];"
        assert all(re.fullmatch(line, t) for t in bare.splitlines()[3:-1])


def test_names_that_a_format_cannot_write():
    schema = Schema((Feature("a\0b", "numeric"),), named=True)
    leaves = [NodeRecord(0, [1.0, 0.0]), NodeRecord(0, [0.0, 1.0])]
    root = NodeRecord(-1, [1.0, 1.0], AxisSplit(0, 0.5), [1, 2])
    clf = fitted(tree_from_nodes(schema, ("n", "y"), [root, *leaves]))
    for format in ("sql", "pmml"):
        with pytest.raises(ValueError, match="cannot write"):
            clf.export(format)
    schema = Schema((Feature("x", "categorical", ("a\0", "b")),), named=True)
    tree = random_tree(np.random.default_rng(0), ("subset",), 1, schema)
    for format in ("sql", "pmml", "c"):
        with pytest.raises(ValueError, match=r"zero byte|cannot write"):
            fitted(tree).export(format)


# -- words ----------------------------------------------------------------------------


def test_rules_merge_bounds():
    schema = Schema(
        (Feature("x", "numeric"), Feature("c", "categorical", ("p", "q", "r"))), True
    )
    from omnitree.tree.splits import MultiwaySplit

    records = [
        NodeRecord(-1, [6.0, 4.0], AxisSplit(0, 5.0), [1, 2]),
        NodeRecord(0, [5.0, 2.0], AxisSplit(0, 1.0, missing=1), [3, 4]),
        NodeRecord(0, [1.0, 2.0], MultiwaySplit(1, (0, 1, -1), missing=-1), [5, 6]),
        NodeRecord(1, [4.0, 1.0]),
        NodeRecord(1, [1.0, 1.0], AxisSplit(0, 3.0, missing=1), [7, 8]),
        NodeRecord(2, [1.0, 0.0]),
        NodeRecord(2, [0.0, 2.0]),
        NodeRecord(4, [1.0, 0.0]),
        NodeRecord(4, [0.0, 1.0]),
    ]
    text = fitted(tree_from_nodes(schema, ("no", "yes"), records)).export("rules")
    assert text == (
        "5 rules from 10 training rows\n"
        "Where a tested value is missing, several rules hold in part.\n"
        "\nIF x <= 1\nTHEN no  (support 5 = 50.0%, confidence 80.0%)\n"
        "\nIF x > 5\nAND c = p\nTHEN no  (support 1 = 10.0%, confidence 100.0%)\n"
        "\nIF 1 < x <= 3\nTHEN no  (support 1 = 10.0%, confidence 100.0%)\n"
        "\nIF x > 5\nAND c = q\nTHEN yes  (support 2 = 20.0%, confidence 100.0%)\n"
        "\nIF 3 < x <= 5, or missing\n"
        "THEN yes  (support 1 = 10.0%, confidence 100.0%)\n"
    )


def test_json_has_the_public_tree(rng):
    tree = random_tree(rng, tuple(SPLITS), 10)
    document = json.loads(fitted(tree).export("json"))
    assert document["tree"] == tree.to_dict()
    assert document["estimator"] == "TreeClassifier"


def test_formats_and_options(rng):
    clf = fitted(random_tree(rng, ("axis",), 3))
    for format in FORMATS:
        found = clf.export(format)
        assert isinstance(found, bytes if format == "onnx" else str) and found
    with pytest.raises(
        ValueError, match=r"unknown format 'sqll', did you mean 'sql'\?"
    ):
        clf.export("sqll")
    with pytest.raises(ValueError, match="has no option 'proba'"):
        clf.export("c", proba=True)


def test_python_accepts_cells_of_many_kinds():
    frame = pd.DataFrame({"size": [1.0, 2.0, 3.0, 4.0], "code": ["1", "2", "1", "2"]})
    clf = TreeClassifier().fit(frame, ["a", "b", "c", "d"])
    names: dict = {}
    exec(clf.export("python"), names)
    predict = names["predict"]
    assert predict({"size": "3", "code": 1}) == predict({"size": 3, "code": 1.0})
    assert predict({"size": 3.0, "code": "1"})[0] == "c"
    blanks = [None, float("nan"), pd.NA, "", "  "]
    assert len({predict({"size": b, "code": "1"})[0] for b in blanks}) == 1
    assert predict({"code": "1"}) == predict({"size": None, "code": "1"})
    with pytest.raises(ValueError):
        predict({"size": "big", "code": "1"})


# -- real data ------------------------------------------------------------------------

FOLDER = Path(
    os.environ.get(
        "OMNITREE_DATA", Path(__file__).parents[2].parent / "shared" / "data"
    )
)
SETS = {
    "iris": {},
    "glass": {},
    "vote": {"smoothing": "laplace"},
    "hepatitis": {},
    "horse": {},
    "flare": {},
    "cleveland": {"smoothing": 2.0},
    "monks1": {},
}


@cache
def read(name: str) -> tuple[pd.DataFrame, pd.Series]:
    if not FOLDER.exists():
        pytest.skip(f"no data sets in {FOLDER}; set OMNITREE_DATA")
    data = from_folder(name, FOLDER)
    return data.X, pd.Series(data.y)


SLOW_PLANS = (("cart", "duckdb"), ("ldt", "duckdb"), ("omni", "duckdb"))


@cache
def trained(preset: str, name: str) -> TreeClassifier:
    options = {} if preset == "omni" else SETS[name]
    return presets.make(preset, random_state=0, **options).fit(*read(name))


@pytest.mark.parametrize(
    ("name", "preset", "format"),
    [
        # DuckDB plans long expressions slowly; SQLite has run the same text.
        pytest.param(*case, marks=[pytest.mark.slow] * (case[1:] in SLOW_PLANS))
        for case in product(SETS, ["c4.5", "cart", "ldt", "omni"], RUN)
    ],
)
def test_data_sets(name: str, preset: str, format: str, tmp_path: Path):
    clf, X = trained(preset, name), read(name)[0]
    labels, proba = run(format, clf, cells(X), tmp_path)
    assert labels == clf.predict(X).tolist()
    np.testing.assert_allclose(proba, clf.predict_proba(X), rtol=0, atol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 12])
def test_shares_are_the_trees_to_the_last_bit(n_classes, rng):
    """However Python adds up floats, and in whatever order NumPy does."""
    schema = Schema((Feature("s", "categorical", tuple("abcdefghij")),), named=True)
    for _ in range(50):
        values = rng.random((11, n_classes))
        split = MultiwaySplit(0, tuple(range(10)), missing=-1)
        records = [NodeRecord(-1, values[0], split, range(1, 11))]
        records += [NodeRecord(0, v) for v in values[1:]]
        labels = tuple(f"c{k}" for k in range(n_classes))
        tree = tree_from_nodes(schema, labels, records)
        model = Model(tree.to_dict())
        assert model.shares == tree.shares.tolist()
        assert model.outputs == tree.class_shares.tolist()
