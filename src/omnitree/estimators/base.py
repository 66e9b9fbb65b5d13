"""What the classifiers and the regressors share: checks, growing, routing, showing.

`BaseTree.fit` is the way of every fit: check, encode, grow, prune, refine. An estimator
names its parts (`_parts`), turns its `y` into a target (`_target`), and says what a node
answers (`_node_outputs`).
"""

from __future__ import annotations

import numbers
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from omnitree.data.encoding.sources import open_source
from omnitree.data.schema import Schema
from omnitree.data.sources import open_blocks
from omnitree.data.sources.base import block_cells
from omnitree.data.table import Table, encode, learn_table
from omnitree.estimators.class_inputs import check_classes
from omnitree.estimators.documents import to_json
from omnitree.estimators.gains import measured
from omnitree.estimators.large import fit_blocks, refuse_rows
from omnitree.estimators.lazy import by_blocks
from omnitree.estimators.memory import check_counts, memory_limit, read_whole
from omnitree.estimators.parts import SLOTS, Parts
from omnitree.estimators.row_inputs import (
    check_groups,
    check_total,
    check_weights,
    memory_explained,
    one_row,
    scaled,
    warn_of_copies,
    warn_of_time,
)
from omnitree.estimators.show import Showing
from omnitree.growing.blocks.dask_engine import engine_for
from omnitree.growing.clock import last_steps, now, watched
from omnitree.growing.growth import Growth
from omnitree.growing.node import Rules
from omnitree.growing.part import number, require_present
from omnitree.growing.sample import Sample
from omnitree.growing.stopping import Limits
from omnitree.growing.target import Target
from omnitree.growing.threads import one_thread
from omnitree.pruning import Evidence
from omnitree.tree.tree import Tree

if TYPE_CHECKING:
    from omnitree.explain import Explanation, ShapleyValues


