"""What the leaves of a tree for a numeric target hold: a constant, or a linear model.

`Ridge` fits a linear model with a ridge penalty to the rows of a node, by weighted least
squares on the standardised columns. The penalty is the one with the least squared error
when each row in turn, with its whole weight, is left out, which costs one factorisation for
all penalties; an infinite penalty, the constant, is among them, so a leaf has a model only
if that lowers the error. Where rows belong to groups, folds of whole groups are left out
instead. Sums of products, the bulk of the work, are made once for all forms of a model;
of many rows, some say which penalty is best. Used by `TreeRegressor`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
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
from omnitree.parts.leaves.leaf_sums import LeafSums
from omnitree.resampling.folds import parts_of
from omnitree.tree.leaf_models import LeafModel, LeafModels
from omnitree.tree.tree import Tree

Floats = NDArray[np.float64]
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
        return self.fit_some(tree, sample, rules, np.ones(tree.n_nodes, dtype=bool))

    def fit_some(
        self, tree: Tree, sample: Sample, rules: Rules, some: NDArray[np.bool_]
    ) -> Tree:
        """As `fit`, of some nodes; the others keep what they have."""
        if not sample.target.squared:
            raise ValueError(
                "ridge leaves make the squared error small; with another criterion use "
                "leaves='constant'"
            )
        start, row, share = tree.passing(sample.table)
        models: list[LeafModel | None] = []
        loss = np.array(tree.loss)
        for node in range(tree.n_nodes):
            if not some[node]:
                models.append(tree.model(node))
                continue
            part = slice(start[node], start[node + 1])
            rows = row[part].astype(np.int64)
            weight = share[part] * sample.weight[rows]
            known = sample.known_models.get(self._key(rows, weight))
            if known is None:
                known = None, float(loss[node])
                if not rules.limits.expired():
                    with until(rules.limits.deadline), suppress(TimeUp):
                        found = self.fitted(sample, rows, weight, rules.seed)
                        known = self._known(found, known[1])
            models.append(known[0])
            loss[node] = known[1]
        return tree.replace(models=LeafModels.of(models), loss=loss)

    def fitted(
        self, sample: Sample, rows: NDArray, weight: Floats, seed: int
    ) -> RidgeFit | None:
        """As `best_of`, in one thread: matrices are small. What is known is asked once."""
        known = sample.known_fits.pop(self._key(rows, weight), None)
        if known is not None:
            return known[0]
        with one_thread():
            return self.best_of(sample, rows, weight, seed)

    def _known(
        self, found: RidgeFit | None, loss: float
    ) -> tuple[LeafModel | None, float]:
        """The model that a leaf gets, and its loss; that of the constant is given."""
        if found is None:
            return None, loss
        return self.finished(found.model, found), found.loss

    def _key(self, rows: NDArray, weight: Floats) -> tuple[type, str, bytes]:
        """Of some rows, under which a sample remembers their model."""
        digest = blake2b(np.asarray(rows, dtype=np.int64).tobytes(), digest_size=16)
        digest.update(weight.tobytes())
        return type(self), repr(vars(self)), digest.digest()

    def unexplained(self, node: Node) -> Floats | None:
        """What a model of a node's rows leaves for tests to explain.

        None: the target as it is.
        """
        return None

    def best_of(
        self, sample: Sample, rows: NDArray, weight: Floats, seed: int
    ) -> RidgeFit | None:
        """The best of the `forms` for some rows; None: a constant is no worse."""
        for penalty in self.penalties:
            number("penalties", penalty)
        if weight.sum() < 3:
            return None
        forms = list(self.forms(sample, rows, weight))
        scatter = LeafSums.of(sample, rows, weight, forms[-1][0], seed)
        fits = (RidgeFit.of(*form, scatter, self.penalties) for form in forms)
        return RidgeFit.best(fits)

    def forms(
        self, sample: Sample, rows: NDArray, weight: Floats
    ) -> Iterator[tuple[StandardColumns, Floats | None]]:
        """Columns that a model may have, and what they are multiplied by before the fit.

        None: by nothing. Each form has the columns of the one before it, and others after
        them.
        """
        yield sample.standardised, None

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
    scatter: LeafSums
    weights: Floats  # (n_columns,): of the columns, in deviations
    # Of the measured rows: target less answer of each while it is left out.
    left_out: Floats

    @classmethod
    def of(
        cls,
        standard: StandardColumns,
        scale: Floats | None,
        scatter: LeafSums,
        penalties: Sequence[float],
    ) -> RidgeFit | None:
        """The fit with the best penalty; None: a constant is no worse."""
        k, total = standard.n_columns, float(scatter.weight.sum())
        at, sums = scatter.measured, None
        mean, products, gram = scatter.sums
        columns = scatter.columns[:, :k] - mean[:k]
        if gram is not None:
            sums = gram[:k, :k], products[:k], total
        if scale is not None:
            columns *= scale
            if gram is not None:
                sums = (
                    gram[:k, :k] * scale * scale[:, None],
                    products[:k] * scale,
                    total,
                )
        found = fit_ridge(
            columns,
            scatter.rest[at],
            scatter.weight[at],
            np.array(penalties) * total,
            scatter.fold,
            sums,
        )
        if found is None:
            return None
        weights = found[0] if scale is None else found[0] * scale
        return cls(standard, scatter, weights, found[1])

    @classmethod
    def best(cls, fits: Iterable[RidgeFit | None]) -> RidgeFit | None:
        """The best of some fits; a richer one, which comes later, must be clearly better."""
        best = None
        for found in fits:
            if found and (best is None or found.error < best.error * (1 - GAIN)):
                best = found
        return best

    @property
    def columns(self) -> Floats:
        """Of the measured rows, around the means of all rows, (m, n_columns)."""
        return self.scatter.columns[:, : self.standard.n_columns] - self.mean

    @property
    def weight(self) -> Floats:
        """Of the measured rows."""
        return self.scatter.weight[self.scatter.measured]

    @property
    def mean(self) -> Floats:
        """Of the columns, in deviations."""
        return self.scatter.sums[0][: self.standard.n_columns]

    @cached_property
    def residual(self) -> Floats:
        """Target less answer of all rows."""
        answers = self.scatter.answers(self.weights)
        return self.scatter.rest + self.mean @ self.weights - answers

    @property
    def inflation(self) -> Floats | float:
        """How much larger the residual of each row is while it is left out.

        Of rows that were not measured, the median of the others.
        """
        own = self.residual[self.scatter.measured]
        ratio = np.divide(self.left_out, own, out=np.ones(len(own)), where=own != 0)
        ratio = np.maximum(ratio, 1.0)
        return ratio if len(own) == len(self.residual) else float(np.median(ratio))

    @property
    def loss(self) -> float:
        """On all rows."""
        _, products, gram = self.scatter.sums
        rest, weight, w = self.scatter.rest, self.scatter.weight, self.weights
        if gram is None or not self.scatter.in_blocks:
            return float(weight @ self.residual**2)
        k = len(w)  # the sums serve: no second pass
        lost = weight @ rest**2 - 2 * (products[:k] @ w) + w @ gram[:k, :k] @ w
        return max(float(lost), 0.0)

    @property
    def error(self) -> float:
        """Squared, on rows that are left out."""
        return float(self.weight @ self.left_out**2)

    @property
    def model(self) -> LeafModel:
        """In the table's own units."""
        at_zero = np.array([self.scatter.bias - self.mean @ self.weights])
        fill = self.mean[: self.standard.scaling.n_plain]
        scaling = self.standard.scaling
        return scaling.model(self.weights[None], at_zero, fill, "identity")


