"""Products of columns in the models of leaves, where rows that are left out ask for them.

What one feature adds may depend on another. A sum of curves cannot say so, and tests that
divide the rows say it piece by piece; products of two columns say it at once. They have a
penalty of their own, and as few of them stay as rows that are left out allow. But a product
of two numbers runs away beyond the rows that it was learned from. So a leaf whose model has
products becomes a test of whether every factor is within what was seen there, an additive
one: within, the model with products answers, else the sum of curves that the leaf had, which
stay constant. Used by `OmniTreeRegressor`, whose tree is grown and pruned by then.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from omnitree.growing.clock import TimeUp, until
from omnitree.growing.growth import Growth
from omnitree.growing.node import Rules
from omnitree.growing.sample import Sample
from omnitree.growing.standard_columns import StandardColumns
from omnitree.growing.threads import one_thread
from omnitree.parts.leaves.additive import AdditiveLeaves
from omnitree.parts.leaves.leaf_sums import Floats, LeafSums
from omnitree.parts.leaves.ridge import GAIN, RidgeFit, fit_ridge
from omnitree.resampling.held_out import by_group
from omnitree.tree.curves import curve_at
from omnitree.tree.leaf_models import LeafModel, LeafModels
from omnitree.tree.splits import AdditiveSplit
from omnitree.tree.tree import LEAF, Tree

# What products are multiplied by before the fit: the smaller, the larger their penalty.
SCALES = (0.03, 0.1, 0.3, 1.0)
# Columns, products and those of curves included, that a model is fitted in at most: the
# same rows then say what each form of it errs (`leaf_sums.MEASURED`).
MOST_COLUMNS = 250
# Rows that a leaf needs, and for each of these columns: few say nothing. Of very many, tests
# on single features learn the same.
LEAST_ROWS, ROWS, MOST_ROWS = 100, 2, 20_000
# Standard errors by which rows that are left out must err less with all products, by which
# with those that stay, and by which they may err more with fewer.
ALL, CLEAR, FEWER = 1.0, 2.0, 0.25
# So many products, and fewer, leave one by one, more by halves.
FEW = 6
# Part of its range by which a factor may lie beyond all rows but the last one on that side.
BEYOND = 0.05


def with_products(
    tree: Tree, sample: Sample, leaves: AdditiveLeaves, rules: Rules
) -> Tree:
    """The tree whose leaves have products, as far as these help and limits allow.

    `sample` has the rows that its leaves are fitted to.
    """
    if tree.models is None:
        return tree
    limits, spare = rules.limits, np.inf
    if limits.max_leaves is not None:
        spare = limits.max_leaves - tree.n_leaves
    start, row, part = tree.passing(sample.table)
    found: dict[int, Inside] = {}
    with one_thread(), until(limits.deadline), suppress(TimeUp):
        for leaf in np.flatnonzero((tree.kind == LEAF) & tree.models.there).tolist():
            if len(found) >= spare:
                break
            if tree.depths[leaf] == limits.max_depth:
                continue
            here = slice(start[leaf], start[leaf + 1])
            rows = row[here].astype(np.int64)
            weight = part[here] * sample.weight[rows]
            inside = Inside.of(sample, rows, weight, leaves, rules.seed)
            if inside is not None:
                found[leaf] = inside
    return _put_into(tree, sample, found) if found else tree


def one_leaf(growth: Growth, sample: Sample) -> Tree:
    """A single leaf for all rows, without products."""
    rules = growth.rules
    limits = replace(rules.limits, max_depth=0)
    return replace(growth, rules=replace(rules, limits=limits)).grow(sample)


def loss_of_one_leaf(
    growth: Growth, train: Sample, held_out: Sample | None, folds: int
) -> float | None:
    """Mean loss of a single leaf with products on rows that are held out.

    Without a prune set on those of the folds that pruning has, so that it can be compared
    with that of a pruned tree. None if products do not help on all rows, or a fold is empty.
    """
    leaves = growth.rules.leaves

    def fitted(sample: Sample) -> Tree:
        return with_products(one_leaf(growth, sample), sample, leaves, growth.rules)

    if fitted(train).n_leaves == 1:
        return None
    if held_out is None:
        fold = train.folds(folds, growth.rules.seed)
        parts = [
            (train.part(np.flatnonzero(fold != k)), train.take(fold == k))
            for k in range(folds)
        ]
    else:
        parts = [(train, held_out)]
    lost = total = 0.0
    for sample, test in parts:
        if not len(sample) or not len(test):
            return None
        tree = fitted(sample)
        answers = tree.predict_value(test.table, tree.outputs)[:, 0]
        lost += float(test.weight @ (test.y - answers) ** 2)
        total += float(test.weight.sum())
    return lost / total


def _put_into(tree: Tree, sample: Sample, found: dict[int, Inside]) -> Tree:
    """The tree with a test in each of some leaves, whose first branch has products."""
    splits = {leaf: one.test for leaf, one in found.items()}
    before = {leaf: tree.model(leaf) for leaf in found}
    new = tree.with_splits(splits, sample, before)
    assert new.models is not None
    models = [new.model(node) for node in range(new.n_nodes)]
    # The order of the leaves is that of their tests; all others are on single features.
    additive = [
        node
        for node in np.flatnonzero(new.kind != LEAF).tolist()
        if isinstance(new.split(node), AdditiveSplit)
    ]
    for node, inside in zip(additive, found.values(), strict=True):
        models[int(new.first_child[node])] = inside.model
    assert new.constant is not None
    # Perhaps no row is far beyond all others: that leaf has the constant above.
    empty = (new.value[:, 0] == 0) & (new.parent >= 0)
    constant = np.where(empty, new.constant[new.parent], new.constant)
    new = new.replace(models=LeafModels.of(models), constant=constant)
    start, row, part = new.passing(sample.table)
    node = np.repeat(np.arange(new.n_nodes, dtype=np.int32), np.diff(start))
    answers = new.node_answers(sample.table, row, node, constant[:, None])[:, 0]
    lost = part * sample.weight[row] * (sample.y[row] - answers) ** 2
    return new.replace(loss=np.bincount(node, lost, minlength=new.n_nodes))


@dataclass(frozen=True)
class Inside:
    """A model with products, and the test of whether a row is where it holds."""

    model: LeafModel
    test: AdditiveSplit

    @classmethod
    def of(
        cls,
        sample: Sample,
        rows: NDArray[np.int64],
        weight: Floats,
        leaves: AdditiveLeaves,
        seed: int,
    ) -> Inside | None:
        """For the rows of a leaf; None if products do not help."""
        schema, plain = sample.table.schema, sample.standardised
        n = plain.n_with_products(schema)
        if n > MOST_COLUMNS or not _enough(n) <= len(rows) <= MOST_ROWS:
            return None
        without = leaves.fitted(sample, rows, weight, seed)
        if without is None:
            return None
        curves = without.standard.scaling.curves
        standard = _of_two(plain.with_products(schema)).with_curves_of(curves)
        n = standard.n_columns
        if n > MOST_COLUMNS or len(rows) < _enough(n):
            return None
        bend = float(max(leaves.bends)) if curves else 1.0
        scatter = LeafSums.of(sample, rows, weight, standard, seed)
        groups = sample.groups_of(rows)
        penalties = np.array(leaves.penalties)
        search = Search(standard, scatter, bend, penalties, without, groups)
        found = search.best()
        if found is None:
            return None
        box = search.box(found.weights)
        if box is None:
            return None
        return cls(leaves.finished(found.model, found), box)


@dataclass(frozen=True)
class Search:
    """Which products a model of some rows should have."""

    standard: StandardColumns  # plain columns, products and those of curves
    scatter: LeafSums
    bend: float  # what the columns of curves are multiplied by
    penalties: Floats
    without: RidgeFit
    groups: NDArray[np.int64] | None = None  # rows of one are one piece of evidence

    @cached_property
    def products(self) -> NDArray[np.intp]:
        """The positions of the products."""
        return np.flatnonzero(self.standard.scaling.blocks == 2)

    @cached_property
    def _around_mean(self) -> Floats:
        return self.scatter.columns - self.scatter.sums[0]

    def fit(self, kept: NDArray[np.intp], scale: float) -> RidgeFit | None:
        """With some of the products, multiplied by a number before the fit."""
        _, products, gram = self.scatter.sums
        assert gram is not None
        blocks = self.standard.scaling.blocks
        at = np.sort(np.append(np.flatnonzero(blocks != 2), kept))
        by = np.choose(blocks[at], (1.0, self.bend, scale))
        weight, measured = self.scatter.weight, self.scatter.measured
        total = float(weight.sum())
        found = fit_ridge(
            self._around_mean[:, at] * by,
            self.scatter.rest[measured],
            weight[measured],
            self.penalties * total,
            self.scatter.fold,
            (gram[np.ix_(at, at)] * by * by[:, None], products[at] * by, total),
        )
        if found is None:
            return None
        weights = np.zeros(self.standard.n_columns)
        weights[at] = found[0] * by
        return RidgeFit(self.standard, self.scatter, weights, found[1])

    def best(self) -> RidgeFit | None:
        """The fit with few products that errs little; None if they do not help."""
        fits = [(self.fit(self.products, scale), scale) for scale in SCALES]
        some = [(found, scale) for found, scale in fits if found is not None]
        if not some:
            return None
        whole, scale = min(some, key=lambda pair: pair[0].error)
        chosen = whole
        for kept in self._fewer(whole):
            found = self.fit(kept, scale)
            if found is None:
                break
            saved, errors = self._saved(found, whole)
            if saved < -FEWER * errors:
                break
            chosen = found
        # The best few of many look better than they are; all of them together do not.
        for found, clear in ((whole, ALL), (chosen, CLEAR)):
            saved, errors = self._saved(found, self.without)
            if not saved > max(clear * errors, GAIN * self.without.error):
                return None
        return chosen

    def _fewer(self, whole: RidgeFit) -> Iterator[NDArray[np.intp]]:
        """Half of the products, those that say most, then half of these; few one by one."""
        _, _, gram = self.scatter.sums
        assert gram is not None
        size = np.abs(whole.weights) * np.sqrt(np.maximum(np.diag(gram), 0.0))
        ranked = self.products[np.argsort(-size[self.products], kind="stable")]
        n = len(ranked)
        while n > 1:
            n = n // 2 if n > FEW else n - 1
            yield ranked[:n]

    def _saved(self, new: RidgeFit, old: RidgeFit) -> tuple[float, float]:
        """How much less one fit errs than another on rows left out; its standard error."""
        before, after = self._left_out(old), self._left_out(new)
        saved = by_group(new.weight * (before**2 - after**2), self.groups)
        return float(saved.sum()), float(np.sqrt((saved**2).sum()))

    def _left_out(self, found: RidgeFit) -> Floats:
        """Target less answer of rows that are left out, by the test of where it holds."""
        if found is self.without:
            return found.left_out
        box = self.box(found.weights)
        if box is None:
            return self.without.left_out
        scaling, x = self.standard.scaling, self.scatter.columns
        total = np.zeros(len(x))
        position = {int(column): j for j, column in enumerate(scaling.which)}
        for column, knots, line in zip(
            box.curve_columns, box.knots, box.curve_values, strict=True
        ):
            j = position[column]
            total += curve_at(knots, line, x[:, j] * scaling.std[j] + scaling.mean[j])
        within = total <= box.threshold
        return np.where(within, found.left_out, self.without.left_out)

    def box(self, weights: Floats) -> AdditiveSplit | None:
        """The test of whether all factors of the products are about where others were.

        A row that is far beyond all others is not: had it been left out, it would be beyond
        what was seen. None if a factor has hardly any values.
        """
        scaling = self.standard.scaling
        used = np.zeros(self.standard.n_columns, dtype=bool)
        used[self.products] = weights[self.products] != 0
        n = scaling.n_plain
        pairs = used[n : n + len(scaling.a)]
        factors = np.union1d(scaling.a[pairs], scaling.b[pairs])
        numbers = np.flatnonzero(self.scatter.is_number)
        columns, knots = [], []
        for j, ends in zip(numbers, self._ends.T, strict=True):
            if j not in factors:
                continue
            own = tuple(scaling.own_values(int(j), ends).tolist())
            if not (np.diff(own) > 0).all():
                return None
            columns.append(int(scaling.which[j]))
            knots.append(own)
        line = (1.0, 0.0, 0.0, 1.0, 0.0)
        values = (line,) * len(columns)
        return AdditiveSplit((), (), (), (), tuple(columns), tuple(knots), values, 0.5)

    @cached_property
    def _ends(self) -> Floats:
        """Knots (4, numbers): within the inner two; half of the way to the outer, too."""
        _, second, before, _ = self.scatter.ends()
        beyond = 2 * BEYOND * (before - second)
        return np.stack([second - beyond, second, before, before + beyond])


def _of_two(standard: StandardColumns) -> StandardColumns:
    """Without the squares: what one column does, a curve says, and is easier to read."""
    scaling, n = standard.scaling, standard.scaling.n_plain
    two = np.flatnonzero(scaling.a != scaling.b)
    spread = np.append(standard.spread[:n], standard.spread[n:][two])
    scaling = replace(scaling, a=scaling.a[two], b=scaling.b[two])
    return replace(standard, scaling=scaling, spread=spread)


def _enough(n_columns: int) -> int:
    """Rows that a model with so many columns needs."""
    return max(LEAST_ROWS, ROWS * n_columns)
