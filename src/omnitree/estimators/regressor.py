"""The regressors: trees for a numeric target, with the interface of the classifiers.

`TreeRegressor` is composed of parts, `OmniTreeRegressor` is the default regressor. What
they share with the classifiers is in `base.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import RegressorMixin
from sklearn.utils import column_or_1d
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from omnitree.estimators.base import BaseTree
from omnitree.estimators.gains import measured
from omnitree.estimators.lazy import by_blocks
from omnitree.estimators.parts import Parts
from omnitree.growing.clock import now
from omnitree.growing.criterion import CRITERIA, SquaredError
from omnitree.growing.missing import Surrogate
from omnitree.growing.node import Rules
from omnitree.growing.part import number
from omnitree.growing.stopping import Limits, Stopping
from omnitree.growing.target import NumericTarget, Target
from omnitree.growing.threads import one_thread
from omnitree.learners import Omnivariate, Univariate
from omnitree.parts.leaves import AdditiveLeaves, ConstantLeaves, RidgeLeaves
from omnitree.parts.leaves.products import loss_of_one_leaf, one_leaf, with_products
from omnitree.pruning import CostComplexity
from omnitree.pruning.base import Evidence
from omnitree.tree.tree import LEAF, Tree

if TYPE_CHECKING:
    from omnitree.explain import Explanation


class BaseTreeRegressor(RegressorMixin, BaseTree):
    """Everything but the choice of parts."""

    criterion: Any = "squared_error"
    _task = "regression"

    def _target(
        self, y: Any, n_rows: int, known: Target | None = None
    ) -> NumericTarget:
        criterion = CRITERIA.resolve(self.criterion)
        return NumericTarget(check_target(y, n_rows), criterion)

    @by_blocks
    def predict(self, X: Any) -> NDArray[np.float64]:
        """What each row's leaf answers: its constant, or its linear model.

        A row divided by a missing value gets the weighted mean over its leaves.
        """
        table = self._encode(X)
        return self.tree_.predict_value(table, self.tree_.outputs, self.n_jobs)[:, 0]

    def _check_options(self) -> None:
        super()._check_options()
        CRITERIA.resolve(self.criterion)

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
        words = CRITERIA.resolve(self.criterion).words
        return describe(self.tree_.to_dict(), standardised, full=full, loss=words)

    def explain(
        self, row: Any, max_changes: int = 3, goal: str | None = None
    ) -> Explanation:
        """Explain the prediction for one row, and what would change it.

        Parameters
        ----------
        row : dict, Series, sequence of cells, or table of one row
        max_changes : int, default=3
            Maximum number of features that the counterfactual may change.
        goal : str, optional
            What the counterfactual is to reach: "above 12.5" or "below 12.5". Without it,
            another leaf's answer that differs by more than the spread of the row's leaf.

        Returns
        -------
        Explanation
            The path, each test with what every feature adds to it and the margin to the
            other branch, what happened to missing values, and the smallest change that
            reaches the goal, checked by predicting it. Prints as text.
        """
        return self._explain(row, max_changes, goal=goal)

    def _answer(self, outputs: NDArray[np.float64]) -> list[Any]:
        return outputs[:, 0].tolist()


@dataclass(eq=False, repr=False)
class TreeRegressor(BaseTreeRegressor):
    """A regression tree composed of parts.

    Parameters
    ----------
    learner : str or SplitLearner, default="univariate"
        Finds the test of a node: "univariate", "linear", "omnivariate", or an object.
    criterion : str or Criterion, default="squared_error"
        What tests, leaves and pruning make small: "squared_error" or "absolute_error".
    stopping : str or Stopping, default="pure"
        Decides when a node becomes a leaf.
    leaves : str or Leaves, default="constant"
        How leaves predict: by a "constant", or by a "ridge" model where that is better.
        The search for tests takes the kind of leaves into account.
    pruning : str, Pruning or None, default=None
        Method of pruning the grown tree; None does not prune.
    refinement : str, Refinement or None, default=None
        Method of changing the pruned tree. So far, all in `omnitree.refinement` are for
        classification.
    missing, max_depth, max_leaves, max_seconds, random_state, n_jobs, verbose, max_memory
        As for `TreeClassifier`.

    Attributes
    ----------
    tree_, n_features_in_, feature_names_in_
        As for `TreeClassifier`.

    Examples
    --------
    >>> from omnitree import TreeRegressor
    >>> reg = TreeRegressor().fit([[1], [2], [3]], [5.0, 5.0, 8.0])
    >>> reg.predict([[1.5], [9]])
    array([5., 8.])
    """

    learner: Any = "univariate"
    criterion: Any = "squared_error"
    stopping: Any = "pure"
    leaves: Any = "constant"
    pruning: Any = None
    refinement: Any = None
    missing: Any = "mean"
    max_depth: Any = None
    max_leaves: Any = None
    max_seconds: Any = None
    random_state: Any = None
    n_jobs: Any = None
    verbose: Any = 0
    max_memory: Any = None


@dataclass(eq=False, repr=False)
class OmniTreeRegressor(BaseTreeRegressor):
    """The default regressor: a small, accurate tree without any settings.

    Two kinds of tree are grown, both with tests on one feature: one with models in the
    leaves, whose tests divide what a model of the whole node leaves unexplained, and one
    with constant leaves (see `REGRESSION_KINDS` in this module). Both are pruned by cost-
    complexity with five folds, three from 1,000 rows on and two from 4,000, and the kind
    with the lower loss on the same folds is kept. The model of a leaf is a sum of curves,
    of lines, or a constant, whichever has the least leave-one-out error
    (`AdditiveLeaves`). Beyond the values that a leaf has seen, its curves stay constant;
    lines end there or half a range further, whichever suits rows that are left out.

    Where rows that are left out clearly err less with products of two columns, a leaf gets
    them, as few as they allow. Products run away beyond the rows that they were learned
    from, so such a leaf becomes a test: rows that are about where others were are answered
    with products, all others as before. If the tree has several leaves, a single one with
    products is tried in their place.

    A node whose best test gains little more than that of mere noise stays a leaf. With the
    absolute error, leaves are constant and the second kind chooses among univariate,
    sparse linear, linear and quadratic tests.

    Parameters
    ----------
    criterion : str or Criterion, default="squared_error"
        "squared_error" or "absolute_error".
    max_rows : int, default=20000
        If there are more rows, a sample of this size is used to find and prune the tests;
        the leaves are then fitted on all rows.
    max_depth, max_leaves, max_seconds, random_state, n_jobs, verbose, \
