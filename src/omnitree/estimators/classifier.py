"""The classifiers: validate, encode, grow, prune; then predict.

`TreeClassifier` is composed of parts, given as names or objects, so that `GridSearchCV` can
search inside them. `OmniTreeClassifier` is the default classifier and needs no settings.
What they share with the regressors is in `base.py`.
"""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from omnitree.estimators.base import BaseTree
from omnitree.estimators.class_inputs import (
    check_costs,
    check_labels,
    classes_and_codes,
    with_ties,
)
from omnitree.estimators.gains import measured
from omnitree.estimators.lazy import by_blocks
from omnitree.estimators.parts import Parts
from omnitree.estimators.scores import class_scores, has_scores
from omnitree.growing.sample import Sample
from omnitree.growing.target import ClassTarget, Target
from omnitree.learners import Univariate
from omnitree.pruning import PRUNINGS, Evidence, Pruning
from omnitree.refinement import Contest
from omnitree.refinement.contest import default_rivals
from omnitree.tree.tree import Tree

if TYPE_CHECKING:
    from omnitree.explain import Explanation


# Beyond it, the shares of all leaves are those of the root.
MOST_SMOOTHING = 1e12


def _is_m(smoothing: Any) -> bool:
    """Whether a number can be the m of an m-estimate."""
    return 0 <= smoothing <= MOST_SMOOTHING


def _has_scores(estimator: Any) -> bool:
    """Whether a fitted classifier has a `decision_function`."""
    return hasattr(estimator, "tree_") and has_scores(estimator.tree_)


