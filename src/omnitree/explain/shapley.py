"""Exact Shapley values of a tree's answers, with respect to given background rows.

A set S of features is worth what the tree answers for a row that has the explained row's
cells in S and the background row's elsewhere, on average over the background rows: with one
of these, the "baseline" values, with many the "interventional" ones of TreeSHAP.

For one pair of rows, the tree is walked with two sets: features that must be in S, and
features that must not. A test is asked for all ways to take the features that it looks at
and that neither set has yet, so a test of k features costs at most 2^k, however many
features the tree has, and features with equal cells, or without effect, cost nothing. What
is reached under "all of A in S, none of B" is worth v exactly for those S, which gives each
feature of A v (a-1)! b! / (a+b)! and takes v a! (b-1)! / (a+b)! from each of B.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from omnitree.export.model import Model, NodeTest
from omnitree.export.sample import scores
from omnitree.tree.expression import Constant, Largest, Sum, columns_in, parts
from omnitree.tree.programs import route

# A test or a model may look at this many features that are not the same in both rows.
MOST_FEATURES = 15
# Ways of taking features on all paths of a pair of rows.
MOST_WAYS = 1 << 16


@dataclass(frozen=True)
class ShapleyValues:
    """What each feature adds to the answers for some rows.

    The attributes have the names and shapes of `shap.Explanation`, which takes them as
    keyword arguments.

    Attributes
    ----------
    values : float64 array (rows, features) or (rows, features, classes)
        Of a classifier, what is added to each probability. A row's values and
        `base_values` add up to its answer.
    base_values : float64 array (rows,) or (rows, classes)
        The mean answer for the background rows, the same for every row.
    data : float64 array (rows, features)
        The rows: numbers, codes of categories, NaN where missing.
    feature_names : list of str
    """

    values: NDArray[np.float64]
    base_values: NDArray[np.float64]
    data: NDArray[np.float64]
    feature_names: list[str]

    def to_dict(self) -> dict[str, Any]:
        """The attributes by name: `shap.Explanation(**found.to_dict())`."""
        return {
            "values": self.values,
            "base_values": self.base_values,
            "data": self.data,
            "feature_names": self.feature_names,
        }


def shapley_values(
    model: Model, rows: NDArray[np.float64], background: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Shapley values (rows, features, outputs) of encoded rows.

    Raises
    ------
    ValueError
        If a test, or a leaf's model, looks at too many features for the exact values.
    """
    games = _Games(model)
    # Only cells that some test looks at matter; background rows alike there are one.
    used = np.array(model.used, dtype=np.intp)
    filled = np.where(np.isnan(background[:, used]), np.inf, background[:, used])
    _, first, times = np.unique(filled, axis=0, return_index=True, return_counts=True)
    total = np.zeros((len(rows), rows.shape[1], model.n_outputs))
    for i, row in enumerate(rows):
        for b, n in zip(first, times, strict=True):
            total[i] += n * games.of_pair(row, background[b])
    return total / len(background)


