"""What the leaves of a tree for a numeric target hold: a constant, or a linear model.

`Ridge` fits a linear model with a ridge penalty to the rows of a node, by weighted least
squares on the standardised columns. The penalty is the one with the least squared error
when each row in turn, with its whole weight, is left out, which costs one factorisation for
all penalties; an infinite penalty, the constant, is among them, so a leaf has a model only
if it pays. Where rows belong to groups, folds of whole groups are left out instead. Used by
`TreeRegressor`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from omnitree.growing.criterion import SquaredError
from omnitree.growing.node import Node, Rules
from omnitree.growing.part import number
from omnitree.growing.sample import Sample
from omnitree.growing.standard_columns import StandardColumns
from omnitree.parts.leaves.base import Leaves
from omnitree.resampling.folds import deal, parts_of
from omnitree.tree.leaf_models import LeafModel, LeafModels
from omnitree.tree.tree import Tree

Floats = NDArray[np.float64]
FOLDS = 10  # of groups


class ConstantLeaves(Leaves):
    """Leaves predict a constant: the mean, or the median for the absolute error."""

    task = "regression"
    plain = True

    def fit(self, tree: Tree, sample: Sample, rules: Rules) -> Tree:
        return tree


class RidgeLeaves(Leaves):
    """Leaves predict by a linear model with a ridge penalty where it beats a constant.

    Only for the squared error.

    Parameters
    ----------
    penalties : tuple of float
        Tried in turn, each times the number of rows; standardised columns make them
        comparable.
    search_penalty : float, default=0.01
        Times the number of rows, while cuts are searched.
    cuts : int, default=32
        A test is searched among this many cuts of a projection, and then among those
        next to the best.
    """

    task = "regression"

    def __init__(
        self,
        penalties=(1e-4, 1e-3, 1e-2, 0.1, 1.0),
        search_penalty=1e-2,
        cuts=32,
    ):
        self.penalties = penalties
        self.search_penalty = search_penalty
        self.cuts = cuts

    @property
    def resamples(self) -> bool:
        return True

    def fit(self, tree: Tree, sample: Sample, rules: Rules) -> Tree:
        if type(sample.target.criterion) is not SquaredError:
            raise ValueError(
                "ridge leaves make the squared error small; with another criterion use "
                "leaves='constant'"
            )
        standard = sample.standardised
        start, row, share = tree.passing(sample.table)
        models: list[LeafModel | None] = []
        loss = np.array(tree.loss)
        for node in range(tree.n_nodes):
            part = slice(start[node], start[node + 1])
            rows = row[part].astype(np.int64)
            weight = share[part] * sample.weight[rows]
            found = None
            if not rules.limits.expired():
                fold = folds_of_groups(sample, rows, weight, rules.seed)
                found = self.model(standard, rows, sample.y[rows], weight, fold)
            models.append(found and found[0])
            if found:
                loss[node] = found[1]
        return tree.replace(models=LeafModels.of(models), loss=loss)

    def model(
        self,
        standard: StandardColumns,
        rows: NDArray,
        target: Floats,
        weight: Floats,
        fold: NDArray[np.int64] | None = None,
    ) -> tuple[LeafModel, float] | None:
        """The linear model of some rows and its loss; None: a constant is no worse."""
        for penalty in self.penalties:
            number("penalties", penalty)
        total = float(weight.sum())
        if total < 3:
            return None
        columns = standard.take(rows, standard.missing_means(rows, weight))
        mean = weight @ columns / total
        bias = float(weight @ target / total)
        columns = columns - mean
        penalties = np.array(self.penalties) * total
        found = fit_ridge(columns, target - bias, weight, penalties, fold)
        if found is None:
            return None
        loss = float(weight @ (target - bias - columns @ found) ** 2)
        at_mean = np.array([bias - mean @ found])
        return standard.scaling.model(found[None], at_mean, mean, "identity"), loss

    def answers(self, node: Node, here: NDArray[np.bool_], rows: NDArray) -> Floats:
        sample, own, weight = node.sample, node.rows[here], node.weight[here]
        fold = folds_of_groups(sample, own, weight, node.rules.seed)
        found = self.model(sample.standardised, own, node.y[here], weight, fold)
        models = LeafModels.of([None if found is None else found[0]])
        if models is None:
            return super().answers(node, here, rows)
        out = np.empty((len(rows), 1))
        models.answer(sample.table, rows, np.zeros(len(rows), dtype=np.int32), out)
        return out


def folds_of_groups(
    sample: Sample, rows: NDArray, weight: Floats, seed: int
) -> NDArray[np.int64] | None:
    """Folds of some rows that keep groups together; None where there are no groups."""
    if sample.groups is None:
        return None
    target = sample.target.take(rows)
    key, groups = sample.row_hash(seed)[rows], sample.groups[rows]
    return deal(key, target.strata(), FOLDS, seed, (weight, target.y), groups)


def fit_ridge(
    x: Floats,
    t: Floats,
    weight: Floats,
    penalties: Floats,
    fold: NDArray[np.int64] | None = None,
) -> Floats | None:
    """Weights for the penalty with the least error on rows that are left out.

    `x` and `t` are around their means. `fold` says which rows are left out together; without
    it, each by itself. None if no penalty beats the constant.
    """
    if weight.sum() < 3 or not x.shape[1]:
        return None
    scores, vectors, values = _principal(x, weight)
    slope = scores.T @ (weight * t)
    shrink = 1.0 / (values[:, None] + penalties)  # (r, penalties)
    if fold is None:
        residual = t[:, None] - scores @ (shrink * slope[:, None])
        share = weight / weight.sum()
        leverage = (scores**2 @ shrink) * weight[:, None] + share[:, None]
        # A row that alone decides its own answer says nothing about the model.
        left_out = residual / np.maximum(1.0 - leverage, 1e-3)
        errors = weight @ left_out**2
        constant = float(weight @ (t / np.maximum(1.0 - share, 1e-3)) ** 2)
    else:
        errors, constant = _left_out(x, t, weight, penalties, fold)
    best = int(np.argmin(errors))
    if not errors[best] < constant * (1 - 1e-9):
        return None
    return vectors @ (shrink[:, best] * slope)


def _principal(x: Floats, weight: Floats) -> tuple[Floats, Floats, Floats]:
    """Scores of the rows on the axes of their scatter, the axes, and their parts of it."""
    if len(x) >= x.shape[1]:
        values, vectors = linalg.eigh((x * weight[:, None]).T @ x)
    else:  # few rows: these serve
        root = np.sqrt(weight)[:, None]
        values, left = linalg.eigh((x * root) @ (x * root).T)
        safe = np.sqrt(np.maximum(values, np.finfo(float).tiny))
        vectors = (x * root).T @ left / safe
    keep = values > 1e-10 * max(float(values[-1]), 1e-300)
    return x @ vectors[:, keep], vectors[:, keep], values[keep]


def _left_out(
    x: Floats, t: Floats, weight: Floats, penalties: Floats, fold: NDArray[np.int64]
) -> tuple[Floats, float]:
    """Squared errors of each penalty, and of the constant, on folds that are left out."""
    errors, constant = np.zeros(len(penalties)), 0.0
    for train, test in parts_of(fold):
        w = weight[train]
        share = w.sum() / weight.sum()
        mean, bias = w @ x[train] / w.sum(), float(w @ t[train] / w.sum())
        scores, vectors, values = _principal(x[train] - mean, w)
        shrink = 1.0 / (values[:, None] + penalties * share)
        slope = scores.T @ (w * (t[train] - bias))
        answers = (x[test] - mean) @ vectors @ (shrink * slope[:, None])
        rest = t[test] - bias
        errors += weight[test] @ (rest[:, None] - answers) ** 2
        constant += float(weight[test] @ rest**2)
    return errors, constant
