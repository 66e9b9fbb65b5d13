"""What the classifiers and the regressors share: checks, growing, routing, showing.

`BaseTree` knows nothing of classes or targets beyond `Rows.y`: an estimator turns its `y`
into rows, calls `_grow_and_prune`, and says what a node answers (`_node_outputs`).
"""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from omnitree.data.encoding.sources import Source, open_source
from omnitree.data.table import Table, encode
from omnitree.estimators.documents import to_json
from omnitree.estimators.gains import with_importance
from omnitree.estimators.row_inputs import scaled, warn_of_copies
from omnitree.estimators.show import Showing
from omnitree.growing.column_source import Standardised
from omnitree.growing.criterion import Criterion
from omnitree.growing.grower import grow
from omnitree.growing.missing import MISSING
from omnitree.growing.node import Node, Problem
from omnitree.growing.part import Part, number, unknown
from omnitree.growing.stopping import STOPPING, Limits
from omnitree.learners import LEARNERS
from omnitree.parts.leaves import LEAVES
from omnitree.parts.leaves.base import Training
from omnitree.pruning import PRUNINGS, Evidence, Pruning, Rows
from omnitree.tree.tree import Tree

if TYPE_CHECKING:
    from omnitree.explain import Explanation


class BaseTree(Showing, BaseEstimator):
    """Everything but the target and the choice of parts."""

    tree_: Tree
    leaves: Any
    feature_costs: Any = None
    _task = "classification"
    _learners = LEARNERS

    def _parts(self) -> tuple[Any, Any, Any, Any]:
        """Learner, stopping rule, pruning and missing-value policy, as given."""
        raise AssertionError(f"{type(self).__name__} names no parts")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags

    # -- fitting --------------------------------------------------------------------

    def _training_source(self, X: Any, y: Any) -> Source:
        """The columns of the training table, after the checks that need no target."""
        self._check_limits()
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None"
            )
        source = open_source(X)
        if source.shape[0] == 1:
            raise ValueError(
                "Found array with n_samples=1: a tree needs two rows or more"
            )
        return source

    def _grow_and_prune(
        self, parts: Any, rows: Rows, classes: tuple, held_out: Rows | None, costs: Any
    ) -> Tree:
        """The tree of some rows, all of positive weight."""
        pruning = parts[2]
        tree, evidence = self._grow(parts, rows, classes, held_out, costs, self._seed())
        if pruning is not None:
            tree = pruning.prune(tree, evidence).replace(costs=tree.costs)
        return self._measured(tree, evidence.train, evidence.problem)

    def _measured(self, tree: Tree, rows: Rows, problem: Problem | None = None) -> Tree:
        """The tree with what only its training rows can tell: deviations, importances."""
        tree = with_deviations(tree, rows, problem)
        return with_importance(tree, rows.table, rows.y, rows.weight, self._criterion())

    def _seed(self) -> int:
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _grow(
        self,
        parts: Any,
        rows: Rows,
        classes: tuple,
        held_out: Rows | None,
        costs: Any,
        seed: int,
    ) -> tuple[Tree, Evidence]:
        """The tree of some rows as grown, and what its pruning may look at."""
        learner, stopping, pruning, policy, leaves = parts
        limits = Limits.of(
            stopping,
            float(rows.weight.sum()),
            self.max_depth,
            self.max_leaves,
            self.max_seconds,
        )
        class_costs = self._class_costs(classes)
        altered = self._altered(class_costs)
        constraints = self._constraints(parts, rows.table, len(classes))
        criterion = self._criterion()
        n_classes = len(classes) if criterion is None else 2

        def training(part: Rows) -> Training:
            return Training(
                part.table,
                part.y,
                part.weight,
                n_classes,
                seed,
                limits.expired,
                criterion,
                part.groups,
            )

        def problem_of(part: Rows) -> Problem:
            return Problem(
                part.table,
                part.y,
                part.weight,
                n_classes,
                policy,
                limits,
                seed,
                costs,
                criterion,
                leaves,
                constraints,
                class_costs,
                part.groups,
            )

        def grow_on(part: Rows, problem: Problem, verbose: int = 0) -> Tree:
            if altered is not None:
                weight = part.weight * altered[part.y]
                weight *= part.weight.sum() / weight.sum()
                problem = problem_of(replace(part, weight=weight))
            root = Node(problem, np.arange(len(part.y)), problem.weight)
            tree = grow(root, classes, learner, verbose)
            if altered is not None:
                tree = tree.recount(part.table, part.y, part.weight)
            if class_costs is not None:
                tree = tree.replace(costs=class_costs)
            return leaves.fit(tree, training(part))

        def regrow(part: Rows) -> Tree:
            return grow_on(part, problem_of(part))

        train = rows
        if held_out is None and pruning is not None and pruning.needs_share:
            train, held_out = hold_out(rows, pruning.needs_share, seed)
        leaves = leaves.settled(training(train))
        problem = problem_of(train)
        tree = grow_on(train, problem, self.verbose)
        evidence = Evidence(
            train, held_out, regrow, seed, self.n_jobs, criterion, problem
        )
        return tree, evidence

    def _set_tree(self, tree: Tree) -> None:
        self.tree_ = tree
        self.n_features_in_ = tree.schema.n_inputs
        if tree.schema.named:
            self.feature_names_in_ = np.array(tree.schema.inputs, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _class_costs(self, classes: tuple) -> NDArray[np.float64] | None:
        """What wrong classes cost; None: all alike."""
        return None

    def _altered(self, costs: NDArray[np.float64] | None) -> NDArray[np.float64] | None:
        """What each class weighs while tests are found; None: as much as its rows."""
        if not getattr(self, "altered_priors", False):
            return None
        if costs is None:
            raise ValueError("altered_priors needs a cost_matrix")
        weight = costs.sum(axis=1)
        if not (weight > 0).all():
            raise ValueError("altered_priors needs a class whose errors cost something")
        return weight

    def _criterion(self) -> Criterion | None:
        """Of a numeric target; None: there are classes."""
        return None

    def _resolved_parts(self) -> tuple[Any, Any, Pruning | None, Any, Any]:
        """Learner, stopping rule, pruning, missing-value policy and leaves, as objects."""
        learner, stopping, pruning, policy = self._parts()
        leaves = LEAVES.resolve(self.leaves)
        if leaves.task != self._task:
            able = [name for name, cls in LEAVES.items() if cls.task == self._task]
            raise ValueError(
                f"{type(leaves).__name__} are for {leaves.task}; for {self._task} there "
                f"are: {', '.join(able)}"
            )
        return (
            self._learners.resolve(learner),
            STOPPING.resolve(stopping),
            None if pruning is None else PRUNINGS.resolve(pruning),
            MISSING.resolve(policy),
            leaves,
        )

    def _check_limits(self) -> None:
        for name, least in (("max_depth", 0), ("max_leaves", 1), ("max_seconds", 0)):
            value = getattr(self, name)
            if value is None:
                continue
            number(name, value, least)
            if name != "max_seconds" and not isinstance(value, numbers.Integral):
                raise ValueError(f"{name} must be a whole number, not {value!r}")

    def _constraints(self, parts: Any, table: Table, n_classes: int) -> Any:
        """The rules of the learner, if everything else lets them hold."""
        learner, _, pruning, _, leaves = parts
        rules = learner.constraints(table.schema)
        if rules is None:
            return None
        self._check_pruning(learner, pruning)
        if rules.monotone:
            if n_classes > 2:
                raise ValueError(
                    f"monotone needs two classes or a numeric target, y has {n_classes} "
                    "classes"
                )
            if not leaves.plain or getattr(self, "smoothing", None) is not None:
                raise ValueError(
                    "models in leaves and smoothing would break monotone answers: take "
                    "plain leaves and smoothing=None"
                )
        return rules

    def _check_pruning(self, learner: Any, pruning: Pruning | None) -> None:
        """Refuse a pruning that would undo what was asked of the tests."""
        if pruning is None:
            return
        rules = [
            name
            for name in ("monotone", "interactions")
            if getattr(learner, name, None) is not None
        ]
        if rules and not pruning.only_cuts:
            raise ValueError(
                f"{type(pruning).__name__} does more than cut subtrees off (new tests, "
                f"raised subtrees or other counts), which may break {rules[0]}; take "
                "'cost_complexity' or 'reduced_error', or raising=False, or rivals=()"
            )
        if self.feature_costs is not None and pruning.adds_features:
            raise ValueError(
                f"{type(pruning).__name__} puts tests over all features in place of "
                "subtrees and does not look at feature_costs; give it rivals=()"
            )

    def _rows(self, parts: Any, rows: Rows, prune_set: Any) -> Rows:
        """Rows with a weight, in the scale that the parts count in."""
        pruning = parts[2]
        if prune_set is not None and pruning is not None and pruning.needs_share:
            parts = (*parts[:2], None, *parts[3:])  # it holds no rows out
        resamples = hold_rows_out(parts)
        if resamples and rows.groups is None:
            warn_of_copies(rows.table, rows.y)
        rows = replace(rows, weight=scaled(rows.weight, always=resamples))
        keep = rows.weight > 0
        return rows if keep.all() else rows.take(keep)

    def _costs(self, parts: Any, table: Table) -> NDArray[np.float64] | None:
        """What each of the user's columns costs, in their order."""
        given = self.feature_costs
        if given is None:
            return None
        learner, _, pruning, *_ = parts
        if not learner.uses_costs:
            able = [name for name, cls in self._learners.items() if cls.uses_costs]
            raise ValueError(
                f"{type(learner).__name__} does not look at feature_costs; these learners "
                f"do: {', '.join(able) or 'none'}"
            )
        self._check_pruning(learner, pruning)
        names = list(table.schema.inputs)
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

    def get_depth(self) -> int:
        """Length of the longest path from the root to a leaf; 0 for a single leaf."""
        check_is_fitted(self, "tree_")
        return self.tree_.depth

    def get_n_leaves(self) -> int:
        """Number of leaves."""
        check_is_fitted(self, "tree_")
        return self.tree_.n_leaves

    def _node_outputs(self) -> NDArray[np.float64]:
        """What every node answers as a leaf without a model."""
        return self.tree_.outputs

    def _node_labels(self) -> list[int] | None:
        """Index of the class that every node answers; None where it is a number."""
        return None

    def _answer(self, outputs: NDArray[np.float64]) -> list[Any]:
        """The answers of rows in the form that tells whether two are the same."""
        raise AssertionError(f"{type(self).__name__} has no answer")

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Share of each feature in what the tree explains; adds up to one.

        A test on one feature gives its decrease of the Gini impurity (of the loss, in a
        regressor) to that feature, as in scikit-learn. A test on several features shares
        it by contributions: the size of the weight times the standard deviation of the
        feature among the training rows of the node, summed over the functions of a
        machine; a product counts half for each of its features. A model in a leaf counts
        with what it takes off the Brier score (the loss) of the leaf, shared in the same
        way.

        That of a date is the sum over its parts; a column that was left out has 0.
        """
        check_is_fitted(self, "tree_")
        return self.tree_.schema.by_input(self.tree_.feature_importances)

    def _explain(self, row: Any, max_changes: int, **options: Any) -> Explanation:
        from omnitree.explain import explain
        from omnitree.export.model import Model

        check_is_fitted(self, "tree_")
        number("max_changes", max_changes, 1)
        table = self._encode(one_row(row))
        if table.n_rows != 1:
            raise ValueError(f"explain takes one row, not {table.n_rows}")
        outputs = self._node_outputs()

        def predict(rows: list[list[float]]) -> list[Any]:
            new = Table(np.array(rows, dtype=np.float64), self.tree_.schema)
            return self._answer(self.tree_.predict_value(new, outputs))

        model = Model(self.tree_.to_dict(), outputs.tolist())
        cells = table.values[0].tolist()
        return explain(model, cells, predict, max_changes, **options)

    def export(self, format: str, **options: Any) -> str | bytes:
        """The tree in another format, with the same answers as `predict`.

        Parameters
        ----------
        format : str
            - "python": source that defines ``predict(row)``, for a dict from column
              names to cells; it gives the class and the list of probabilities, or the
              number, and imports nothing.
            - "c": source of one C99 function; its comment says how to call it.
            - "sql": an expression over the columns that gives the answer; a gap is
              NULL. With ``proba=True`` a list of such expressions, the probabilities, too.
            - "onnx": bytes; standard operators only; needs ``omnitree[onnx]``.
            - "pmml": PMML 4.4.
            - "dot": for Graphviz.
            - "rules": one rule a leaf, in words.
            - "json": what `save` writes and `load` reads: the estimator, its parameters
              and the tree as `Tree.to_dict` gives it.

        Returns
        -------
        str, or bytes for "onnx"

        Examples
        --------
        >>> from omnitree import TreeClassifier
        >>> clf = TreeClassifier().fit([[1], [2], [3]], ["a", "a", "b"])
        >>> print(clf.export("sql"))
        CASE WHEN "x0" <= 2.5E0 OR "x0" IS NULL THEN 'a' ELSE 'b' END
        """
        from omnitree.export import export

        check_is_fitted(self, "tree_")
        if format == "json" and not options:
            return to_json(self)
        outputs = self._node_outputs().tolist()
        return export(self.tree_.to_dict(), format, outputs, **options)


def with_deviations(tree: Tree, rows: Rows, problem: Problem | None = None) -> Tree:
    """The tree with the deviations of its columns, where words about weights need them.

    `problem` is that of the same rows, if it is at hand.
    """
    if not tree.has_weights:
        return tree
    known = None if problem is None else problem.standardised
    known = known or Standardised.of(rows.table, rows.weight)
    return tree.replace(deviation=known.std)


def one_row(row: Any) -> Any:
    """A row in any form as a table of one row."""
    if isinstance(row, Mapping) or type(row).__name__ == "Series":
        import pandas as pd

        return pd.DataFrame([dict(row)])
    if getattr(row, "ndim", 2 if hasattr(row, "columns") else 1) == 1:
        return [list(row)]
    return row


def hold_rows_out(parts: Iterable[Part | None]) -> bool:
    """Whether some of an estimator's parts hold rows out."""
    return any(part is not None and part.resamples for part in parts)


def hold_out(rows: Rows, share: float, seed: int) -> tuple[Rows, Rows]:
    """Training rows, and a stratified share of them kept apart."""
    if not 0 < share < 1:
        raise ValueError(f"the held-out share must lie in (0, 1), not {share}")
    apart = rows.folds(1 / share, seed) == 0
    if apart.all() or not apart.any():  # too few rows, or groups, to divide
        return rows, rows
    return rows.take(~apart), rows.take(apart)
