"""Trees with curves on real tables, made by hand: a softmax model of piecewise linear hats.

A hat is 1 at its knot and falls to 0 at the next ones, so that its coefficient is the value
of the curve there; a missing cell is a column of its own.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

from omnitree import TreeClassifier
from omnitree.data.table import Table, learn_table
from omnitree.tree.curves import curve_at
from omnitree.tree.leaf_models import LeafModel
from omnitree.tree.splits import AdditiveMachineSplit, AdditiveSplit, Split
from omnitree.tree.tree import NodeRecord, Tree, tree_from_nodes

Rows = tuple[pd.DataFrame, np.ndarray]


def iris() -> Rows:
    """Iris; a tenth of the cells are missing, and a column of categories says nothing."""
    data = load_iris(as_frame=True)
    rng = np.random.default_rng(0)
    frame = data.data.mask(rng.random(data.data.shape) < 0.1)
    frame["site"] = rng.choice(["bank", "field", "wood"], len(frame))
    return frame, data.target_names[data.target]


def pima() -> Rows:
    """The Pima table; zeros that nobody can have are missing values."""
    beside = Path(__file__).parents[1].parent / "shared" / "data"
    path = Path(os.environ.get("OMNITREE_DATA", beside)) / "pima.csv"
    if not path.exists():
        pytest.skip("needs pima.csv in ../shared/data or OMNITREE_DATA")
    frame = pd.read_csv(path)
    labels = np.where(frame.pop("class") == 1, "ill", "well")
    unknown = frame.columns[1:6]
    frame[unknown] = frame[unknown].astype(float).replace(0, np.nan)
    return frame, labels


def curved_model(table: Table, y: np.ndarray, n_knots: int = 6) -> LeafModel:
    """Scores of the classes: curves of all numbers, centred, and weights of categories."""
    features, category = table.schema.linear_columns()
    curves, blocks = [], []
    for column in np.flatnonzero(category < 0):
        x = table.values[:, features[column]]
        known = x[~np.isnan(x)]
        knots = np.unique(np.quantile(known, np.linspace(0, 1, n_knots)))
        lines = np.vstack([np.eye(len(knots) + 1)])
        blocks.append(np.column_stack([curve_at(knots, line, x) for line in lines]))
        curves.append((int(column), knots))
    plain = np.flatnonzero(category >= 0)
    codes = table.values[:, features[plain]]
    blocks.append(np.where(codes == category[plain], 1.0, -1.0))
    fitted = LogisticRegression(C=2.0, max_iter=500).fit(np.hstack(blocks), y)
    weights, bias = fitted.coef_, fitted.intercept_
    if len(weights) == 1:
        weights, bias = np.vstack([-weights, weights]), np.array([-bias[0], bias[0]])
    parts = np.split(weights, np.cumsum([b.shape[1] for b in blocks[:-1]]), axis=1)
    values = []
    for (_, _), block, part in zip(curves, blocks, parts, strict=False):
        mean = (block @ part.T).mean(axis=0)
        values.append(part - mean[:, None])
        bias = bias + mean
    return LeafModel(
        tuple(plain.tolist()),
        (0.0,) * len(plain),
        tuple(bias.tolist()),
        tuple(map(tuple, parts[-1].tolist())),
        curve_columns=tuple(column for column, _ in curves),
        knots=tuple(tuple(knots.tolist()) for _, knots in curves),
        curve_values=tuple(
            tuple(tuple(part[k].tolist()) for part in values) for k in range(len(bias))
        ),
    )


def curved_tree(
    X: pd.DataFrame, y: np.ndarray, one_sum: bool = False
) -> TreeClassifier:
    """A classifier of one test with curves, whose leaves answer by its own functions.

    With `one_sum`, the test is the difference of the scores of two classes.
    """
    classes, codes = np.unique(y, return_inverse=True)
    table = learn_table(X, codes)
    model = curved_model(table, codes)
    test: Split = AdditiveMachineSplit.of(model)
    if one_sum:
        test = AdditiveSplit.of(_difference(model))
    clf = TreeClassifier()
    clf._set_fitted(
        stump_of(test, table, codes, model, tuple(classes.tolist())), classes
    )
    return clf


def _difference(model: LeafModel) -> LeafModel:
    """The second of two sums less the first."""

    def less(values):
        first, second = (np.array(v) for v in values)
        return second - first

    lines = zip(*model.curve_values, strict=True)
    return LeafModel(
        model.columns,
        model.fill,
        (float(less(model.bias)),),
        (tuple(less(model.weights).tolist()),),
        curve_columns=model.curve_columns,
        knots=model.knots,
        curve_values=(tuple(tuple(less(two).tolist()) for two in lines),),
    )


def stump_of(
    test: Split,
    table: Table,
    codes: np.ndarray,
    model: LeafModel | None,
    classes: tuple[str, ...],
) -> Tree:
    """A tree of one test with the counts of the rows, and the same model in all leaves."""
    branch = test.route(table, np.arange(table.n_rows))
    counts = np.zeros((test.n_children, len(classes)))
    np.add.at(counts, (branch, codes), 1.0)
    n = test.n_children
    root = NodeRecord(-1, counts.sum(axis=0), test, range(1, n + 1))
    leaves = [NodeRecord(0, line, model=model) for line in counts]
    tree = tree_from_nodes(table.schema, classes, [root, *leaves])
    cells = table.encoded.cells
    return tree.replace(deviation=np.nanstd(cells, axis=0))
