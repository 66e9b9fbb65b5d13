"""Divisions of a node's rows into some to train on and some to test, for choosing tests.

Halves of 5x2 cross-validation, and folds. Rows are dealt by what they hold (`folds.py`), so
that neither their order nor whether a row stands there twice or with weight two matters.
The moments of all training parts come from one pass over the rows: rows that belong to the
same parts form a cell (five pairs of halves make 32 of them), a cell's moments are summed
once, and a training part has those of the node less those of the cells it is tested on.
Used by the choices and by the learners that have a fast way to be tried.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from omnitree._core import discriminant as kernel
from omnitree.folds import deal, mix
from omnitree.linear_rows import BLOCK, Floats, LinearRows, Moments, rest_of
from omnitree.node import Node

# Moments of all parts together may take this many bytes; else each part sums its own.
ROOM = 2**28


@dataclass(frozen=True)
class Divisions:
    """Several divisions of the rows of one node.

    Attributes
    ----------
    node : Node
    held : float array (n, D)
        Weight of each row in the test part of each division; the rest of its weight
        is in the training part.
    """

    node: Node
    held: Floats

    @classmethod
    def five_by_two(cls, node: Node, rng: np.random.Generator) -> Divisions:
        """Five times two halves: ten divisions, each half tested by the other."""
        return cls(node, np.hstack([_dealt(node, 2, rng) for _ in range(5)]))

    @classmethod
    def folds(cls, node: Node, n_folds: int, rng: np.random.Generator) -> Divisions:
        """Each of several folds tested by the others."""
        return cls(node, _dealt(node, n_folds, rng))

    def __len__(self) -> int:
        return self.held.shape[1]

    @cached_property
    def kept(self) -> Floats:
        """Weight of each row in the training part of each division, (n, D)."""
        left = self.node.weight[:, None] - self.held
        return np.where(left > 1e-12, left, 0.0)

    def training(self, d: int) -> NDArray[np.intp]:
        """Rows of the node, by position, that division `d` trains on."""
        return np.flatnonzero(self.kept[:, d])

    def testing(self, d: int) -> NDArray[np.intp]:
        """Rows of the node, by position, that division `d` tests."""
        return np.flatnonzero(self.held[:, d])

    def part(self, d: int) -> Node:
        """The rows that division `d` trains on, as a node."""
        at, node = self.training(d), self.node
        return Node(node.problem, node.rows[at], self.kept[at, d], (*node.path, d))

    def view(self, d: int, expansion: str, moments: Moments) -> LinearRows:
        """The rows of a training part as linear tests see them, with known moments."""
        at, node = self.training(d), self.node
        return LinearRows.of(
            node.problem.source(expansion),
            node.rows[at],
            node.y[at],
            self.kept[at, d],
            node.problem.n_classes,
            lambda: moments,
        )

    def moments(self, expansion: str) -> list[Moments] | None:
        """Moments of every training part; None where parts had better sum their own.

        That is where cells are missing, since each part fills gaps with its own means,
        and where a part has hardly more rows than columns.
        """
        view = self.node.view(expansion)
        p = view.n_columns
        few = len(view.rows) <= 4 * max(p, len(self))
        if view.source.has_gaps or few or 8 * len(self) * p * p > ROOM:
            return None
        tested = self._tested(view)
        parts = [rest_of(view.moments, [part]) for part in tested]
        return None if None in parts else parts  # type: ignore[return-value]

    def _tested(self, view: LinearRows) -> list[Moments]:
        """Moments of the test part of every division."""
        k, p = view.n_classes, view.n_columns
        out = [Moments(np.zeros((k, p)), np.zeros((p, p))) for _ in range(len(self))]
        inside = self.held > 0
        whole = ((self.held == 0) | (self.kept == 0)).all(axis=1)
        cell = inside @ (1 << np.arange(len(self)))
        order = np.flatnonzero(whole)[np.argsort(cell[whole], kind="stable")]
        ends = np.flatnonzero(np.diff(cell[order], append=-1)) + 1
        for at in np.split(order, ends[:-1]) if len(order) else []:
            found = _sum(view, at, view.weight[at])
            for d in np.flatnonzero(inside[at[0]]):
                _add(out[d], found)
        divided = np.flatnonzero(~whole)  # rows that are in both parts
        if len(divided):
            for part, held in zip(out, self.held[divided].T, strict=True):
                _add(part, _sum(view, divided, held))
        return out

    def error(self, d: int, trained: NDArray, tested: NDArray) -> float:
        """Share of the tested rows that get a wrong class.

        Parameters
        ----------
        d : int
        trained, tested : int arrays
            Branch of the rows of either part; -1: cannot tell. A branch has the class that
            most of its training rows have.
        """
        n_classes, y = self.node.problem.n_classes, self.node.y
        train, test = self.training(d), self.testing(d)
        weight = self.kept[train, d]
        # One more branch, the last, for rows that go nowhere or where no row went.
        n = int(max(trained.max(initial=0), tested.max(initial=0))) + 2
        cells = np.where(trained < 0, n - 1, trained) * n_classes + y[train]
        counts = np.bincount(cells, weight, n * n_classes).reshape(n, n_classes)
        counts[-1] = counts.sum(axis=0)
        counts[counts.sum(axis=1) == 0] = counts[-1]
        wrong = counts.argmax(axis=1)[tested] != y[test]
        held = self.held[test, d]
        return float(held @ wrong / max(held.sum(), np.finfo(float).tiny))


def sample(node: Node, most: int, rng: np.random.Generator) -> Node:
    """At most about `most` rows of a node, of each class its share."""
    if node.total <= most:
        return node
    weight = _dealt(node, node.total / most, rng)[:, 0]
    at = np.flatnonzero(weight > 1e-12)
    return Node(node.problem, node.rows[at], weight[at], node.path)


def _dealt(node: Node, n_folds: float, rng: np.random.Generator) -> Floats:
    """Weight of each row in each fold."""
    seed = int(rng.integers(2**31 - 1))
    key = mix(node.problem.row_hash[node.rows] ^ np.uint64(seed))
    return deal(key, node.y, node.weight, n_folds, seed)


def _sum(view: LinearRows, at: NDArray[np.intp], weight: Floats) -> Moments:
    """Moments of some rows of a view."""
    sums = np.zeros((view.n_classes, view.n_columns))
    second = np.zeros((view.n_columns, view.n_columns))
    weight = np.ascontiguousarray(weight)
    plain = bool((weight == 1).all())
    for start in range(0, len(at), BLOCK):
        part = at[start : start + BLOCK]
        w = weight[start : start + BLOCK]
        block = view.take(part)
        kernel.add_class_sums(block, view.y[part], w, sums)
        second += block.T @ (block if plain else block * w[:, None])
    return Moments(sums, second)


def _add(to: Moments, more: Moments) -> None:
    to.sums.__iadd__(more.sums)
    to.second.__iadd__(more.second)
