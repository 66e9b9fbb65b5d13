"""What the leaves of a tree for a numeric target hold: a constant, or a linear model.

`Ridge` fits a linear model with a ridge penalty to the rows of a node, by weighted least
squares on the standardised columns. The penalty is the one with the least squared error
when each row in turn, with its whole weight, is left out, which costs one factorisation for
all penalties; an infinite penalty, the constant, is among them, so a leaf has a model only
if that lowers the error. Where rows belong to groups, folds of whole groups are left out
instead. Used by `TreeRegressor`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from omnitree.growing.clock import EIGH, TimeUp, check_time, until
from omnitree.growing.node import Node, Rules
from omnitree.growing.part import number
from omnitree.growing.sample import Sample
from omnitree.growing.standard_columns import StandardColumns
from omnitree.growing.threads import one_thread
from omnitree.parts.leaves.base import Leaves
from omnitree.resampling.folds import deal, parts_of
from omnitree.tree.leaf_models import LeafModel, LeafModels
from omnitree.tree.tree import Tree

Floats = NDArray[np.float64]
FOLDS = 10  # of groups
# Share of the error on rows left out by which a richer model must be better.
GAIN = 0.01


class ConstantLeaves(Leaves):
    """Leaves predict a constant: the mean, or the median for the absolute error."""

    tasks = ("regression",)
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

    penalties: Any = (1e-4, 1e-3, 1e-2, 0.1, 1.0)
    search_penalty: float = 1e-2
    cuts: int = 32

    tasks = ("regression",)

    @property
    def resamples(self) -> bool:
        return True

    def fit(self, tree: Tree, sample: Sample, rules: Rules) -> Tree:
        if not sample.target.squared:
            raise ValueError(
                "ridge leaves make the squared error small; with another criterion use "
                "leaves='constant'"
            )
        start, row, share = tree.passing(sample.table)
        models: list[LeafModel | None] = []
        loss = np.array(tree.loss)
        for node in range(tree.n_nodes):
            part = slice(start[node], start[node + 1])
            rows = row[part].astype(np.int64)
            weight = share[part] * sample.weight[rows]
            found = None
            if not rules.limits.expired():
                with one_thread(), until(rules.limits.deadline), suppress(TimeUp):
                    found = self.best_of(sample, rows, weight, rules.seed)
            if found is None:
                models.append(None)
            else:
                models.append(self.finished(found.model, found))
                loss[node] = found.loss
        return tree.replace(models=LeafModels.of(models), loss=loss)

    def best_of(
        self, sample: Sample, rows: NDArray, weight: Floats, seed: int
    ) -> RidgeFit | None:
        """The best of the `forms` for some rows; None: a constant is no worse."""
        for penalty in self.penalties:
            number("penalties", penalty)
        if weight.sum() < 3:
            return None
        fold = folds_of_groups(sample, rows, weight, seed)
        best = None
        for standard, scale in self.forms(sample, rows, weight):
            found = RidgeFit.of(
                standard,
                scale,
                sample.table.schema.linear_columns()[1] < 0,
                rows,
                sample.y[rows],
                weight,
                self.penalties,
                fold,
            )
            if found and (best is None or found.error < best.error * (1 - GAIN)):
                best = found
        return best

    def forms(
        self, sample: Sample, rows: NDArray, weight: Floats
    ) -> Iterator[tuple[StandardColumns, Floats | float]]:
        """Columns that a model may have, and what they are multiplied by before the fit."""
        yield sample.standardised, 1.0

    def finished(self, model: LeafModel, found: RidgeFit) -> LeafModel:
        """The model as the leaf gets it."""
        return model

    def answers(self, node: Node, here: NDArray[np.bool_], rows: NDArray) -> Floats:
        sample, own, weight = node.sample, node.rows[here], node.weight[here]
        found = self.best_of(sample, own, weight, node.rules.seed)
        if found is None:
            return super().answers(node, here, rows)
        models = LeafModels.of([self.finished(found.model, found)])
        assert models is not None
        out = np.empty((len(rows), 1))
        models.answer(sample.table, rows, np.zeros(len(rows), dtype=np.int32), out)
        return out


@dataclass(frozen=True)
class RidgeFit:
    """A linear model of some rows, in some columns."""

    standard: StandardColumns
    is_number: NDArray[np.bool_]  # (p,): which plain columns are numbers, no categories
    columns: Floats  # (n, n_columns): of the rows, around their means
    weight: Floats  # (n,): of the rows
    # (n_columns,): of the columns, in deviations.
    mean: Floats
    weights: Floats
    bias: float  # at the means
    left_out: Floats  # (n,): target less answer of each row while it is left out
    loss: float  # on all rows

    @classmethod
    def of(
        cls,
        standard: StandardColumns,
        scale: Floats | float,
        is_number: NDArray[np.bool_],
        rows: NDArray,
        target: Floats,
        weight: Floats,
        penalties: Sequence[float],
        fold: NDArray[np.int64] | None,
    ) -> RidgeFit | None:
        """The fit with the best penalty; None: a constant is no worse."""
        total = float(weight.sum())
        columns = standard.take(rows, standard.missing_means(rows, weight))
        mean = weight @ columns / total
        bias = float(weight @ target / total)
        columns = columns - mean
        rest = target - bias
        prices = np.array(penalties) * total
        found = fit_ridge(columns * scale, rest, weight, prices, fold)
        if found is None:
            return None
        weights = found[0] * scale
        loss = float(weight @ (rest - columns @ weights) ** 2)
        return cls(
            standard,
            is_number,
            columns,
            weight,
            mean,
            weights,
            bias,
            found[1],
            loss,
        )

    @property
    def error(self) -> float:
        """Squared, on rows that are left out."""
        return float(self.weight @ self.left_out**2)

    @property
    def model(self) -> LeafModel:
        """In the table's own units."""
        at_zero = np.array([self.bias - self.mean @ self.weights])
        fill = self.mean[: self.standard.scaling.n_plain]
        scaling = self.standard.scaling
        return scaling.model(self.weights[None], at_zero, fill, "identity")


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
) -> tuple[Floats, Floats] | None:
    """Weights for the penalty with the least error on rows that are left out.

    Also target less answer of each row while it is left out. `x` and `t` are around their
    means. `fold` says which rows are left out together; without it, each by itself. None
    if no penalty beats the constant.
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
        constant = float(weight @ (t / np.maximum(1.0 - share, 1e-3)) ** 2)
    else:
        left_out, constant = _left_out(x, t, weight, penalties, fold)
    errors = weight @ left_out**2
    best = int(np.argmin(errors))
    if not errors[best] < constant * (1 - 1e-9):
        return None
    return vectors @ (shrink[:, best] * slope), left_out[:, best]


def slope(x: Floats, t: Floats, weight: Floats, penalty: float) -> Floats:
    """Weights for one penalty, which counts times the weight of the rows.

    `x` and `t` are around their means.
    """
    root = np.sqrt(weight)[:, None]
    x, t = x * root, t * root[:, 0]
    few = len(x) < x.shape[1]  # rows: these serve
    inner = x @ x.T if few else x.T @ x
    # Where the columns leave a weight open, it is 0.
    inner[np.diag_indices_from(inner)] += max(penalty, 1e-9) * weight.sum()
    solved = np.linalg.solve(inner, t if few else x.T @ t)
    return np.asarray(x.T @ solved if few else solved, dtype=np.float64)


def _principal(x: Floats, weight: Floats) -> tuple[Floats, Floats, Floats]:
    """Scores of the rows on the axes of their scatter, the axes, and their parts of it."""
    n, p = x.shape
    size = float(min(n, p))
    check_time(4.0 * n * p * size + EIGH * size**3)
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
    """Target less answers of each penalty on folds left out; the constant's error there."""
    rest, constant = np.zeros((len(t), len(penalties))), 0.0
    for train, test in parts_of(fold):
        w = weight[train]
        share = w.sum() / weight.sum()
        mean, bias = w @ x[train] / w.sum(), float(w @ t[train] / w.sum())
        scores, vectors, values = _principal(x[train] - mean, w)
        shrink = 1.0 / (values[:, None] + penalties * share)
        slope = scores.T @ (w * (t[train] - bias))
        answers = (x[test] - mean) @ vectors @ (shrink * slope[:, None])
        rest[test] = (t[test] - bias)[:, None] - answers
        constant += float(weight[test] @ (t[test] - bias) ** 2)
    return rest, constant
