"""Which compiled code grows a whole tree: one table.

A learner says by `SplitLearner.search` what it looks for at every node, in terms that
compiled code knows. The growers that can stand in for `fit` are the rows of `GROWERS`,
fastest first: each names the search it does and what that search and the data must fulfil.
Where no row serves, the tree grows node by node. Rows that can serve the same task grow the
same tree (tests/growing/test_dispatch.py). Used by `grower.py` and, for the test of a
single node, by the univariate learner.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from omnitree.data.switches import disabled
from omnitree.growing import axis_trees, fisher_trees
from omnitree.growing.axis_trees import PRESORTED, AxisSearch, Tick
from omnitree.growing.fisher_trees import FisherSearch
from omnitree.growing.node import Node
from omnitree.tree.tree import Tree

Search = AxisSearch | FisherSearch
Need = Callable[[Any, Node], bool]


def class_target(search: Search, root: Node) -> bool:
    """Classes are predicted."""
    return root.target.n_classes > 0


def squared_error(search: Search, root: Node) -> bool:
    """Numbers are predicted, and their squared error counts."""
    return root.target.squared


def complete_numbers(search: Search, root: Node) -> bool:
    """All features are numeric, and no value is missing."""
    table = root.sample.table
    return not table.has_missing and not table.schema.n_categories.any()


def complete_columns(search: Search, root: Node) -> bool:
    """There are encoded columns, and no value is missing."""
    columns = root.sample.standardised
    return columns.n_columns > 0 and not columns.has_missing


def presorted_rules(search: AxisSearch, root: Node) -> bool:
    """The best cut by Gini or information; C4.5's rules only with the latter, in bits."""
    code = search.merit.code
    in_bits = PRESORTED.get(code) == (1, 1.0)
    return (
        code in PRESORTED
        and not search.random_feature
        and (not search.release8 or in_bits)
    )


@dataclass(frozen=True)
class Grower:
    """Compiled code that grows whole trees."""

    name: str
    search: type  # what it searches at every node
    needs: tuple[Need, ...]  # all must hold
    grow: Callable[[Any, Node, Tick | None], Tree]
    presorts: bool = False  # whether it sorts every column once

    def serves(self, search: Search | None, root: Node) -> bool:
        """Whether it grows the same tree as the learner would node by node."""
        return isinstance(search, self.search) and all(
            need(search, root) for need in self.needs
        )


GROWERS = (
    Grower(
        "presorted classes",
        AxisSearch,
        (class_target, complete_numbers, presorted_rules),
        axis_trees.grow_presorted_classes,
        presorts=True,
    ),
    Grower(
        "presorted numbers",
        AxisSearch,
        (squared_error, complete_numbers),
        axis_trees.grow_presorted_numbers,
        presorts=True,
    ),
    Grower("general", AxisSearch, (class_target,), axis_trees.grow_general),
    Grower(
        "Fisher",
        FisherSearch,
        (class_target, complete_columns),
        fisher_trees.grow_fisher,
    ),
)


def growers_for(search: Search | None, root: Node) -> Iterator[Grower]:
    """The growers that can serve, fastest first; none: it has to be node by node."""
    for grower in GROWERS:
        allowed = not (grower.presorts and disabled("presorting"))
        if allowed and grower.serves(search, root):
            yield grower
