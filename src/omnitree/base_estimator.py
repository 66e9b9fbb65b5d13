"""What the classifiers and the regressors share: checks, growing, routing, showing.

`BaseTree` knows nothing of classes or targets beyond `Rows.y`: an estimator turns its `y`
into rows, calls `_grow_and_prune`, and says what a node answers (`_node_outputs`).
"""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from omnitree.column_source import Standardised
from omnitree.folds import fold_weights
from omnitree.grow import grow
from omnitree.learners import LEARNERS
from omnitree.missing import MISSING
from omnitree.node import Node, Problem
from omnitree.parts import number, unknown
from omnitree.pruning import PRUNINGS, Evidence, Pruning, Rows
from omnitree.show import Showing
from omnitree.stopping import STOPPING, Limits
from omnitree.table import Table, encode, learn_table
from omnitree.tree import Tree


class BaseTree(Showing, BaseEstimator):
    """Everything but the target and the choice of parts."""

    tree_: Tree
    feature_costs: Any = None

    def _parts(self) -> tuple[Any, Any, Any, Any]:
        """Learner, stopping rule, pruning and missing-value policy, as given."""
        raise AssertionError(f"{type(self).__name__} names no parts")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags

    # -- fitting --------------------------------------------------------------------

    def _training_table(self, X: Any, y: Any) -> Table:
        """The training table, after the checks that need no target."""
        self._check_limits()
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None"
            )
        table = learn_table(X)
        if table.n_rows == 1:
            raise ValueError(
                "Found array with n_samples=1: a tree needs two rows or more"
            )
        return table

    def _grow_and_prune(
        self, parts: Any, rows: Rows, classes: tuple, held_out: Rows | None, costs: Any
    ) -> Tree:
        """The tree of some rows, all of positive weight."""
        learner, stopping, pruning, policy = parts
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        limits = Limits.of(
            stopping,
            float(rows.weight.sum()),
            self.max_depth,
            self.max_leaves,
            self.max_seconds,
        )

        def regrow(part: Rows, verbose: int = 0) -> Tree:
            problem = Problem(
                part.table,
                part.y,
                part.weight,
                len(classes),
                policy,
                limits,
                seed,
                costs,
            )
            root = Node(problem, np.arange(len(part.y)), part.weight)
            return grow(root, classes, learner, verbose)

        train = rows
        if held_out is None and pruning is not None and pruning.needs_share:
            train, held_out = hold_out(rows, pruning.needs_share, seed)
        tree = regrow(train, self.verbose)
        if pruning is not None:
            evidence = Evidence(train, held_out, regrow, seed, self.n_jobs)
            tree = pruning.prune(tree, evidence)
        if tree.has_weights:
            deviation = Standardised.of(train.table, train.weight).std
            tree = tree.replace(deviation=deviation)
        return tree

    def _set_tree(self, tree: Tree) -> None:
        self.tree_ = tree
        self.n_features_in_ = tree.schema.n_features
        if tree.schema.named:
            self.feature_names_in_ = np.array(tree.schema.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _resolved_parts(self) -> tuple[Any, Any, Pruning | None, Any]:
        learner, stopping, pruning, policy = self._parts()
        return (
            LEARNERS.resolve(learner),
            STOPPING.resolve(stopping),
            None if pruning is None else PRUNINGS.resolve(pruning),
            MISSING.resolve(policy),
        )

    def _check_limits(self) -> None:
        for name, least in (("max_depth", 0), ("max_leaves", 1), ("max_seconds", 0)):
            value = getattr(self, name)
            if value is None:
                continue
            number(name, value, least)
            if name != "max_seconds" and not isinstance(value, numbers.Integral):
                raise ValueError(f"{name} must be a whole number, not {value!r}")

    def _weights(self, n_rows: int, sample_weight: ArrayLike | None) -> NDArray:
        if sample_weight is None:
            weight = np.ones(n_rows)
        else:
            weight = np.array(sample_weight, dtype=np.float64)
            if weight.ndim == 0:
                weight = np.full(n_rows, float(weight))
            if weight.shape != (n_rows,):
                raise ValueError(
                    f"sample_weight has shape {weight.shape}; one weight a row is needed, "
                    f"({n_rows},)"
                )
            if not np.isfinite(weight).all():
                raise ValueError("sample_weight has gaps or infinities; give numbers")
            if (weight < 0).any():
                raise ValueError(
                    "sample_weight is negative somewhere; weights start at 0"
                )
            if not (weight > 0).any():
                raise ValueError("sample_weight is zero everywhere; no row is left")
        return weight

    def _costs(self, learner: Any, table: Table) -> NDArray[np.float64] | None:
        """What each feature costs, in the order of the table."""
        given = self.feature_costs
        if given is None:
            return None
        if not learner.uses_costs:
            able = [name for name, cls in LEARNERS.items() if cls.uses_costs]
            raise ValueError(
                f"{type(learner).__name__} does not look at feature_costs; these learners "
                f"do: {', '.join(able)}"
            )
        names = list(table.schema.names)
        if isinstance(given, dict):
            for name in given:
                if name not in names:
                    raise ValueError(unknown("feature in feature_costs", name, names))
            given = [given.get(name, 0.0) for name in names]
        costs = np.asarray(given, dtype=np.float64)
        if costs.shape != (len(names),):
            raise ValueError(
                f"feature_costs has shape {costs.shape}; one cost a feature is needed, "
                f"({len(names)},)"
            )
        if not (np.isfinite(costs).all() and (costs >= 0).all()):
            raise ValueError("feature_costs must hold numbers of at least 0")
        return costs

    # -- prediction -----------------------------------------------------------------

    def _encode(self, X: Any) -> Table:
        check_is_fitted(self, "tree_")
        return encode(X, self.tree_.schema, who=type(self).__name__)

    def apply(self, X: Any) -> NDArray[np.int32]:
        """Leaf of each row; of a row that a gap divides, the leaf with most of it."""
        table = self._encode(X)
        return self.tree_.apply(table, self.n_jobs)

    def decision_path(self, X: Any) -> sparse.csr_array:
        """Matrix rows x nodes: the part of each row that passes through each node."""
        table = self._encode(X)
        return self.tree_.decision_path(table, self.n_jobs)


def scaled(weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weights that average at least one over the rows that have any."""
    mean = weight.sum() / np.count_nonzero(weight)
    return weight / mean if mean < 1 - 1e-12 else weight


def one_row(row: Any) -> Any:
    """A row in any form as a table of one row."""
    if isinstance(row, Mapping) or type(row).__name__ == "Series":
        import pandas as pd

        return pd.DataFrame([dict(row)])
    if getattr(row, "ndim", 2 if hasattr(row, "columns") else 1) == 1:
        return [list(row)]
    return row


def hold_out(rows: Rows, share: float, seed: int) -> tuple[Rows, Rows]:
    """Training rows, and a stratified share of them kept apart."""
    if not 0 < share < 1:
        raise ValueError(f"the held-out share must lie in (0, 1), not {share}")
    apart = fold_weights(rows.table, rows.y, rows.weight, 1 / share, seed)[:, 0]
    train, held_out = rows.weighing(rows.weight - apart), rows.weighing(apart)
    if not len(train.y) or not len(held_out.y):  # too few rows to divide
        return rows, rows
    return train, held_out
