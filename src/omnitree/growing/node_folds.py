"""Cross-validation on the rows of one node, for choosing between tests.

Each fold tests some rows and trains on the others: ten halves in 5x2 cross-validation, or k
folds. Rows are dealt by what they hold (`folds.py`), so their order does not matter, and
each is on one side, with its whole weight.
The moments of all training parts come from one pass over the rows: rows that belong to the
same parts form a cell (five pairs of halves make 32 of them), a cell's moments are summed
once, and those of a training part are the sum over its cells. Used by the choices and by the
learners that have a fast way to be tried.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from omnitree._core.linear import discriminant as kernel
from omnitree.growing.node import Node
from omnitree.growing.node_columns import ROOM, Floats, Moments, NodeColumns
from omnitree.resampling.folds import deal, halve, mix

PIECE = 2048  # rows taken at a time


@dataclass(frozen=True)
class NodeFolds:
    """Some of a node's rows to test, the others to train on, several times."""

    node: Node
    # (D, n): rows in the test part of each fold; all others are in the training part.
    tested: NDArray[np.bool_]

    @classmethod
    def five_by_two(cls, node: Node, rng: np.random.Generator) -> NodeFolds:
        """Five times two halves: ten folds, each half tested by the other."""
        halves, seed = None, np.uint64(rng.integers(2**62))
        if node.sample.groups is None:
            key = mix(node.sample.row_hash(node.rules.seed)[node.rows] ^ seed)
            halves = halve(key, node.target.strata(), 5)
        if halves is None:
            halves = np.array([_dealt(node, 2, rng) == 1 for _ in range(5)])
        return cls(node, np.stack([~halves, halves], axis=1).reshape(10, -1))

    @classmethod
    def k_fold(cls, node: Node, n_folds: int, rng: np.random.Generator) -> NodeFolds:
        """Each of several folds tested by the others."""
        fold = _dealt(node, n_folds, rng)
        return cls(node, fold == np.unique(fold)[:, None])

    def __len__(self) -> int:
        return len(self.tested)

    @cached_property
    def cells(self) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
        """The cell of each row, and the folds that train on it, (C, D)."""
        code: NDArray = np.zeros(self.tested.shape[1], dtype=np.int64)
        for d, inside in enumerate(~self.tested):
            code |= inside.astype(np.int64) << d
        if len(self) < 16:  # no need to sort
            found = np.flatnonzero(np.bincount(code))
            place = np.zeros(1 << len(self), dtype=np.int32)
            place[found] = np.arange(len(found))
            cell = place[code]
        else:
            found, cell = np.unique(code, return_inverse=True)
        member = found[:, None] >> np.arange(len(self)) & 1
        return cell.astype(np.int32), member.astype(bool)

    @cached_property
    def parts(self) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """Rows of the node, by position, that each fold trains on and tests."""
        return [(np.flatnonzero(~test), np.flatnonzero(test)) for test in self.tested]

    def training(self, d: int) -> NDArray[np.intp]:
        """Rows of the node, by position, that fold `d` trains on."""
        return self.parts[d][0]

    def testing(self, d: int) -> NDArray[np.intp]:
        """Rows of the node, by position, that fold `d` tests."""
        return self.parts[d][1]

    def part(self, d: int) -> Node:
        """The rows that fold `d` trains on, as a node."""
        part = _some(self.node, self.training(d))
        # Learners that are tried in turn fill missing values with the same means.
        known = self._missing_means
        if d in known:
            part.__dict__["missing_means"] = known[d]
        elif part.sample.columns("linear").has_missing:
            known[d] = part.missing_means
        return part

    @cached_property
    def _missing_means(self) -> dict[int, Floats]:
        """Means of the columns with missing values in the training parts made so far."""
        return {}

    def view(self, d: int, expansion: str, moments: Moments) -> NodeColumns:
        """The rows of a training part as linear tests see them, with known moments."""
        at, node = self.training(d), self.node
        rows = NodeColumns.of(
            node.view(expansion).standard,
            node.rows[at],
            node.y[at],
            node.weight[at],
            node.target.n_classes,
            lambda: moments,
        )
        return replace(rows, within=(node.view(expansion), at))

    def moments(self, expansion: str) -> list[Moments] | None:
        """Moments of every training part; None where parts had better sum their own.

        That is where values are missing, since each part fills them with its own means,
        and where a part has hardly more rows than columns.
        """
        view = self.node.view(expansion)
        p, k = view.n_columns, view.n_classes
        if view.standard.has_missing or len(view.rows) <= 4 * max(p, len(self)):
            return None
        cell, member = self.cells
        if 8 * (len(member) + len(self)) * p * p > ROOM:  # each part sums its own
            return None
        sums, second = (np.zeros((len(member), m, p)) for m in (k, p))
        for c in range(len(member)):
            _add(view, np.flatnonzero(cell == c), sums[c], second[c])
        share = member.T.astype(np.float64)
        sums, second = (np.tensordot(share, m, axes=1) for m in (sums, second))
        return [Moments(*both) for both in zip(sums, second, strict=True)]

    def errors(self, above: NDArray[np.bool_]) -> Floats:
        """Share of wrong rows in every test part, by the side (D, n) of each row."""
        k, y = self.node.target.n_classes, self.node.y
        counts = np.zeros((len(self), 2, 3, k))
        tested, sides = (
            np.ascontiguousarray(part).view(np.uint8) for part in (self.tested, above)
        )
        kernel.count_parts(tested, sides, y, self.node.weight, counts)
        counts[:, 0, 2] = counts[:, 0].sum(axis=1)  # for a side without training rows
        return np.array([wrong_share(*part) for part in counts])

    def loss(self, d: int, trained: NDArray, tested: NDArray) -> float:
        """Mean loss of the tested rows: of classes, the share of wrong ones.

        `trained` and `tested` are the branches of the rows of either part, -1 where the test
        cannot tell. A branch answers as a leaf of its training rows, or of all of them if it
        has none.
        """
        # One more branch, the last, for rows that go nowhere.
        n = int(max(trained.max(initial=0), tested.max(initial=0))) + 2
        trained, tested = (np.where(b < 0, n - 1, b) for b in (trained, tested))
        target, weight = self.node.target, self.node.weight
        if target.n_classes:
            counts, seen = (
                target.take(at).statistics_by(branch, n, weight[at])
                for branch, at in zip((trained, tested), self.parts[d], strict=True)
            )
            counts[-1] = counts.sum(axis=0)
            return wrong_share(counts, seen)
        part, at = self.part(d), self.testing(d)
        rows, answers = self.node.rows[at], np.empty((len(at), 1))
        for b in np.unique(tested):
            here, there = trained == b, tested == b
            if b == n - 1 or not here.any():
                here = np.ones(len(here), dtype=bool)
            answers[there] = self.node.rules.leaves.answers(part, here, rows[there])
        losses = weight[at] @ target.take(at).losses(answers)
        return float(losses / max(weight[at].sum(), np.finfo(float).tiny))