max_memory
        As for `TreeRegressor`; `max_seconds` is for both kinds together.

    Attributes
    ----------
    tree_ : Tree
    kind_ : str
        Which kind of tree was chosen.
    losses_ : dict
        Cross-validated mean loss of each kind, trees as they are before leaves get
        products. A kind that is clearly behind in the first
        fold is given up and has none; NaN if the time was up before the folds.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from omnitree import OmniTreeRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> reg = OmniTreeRegressor(random_state=0).fit(X, y)
    >>> reg.tree_.n_leaves < 10
    True
    """

    criterion: Any = "squared_error"
    max_rows: Any = 20_000
    max_depth: Any = None
    max_leaves: Any = None
    max_seconds: Any = None
    random_state: Any = None
    n_jobs: Any = None
    verbose: Any = 0
    max_memory: Any = None
    _fits_sample = True

    def _kinds(self) -> dict[str, Parts]:
        squared = type(CRITERIA.resolve(self.criterion)) is SquaredError
        return REGRESSION_KINDS[squared]

    def _parts(self):
        return next(iter(self._kinds().values()))

    def _check_options(self) -> None:
        super()._check_options()
        number("max_rows", self.max_rows, 10)

    def _grow_and_prune(self, parts, sample, held_out, deadline=None):
        if deadline is None and self.max_seconds is not None:
            deadline = now() + self.max_seconds
        with one_thread():  # most matrices are small
            return self._best_kind(sample, held_out, deadline)

    def _best_kind(self, sample, held_out, deadline) -> Tree:
        """The tree of the kind that errs least on rows that are held out."""
        seed, some = self._seed(), sample
        if len(sample) > self.max_rows:
            # Rows are sampled one by one: of a large group some are enough.
            alone = replace(sample, groups=None)
            some = sample.take(alone.folds(len(sample) / self.max_rows, seed) == 0)
        found: dict[str, Grown] = {}
        # Models of many columns need as many rows, or nearly so.
        enough = some.standardised.n_columns / 2
        for name, own in self._kinds().items():
            for n_rows, folds in FEWER_FOLDS:
                if len(some) >= n_rows:
                    own = replace(own, pruning=CostComplexity(folds=folds))
            if not own.leaves.plain:
                min_rows = max(own.stopping.min_rows, enough)
                stopping = Stopping(min_rows, own.stopping.min_share)
                own = replace(own, stopping=stopping)
            by_fold = [losses for losses, *_ in found.values()]
            if by_fold and self._is_behind(
                own, some, held_out, seed, by_fold[0], deadline
            ):
                continue
            tree, evidence = self._grow(own, some, held_out, seed, deadline)
            cut, losses = own.pruning.decide(tree, evidence)
            if found and evidence.expired:
                break  # a kind that was cut short cannot be compared
            found[name] = (losses, tree.collapse(cut), evidence, own)
        tested = float((some if held_out is None else held_out).weight.sum())
        self.losses_ = {
            name: float(loss.sum()) / tested if len(loss) else np.nan
            for name, (loss, *_) in found.items()
        }
        least = min(self.losses_.values()) + 1e-9 * float(np.var(some.y))
        good = [name for name, loss in self.losses_.items() if not loss > least]
        self.kind_ = min(good, key=lambda name: found[name][1].n_parameters)
        _, tree, evidence, _ = found[self.kind_]
        if (one := self._as_one_leaf(found, tree, least)) is not None:
            tree, evidence = one
        assert evidence.growth is not None
        leaves = evidence.growth.rules.leaves
        n_cells = COLUMNS * sample.table.values.size
        if isinstance(leaves, RidgeLeaves) and Limits(deadline=deadline).is_late(
            n_cells
        ):
            sample = some  # no time is left for models of all rows
        refit = some is not sample
        if refit:
            tree = tree.replace(models=None).with_counts(sample)
        if isinstance(leaves, AdditiveLeaves) and (refit or tree.n_leaves > 1):
            late = deadline is not None and now() > deadline
            leaves, refit = leaves.with_knots("leaf"), refit or not late
        if refit and isinstance(leaves, RidgeLeaves):
            rules = Rules(Surrogate(), seed=seed)
            tree = leaves.fit_some(tree, sample, rules, tree.kind == LEAF)
        if isinstance(leaves, AdditiveLeaves):
            tree = with_products(tree, sample, leaves, evidence.growth.rules)
        return measured(tree, sample)

    def _as_one_leaf(
        self, found: dict[str, Grown], tree: Tree, least: float
    ) -> tuple[Tree, Evidence] | None:
        """A single leaf, if it clearly errs less on held-out rows once it has products.

        Where the effect of one feature depends on another everywhere, that says more than
        many parts do.
        """
        for _, _, evidence, parts in found.values():
            growth, train = evidence.growth, evidence.train
            if tree.n_leaves == 1 or growth is None or evidence.expired:
                continue
            if not isinstance(parts.leaves, AdditiveLeaves):
                continue
            rows, folds = (train, evidence.held_out), parts.pruning.folds
            loss = loss_of_one_leaf(growth, *rows, folds)
            if loss is None:
                continue
            self.losses_[ONE_LEAF] = loss
            if loss < CLEARLY_LESS * least:
                self.kind_ = ONE_LEAF
                return one_leaf(growth, train), evidence
        return None

    def _is_behind(self, parts, sample, held_out, seed, losses, deadline) -> bool:
        """Whether the first fold shows that a kind has no chance against another."""
        growth = self._growth(parts, sample, seed, deadline).settled(sample)
        evidence = Evidence(sample, held_out, growth, seed, self.n_jobs)
        if not len(losses):
            return False
        for most in (FEW_LEAVES, None):
            first = parts.pruning.first_errors(evidence, most)
            if first is None:
                return False
            errors, rises = first
            behind = BEHIND if most is not None and rises else 1.0
            if errors >= behind * losses[0] > 0:
                return True
        return False


# Held-out losses by fold, the pruned tree, what it was grown from, and its parts.
Grown = tuple[NDArray[np.float64], Tree, Evidence, Parts]
# The kind of a tree that is a single leaf, whose model has products.
ONE_LEAF = "additive with products"
# Part of the loss of any other tree that it must be below: the leaves of these may have
# products, too, which their loss does not know yet.
CLEARLY_LESS = 0.95
# A kind that does not have less than the loss of another in the first fold, even with the
# size that suits that fold best, is given up. Trees of a few leaves are asked first; where
# the largest of them is the best, they must be further behind: more leaves may be better.
FEW_LEAVES, BEHIND = 12, 1.25
# Sums of squares, and their squares, are finite with all weights that fit lets through.
LARGEST_TARGET = 1e60
PRUNING = CostComplexity(folds=5)
# Of more rows, fewer folds say as much.
FEWER_FOLDS = ((1000, 3), (4000, 2))
# Columns that curves make of one, as far as time goes.
COLUMNS = 10
CONSTANT = Parts(
    Univariate(min_branch=5),
    Stopping(min_rows=10),
    PRUNING,
    Surrogate(),
    ConstantLeaves(),
)
REGRESSION_KINDS: dict[bool, dict[str, Parts]] = {
    # For the squared error.
    True: {
        "additive, univariate": Parts(
            Univariate(min_branch=20, min_gain=1.5),
            # Models need no smaller parts, and many nodes cost time.
            Stopping(min_rows=40, min_share=0.02),
            PRUNING,
            Surrogate(),
            AdditiveLeaves(knots="table"),
        ),
        "constant, univariate": CONSTANT,
    },
    False: {
        "constant, univariate": CONSTANT,
        "constant, omnivariate": replace(CONSTANT, learner=Omnivariate(min_branch=5)),
    },
}


def check_target(y: ArrayLike, n_rows: int) -> NDArray[np.float64]:
    """A numeric target as an array without missing values."""
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
    if len(target) and abs(target).max() > LARGEST_TARGET:
        raise ValueError(
            f"y goes up to {abs(target).max():.3g}, and sums of the squares of such numbers "
            f"overflow: divide y so that it stays below {LARGEST_TARGET:g}"
        )
    if len(target) != n_rows:
        check_consistent_length(np.empty(n_rows), target)
    return target