def fit_ridge(
    x: Floats,
    t: Floats,
    weight: Floats,
    penalties: Floats,
    fold: NDArray[np.int64] | None = None,
    sums: tuple[Floats, Floats, float] | None = None,
) -> tuple[Floats, Floats] | None:
    """Weights for the penalty with the least error on rows that are left out.

    Also target less answer of each row while it is left out. `x` and `t` are around their
    means. `fold` says which rows are left out together; without it, each by itself. These
    may be some of more rows that are fitted: their `sums` are the products of their columns
    with each other and with the target, and their weight. None if no penalty beats the
    constant.
    """
    if weight.sum() < 3 or not x.shape[1]:
        return None
    if sums is None:
        vectors, values = _principal(x, weight)
        products, total = (weight * t) @ x, float(weight.sum())
    else:
        gram, products, total = sums
        k = float(len(gram))
        check_time(2.0 * len(x) * k**2 + EIGH * k**3)
        vectors, values = _axes(*linalg.eigh(gram, check_finite=False)[::-1])
    scores, slope = x @ vectors, products @ vectors
    shrink = 1.0 / (values[:, None] + penalties)  # (r, penalties)
    if fold is None:
        residual = t[:, None] - scores @ (shrink * slope[:, None])
        share = weight / total
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
    inner.flat[:: len(inner) + 1] += max(penalty, 1e-9) * weight.sum()
    solved = np.linalg.solve(inner, t if few else x.T @ t)
    return np.asarray(x.T @ solved if few else solved, dtype=np.float64)


def _principal(x: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """Axes of the scatter of some rows, and their parts of it."""
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
    return _axes(vectors, values)


def _axes(vectors: Floats, values: Floats) -> tuple[Floats, Floats]:
    """The axes along which rows differ."""
    keep = values > 1e-10 * max(float(values[-1]), 1e-300)
    return vectors[:, keep], values[keep]


def _left_out(
    x: Floats, t: Floats, weight: Floats, penalties: Floats, fold: NDArray[np.int64]
) -> tuple[Floats, float]:
    """Target less answers of each penalty on folds left out; the constant's error there."""
    rest, constant = np.zeros((len(t), len(penalties))), 0.0
    for train, test in parts_of(fold):
        w = weight[train]
        share = w.sum() / weight.sum()
        mean, bias = w @ x[train] / w.sum(), float(w @ t[train] / w.sum())
        vectors, values = _principal(x[train] - mean, w)
        shrink = 1.0 / (values[:, None] + penalties * share)
        slope = (w * (t[train] - bias)) @ (x[train] - mean) @ vectors
        answers = (x[test] - mean) @ vectors @ (shrink * slope[:, None])
        rest[test] = (t[test] - bias)[:, None] - answers
        constant += float(weight[test] @ (t[test] - bias) ** 2)
    return rest, constant