def wrong_share(trained: Floats, tested: Floats) -> float:
    """Share of tested rows with a wrong class, by counts (branches, K) of both parts.

    A branch has the class of most of its training rows; one without any has that of the
    last line, which counts all of them.

    Examples
    --------
    >>> trained = np.array([[5, 1], [0, 3], [5, 4]])
    >>> wrong_share(trained, np.array([[3, 1], [1, 3], [0, 0]]))
    0.25
    """
    label = trained.argmax(axis=1)
    label[trained.sum(axis=1) == 0] = label[-1]
    total = tested.sum()
    right = tested[np.arange(len(tested)), label].sum()
    return float((total - right) / max(total, np.finfo(float).tiny))


def sample(node: Node, most: int, rng: np.random.Generator) -> Node:
    """At most about `most` rows of a node, of each class its share."""
    if len(node.rows) <= most:
        return node
    # Of a large group some rows are enough.
    fold = _dealt(node, len(node.rows) / most, rng, together=False)
    return _some(node, np.flatnonzero(fold == 0))


def _some(node: Node, at: NDArray[np.intp]) -> Node:
    """Some rows of a node, at the node's place."""
    inherited = tuple(feature.take(at) for feature in node.inherited)
    return Node(
        node.sample,
        node.rules,
        node.rows[at],
        node.weight[at],
        node.path,
        inherited,
        node.tested,
        node.bounds,
    )


def _dealt(
    node: Node, n_folds: float, rng: np.random.Generator, together: bool = True
) -> NDArray[np.int64]:
    """Fold of each row; groups stay together, or not."""
    seed = int(rng.integers(2**31 - 1))
    key = mix(node.sample.row_hash(node.rules.seed)[node.rows] ^ np.uint64(seed))
    groups = node.sample.groups_of(node.rows) if together else None
    ties = node.weight, node.y
    return deal(key, node.target.strata(), n_folds, seed, ties, groups)


def _add(view: NodeColumns, at: NDArray[np.intp], sums: Floats, second: Floats) -> None:
    """Add rows of a view to class sums (K, p) and second moments (p, p)."""
    y, weight, plain = view.y[at], view.weight[at], view.plain
    for start in range(0, len(at), PIECE):
        piece = slice(start, start + PIECE)
        block, w = view.take(at[piece]), weight[piece]
        kernel.add_class_sums(block, y[piece], w, sums)
        second += block.T @ (block if plain else block * w[:, None])
