"""A kind of test of one's own costs its class: routing, files, words and every export.

The kinds are written here and nowhere else; between them they use every operator.
"""

from __future__ import annotations

import json
import pickle
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.export.browser import Watched, chromium
from tests.export.test_explorer_browser import check_what_if
from tests.export.test_export import check, decoded, fitted
from tests.tree.test_expression import naive_branch
from tests.trees import SCHEMA, kinds_restored, random_rows, random_test

from omnitree.data.schema import Schema
from omnitree.data.table import Table
from omnitree.tree.expression import (
    AtMost,
    Call,
    Cell,
    Column,
    Constant,
    Curve,
    Cut,
    Largest,
    Lookup,
    Product,
    Rule,
    Sum,
    filled,
)
from omnitree.tree.records import NodeRecord
from omnitree.tree.splits import KINDS, Split, register
from omnitree.tree.tree import Tree, tree_from_nodes


@dataclass(frozen=True)
class Ellipsoid(Split):
    """Branch 0 inside: the sum of ((x - centre) / radius)^2 is at most 1."""

    columns: tuple[int, ...]
    fill: tuple[float, ...]
    centre: tuple[float, ...]
    radius: float
    kind = "ellipsoid"

    @property
    def rule(self) -> Rule:
        squares = []
        for column, c in zip(filled(self.columns, self.fill), self.centre, strict=True):
            apart = Sum((column, Constant(-c)))
            squares.append(Product((apart, apart, Constant(1 / self.radius))))
        return Cut(Sum((Constant(0.0), *squares)), 1.0)


@dataclass(frozen=True)
class TwoCuts(Split):
    """Branch 1 where exactly one of two columns is at most its threshold."""

    columns: tuple[int, ...]
    fill: tuple[float, ...]
    cuts: tuple[float, ...]
    kind = "two_cuts"

    @property
    def rule(self) -> Rule:
        pairs = zip(filled(self.columns, self.fill), self.cuts, strict=True)
        a, b = (AtMost(column, Constant(cut)) for column, cut in pairs)
        return Cut(Sum((a, b, Product((Constant(-2.0), a, b)))), 0.5)


@dataclass(frozen=True)
class Bells(Split):
    """The nearest of some centres, by weighted bells; a branch each."""

    columns: tuple[int, ...]
    fill: tuple[float, ...]
    centres: tuple[tuple[float, ...], ...]
    heights: tuple[float, ...]
    kind = "bells"
    family = "radial"
    title = "nearest bell"

    @property
    def n_children(self) -> int:
        return len(self.heights)

    @property
    def rule(self) -> Rule:
        columns = filled(self.columns, self.fill)
        bells = []
        for height, centre in zip(self.heights, self.centres, strict=True):
            apart = [
                Sum((x, Constant(-c))) for x, c in zip(columns, centre, strict=True)
            ]
            squares = Sum(tuple(Product((Constant(-0.125), d, d)) for d in apart))
            bells.append(Product((Constant(height), Call("exp", squares))))
        return Largest(tuple(bells))


@dataclass(frozen=True)
class Valleys(Split):
    """Curves inside products, functions and comparisons, where no sum of terms is."""

    columns: tuple[int, ...]
    knots: tuple[float, ...]
    lines: tuple[tuple[float, ...], ...]
    kind = "valleys"

    @property
    def rule(self) -> Rule:
        pairs = zip(self.columns, self.lines, strict=True)
        a, b = (Curve(c, self.knots, line[:-1], line[-1]) for c, line in pairs)
        column = Column(self.columns[0], 0.5)
        product = Product((Constant(-0.5), a, Sum((column, b))))
        return Largest((product, Sum((a, Constant(0.25))), AtMost(b, a)))

    @property
    def n_children(self) -> int:
        return 3


@dataclass(frozen=True)
class Parity(Split):
    """Whether the code of a category is odd."""

    feature: int
    n_categories: int
    kind = "parity"

    @property
    def rule(self) -> Rule:
        return Lookup(self.feature, tuple(c % 2 for c in range(self.n_categories)))


@dataclass(frozen=True)
class AtLeast(Split):
    """Branch 0 where a number is above a threshold."""

    feature: int
    threshold: float
    kind = "at_least"

    @property
    def rule(self) -> Rule:
        return Cut(Cell(self.feature), self.threshold, low=1)


NEW = (Ellipsoid, TwoCuts, Bells, Valleys, Parity, AtLeast)


@pytest.fixture(autouse=True)
def _known():
    """The kinds, for one test."""
    with kinds_restored():
        for cls in NEW:
            register(cls)
        yield


