"""Hostile tables over every preset: a clear refusal, or a tree in which all is right.

Right: counts that add up to the rows, probabilities, the same answer for a row alone and in
its batch, and the same model after a save.
"""

from __future__ import annotations

import copy
import warnings
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from tests.fuzz.harness import Campaign, expect, is_refusal
from tests.fuzz.hostile import LARGE, TABLES

from omnitree import (
    OmniTreeClassifier,
    OmniTreeRegressor,
    TreeClassifier,
    TreeRegressor,
    load,
    presets,
    save,
)

REFUSALS = (ValueError, TypeError)
ESTIMATORS = {
    "TreeClassifier": TreeClassifier,
    "OmniTreeClassifier": OmniTreeClassifier,
    "TreeRegressor": TreeRegressor,
    "OmniTreeRegressor": OmniTreeRegressor,
}
# Of large tables; a fit is stopped by its own limit, and what is left takes as long again.
LIMIT = 5.0


class Tables(Campaign):
    """Pairs of a hostile table and an estimator, in an order drawn by the seed."""

    seconds = 4 * LIMIT
    # A contest of 1,000 classes holds the counts of eleven trees.
    memory = 2**30

    def __init__(self, seed: int, folder: Path, large: bool = True):
        super().__init__(seed, folder)
        tables = [name for name in TABLES if large or name not in LARGE]
        names = [*ESTIMATORS, *presets.names()]
        self.pairs = [(table, name) for table in tables for name in names]
        Random(seed).shuffle(self.pairs)

    def attempt(self, number: int) -> tuple[str, int]:
        table, name = self.pairs[number % len(self.pairs)]
        rng = np.random.default_rng([self.seed, number])
        X, y = TABLES[table](rng)
        options = {"random_state": 0}
        if table in LARGE:
            options["max_seconds"] = LIMIT
        make = ESTIMATORS.get(name) or (lambda **o: presets.make(name, **o))
        model = make(**options)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            before = copy.deepcopy(X)
            try:
                model.fit(X, y)
            except REFUSALS as error:
                if not is_refusal(error, REFUSALS):
                    raise
                return "refused", _size(X)
            expect(_same(before, X), f"{table}: fit changed the table")
            _check(model, X, y, self.folder / "model.json")
        return "works", _size(X)


def _check(model: Any, X: Any, y: Any, path: Path) -> None:
    tree = model.tree_
    n = len(y)
    sums = np.zeros_like(tree.value)
    np.add.at(sums, tree.parent[1:], tree.value[1:])
    inner = tree.kind != 0
    expect(np.allclose(sums[inner], tree.value[inner]), "counts do not add up")
    expect(0 < tree.value[0].sum() <= n + 1e-9 * n, "rows out of nothing")
    answer = model.predict(X)
    expect(len(answer) == n, "as many answers as rows")
    outputs = answer
    if hasattr(model, "predict_proba"):
        outputs = model.predict_proba(X)
        expect(np.allclose(outputs.sum(axis=1), 1), "probabilities do not add to one")
    expect(np.isfinite(outputs).all() or outputs.dtype.kind in "OU", "infinite answers")
    for row in {0, 1, n // 2, n - 1} & set(range(n)):
        (alone,) = model.predict(_one(X, row)).tolist()
        same = alone == answer[row] or (alone != alone and answer[row] != answer[row])
        expect(same, f"row {row} alone gets {alone!r}, in a batch {answer[row]!r}")
    model.describe()
    try:
        save(model, path)
    except REFUSALS as error:
        if not is_refusal(error, REFUSALS):
            raise
        return
    again = load(path)
    expect(again.tree_.to_dict() == tree.to_dict(), "another tree after a save")
    after = again.predict(X)
    expect(after.tolist() == answer.tolist(), "other answers after a save")
    # The order of bytes may change, and text may be as wide as a label that is in no class.
    same = after.dtype == answer.dtype.newbyteorder("=")
    same |= after.dtype.kind == answer.dtype.kind == "U"
    expect(same, f"{answer.dtype} is {after.dtype} after a save")


def _one(X: Any, row: int) -> Any:
    """A table of one row."""
    if hasattr(X, "iloc"):
        return X.iloc[[row]]
    if hasattr(X, "tocsr"):
        return X.tocsr()[[row]]
    return X[row : row + 1]


def _same(before: Any, after: Any) -> bool:
    if hasattr(before, "tocsr"):
        return (before.toarray() == after.toarray()).all()
    if hasattr(before, "equals"):
        return before.equals(after)
    if isinstance(before, np.ndarray) and before.dtype.kind == "f":
        return np.asarray(before).tobytes() == np.asarray(after).tobytes()
    return repr(before) == repr(after)


def _size(X: Any) -> int:
    return int(getattr(X, "nbytes", 0) or np.asarray(X, dtype=object).size * 64)
