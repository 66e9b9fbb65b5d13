"""Random trees with every kind of test, for tests of routing and of the tree."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from omnitree.data.schema import Feature, Schema
from omnitree.tree.leaf_models import LeafModel, LeafModels
from omnitree.tree.shared_models import flat_weights, with_sums
from omnitree.tree.splits import (
    KINDS,
    SPLITS,
    AdditiveMachineSplit,
    AdditiveSplit,
    AxisSplit,
    CasesSplit,
    LinearSplit,
    MachineSplit,
    MultiwaySplit,
    NetworkSplit,
    QuadraticMachineSplit,
    QuadraticSplit,
    Split,
    SubsetSplit,
    fields_from_dict,
)
from omnitree.tree.tree import NodeRecord, Tree, tree_from_nodes

SCHEMA = Schema(
    (
        Feature("height", "numeric"),
        Feature("colour", "categorical", ("blue", "green", "red")),
        Feature("old", "boolean", (False, True)),
        Feature("size", "ordered", ("S", "M", "L")),
        Feature("weight", "numeric"),
        Feature("one", "categorical", ("only",)),
    ),
    named=True,
)
UNIVARIATE = ("axis", "multiway", "subset")


@contextmanager
def kinds_restored() -> Iterator[None]:
    """Kinds of tests that are registered inside are forgotten after it."""
    before = list(KINDS)
    yield
    for kind in set(KINDS) - set(before):
        del SPLITS[kind]
        KINDS.remove(kind)


def random_test(
    rng: np.random.Generator, kind: str, schema: Schema = SCHEMA, **rest
) -> Split:
    """A random test of a kind, on dyadic numbers so that sums are exact."""
    numbers = [j for j, f in enumerate(schema.features) if not f.is_categorical]
    categorical = [j for j, f in enumerate(schema.features) if f.n_categories > 1]

    def some(*shape: int) -> Any:
        return rng.integers(-8, 9, size=shape) / 4

    if kind == "axis":
        return AxisSplit(
            int(rng.choice(numbers)), float(some()), int(rng.integers(2)), **rest
        )
    if kind in ("multiway", "subset"):
        feature = int(rng.choice(categorical))
        m = schema.features[feature].n_categories
        top = 2 if kind == "subset" else int(rng.integers(2, m + 1))
        branch = [*range(top), *rng.integers(-1, top, size=m - top)]
        branch = tuple(int(b) for b in rng.permutation(branch))
        return (SubsetSplit if kind == "subset" else MultiwaySplit)(
            feature, branch, **rest
        )
    m = int(rng.integers(1, schema.n_columns + 1))
    columns = tuple(int(c) for c in rng.choice(schema.n_columns, m, replace=False))
    fill = tuple(some(m).tolist())

    def matrix(rows: int) -> tuple[tuple[float, ...], ...]:
        return tuple(tuple(r) for r in some(rows, m).tolist())

    if kind == "linear":
        return LinearSplit(
            columns, tuple(some(m).tolist()), fill, float(some()), **rest
        )
    t = int(rng.integers(1, 6))
    terms = tuple((int(rng.integers(m)), int(rng.integers(-1, m))) for _ in range(t))
    if kind == "quadratic":
        return QuadraticSplit(
            columns, fill, terms, tuple(some(t).tolist()), float(some()), **rest
        )
    if kind == "machine":
        k = int(rng.integers(2, 5))
        return MachineSplit(columns, fill, tuple(some(k).tolist()), matrix(k), **rest)
    if kind == "quadratic_machine":
        k = int(rng.integers(2, 5))
        rows = tuple(tuple(r) for r in some(k, t).tolist())
        return QuadraticMachineSplit(
            columns, fill, terms, tuple(some(k).tolist()), rows, **rest
        )
    if kind in ("additive", "additive_machine"):
        model = random_model(rng, int(rng.integers(2, 5)), schema, cases=0.0)
        model = with_curves(rng, model, schema)
        if kind == "additive_machine":
            return AdditiveMachineSplit.of(model, **rest)
        return AdditiveSplit.of(one_sum(model), **rest)
    if kind == "cases":
        k = int(rng.integers(2, 5))
        own = random_cases(rng, m, k)
        return CasesSplit(columns, fill, tuple(some(k).tolist()), **own, **rest)
    assert kind == "network"
    h = int(rng.integers(1, 4))
    return NetworkSplit(
        columns,
        fill,
        tuple(some(h).tolist()),
        matrix(h),
        float(some()),
        tuple(some(h).tolist()),
        **rest,
    )


def random_cases(rng: np.random.Generator, m: int, k: int) -> dict[str, Any]:
    """Cases over m columns in k sums, of which most belong to one; some columns count 0."""
    n = int(rng.integers(1, 7))
    weights = rng.integers(-8, 9, size=(k, n)) / 4
    if rng.random() < 0.7:
        weights[np.arange(k)[:, None] != rng.integers(k, size=n)] = 0.0
    cases = rng.integers(-8, 9, size=(n, m)) / 4
    return {
        "precision": tuple((rng.integers(0, 9, size=m) / 16).tolist()),
        "cases": tuple(map(tuple, cases.tolist())),
        "case_weights": tuple(map(tuple, weights.tolist())),
    }


def random_model(
    rng: np.random.Generator,
    n_classes: int = 3,
    schema: Schema = SCHEMA,
    cases: float = 0.2,
) -> LeafModel:
    """A random model on dyadic numbers, sometimes without columns, with products, curves.

    A share `cases` has cases instead of curves and of weights of columns.
    """
    p = schema.n_columns
    weights = rng.integers(-8, 9, size=(n_classes, p)) / 8
    weights[:, rng.random(p) < rng.random()] = 0.0
    some = rng.integers(-8, 9, size=n_classes + p) / 4
    used = np.flatnonzero(weights.any(axis=0))
    model = LeafModel(
        tuple(used.tolist()),
        tuple(some[n_classes:][used].tolist()),
        tuple(some[:n_classes].tolist()),
        tuple(map(tuple, weights[:, used].tolist())),
    )
    if model.columns and rng.random() < 0.5:
        m, t = len(model.columns), int(rng.integers(1, 7))
        at = rng.integers(m, size=t), rng.integers(-1, m, size=t)
        terms = tuple(zip(*(a.tolist() for a in at), strict=True))
        rows = rng.integers(-8, 9, size=(n_classes, t)) / 16
        weights = tuple(map(tuple, rows.tolist()))
        model = replace(model, weights=weights, terms=terms)
    kind = rng.random()
    if kind < 0.3:
        return with_curves(rng, model, schema)
    if kind < 0.3 + cases and model.columns:
        weights = model.weights if model.terms else ((),) * n_classes
        own = random_cases(rng, len(model.columns), n_classes)
        return replace(model, weights=weights, **own)
    return model


def with_curves(
    rng: np.random.Generator, model: LeafModel, schema: Schema = SCHEMA
) -> LeafModel:
    """The model and a few curves, whose slopes are exact; some curves of a sum are 0."""
    category = schema.linear_columns()[1]
    numbers = np.flatnonzero(category < 0)
    n = int(rng.integers(1, len(numbers) + 1))
    columns = tuple(rng.choice(numbers, n, replace=False).tolist())
    gaps = [2.0 ** rng.integers(-2, 1, size=rng.integers(1, 5)) for _ in columns]
    start = rng.integers(-8, 5, size=n) / 4
    knots = [
        (s + np.cumsum([0.0, *gap])).tolist()
        for s, gap in zip(start, gaps, strict=True)
    ]
    lines = tuple(
        tuple(
            tuple((rng.integers(-8, 9, size=len(own) + 1) / 4 * on).tolist())
            for own, on in zip(knots, rng.random(n) < 0.8, strict=True)
        )
        for _ in model.bias
    )
    return replace(
        model,
        curve_columns=columns,
        knots=tuple(map(tuple, knots)),
        curve_values=lines,
    )


def one_sum(model: LeafModel) -> LeafModel:
    """The first sum of a model alone."""
    names = ("bias", "weights", "curve_values", "case_weights")
    return replace(model, **{name: getattr(model, name)[:1] for name in names})


def random_tree(
    rng: np.random.Generator,
    kinds: tuple[str, ...],
    n_inner: int = 8,
    schema: Schema = SCHEMA,
    surrogates: bool = True,
    models: float = 0.0,
) -> Tree:
    """A tree of random tests; counts add up, some branches are empty.

    A share `models` of the nodes has a linear model.
    """
    records = [NodeRecord(-1, rng.integers(1, 40, size=3).astype(float))]
    open_ = [0]
    for _ in range(n_inner):
        at = open_.pop(0)
        kind = str(rng.choice(kinds))
        test = random_test(rng, kind, schema)
        n = test.n_children
        others = ()
        if surrogates and n == 2 and kind in UNIVARIATE:
            usable = ["axis", "subset"] if schema.n_categories.any() else ["axis"]
            others = tuple(
                random_test(rng, str(rng.choice(usable)), schema)
                for _ in range(rng.integers(3))
            )
        missing = int(rng.integers(-1, n))
        split = replace(
            test, merit=float(rng.random()), missing=missing, surrogates=others
        )
        share = rng.random((n, 1)) * (rng.random((n, 1)) > 0.15)
        share = share / share.sum() if share.sum() else np.full((n, 1), 1 / n)
        first = len(records)
        records[at].split, records[at].children = split, range(first, first + n)
        for b in range(n):
            records.append(NodeRecord(at, records[at].value * share[b]))
            open_.append(first + b)
    for record in records:
        if models and rng.random() < models:
            record.model = random_model(rng, schema=schema)
    return tree_from_nodes(schema, ("a", "b", "c"), records)


def functions_of(
    test: Any, scale: float, classes: tuple[int, ...], n: int
) -> LeafModel:
    """The model of a test's own functions times a number, for the classes of its branches.

    The functions are centred, as softmax allows; other classes have the constant -3.
    """
    plain = test.to_dict()
    of_cases = "cases" in plain
    own = np.array(plain["case_weights"] if of_cases else flat_weights(plain))
    start = np.array(getattr(test, "bias", (-getattr(test, "threshold", 0.0),)))
    if not hasattr(test, "bias"):
        own, start = np.vstack([0 * own, own]), np.array([0.0, *start])
    weights, bias = np.zeros((n, own.shape[1])), np.full(n, -3.0)
    weights[list(classes)] = scale * (own - own.mean(axis=0))
    bias[list(classes)] = scale * (start - start.mean())
    model: dict[str, Any] = {"link": "softmax"}
    model |= {name: plain[name] for name in ("columns", "fill")}
    for name in ("terms", "curve_columns", "knots", "precision", "cases"):
        if plain.get(name):
            model[name] = plain[name]
    if of_cases:
        model |= {"bias": bias.tolist(), "weights": [[]] * n}
        model["case_weights"] = weights.tolist()
    else:
        model = with_sums(model, bias.tolist(), weights.tolist())
    return fields_from_dict(LeafModel, "a model", model)


def calibrated_tree(
    rng: np.random.Generator, kinds: tuple[str, ...], scale: float | None = 0.75, **rest
) -> Tree:
    """A random tree whose tests on several columns hand rows to leaves with one model.

    The model is the test's own functions times `scale`; a random one where that is None.
    Above them are univariate tests too; where a machine has more branches than there are
    classes, its leaves have no model.
    """
    tree = random_tree(rng, kinds, **rest)
    models: list[LeafModel | None] = [None] * tree.n_nodes
    for node in np.flatnonzero(tree.n_children > 0).tolist():
        below = range(
            tree.first_child[node], tree.first_child[node] + tree.n_children[node]
        )
        test = tree.split(node)
        if test.kind in (*UNIVARIATE, "network") or tree.n_children[below].any():
            continue
        if len(below) > len(tree.classes):
            continue
        classes = sorted(
            rng.choice(len(tree.classes), len(below), replace=False).tolist()
        )
        model = random_model(rng, len(tree.classes), tree.schema)
        if scale is not None:
            model = functions_of(test, scale, tuple(classes), len(tree.classes))
        for leaf in below:
            models[leaf] = model
    return tree.replace(models=LeafModels.of(models))


def shifted_tree(
    rng: np.random.Generator,
    kinds: tuple[str, ...] = ("axis", "subset", "linear", "machine"),
    n_models: int = 1,
    **rest,
) -> Tree:
    """A random tree whose leaves answer by the scores of a few models, each with a shift.

    Each model has products and curves, so that all terms are there; a leaf in ten has none.
    """
    tree = random_tree(rng, kinds, **rest)
    shared: list[LeafModel] = []
    while len(shared) < n_models:
        model = random_model(rng, len(tree.classes), tree.schema, cases=0.0)
        if model.terms:
            shared.append(with_curves(rng, model, tree.schema))
    models: list[LeafModel | None] = [None] * tree.n_nodes
    for leaf in np.flatnonzero(tree.n_children == 0).tolist():
        if rng.random() < 0.9:
            bias = tuple((rng.integers(-8, 9, size=len(tree.classes)) / 4).tolist())
            models[leaf] = replace(shared[rng.integers(n_models)], bias=bias)
    return tree.replace(models=LeafModels.of(models))


def random_rows(
    rng: np.random.Generator,
    n: int,
    schema: Schema = SCHEMA,
    missing_share: float = 0.25,
):
    """Encoded rows with missing values; numbers lie on thresholds often."""
    values = np.empty((n, schema.n_features))
    for j, feature in enumerate(schema.features):
        m = len(feature.categories or ())
        values[:, j] = (
            rng.integers(0, m, size=n) if m else rng.integers(-12, 13, size=n) / 4
        )
    values[rng.random(values.shape) < missing_share] = np.nan
    return values