def random_new(rng: np.random.Generator, kind: str, **rest) -> Split:
    """A random test of a new kind, on dyadic numbers."""

    def some(*shape: int):
        return rng.integers(-8, 9, size=shape) / 4

    if kind == "parity":
        return Parity(1, 3, **rest)
    if kind == "at_least":
        return AtLeast(int(rng.choice([0, 3, 4])), float(some()), **rest)
    if kind == "valleys":
        columns = tuple(rng.choice([0, 5, 6], 2, replace=False).tolist())
        knots = tuple((some() + np.array([0.0, 0.25, 1.25, 1.75])).tolist())
        return Valleys(columns, knots, tuple(map(tuple, some(2, 5).tolist())), **rest)
    m = 2 if kind == "two_cuts" else int(rng.integers(1, 4))
    columns = tuple(rng.choice(SCHEMA.n_columns, m, replace=False).tolist())
    fill = tuple(some(m).tolist())
    if kind == "two_cuts":
        return TwoCuts(columns, fill, tuple(some(2).tolist()), **rest)
    if kind == "ellipsoid":
        return Ellipsoid(columns, fill, tuple(some(m).tolist()), 4.0, **rest)
    k = int(rng.integers(2, 5))
    heights = tuple(rng.integers(1, 4, size=k).astype(float).tolist())
    centres = tuple(map(tuple, some(k, m).tolist()))
    return Bells(columns, fill, centres, heights, **rest)