class _BaseTreeClassifier(ClassifierMixin, BaseTree):
    """Everything but the choice of parts."""

    classes_: NDArray[Any]
    smoothing: Any = None
    leaves: Any = "majority"
    cost_matrix: Any = None

    def _target(self, y: Any, n_rows: int, known: Target | None = None) -> ClassTarget:
        labels = check_labels(y, n_rows)
        if known is None:
            classes, codes = classes_and_codes(labels)
            costs = check_costs(self.cost_matrix, tuple(classes.tolist()))
        else:
            classes, costs = known.classes, known.costs
            new = np.setdiff1d(labels, classes)
            if len(new):
                raise ValueError(
                    "the prune set has a class the training rows lack: "
                    f"{new.tolist()[0]!r}"
                )
            codes = np.searchsorted(classes, labels)
        return ClassTarget(codes.astype(np.int32), classes, costs)

    def _class_weights(self, target: Target) -> NDArray[np.float64]:
        if self.class_weight is None:
            return super()._class_weights(target)
        rows = np.bincount(target.y, minlength=target.n_classes)
        return self._weights_of_classes(target.classes, rows)

    def _weights_of_classes(
        self, classes: NDArray[Any], rows: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """What a row of each class counts, where classes have so many rows."""
        given = self.class_weight
        if isinstance(given, str) and given == "balanced":
            return rows.sum() / (len(classes) * rows)
        weight = compute_class_weight(given, classes=classes, y=classes)
        if not (np.isfinite(weight).all() and (weight >= 0).all()):
            raise ValueError("class_weight must hold numbers of at least 0")
        return weight

    def _finished(self, tree: Tree, given: Sample) -> Tree:
        if not (given.weight % 1).any():
            return tree
        return tree.replace(value=with_ties(tree.value))

    def _priors(self, costs: NDArray[np.float64] | None) -> NDArray[np.float64] | None:
        if not getattr(self, "altered_priors", False):
            return None
        if costs is None:
            raise ValueError("altered_priors needs a cost_matrix")
        weight = costs.sum(axis=1)
        if not (weight > 0).all():
            raise ValueError("altered_priors needs a class whose errors cost something")
        return weight

    def _set_fitted(self, tree: Tree, classes: NDArray[Any]) -> None:
        super()._set_fitted(tree, classes)
        self.classes_ = classes

    def _check_options(self) -> None:
        super()._check_options()
        smooth = self.smoothing
        if not (
            smooth is None
            or (isinstance(smooth, str) and smooth == "laplace")
            or (isinstance(smooth, numbers.Real) and _is_m(smooth))
        ):
            raise ValueError(
                "smoothing must be None, 'laplace' or the m of an m-estimate, from 0 to "
                f"{MOST_SMOOTHING:g}, not {smooth!r}"
            )

    def prune(self, pruning: str | Pruning, X: Any, y: ArrayLike):
        """Prune the fitted tree further, on rows it was not grown on.

        Parameters
        ----------
        pruning : str or Pruning
            A method that uses the tree or held-out rows. Methods based on class counts,
            such as error-based and significance pruning, use the counts of `X` and `y`.
        X, y
            The rows to prune on, in the same form as for `predict`.

        Returns
        -------
        self
        """
        check_is_fitted(self)
        method = PRUNINGS.resolve(pruning)
        parts = self._resolved_parts()
        parts.check_change(method, self.feature_costs is not None)
        codes = np.empty(0, dtype=np.int32)
        known = ClassTarget(codes, self.classes_, self.tree_.costs)
        by_class = np.ones(known.n_classes)
        rows = self._other_rows((X, y), self.tree_.schema, known, by_class)
        pruned = method.prune(self.tree_, Evidence(rows, rows))
        if not method.only_cuts:
            pruned = measured(pruned, rows)  # tests or counts are new
        self._set_fitted(pruned, self.classes_)
        return self

    # -- prediction -----------------------------------------------------------------

    @by_blocks
    def predict(self, X: Any) -> NDArray[Any]:
        """Class of each row: the most probable one, or that of least expected cost.

        The first, if several are.
        """
        table = self._encode(X)
        if self.smoothing is None:
            return self.classes_.take(self.tree_.predict_labels(table, self.n_jobs))
        proba = self.tree_.predict_value(table, self._node_outputs(), self.n_jobs)
        return self.classes_.take(self.tree_.decide(proba))

    @by_blocks
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Class shares of each row's leaf, smoothed if `smoothing` says so.

        A row divided by a missing value gets the weighted mean over its leaves.
        """
        table = self._encode(X)
        return self.tree_.predict_value(table, self._node_outputs(), self.n_jobs)

    @by_blocks
    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Logarithm of `predict_proba`; -inf where a class has the probability 0."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    @available_if(_has_scores)
    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Scores that rank rows: of shape (n,) for two classes, else (n, n_classes).

        The most probable class has the largest score; of two classes the score is
        positive where the second one is more probable. It is the logarithm of the
        probability, of two classes the log-odds; where one linear or quadratic test is
        the whole tree and its leaves answer class shares, it is the test's own functions,
        which tell rows of one leaf apart. There is no such method where every test looks
        at one feature and leaves have no models: all it could say is in `predict_proba`.
        Costs (`cost_matrix`) do not change scores.
        """
        table = self._encode(X)
        outputs = self._node_outputs()
        proba = self.tree_.predict_value(table, outputs, self.n_jobs)
        return class_scores(self.tree_, table, proba, outputs.argmax(axis=1))

    def _node_outputs(self) -> NDArray[np.float64]:
        """Class probabilities of every node."""
        if self.smoothing is None:
            return self.tree_.outputs
        self._check_options()
        counts = self.tree_.filled_value
        if self.smoothing == "laplace":
            extra = np.ones(counts.shape[1])
        else:
            extra = float(self.smoothing) * self.tree_.class_shares[0]
        smooth = counts + extra
        return smooth / smooth.sum(axis=1, keepdims=True)

    def _node_labels(self) -> list[int]:
        from omnitree.export.model import Model

        return Model(self.tree_.to_dict(), self._node_outputs().tolist()).labels

    def describe(
        self, standardised: bool = False, shares: bool = False, full: bool = False
    ) -> str:
        """The tree in words: tests in the user's names and units, class counts.

        A leaf shows its class, its training rows (their weight) and how many of them are
        of other classes. A long sum is given a name, by the number of its node, and the
        branches refer to it.

        Parameters
        ----------
        standardised : bool, default=False
            Show the weights of tests on several features for columns in units of their
            standard deviation, so that the weights can be compared.
        shares : bool, default=False
            Show the share of every class in each leaf.
        full : bool, default=False
            Show all terms of long sums. Else a sum shows its largest terms (weight times
            standard deviation) and how many more it has.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from omnitree import presets
        >>> X, y = load_iris(return_X_y=True, as_frame=True)
        >>> clf = presets.make("ldt", random_state=0).fit(X.iloc[:, 2:], y)
        >>> print(clf.describe(standardised=True))
        5 nodes, 3 leaves, 3 classes
        z(x): x in units of its standard deviation
        sum #0 = -0.9991 z(petal length (cm) - 3.8) - 0.0428 z(petal width (cm) - 1.19)
        sum #0 <= 0.421661
        |   sum #1 = -0.5997 z(petal length (cm) - 4.9) - 0.8002 z(petal width (cm) - 1.67)
        |   sum #1 <= -0.00158472: 2 (37 rows, 1 wrong)
        |   sum #1 > -0.00158472: 1 (42 rows, 4 wrong)
        sum #0 > 0.421661: 0 (41 rows, 1 wrong)
        """
        from omnitree.export.text import describe

        check_is_fitted(self, "tree_")
        outputs = self._node_outputs().tolist()
        return describe(self.tree_.to_dict(), standardised, shares, full, outputs)

    def explain(self, row: Any, max_changes: int = 3) -> Explanation:
        """Explain the prediction for one row, and what would change it.

        Parameters
        ----------
        row : dict, Series, sequence of cells, or table of one row
        max_changes : int, default=3
            Maximum number of features that the counterfactual may change.

        Returns
        -------
        Explanation
            The path of the row, with the contribution of every feature to each test, the
            distance to the other branch and the treatment of missing values; and the
            smallest change found that gives another class, verified by `predict`. Prints as
            text.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from omnitree import presets
        >>> data = load_iris(as_frame=True)
        >>> y = data.target_names[data.target]
        >>> petals = data.data[["petal length (cm)", "petal width (cm)"]]
        >>> clf = presets.make("cart", max_leaves=3).fit(petals, y)
        >>> print(clf.explain(petals.iloc[50]))
        versicolor  (versicolor 90.7%, virginica 9.3%)
          petal length (cm) > 2.45
              value 4.7, 2.25 from the cut
          petal width (cm) <= 1.75
              value 1.4, 0.35 from the cut
        It would be virginica with petal width (cm) = 1.8 (now 1.4)
        """
        return self._explain(row, max_changes)

    def _answer(self, outputs: NDArray[np.float64]) -> list[Any]:
        return self.tree_.decide(outputs).tolist()


@dataclass(eq=False, repr=False)
class TreeClassifier(_BaseTreeClassifier):
    """A decision tree composed of parts.

    Parameters
    ----------
    learner : str or SplitLearner, default="univariate"
        Finds the test of each node.
    stopping : str or Stopping, default="pure"
        Decides when a node becomes a leaf.
    pruning : str, Pruning or None, default=None
        Method of pruning the grown tree; None does not prune.
    refinement : str, Refinement or None, default=None
        Method of changing the pruned tree, such as a "contest" between its subtrees and
        tests over many features; None leaves it as it is.
    missing : str or MissingPolicy, default="mean"
        What to do with missing values: "mean", "filled", "fractional" or "surrogate".
    leaves : str or Leaves, default="majority"
        How leaves predict: by the class shares of their training rows ("majority") or by a
        "logistic" model.
    smoothing : None, "laplace" or float, default=None
        Smoothing of the class shares in leaves: none, Laplace's, or an m-estimate with
        this m. Models in leaves are not smoothed.
    class_weight : dict, "balanced" or None
        Class weights, which multiply `sample_weight`.
    cost_matrix : array of shape (n_classes, n_classes), dict of dicts or None
        Misclassification costs: ``cost_matrix[i, j]`` is the cost of predicting class j for
        a row of class i, in the order of `classes_`; or ``{true: {predicted: cost}}``. The
        diagonal is 0. The prediction is then the class with the lowest expected cost;
        probabilities do not change. Cost-complexity pruning, reduced-error pruning and
        `Contest` use the costs; the other methods count errors.
    altered_priors : bool, default=False
        With a `cost_matrix`: weight each class by the average cost of its errors when
        searching for tests (Breiman et al. 1984, section 4.4). The counts in the tree, and
        therefore probabilities and pruning, are not affected.
    feature_costs : array of shape (n_features,), dict or None
        Cost of measuring each feature; features that a dict does not name are free.
        Learners that support it prefer cheap tests. A feature is paid for once per path.
    max_depth, max_leaves : int, optional
        Limits on the size of the tree; with `max_leaves`, the best nodes are split first.
    max_seconds : float, optional
        Stop at most this many seconds after `fit` is called and keep the tree grown so far.
        Tests not found by then are left out, and so is cross-validated pruning. About 15 %
        of the time is kept for pruning and measuring the tree. If there is not even time to
        go over the table a few times, the tree is a single leaf, and a warning says so.
    random_state : int, RandomState or None
        Seed for held-out rows, folds and random choices of features.
    n_jobs : int or None
        Number of threads for prediction and for the folds of cross-validated pruning. It
        does not affect the result.
    verbose : int, default=0
        Set to 1 to show a progress bar.
    max_memory : int, str or None, default=None
        Bytes, or a text such as "2GB", that a fit to data on disk or in a lazy collection
        may hold; None: half of the free memory. Data that fits is read and fitted as
        usual.

    Attributes
    ----------
    tree_ : Tree
    classes_ : ndarray
    n_features_in_ : int
    feature_names_in_ : ndarray of str, if the training data had names

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from omnitree import TreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = TreeClassifier(pruning="cost_complexity", random_state=1).fit(X, y)
    >>> clf.tree_.n_leaves < TreeClassifier().fit(X, y).tree_.n_leaves
    True
    """

    learner: Any = "univariate"
    stopping: Any = "pure"
    pruning: Any = None
    refinement: Any = None
    missing: Any = "mean"
    leaves: Any = "majority"
    smoothing: Any = None
    class_weight: Any = None
    cost_matrix: Any = None
    altered_priors: Any = False
    feature_costs: Any = None
    max_depth: Any = None
    max_leaves: Any = None
    max_seconds: Any = None
    random_state: Any = None
    n_jobs: Any = None
    verbose: Any = 0
    max_memory: Any = None


@dataclass(eq=False, repr=False)
class OmniTreeClassifier(_BaseTreeClassifier):
    """The default classifier: a small, accurate tree without any settings.

    A univariate tree is grown as in CART (Gini, subsets of categories, surrogates for
    missing values) and pruned by cross-validation. Then, from the root down, each
    subtree is replaced by a single test over lines, products or curves, with one branch
    per class, wherever that has a lower held-out error (`Contest`; the preset `omni` is
    the same), or by a tree on top of such a test, whose leaves shift its scores. That
    tree may be the univariate one: the two are then added up. Such a test is made
    sparse: weights and curves are removed as long as the held-out error does not rise,
    down to ten per sum. Each such node keeps the held-out losses of its candidates,
    which `describe` shows. A tree that is not clearly better than a single leaf becomes
    one.

    Below a test over many features, probabilities are the softmax of its scores, calibrated
    on held-out rows. In other leaves they are class shares, shrunk towards those of the
    parent by an amount chosen on held-out rows.

    Parameters
    ----------
    optimise : {"error", "cost", "log_loss"} or None, default=None
        The held-out loss that decides the size of the tree and its tests: the error rate,
        the costs, or the log loss. None means "cost" if there is a `cost_matrix`, else
        "error". If errors or costs differ by no more than a standard error, the log loss
        decides.
    class_weight, cost_matrix
        As for `TreeClassifier`.
    store_cases : bool, default=True
        Whether a test may compare rows with stored ones (`CaseBased`; only in tables
        without categories). The model, its exports and its pages then contain up to 300
        rows of the training data; False keeps them out.
    feature_costs : array of shape (n_features,), dict or None
        As for `TreeClassifier`.
    monotone, interactions
        As for `omnitree.learners.Univariate`. With any of these three, the tree stays
        univariate, because a test over all features would pay for all of them and cannot
        keep such a constraint, and there are no surrogates for missing values. With
        `monotone`, leaves predict their plain class shares.
    max_depth, max_leaves, max_seconds, random_state, n_jobs, verbose, \
max_memory
        As for `TreeClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from omnitree import OmniTreeClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> clf = OmniTreeClassifier(random_state=1).fit(X, y)
    >>> clf.tree_.n_leaves
    3
    """

    optimise: Any = None
    class_weight: Any = None
    cost_matrix: Any = None
    store_cases: Any = True
    feature_costs: Any = None
    monotone: Any = None
    interactions: Any = None
    max_depth: Any = None
    max_leaves: Any = None
    max_seconds: Any = None
    random_state: Any = None
    n_jobs: Any = None
    verbose: Any = 0
    max_memory: Any = None

    def _parts(self):
        given = (self.feature_costs, self.monotone, self.interactions)
        free = all(option is None for option in given)
        learner = Univariate(monotone=self.monotone, interactions=self.interactions)
        rivals = default_rivals(self.store_cases)
        contest = Contest(rivals, self.optimise, smooth=self.monotone is None)
        if not free:
            contest.set_params(rivals=())
        return Parts(learner, missing="surrogate", refinement=contest)
