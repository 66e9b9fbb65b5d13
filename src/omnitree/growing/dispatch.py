"""Which compiled code grows a whole tree: one table.

A learner says by `SplitLearner.search` what it looks for at every node, in terms that
compiled code knows. The growers that can stand in for `fit` are the rows of `GROWERS`,
fastest first: each names the search it does and what that search and the data must fulfil.
Where no row serves, the tree grows node by node. Rows that can serve the same task grow the
same tree (tests/growing/test_dispatch.py). Used by `grower.py` and, for the test of a single
node, by the univariate learner.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from omnitree.growing import axis_trees, fisher_trees
from omnitree.growing.axis_trees import PRESORTED, AxisSearch, Tick
from omnitree.growing.criterion import SquaredError
from omnitree.growing.fisher_trees import FisherSearch
from omnitree.growing.node import Node, Problem
from omnitree.tree.tree import Tree

Search = AxisSearch | FisherSearch
Need = Callable[[Any, Problem], bool]


def class_target(search: Search, problem: Problem) -> bool:
    """Classes are predicted."""
    return problem.criterion is None


def squared_error(search: Search, problem: Problem) -> bool:
    """Numbers are predicted, and their squared error counts."""
    return type(problem.criterion) is SquaredError


def complete_numbers(search: Search, problem: Problem) -> bool:
    """All features are numeric, and no value is missing."""
    return not problem.table.has_gaps and not problem.table.schema.n_categories.any()


def complete_columns(search: Search, problem: Problem) -> bool:
    """There are encoded columns, and no value is missing."""
    columns = problem.standardised
    return columns.n_columns > 0 and not columns.has_gaps


def presorted_rules(search: AxisSearch, problem: Problem) -> bool:
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
    """Compiled code that grows whole trees.

    Attributes
    ----------
    name : str
    search : class
        What it searches at every node.
    needs : tuple of functions of a search and a problem
        All must hold.
    grow : function of a search, the root, the classes and a tick
    """

    name: str
    search: type
    needs: tuple[Need, ...]
    grow: Callable[[Any, Node, tuple, Tick | None], Tree]

    def serves(self, search: Search | None, problem: Problem) -> bool:
        """Whether it grows the same tree as the learner would node by node."""
        return isinstance(search, self.search) and all(
            need(search, problem) for need in self.needs
        )


GROWERS = (
    Grower(
        "presorted classes",
        AxisSearch,
        (class_target, complete_numbers, presorted_rules),
        axis_trees.grow_presorted_classes,
    ),
    Grower(
        "presorted numbers",
        AxisSearch,
        (squared_error, complete_numbers),
        axis_trees.grow_presorted_numbers,
    ),
    Grower("general", AxisSearch, (class_target,), axis_trees.grow_general),
    Grower(
        "Fisher",
        FisherSearch,
        (class_target, complete_columns),
        fisher_trees.grow_fisher,
    ),
)


def growers_for(search: Search | None, problem: Problem) -> list[Grower]:
    """The growers that can serve, fastest first; empty: it has to be node by node."""
    return [grower for grower in GROWERS if grower.serves(search, problem)]