def tree_of_new_kinds(rng: np.random.Generator, divide: bool = True) -> Tree:
    """Two levels of new kinds, with surrogates where the first test may fail."""
    kinds = [cls.kind for cls in NEW]
    records = [NodeRecord(-1, rng.integers(1, 40, size=3).astype(float))]
    for at in range(4):
        kind = str(rng.choice(kinds))
        n = 2 if kind in ("parity", "at_least") else 0
        others = (random_new(rng, "two_cuts"), random_test(rng, "axis"))[: n // 2]
        missing = int(rng.integers(-1 if divide else 0, 2))
        test = random_new(rng, kind, missing=missing, surrogates=others if n else ())
        first = len(records)
        records[at].split = test
        records[at].children = range(first, first + test.n_children)
        share = rng.dirichlet(np.ones(test.n_children))
        records += [NodeRecord(at, records[at].value * s) for s in share]
    return tree_from_nodes(SCHEMA, ("a", "b", "c"), records)


@pytest.mark.parametrize("format", ["python", "c", "sqlite", "duckdb", "onnx", "pmml"])
@pytest.mark.parametrize("divide", [False, True])
def test_exports_that_run(format: str, divide: bool, seed: int, tmp_path: Path):
    rng = np.random.default_rng(seed)
    for i in range(4):
        tree = tree_of_new_kinds(rng, divide)
        values = random_rows(rng, 60)
        folder = tmp_path / str(i)
        folder.mkdir()
        rows = decoded(values, SCHEMA)
        check(fitted(tree), rows, Table(values, SCHEMA), format, folder)


def test_routing_is_the_rule(seed: int):
    rng = np.random.default_rng(seed)
    values = random_rows(rng, 100)
    table = Table(values, SCHEMA)
    for cls in NEW:
        for _ in range(10):
            test = random_new(rng, cls.kind)
            expected = [naive_branch(test.rule, row) for row in values]
            assert test.route(table, np.arange(100)).tolist() == expected
            assert cls.unpack(*test.pack()[1:]) == test


def test_files_and_pickles(seed: int):
    rng = np.random.default_rng(seed)
    tree = tree_of_new_kinds(rng)
    table = Table(random_rows(rng, 50), SCHEMA)
    for other in (
        Tree.from_dict(json.loads(json.dumps(tree.to_dict()))),
        pickle.loads(pickle.dumps(tree)),
    ):
        assert other.to_dict() == tree.to_dict()
        assert (other.leaf_shares(table) != tree.leaf_shares(table)).nnz == 0


def test_pickles_know_kinds_by_name(seed: int):
    """Other processes may have registered them in another order, or not at all."""
    rng = np.random.default_rng(seed)
    tree = tree_of_new_kinds(rng)
    data = pickle.dumps(tree)
    added = [KINDS.pop() for _ in NEW]
    with pytest.raises(ValueError, match="which are not registered"):
        pickle.loads(data)
    KINDS.extend(added)  # the last one first
    table = Table(random_rows(rng, 50), SCHEMA)
    other = pickle.loads(data)
    assert (
        other.to_dict()
        == tree.replace(kind=other.kind, test_kind=other.test_kind).to_dict()
    )
    assert (other.leaf_shares(table) != tree.leaf_shares(table)).nnz == 0


def test_damaged_tests_are_refused():
    schema = Schema(SCHEMA.features, named=True)
    for test, message in (
        (TwoCuts((0, 99), (0.0, 0.0), (1.0, 1.0)), "column out of range"),
        (TwoCuts((0,), (0.0, 0.0), (1.0, 1.0)), "longer than argument"),
        (AtLeast(77, 1.0), "feature 77 is not in the schema"),
        (AtLeast(1, 1.0), "a threshold on a categorical feature"),
        (Parity(1, 5), "5 categories where the schema has 3"),
        (Valleys((0, 99), (0.0, 1.0), ((0.0,) * 3,) * 2), "column out of range"),
        (Valleys((0, 6), (1.0, 1.0), ((0.0,) * 3,) * 2), "strictly increasing"),
        (Valleys((0, 1), (0.0, 1.0), ((0.0,) * 3,) * 2), "a curve of a category"),
    ):
        n = test.n_children
        root = NodeRecord(-1, [float(n)] * 2, test, range(1, n + 1))
        leaves = [NodeRecord(0, [1.0, 1.0]) for _ in range(n)]
        with pytest.raises(ValueError, match=message):
            tree_from_nodes(schema, ("a", "b"), [root, *leaves])
    with pytest.raises(ValueError, match="called 'bells' already"):
        register(Bells)


def test_words_and_explanations(seed: int, tmp_path: Path):
    rng = np.random.default_rng(seed)
    names = [f.name for f in SCHEMA.features]
    for _ in range(5):
        tree = tree_of_new_kinds(rng)
        clf = fitted(tree)
        values = random_rows(rng, 12)
        rows = decoded(values, SCHEMA)
        expected = clf.tree_.predict_value(Table(values, SCHEMA), clf._node_outputs())
        for row, shares in zip(rows, expected, strict=True):
            found = clf.explain(dict(zip(names, row, strict=True)))
            assert list(found.probabilities.values()) == pytest.approx(shares)
            assert str(found)
        text = clf.describe()
        for node in range(tree.n_nodes):
            if tree.n_children[node] and tree.split(node).kind in (
                "ellipsoid",
                "bells",
            ):
                assert tree.split(node).kind in text or "nearest bell" in text
        frame = pd.DataFrame(rows, columns=names)
        assert clf.export("rules") and clf.export("dot").startswith("digraph")
        assert clf.to_html(tmp_path / "page.html", frame).exists()
        clf.plot()
        clf.plot_node(0, frame, np.array(["a", "b", "c"] * 4))


def test_the_page_in_a_browser(seed: int, tmp_path: Path):
    rng = np.random.default_rng(seed)
    with chromium() as browser:
        for _ in range(4):
            clf = fitted(tree_of_new_kinds(rng))
            values = random_rows(rng, 40)
            frame = pd.DataFrame(
                decoded(values, SCHEMA), columns=[f.name for f in SCHEMA.features]
            )
            watched = Watched(browser, clf.to_html(tmp_path / "page.html", frame))
            check_what_if(watched.page, clf, values)
            for card in watched.page.locator(".card").all():  # every panel is drawn
                card.dispatch_event("click")
                for text in watched.page.locator("#node .formula").all_inner_texts():
                    assert (
                        text.count("(") == text.count(")") and "undefined" not in text
                    )
            watched.close()


def test_functions_are_told_by_their_columns():
    leaves = [NodeRecord(0, [1.0, 0.0]), NodeRecord(0, [0.0, 1.0])]
    test = Ellipsoid((0, 6), (0.0, 0.0), (1.0, 2.0), 2.0)
    root = NodeRecord(-1, [1.0, 1.0], test, [1, 2])
    clf = fitted(tree_from_nodes(SCHEMA, ("in", "out"), [root, *leaves]))
    assert "ellipsoid(height, weight) <= 1: in" in clf.describe()
    assert "IF ellipsoid(height, weight) > 1\nTHEN out" in clf.export("rules")
    row = dict.fromkeys((f.name for f in SCHEMA.features), None)
    step = clf.explain(row | {"height": 1.0, "weight": 4.0}).steps[0]
    assert step.value == 2.0 and step.margin == 1.0 and not step.adds_up
    # At its mean a feature would be one away from the centre, or two.
    assert {c.name: c.amount for c in step.contributions} == {
        "height": -0.5,
        "weight": 0.0,
    }
