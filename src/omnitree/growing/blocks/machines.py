"""Machines fitted to all rows: gradients over blocks, curvature from a sample.

A contest fits its machines to some thousand rows. Here the softmax of such a machine and its
leaves is brought to the least log loss over all rows of its node, by Newton's method: the
gradient is summed over blocks, the Hessian is that of the rows of the node in the sample,
which is the same but for a percent or two, so that each step leaves a few percent of the
way. Weights that are zero stay zero. Residuals and terms are whole numbers on a grid, so
that the sums do not depend on their order; probabilities come from the compiled code that
predicts, which adds up every row alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from omnitree.data.table import Table
from omnitree.growing.blocks.block_sample import Blocks
from omnitree.growing.blocks.coder import CodedRows, Floats, Ints
from omnitree.growing.blocks.moments import exact_products, from_two_digits
from omnitree.growing.blocks.statistics import Asked, Pass
from omnitree.growing.sample import Sample
from omnitree.tree.expression import plain_rule
from omnitree.tree.leaf_models import LeafModel, LeafModels
from omnitree.tree.shared_models import own_functions
from omnitree.tree.splits import (
    LinearSplit,
    MachineSplit,
    QuadraticMachineSplit,
    QuadraticSplit,
    Split,
)
from omnitree.tree.tree import Tree

STEPS = 2
RESIDUAL, TERM, WIDEST = 20, 14, 19  # bits: of a residual, of a unit of a term, in all
MOST_PARAMETERS = 1200
RIDGE = 1e-6
MACHINES = (LinearSplit, QuadraticSplit, MachineSplit, QuadraticMachineSplit)


@dataclass(frozen=True, eq=False)
class BlockMachine:
    """A machine with one softmax below it, and its terms in units of its rows."""

    model: LeafModel
    classes: tuple[int, ...]  # that have functions
    functions: Floats  # (classes, 1 + terms): bias, and weights of terms in units
    free: NDArray[np.bool_]  # which of them may change
    centre: Floats  # (terms,)
    unit: Floats

    def terms(self, table: Table) -> Floats:
        """The terms of some rows in units, with a one before them, (n, 1 + terms)."""
        cells = table.encoded.cells[:, list(self.model.columns)]
        cells = np.where(np.isnan(cells), self.model.fill, cells)
        a, b = np.array(self.model.pairs).T
        products = cells[:, a] * np.where(b >= 0, cells[:, b], 1.0)
        return np.column_stack(
            [np.ones(len(cells)), (products - self.centre) / self.unit]
        )

    def shares(self, table: Table) -> Floats:
        """Probabilities of all classes, (n, K)."""
        models = LeafModels.of([self.model])
        assert models is not None
        out = np.empty((table.n_rows, len(self.model.bias)))
        rows = np.arange(table.n_rows)
        models.answer(table, rows, np.zeros(len(rows), dtype=np.int32), out)
        return out

    def moved(self, step: Floats) -> BlockMachine:
        """The machine with other functions."""
        functions = self.functions - step
        model, at = self.model, list(self.classes)
        weights = functions[:, 1:] / self.unit
        bias = functions[:, 0] - weights @ self.centre
        new_bias, new_weights = np.array(model.bias), np.array(model.weights)
        # Only differences between the functions matter: their mean stays.
        new_bias[at] = bias - bias.mean() + new_bias[at].mean()
        new_weights[at] = weights - weights.mean(axis=0)
        model = replace(
            model,
            bias=tuple(new_bias.tolist()),
            weights=tuple(map(tuple, new_weights.tolist())),
        )
        return replace(self, model=model, functions=functions)

    def split(self, old: Split) -> Split:
        """The test that the functions make, in the place of an old one."""
        weights = self.functions[:, 1:] / self.unit
        bias = self.functions[:, 0] - weights @ self.centre
        if isinstance(old, LinearSplit | QuadraticSplit):
            line, at = weights[1] - weights[0], bias[0] - bias[1]
            size = np.linalg.norm(old.weights) / np.linalg.norm(line)
            return replace(
                old, weights=tuple((size * line).tolist()), threshold=float(size * at)
            )
        assert isinstance(old, MachineSplit | QuadraticMachineSplit)
        return replace(
            old, bias=tuple(bias.tolist()), weights=tuple(map(tuple, weights.tolist()))
        )

    def newton(self, rows: Sample, gradient: Floats) -> Floats:
        """The step for a mean gradient, with the curvature of some rows."""
        terms, p = (
            self.terms(rows.table),
            self.shares(rows.table)[:, list(self.classes)],
        )
        share = rows.weight / rows.weight.sum()
        k, m = self.functions.shape
        hessian = np.empty((k, m, k, m))
        for i in range(k):
            for j in range(k):
                own = share * p[:, i] * ((i == j) - p[:, j])
                hessian[i, :, j] = terms.T @ (terms * own[:, None])
        free = self.free.ravel()
        matrix = hessian.reshape(k * m, k * m)[np.ix_(free, free)]
        matrix += RIDGE * np.eye(len(matrix))
        step = np.zeros(k * m)
        step[free] = linalg.solve(matrix, gradient.ravel()[free], assume_a="pos")
        return step.reshape(k, m)


def machine_at(tree: Tree, node: int, rows: Sample) -> BlockMachine | None:
    """The machine of a node with one softmax below it, if all of that is the machine's."""
    split, model = tree.split(node), tree.model(int(tree.first_child[node]))
    if not isinstance(split, MACHINES) or model is None or model.curve_columns:
        return None
    own = own_functions(plain_rule(split.rule), model.to_dict())
    if own is None or any(any(weights) for _, weights in own.others.values()):
        return None
    if (split.columns, getattr(split, "terms", ())) != (model.columns, model.terms):
        return None
    if isinstance(split, LinearSplit | QuadraticSplit):
        weights = np.stack([np.zeros(len(split.weights)), split.weights])
        bias = np.array([0.0, -split.threshold])
        free = np.array([[False], [True]]) & np.ones((2, 1 + weights.shape[1]), bool)
    else:
        weights, bias = np.array(split.weights), np.array(split.bias)
        free = np.ones((len(bias), 1 + weights.shape[1]), dtype=bool)
        free[0] = False  # only differences matter
        free[0, 1:] = (weights[0] != 0) & (weights == 0).any(axis=0)
    free[:, 1:] &= weights != 0
    if free.sum() > MOST_PARAMETERS or len(rows) < 2:
        return None
    k = np.zeros(weights.shape[1])
    start = BlockMachine(model, own.classes, weights, free, k, k + 1.0)
    terms = start.terms(rows.table)[:, 1:]
    centre = np.average(terms, axis=0, weights=rows.weight)
    unit = np.sqrt(np.average((terms - centre) ** 2, axis=0, weights=rows.weight))
    unit = np.where(unit > 0, unit, 1.0)
    scaled = own.scale * weights
    first = own.scale * bias + scaled @ centre
    functions = np.column_stack([first, scaled * unit])
    return BlockMachine(model, own.classes, functions, free, centre, unit)