@dataclass
class _Games:
    """Sums up Shapley values over the ways through a tree."""

    model: Model

    def of_pair(
        self, row: NDArray[np.float64], other: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Shapley values (features, outputs) of a row, against one background row."""
        out = np.zeros((len(row), self.model.n_outputs))
        same = (row == other) | (np.isnan(row) & np.isnan(other))
        differ = set(np.flatnonzero(~same).tolist())
        ways = 0
        stack: list[tuple[int, float, frozenset[int], frozenset[int]]] = [
            (0, 1.0, frozenset(), frozenset())
        ]
        while stack:
            node, share, inside, outside = stack.pop()
            open_ = differ - inside - outside
            if self.model.is_leaf(node):
                self._add_leaf(out, node, share, row, other, inside, outside, open_)
                continue
            if self._add_leaves(out, node, share, row, other, inside, outside, open_):
                continue
            asked = self._asked(node, row, other)
            taken = self._players(asked & open_, f"the test of node {node}")
            branch = self._place(node, self._mixed(row, other, inside, taken))
            taken, branch = _that_matter(taken, branch)
            ways += len(branch)
            if ways > MOST_WAYS:
                raise ValueError(
                    "the paths of a row have too many ways of taking features for "
                    "exact Shapley values; use shap.Explainer with predict_proba"
                )
            bits = _bits(len(taken))
            for m, to in enumerate(branch.tolist()):
                chosen = {j for j, bit in zip(taken, bits[m], strict=True) if bit}
                sets = inside | chosen, outside | (set(taken) - chosen)
                children = self.model.children(node)
                if to >= 0:
                    stack.append((children[to], share, *sets))
                    continue
                for child in children:
                    if part := self.model.shares[child]:
                        stack.append((child, share * part, *sets))
        return out

    def _add_leaf(self, out, leaf, share, row, other, inside, outside, open_) -> None:
        """Add what a leaf answers where all of `inside` and none of `outside` is in S."""
        for features, value in self._answers(leaf):
            taken = self._players(features & open_, f"the model of leaf {leaf}")
            cells = self._mixed(row, other, inside, taken)
            _add(out, share * value(cells), inside, outside, taken)

    def _add_leaves(self, out, node, share, row, other, inside, outside, open_) -> bool:
        """Add all children of a node at once, if they are leaves that look at few features.

        Otherwise a machine of many features would visit each leaf thousands of times.
        """
        children = self.model.children(node)
        if not all(map(self.model.is_leaf, children)):
            return False
        features = self._asked(node, row, other)
        for child in children:
            features = features.union(*(own for own, _ in self._answers(child)))
        taken = sorted(features & open_)
        if len(taken) > MOST_FEATURES:
            return False
        cells = self._mixed(row, other, inside, taken)
        branch = self._place(node, cells)
        value = np.zeros((len(cells), self.model.n_outputs))
        for b, child in enumerate(children):
            part = np.where(branch < 0, self.model.shares[child], branch == b)
            here = part > 0
            if here.any():
                for _, answer in self._answers(child):
                    value[here] += part[here, None] * answer(cells[here])
        _add(out, share * value, inside, outside, taken)
        return True

    def _answers(self, leaf: int) -> list[tuple[frozenset[int], Any]]:
        """Parts that the answer of a leaf is the sum of: features, and a function."""
        if leaf not in self._known:
            self._known[leaf] = self._read_answers(leaf)
        return self._known[leaf]

    @cached_property
    def _known(self) -> dict[int, list[tuple[frozenset[int], Any]]]:
        return {}

    def _read_answers(self, leaf: int) -> list[tuple[frozenset[int], Any]]:
        model = self.model.model(leaf)
        if model is None:
            answer = np.array(self.model.outputs[leaf])
            return [(frozenset(), lambda cells: np.tile(answer, (len(cells), 1)))]
        if not self.model.numeric:
            features = frozenset(self.model.features_of(model))
            return [(features, partial(self._softmax, model))]
        # A sum: its terms are taken one by one, whatever the number of features.
        groups: dict[frozenset[int], list[Any]] = {}
        for term in parts(model.values[0]):
            features = frozenset(
                self.model.columns[c].feature for c in columns_in(term)
            )
            groups.setdefault(features, []).append(term)

        return [
            (features, partial(self._scores, _sum_of(terms)))
            for features, terms in groups.items()
        ]

    def _scores(self, test: NodeTest, cells: NDArray[np.float64]) -> Any:
        return scores(test, self.model.schema, cells)

    def _softmax(self, test: NodeTest, cells: NDArray[np.float64]) -> Any:
        z = self._scores(test, cells)
        powers = np.exp(z - z.max(axis=1, keepdims=True))
        return powers / powers.sum(axis=1, keepdims=True)

    def _asked(self, node: int, row, other) -> set[int]:
        """Features that decide where a mixture of two rows goes at a node."""
        main, *others = self.model.tests(node)
        features = set(self.model.features_of(main))
        for before, test in zip([main, *others], others, strict=False):
            cells = row[before.feature], other[before.feature]
            if self.model.branch_of_codes(before) is None and not np.isnan(cells).any():
                break  # a number that both rows have is always decided by this test
            features |= set(self.model.features_of(test))
        return features

    def _place(self, node: int, cells: NDArray[np.float64]) -> NDArray[np.intp]:
        """Branch of each row at a node; -1 where it is divided."""
        branch = np.full(len(cells), -1, dtype=np.intp)
        for test in self.model.tests(node):
            undecided = branch < 0
            if not undecided.any():
                return branch
            branch[undecided] = route(test.whole, cells[undecided], self.model.schema)
        way = self.model.missing(node)
        return branch if way is None else np.where(branch < 0, way, branch)

    @staticmethod
    def _players(features: set[int] | frozenset[int], what: str) -> list[int]:
        if len(features) > MOST_FEATURES:
            raise ValueError(
                f"{what} looks at {len(features)} features that are not the same in a row "
                f"and the background; exact Shapley values take at most {MOST_FEATURES}. "
                "Use shap.Explainer with predict_proba for an estimate"
            )
        return sorted(features)

    @staticmethod
    def _mixed(row, other, inside, taken: list[int]) -> NDArray[np.float64]:
        """The background row with the row's cells `inside`, in all ways for `taken`."""
        mixed = other.copy()
        mixed[list(inside)] = row[list(inside)]
        cells = np.tile(mixed, (1 << len(taken), 1))
        cells[:, taken] = np.where(_bits(len(taken)), row[taken], other[taken])
        return np.ascontiguousarray(cells)


def _sum_of(terms: list[Any]) -> NodeTest:
    """Terms of a model, read like a model."""
    return NodeTest("model", Largest((Sum((Constant(0.0), *terms)),)), 0)


def _bits(n: int) -> NDArray[np.bool_]:
    """All subsets of n things, one in each of 2^n lines."""
    return (np.arange(1 << n)[:, None] >> np.arange(n)) & 1 == 1


def _that_matter(
    taken: list[int], branch: NDArray[np.intp]
) -> tuple[list[int], NDArray[np.intp]]:
    """The features on which the branch depends, and the branch for all their subsets."""
    for feature in list(taken):
        at = taken.index(feature)
        pairs = branch.reshape(-1, 2, 1 << at)
        if np.array_equal(pairs[:, 0], pairs[:, 1]):
            branch = pairs[:, 0].ravel()
            taken = [j for j in taken if j != feature]
    return taken, branch


def _add(
    out: NDArray[np.float64],
    value: NDArray[np.float64],
    inside: frozenset[int],
    outside: frozenset[int],
    taken: list[int],
) -> None:
    """Add the Shapley values of games that are worth `value[m]` for one set of S.

    Those have all of `inside`, none of `outside`, and of `taken` just the subset m.
    """
    bits = _bits(len(taken))
    n_in = len(inside) + bits.sum(axis=1)
    n = len(inside) + len(outside) + len(taken)
    if not n:
        return
    n_out = n - n_in
    # (a-1)! b! / (a+b)! = 1 / (a C(a+b, a)), and likewise for those that must not be in.
    ways = np.array([math.comb(n, a) for a in range(n + 1)], dtype=float)[n_in]
    gain = np.where(n_in > 0, 1.0 / (np.maximum(n_in, 1) * ways), 0.0)
    loss = np.where(n_out > 0, 1.0 / (np.maximum(n_out, 1) * ways), 0.0)
    out[list(inside)] += gain @ value
    out[list(outside)] -= loss @ value
    out[taken] += np.where(bits, gain[:, None], -loss[:, None]).T @ value
