"""The regressors: trees for a numeric target, with the face of the classifiers.

`TreeRegressor` is composed of parts, `OmniTreeRegressor` is the front door. What they share
with the classifiers is in `base.py`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import RegressorMixin
from sklearn.utils import column_or_1d
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from omnitree.data.table import encode, learn_table
from omnitree.estimators.base import BaseTree
from omnitree.estimators.row_inputs import check_groups, check_weights
from omnitree.growing.criterion import CRITERIA, Criterion, SquaredError
from omnitree.growing.learner import SplitLearner
from omnitree.growing.missing import Surrogate
from omnitree.growing.part import number
from omnitree.growing.stopping import Stopping
from omnitree.learners.regression import (
    REGRESSION_LEARNERS,
    RegressionOmnivariate,
    RegressionUnivariate,
)
from omnitree.parts.leaves import ConstantLeaves, Leaves, RidgeLeaves
from omnitree.parts.leaves.base import Training
from omnitree.parts.leaves.ridge import recounted
from omnitree.pruning import PRUNINGS, CostComplexity, Rows

if TYPE_CHECKING:
    from omnitree.explain import Explanation


class BaseTreeRegressor(RegressorMixin, BaseTree):
    """Everything but the choice of parts."""

    criterion: Any = "squared_error"
    _task = "regression"
    _learners = REGRESSION_LEARNERS

    def _criterion(self) -> Criterion:
        return CRITERIA.resolve(self.criterion)

    def _resolved_parts(self):
        parts = super()._resolved_parts()
        pruning = parts[2]
        if pruning is not None and not pruning.regresses:
            able = [name for name, cls in PRUNINGS.items() if cls.regresses]
            raise ValueError(
                f"{type(pruning).__name__} prunes trees for classes; these prune trees "
                f"for numbers: {', '.join(able)}"
            )
        return parts

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        prune_set: tuple[Any, ArrayLike] | None = None,
        groups: ArrayLike | None = None,
    ):
        """Grow and prune a tree.

        Parameters
        ----------
        X : array, data frame (pandas, polars), list of rows or SciPy sparse matrix
            Numbers, booleans, strings, categories; NaN, None, NA and empty strings are
            missing values. A sparse matrix is made dense, which takes rows x columns x 8
            bytes.
        y : array of shape (n_rows,)
            The numbers to predict.
        sample_weight : array of shape (n_rows,), optional
            What each row counts; rows of weight zero are left out. Where rows are held out
            inside (by a pruning, choice, learner or leaf with folds or a held-out share, as
            in both default estimators), the row stays the unit of evidence, on one side
            with its whole weight, and only the proportions of the weights matter: they are
            scaled to average one. All other methods, as C4.5's and those that test
            significance or charge parameters on counts, take a row of weight two for two
            rows; there, weights that average less than one are scaled to average one,
            since rules as `min_rows` count rows.
        prune_set : tuple (X, y), optional
            Rows for pruning; without it a pruning that needs some holds out a share of
            the training rows.
        groups : array of shape (n_rows,), optional
            Rows that belong together, as those of one patient or copies of one row: where
            rows are held out inside, all rows of a group are on one side. Methods that
            hold no rows out have no use for it. With scikit-learn's metadata routing, ask
            for it with ``set_fit_request(groups=True)``.

        Returns
        -------
        self
        """
        parts = self._resolved_parts()
        self._criterion()
        source = self._training_source(X, y)
        target = check_target(y, source.shape[0])
        weight = check_weights(len(target), sample_weight)
        grouped = check_groups(len(target), groups)
        table = learn_table(source, target, weight, grouped)
        costs = self._costs(parts, table)
        rows = Rows(table, target, weight, grouped)
        rows = self._rows(parts, rows, prune_set)
        held_out = None
        if prune_set is not None:
            if not isinstance(prune_set, tuple | list) or len(prune_set) != 2:
                raise ValueError("prune_set must be a pair (X, y)")
            other = encode(prune_set[0], table.schema, who=type(self).__name__)
            values = check_target(prune_set[1], other.n_rows)
            held_out = Rows(other, values, np.ones(other.n_rows))
        self._set_tree(self._grow_and_prune(parts, rows, (), held_out, costs))
        return self

    def predict(self, X: Any) -> NDArray[np.float64]:
        """What each row's leaf answers: its constant, or its linear model.

        A row that a gap divides gets the mean over its leaves.
        """
        table = self._encode(X)
        return self.tree_.predict_value(table, self.tree_.outputs, self.n_jobs)[:, 0]

    def describe(self, standardised: bool = False, full: bool = False) -> str:
        """The tree in words: tests in the user's names and units, answers of leaves.

        A leaf shows its constant or its linear model, the weight of its training rows and
        their mean loss.

        Parameters
        ----------
        standardised : bool, default=False
            Show the weights of tests and models for columns in units of their standard
            deviation, so that the weights can be compared.
        full : bool, default=False
            Show all terms of long sums.

        Examples
        --------
        >>> from omnitree import TreeRegressor
        >>> reg = TreeRegressor().fit([[1], [2], [3]], [5.0, 5.0, 8.0])
        >>> print(reg.describe())
        3 nodes, 2 leaves, a number
        loss: mean squared error of the training rows
        x0 <= 2.5: 5 (2 rows, loss 0)
        x0 > 2.5: 8 (1 row, loss 0)
        """
        from omnitree.export.text import describe

        check_is_fitted(self, "tree_")
        words = self._criterion().words
        return describe(self.tree_.to_dict(), standardised, full=full, loss=words)

    def explain(
        self, row: Any, max_changes: int = 3, goal: str | None = None
    ) -> Explanation:
        """Why one row gets its answer, and what would change it.

        Parameters
        ----------
        row : dict, Series, sequence of cells, or table of one row
        max_changes : int, default=3
            Most features that the counterfactual may change.
        goal : str, optional
            What the counterfactual is to reach: "above 12.5" or "below 12.5". Without it,
            another leaf's answer that differs by more than the spread of the row's leaf.

        Returns
        -------
        Explanation
            The path, each test with what every feature adds to it and the margin to the
            other side, what happened to gaps, and the smallest change found that reaches
            the goal, checked by predicting it. Prints as text.
        """
        return self._explain(row, max_changes, goal=goal)

    def _answer(self, outputs: NDArray[np.float64]) -> list[Any]:
        return outputs[:, 0].tolist()


class TreeRegressor(BaseTreeRegressor):
    """A regression tree composed of parts.

    Parameters
    ----------
    learner : str or SplitLearner, default="univariate"
        Finds the test of a node; see `omnitree.learners.regression.REGRESSION_LEARNERS`.
    criterion : str or Criterion, default="squared_error"
        What tests, leaves and pruning make small: "squared_error" or "absolute_error".
    stopping : str or Stopping, default="pure"
        When a node stays a leaf.
    leaves : str or Leaves, default="constant"
        What a leaf answers: a "constant", or a "ridge" model where that is better. Tests
        are searched for the leaves that there will be.
    pruning : str, Pruning or None, default=None
        What is cut after growing.
    missing : str or MissingPolicy, default="mean"
        How rows with a gap go on: "mean", "filled", "fractional" or "surrogate".
    max_depth, max_leaves : int, optional
        Limits of the tree; with `max_leaves` the best nodes are split first.
    max_seconds : float, optional
        Growing stops after this time and keeps what it has.
    random_state : int, RandomState or None
        Seed of everything random: held-out rows and folds.
    n_jobs : int or None
        Threads for prediction and for the folds of cross-validated pruning; the result
        does not depend on it.
    verbose : int, default=0
        1 shows a progress bar.

    Attributes
    ----------
    tree_ : Tree
    n_features_in_ : int
    feature_names_in_ : ndarray of str, where the training data had names

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from omnitree import TreeRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> reg = TreeRegressor(pruning="cost_complexity", random_state=1).fit(X, y)
    >>> reg.tree_.n_leaves < TreeRegressor().fit(X, y).tree_.n_leaves
    True
    """

    def __init__(
        self,
        learner="univariate",
        criterion="squared_error",
        stopping="pure",
        leaves="constant",
        pruning=None,
        missing="mean",
        max_depth=None,
        max_leaves=None,
        max_seconds=None,
        random_state=None,
        n_jobs=None,
        verbose=0,
    ):
        self.learner = learner
        self.criterion = criterion
        self.stopping = stopping
        self.leaves = leaves
        self.pruning = pruning
        self.missing = missing
        self.max_depth = max_depth
        self.max_leaves = max_leaves
        self.max_seconds = max_seconds
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _parts(self):
        return self.learner, self.stopping, self.pruning, self.missing


class OmniTreeRegressor(BaseTreeRegressor):
    """The front door: a small tree for a numeric target, with nothing to choose.

    Two kinds of tree are grown: with constants in the leaves and tests on one feature, and
    with linear models in the leaves and tests chosen at each node by BIC between univariate
    ones and folds of two linear models (`REGRESSION_KINDS` of this module has them).
    Cost-complexity pruning by five folds says how large each should be, and the same folds
    say which of the two has the least loss: that one it is. A leaf has a linear model only
    if leaving each row out in turn says that it is better than a constant. Under the
    absolute error leaves hold constants, and the second kind has tests chosen among
    univariate, sparse linear, linear and quadratic ones.

    Parameters
    ----------
    criterion : str or Criterion, default="squared_error"
        "squared_error" or "absolute_error".
    max_rows : int, default=20000
        Of more rows, a sample of so many finds and prunes the tests; the leaves are then
        fitted to all rows.
    max_depth, max_leaves, max_seconds, random_state, n_jobs, verbose
        As for `TreeRegressor`; `max_seconds` is for each tree that is grown.

    Attributes
    ----------
    tree_ : Tree
    kind_ : str
        Which kind of tree was chosen.
    losses_ : dict
        Cross-validated mean loss of each kind.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from omnitree import OmniTreeRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> reg = OmniTreeRegressor(random_state=0).fit(X, y)
    >>> reg.tree_.n_leaves < 10
    True
    """

    def __init__(
        self,
        criterion="squared_error",
        max_rows=20_000,
        max_depth=None,
        max_leaves=None,
        max_seconds=None,
        random_state=None,
        n_jobs=None,
        verbose=0,
    ):
        self.criterion = criterion
        self.max_rows = max_rows
        self.max_depth = max_depth
        self.max_leaves = max_leaves
        self.max_seconds = max_seconds
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _resolved_parts(self):
        return None, None, CostComplexity(folds=5), None, None

    def _grow_and_prune(self, parts, rows, classes, held_out, costs):
        number("max_rows", self.max_rows, 10)
        seed, criterion = self._seed(), self._criterion()
        some = rows
        if len(rows.y) > self.max_rows:
            # Rows are sampled one by one: of a large group some are enough.
            alone = replace(rows, groups=None)
            some = rows.take(alone.folds(len(rows.y) / self.max_rows, seed) == 0)
        found = {}
        kinds = REGRESSION_KINDS[type(criterion) is SquaredError]
        for name, (learner, stopping, leaves) in kinds.items():
            own = (learner, stopping, parts[2], Surrogate(), leaves)
            tree, evidence = self._grow(own, some, (), held_out, None, seed)
            cut, loss = parts[2].decide(tree, evidence)
            found[name] = (loss, tree.collapse(cut), leaves)
        self.losses_ = {
            name: loss / float(some.weight.sum()) for name, (loss, *_) in found.items()
        }
        self.kind_ = min(found, key=lambda name: self.losses_[name])
        _, tree, leaves = found[self.kind_]
        if some is not rows:
            training = Training(
                rows.table,
                rows.y,
                rows.weight,
                2,
                seed,
                criterion=criterion,
                groups=rows.groups,
            )
            tree = leaves.fit(recounted(tree, training), training)
        return self._measured(tree, rows)


Kind = tuple[SplitLearner, Stopping, Leaves]
CONSTANT: Kind = (
    RegressionUnivariate(min_branch=5),
    Stopping(min_rows=10),
    ConstantLeaves(),
)
REGRESSION_KINDS: dict[bool, dict[str, Kind]] = {
    # For the squared error.
    True: {
        "constant, univariate": CONSTANT,
        "linear, omnivariate": (
            RegressionOmnivariate(("univariate", "hinge"), min_branch=10),
            # A linear model needs no smaller parts, and many rows cost time.
            Stopping(min_rows=20, min_share=0.005),
            RidgeLeaves(),
        ),
    },
    False: {
        "constant, univariate": CONSTANT,
        "constant, omnivariate": (
            RegressionOmnivariate(min_branch=5),
            Stopping(min_rows=10),
            ConstantLeaves(),
        ),
    },
}


def check_target(y: ArrayLike, n_rows: int) -> NDArray[np.float64]:
    """A numeric target as an array without gaps."""
    values = column_or_1d(y, warn=True)
    if values.dtype.kind not in "iufbO":
        raise ValueError(
            f"y has the type {values.dtype}; a regressor needs numbers, for labels take a "
            "classifier"
        )
    try:
        target = values.astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            "y holds something that is no number; for labels take a classifier"
        ) from None
    if not np.isfinite(target).all():
        raise ValueError(
            "Input y contains NaN or infinity: drop the rows without a target first"
        )
    if len(target) != n_rows:
        check_consistent_length(np.empty(n_rows), target)
    return target