@dataclass(frozen=True, eq=False)
class Gradients:
    """Weight, log loss and gradient of each of some machines, in two digits."""

    machines: Sequence[BlockMachine]
    largest: int  # weight, in units

    def __call__(self, rows: CodedRows, slots: NDArray[np.int32]) -> FoundGradients:
        found = [self._of(rows, slots[0], i) for i in range(len(self.machines))]
        return FoundGradients(found)

    def _of(
        self, rows: CodedRows, slot: NDArray[np.int32], i: int
    ) -> tuple[Ints, Ints]:
        machine, here = self.machines[i], np.flatnonzero(slot == i)
        k, m = machine.functions.shape
        if not len(here):
            return np.zeros((2, 2, 1), dtype=np.int64), np.zeros(
                (2, k, m), dtype=np.int64
            )
        own = rows.take(here)
        share = own.weights / self.largest
        p = machine.shares(own.table)
        lost = -np.log(np.maximum(p[np.arange(len(own)), own.y], 1e-9)) * share
        sums = np.stack([np.rint(share * (1 << RESIDUAL)), np.rint(lost * (1 << 15))])
        r = p[:, list(machine.classes)]
        r -= own.y[:, None] == np.array(machine.classes)
        r = np.rint(r * share[:, None] * (1 << RESIDUAL))
        terms = np.rint(machine.terms(own.table) * (1 << TERM))
        terms = np.clip(terms, -(1 << WIDEST), 1 << WIDEST)
        one = np.ones((len(own), 1))
        return exact_products(sums.T, one, None), exact_products(r, terms, None)


@dataclass(frozen=True, eq=False)
class FoundGradients:
    """What `Gradients` found for each machine."""

    each: list[tuple[Ints, Ints]]

    def __add__(self, other: FoundGradients) -> FoundGradients:
        pairs = zip(self.each, other.each, strict=True)
        return FoundGradients([(a + c, b + d) for (a, b), (c, d) in pairs])

    def of(self, i: int) -> tuple[float, Floats]:
        """Mean log loss and mean gradient of a machine."""
        sums, gradient = (from_two_digits(d) for d in self.each[i])
        weight = max(sums[0, 0], 1.0)
        loss = sums[1, 0] / weight * 2.0 ** (RESIDUAL - 15)
        return float(loss), gradient / weight / 2.0**TERM


def fitted_to_all_rows(tree: Tree, blocks: Blocks, sample: Sample) -> Tree:
    """The tree with its machines fitted to all rows, where that has a smaller log loss.

    Counts are those of the sample.
    """
    start, row, _ = tree.passing(sample.table)
    found: dict[int, BlockMachine] = {}
    for node in tree.sharing:
        rows = sample.take(row[start[node] : start[node + 1]])
        machine = machine_at(tree, node, rows)
        if machine is not None:
            found[node] = machine
    if not found:
        return tree
    nodes = list(found)
    best: dict[int, tuple[float, BlockMachine]] = {}
    slot = np.full(tree.n_nodes, -1, dtype=np.int32)
    for i, node in enumerate(nodes):
        first = int(tree.first_child[node])
        slot[first : first + int(tree.n_children[node])] = i
    now = list(found.values())
    for step in range(STEPS + 1):
        task = Gradients(now, blocks.largest)
        asked = [Asked(tree, slot)]
        results: Any = blocks.engine.map_blocks(Pass(blocks.coder, asked, [task]))
        for i, node in enumerate(nodes):
            loss, gradient = results.each[0].of(i)
            if node not in best or loss < best[node][0]:
                best[node] = loss, now[i]
                if step < STEPS:
                    rows = sample.take(row[start[node] : start[node + 1]])
                    now[i] = now[i].moved(now[i].newton(rows, gradient))
    splits = {node: best[node][1].split(tree.split(node)) for node in nodes}
    models = {node: best[node][1].model for node in nodes}
    return tree.with_splits(splits, sample, models)