class BaseTree(Showing, BaseEstimator):
    """Everything but the target and the choice of parts."""

    tree_: Tree
    leaves: Any
    feature_costs: Any = None
    max_memory: Any = None
    _task = "classification"
    # Whether a table beyond memory is judged by a sample, whose rows it sees one by one.
    _fits_sample = False

    def _parts(self) -> Parts:
        """The parts as given."""
        return Parts(**{slot: getattr(self, slot) for slot in SLOTS})

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags

    # -- fitting --------------------------------------------------------------------

    def fit(
        self,
        X: Any,
        y: ArrayLike | str | None = None,
        sample_weight: ArrayLike | str | None = None,
        prune_set: tuple[Any, ArrayLike] | None = None,
        groups: ArrayLike | None = None,
    ):
        """Grow and prune a tree.

        Parameters
        ----------
        X : array, data frame (pandas, polars), list of rows or SciPy sparse matrix
            Numbers, booleans, strings, categories; NaN, None, NA and empty strings are
            missing values. Sparse matrices are converted to dense ones (8 bytes per cell).
            Or data that is not in memory: paths of Parquet files, a pyarrow.dataset, a
            polars LazyFrame, a np.memmap, an object that can be iterated over again and
            gives batches, a dask collection. What does not fit into `max_memory` is grown
            from sums over blocks of rows.
        y : array of shape (n_rows,), or str
            Class labels, or the numbers to predict. Of data that is not in memory, also
            the name of a column; None where batches are tuples (X, y).
        sample_weight : array of shape (n_rows,), or str, optional
            Weight of each row, or the name of the column that has them; rows of weight
            zero are left out. If the method holds out
            rows internally (for pruning, choosing tests or fitting leaves, as both default
            estimators do), each row is held out as a whole and only the proportions of
            the weights matter: they are scaled to average one. All other methods, such as
            C4.5 and those based on significance tests or information criteria, treat a row
            of weight two like two rows; there, weights that average less than one are
            scaled to average one, because rules such as `min_rows` count rows.
        prune_set : tuple (X, y), optional
            Rows for pruning, used instead of holding out training rows. Prunings that
            hold no rows out do not use it.
        groups : array of shape (n_rows,), optional
            Rows that belong together, such as those of one patient or copies of one row:
            wherever rows are held out internally, all rows of a group are held out
            together. Ignored by methods that hold out no rows. With scikit-learn's metadata
            routing, request it with ``set_fit_request(groups=True)``.

        Returns
        -------
        self
        """
        parts = self._resolved_parts()
        self._check_options()
        deadline = None if self.max_seconds is None else now() + self.max_seconds
        blocks = open_blocks(X, y, sample_weight)
        if blocks is not None:
            limit = memory_limit(self.max_memory)
            client = getattr(self, "client", None)
            engine = engine_for(blocks, self.n_jobs, client, block_cells(limit))
            whole = read_whole(engine.source, limit)
            if whole is None:
                refuse_rows(prune_set=prune_set, groups=groups)
                self._set_fitted(*fit_blocks(self, parts, engine, limit))
                return self
            X, y, sample_weight = whole
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None"
            )
        if isinstance(y, str):
            raise ValueError(
                f"y={y!r} names a column, which is for data that is not in memory. Of a "
                f"data frame, pass the column as y=frame[{y!r}] and X without it."
            )
        source = open_source(X)
        if source.shape[0] == 1:
            raise ValueError(
                "Found array with n_samples=1: a tree needs two rows or more"
            )
        n_rows = source.shape[0]
        if deadline is not None:
            deadline -= last_steps(self.max_seconds, n_rows * source.shape[1])
        target = self._target(y, n_rows)
        by_class = self._class_weights(target)
        weight = check_weights(n_rows, sample_weight) * by_class[target.strata()]
        check_total(weight)
        if target.n_classes:
            check_classes(target, weight)
        grouped = check_groups(n_rows, groups)
        table = learn_table(source, target.y, weight, grouped)
        given = Sample(table, target, weight, grouped)
        held_out = None
        if prune_set is not None:
            held_out = self._other_rows(prune_set, table.schema, target, by_class)
        sample = self._scaled(parts, given, held_out)
        shape = n_rows, source.shape[1], target.n_classes
        # Limits are kept by the speed of one thread, which other work slows down least.
        threads = nullcontext() if deadline is None else one_thread()
        with watched() as watch, memory_explained(*shape), threads:
            tree = self._grow_and_prune(parts, sample, held_out, deadline)
            tree = self._finished(tree, given)
        late = watch.late or Limits(deadline=deadline).is_late(table.values.size)
        if late and tree.n_nodes == 1:
            warn_of_time(table, self.max_seconds)
        self._set_fitted(tree, target.classes)
        return self

    def _target(self, y: Any, n_rows: int, known: Target | None = None) -> Any:
        """What `y` says of some rows; `known` is the target of the training rows."""
        raise AssertionError(f"{type(self).__name__} has no target")

    def _class_weights(self, target: Target) -> NDArray[np.float64]:
        """What a row of each stratum of the training rows counts."""
        return np.ones(max(target.n_classes, 1))

    def _finished(self, tree: Tree, given: Sample) -> Tree:
        """The tree as users see it, fitted to rows with the weights they gave."""
        return tree

    def _other_rows(
        self, pair: Any, schema: Schema, target: Target, by_class: NDArray[np.float64]
    ) -> Sample:
        """Rows that were not grown on, by the schema and the target of those that were."""
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise ValueError("prune_set must be a pair (X, y)")
        table = encode(pair[0], schema, who=type(self).__name__)
        own = self._target(pair[1], table.n_rows, target)
        return Sample(table, own, by_class[own.strata()])

    def _scaled(self, parts: Parts, sample: Sample, held_out: Sample | None) -> Sample:
        """Rows with a weight, in the scale that the parts count in."""
        if held_out is not None:
            parts = parts.with_prune_set()
        if parts.resamples and sample.groups is None:
            warn_of_copies(sample.table, sample.y)
        weight = scaled(sample.weight, always=parts.resamples)
        sample, keep = replace(sample, weight=weight), weight > 0
        return sample if keep.all() else sample.take(keep)

    def _grow_and_prune(
        self,
        parts: Parts,
        sample: Sample,
        held_out: Sample | None,
        deadline: float | None = None,
    ) -> Tree:
        """The tree of some rows, all of positive weight; `deadline` as in `_grow`."""
        tree, evidence = self._grow(parts, sample, held_out, self._seed(), deadline)
        if parts.pruning is not None:
            tree = parts.pruning.prune(tree, evidence)
        if parts.refinement is not None:
            # While it compares trees, a refinement may leave costs out of account.
            tree = parts.refinement.refine(tree, evidence).replace(costs=tree.costs)
        return measured(tree, evidence.train)

    def _seed(self) -> int:
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _grow(
        self,
        parts: Parts,
        sample: Sample,
        held_out: Sample | None,
        seed: int,
        deadline: float | None = None,
    ) -> tuple[Tree, Evidence]:
        """The tree of some rows as grown, and what its pruning may look at.

        A `deadline` stands for one `max_seconds` from now.
        """
        growth = self._growth(parts, sample, seed, deadline)
        if held_out is None and parts.needs_share:
            if growth.rules.limits.is_late(sample.table.values.size):
                held_out = sample  # nothing will be grown that rows could judge
            else:
                sample, held_out = hold_out(sample, parts.needs_share, seed)
        growth = growth.settled(sample)
        tree = growth.grow(sample, self.verbose)
        return tree, Evidence(sample, held_out, growth, seed, self.n_jobs)

    def _growth(
        self, parts: Parts, sample: Sample, seed: int, deadline: float | None = None
    ) -> Growth:
        """How trees are grown on these rows and on parts of them."""
        total, schema = float(sample.weight.sum()), sample.table.schema
        n_classes = sample.target.n_classes
        smoothing = getattr(self, "smoothing", None)
        limits = Limits.of(
            parts.stopping, total, self.max_depth, self.max_leaves, self.max_seconds
        )
        check_counts(n_classes, limits, total, len(sample), parts.n_kept_trees)
        if deadline is not None:
            limits = limits.ending(deadline, self.max_seconds, n_classes)
        rules = Rules(
            parts.missing,
            limits,
            seed,
            parts.leaves,
            parts.feature_costs(self.feature_costs, schema),
            parts.constraints(schema, n_classes, smoothing),
        )
        parts.check_changes(self.feature_costs is not None)
        return Growth(parts.learner, rules, self._priors(sample.target.costs))

    def _priors(self, costs: NDArray[np.float64] | None) -> NDArray[np.float64] | None:
        """What each class weighs while tests are found; None: as much as its rows."""
        return None

    def _set_fitted(self, tree: Tree, classes: NDArray[Any]) -> None:
        self.tree_ = tree
        self.n_features_in_ = tree.schema.n_inputs
        if tree.schema.named:
            self.feature_names_in_ = np.array(tree.schema.inputs, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _resolved_parts(self) -> Parts:
        """The parts as objects."""
        require_present(self.get_params(deep=False))
        return self._parts().resolved(self._task)

    def _check_options(self) -> None:
        for name, least in (("max_depth", 0), ("max_leaves", 1), ("max_seconds", 0)):
            value = getattr(self, name)
            if value is None:
                continue
            number(name, value, least)
            if name != "max_seconds" and not isinstance(value, numbers.Integral):
                raise ValueError(f"{name} must be a whole number, not {value!r}")
        if self.n_jobs is not None and (
            not isinstance(self.n_jobs, numbers.Integral) or self.n_jobs == 0
        ):
            raise ValueError(
                "n_jobs must be None or a whole number other than 0, not "
                f"{self.n_jobs!r}"
            )

    # -- prediction -----------------------------------------------------------------

    def _encode(self, X: Any) -> Table:
        if "tree_" not in vars(self):  # what to say then takes time to find out
            check_is_fitted(self, "tree_")
        if isinstance(X, Table):  # encoded already
            return X
        return encode(X, self.tree_.schema, who=type(self).__name__)

    @by_blocks
    def apply(self, X: Any) -> NDArray[np.int32]:
        """Leaf of each row; for a divided row, the leaf with most weight."""
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

    def shapley_values(self, X: Any, background: Any) -> ShapleyValues:
        """Divide the answer for each row among the features, exactly.

        The values are Shapley values: a set of features is worth the answer for a row that
        has the explained row's cells there and a background row's elsewhere, on average
        over the background rows. They are computed from the tests on the paths, without
        sampling, so a test may look at no more than 15 features that differ between the
        two rows; the model of a leaf may look at any number of them if it is a sum.

        Parameters
        ----------
        X : array, data frame or list of rows
            Rows to explain.
        background : array, data frame or list of rows
            Rows to compare them with: one row (a baseline, such as a typical case), or a
            sample of the training data. The time grows with their number.

        Returns
        -------
        ShapleyValues
            Its `values` and `base_values` add up to `predict_proba`, or to `predict` of a
            regressor. `shap.Explanation(**found.to_dict())` makes it ready for the plots
            of the shap package.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from omnitree import presets
        >>> X, y = load_iris(return_X_y=True, as_frame=True)
        >>> clf = presets.make("cart", max_leaves=3).fit(X, y)
        >>> found = clf.shapley_values(X[:1], background=X)
        >>> for name, value in zip(found.feature_names, found.values[0, :, 0]):
        ...     print(f"{name:18} {value:+.3f}")
        sepal length (cm)  +0.000
        sepal width (cm)   +0.000
        petal length (cm)  +0.667
        petal width (cm)   +0.000
        """
        from omnitree.explain.shapley import ShapleyValues, shapley_values
        from omnitree.export.model import Model

        check_is_fitted(self, "tree_")
        rows, others = self._encode(X), self._encode(background)
        outputs = self._node_outputs()
        model = Model(self.tree_.to_dict(), outputs.tolist())
        values = shapley_values(model, rows.values, others.values)
        base = self.tree_.predict_value(others, outputs).mean(axis=0)
        base = np.tile(base, (rows.n_rows, 1))
        if self.tree_.task == "regression":
            values, base = values[:, :, 0], base[:, 0]
        names = list(self.tree_.schema.names)
        return ShapleyValues(values, base, rows.values, names)

    def export(self, format: str, **options: Any) -> str | bytes:
        """The tree in another format, with the same answers as `predict`.

        Parameters
        ----------
        format : str
            - "python": source that defines ``predict(row)``, for a dict from column
              names to cells; it gives the class and the list of probabilities, or the
              number, and imports nothing.
            - "c": source of one C99 function; its comment says how to call it.
            - "sql": an expression over the columns that gives the answer; a missing value is
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


def hold_out(rows: Sample, share: float, seed: int) -> tuple[Sample, Sample]:
    """Training rows, and a stratified share of them kept apart."""
    if not 0 < share < 1:
        raise ValueError(f"the held-out share must lie in (0, 1), not {share}")
    apart = rows.folds(1 / share, seed) == 0
    if apart.all() or not apart.any():  # too few rows, or groups, to divide
        return rows, rows
    return rows.take(~apart), rows.take(apart)
