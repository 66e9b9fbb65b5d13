"""Trees that scikit-learn has fitted, as omnitree's: for words, pictures and exporters.

scikit-learn rounds every cell to float32 before it compares it with a threshold, omnitree
compares the cell itself. So each threshold is moved to the largest double that float32
rounds to a number on its lower side, about one part in ten million away: then both take
the same branch for every cell that float32 can hold.
"""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils.validation import check_is_fitted

from omnitree.data.schema import Feature, Schema
from omnitree.estimators.classifier import TreeClassifier
from omnitree.estimators.regressor import TreeRegressor
from omnitree.tree.splits import AxisSplit
from omnitree.tree.tree import NodeRecord, tree_from_nodes


def from_sklearn(estimator: Any) -> TreeClassifier | TreeRegressor:
    """A fitted estimator of omnitree's with the tree of a fitted one of scikit-learn's.

    Parameters
    ----------
    estimator : sklearn.tree.DecisionTreeClassifier or DecisionTreeRegressor
        Fitted, with one target. A tree of a forest (`forest.estimators_[0]`) will do.

    Returns
    -------
    TreeClassifier or TreeRegressor
        It predicts the same as `estimator`, also for missing values; probabilities are
        equal up to rounding.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from omnitree import from_sklearn
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> theirs = DecisionTreeClassifier(max_depth=1, random_state=0).fit(X, y)
    >>> print(from_sklearn(theirs).describe())
    3 nodes, 2 leaves, 3 classes
    petal width (cm) <= 0.8: 0 (50 rows)
    petal width (cm) > 0.8: 1 (100 rows, 50 wrong)
    """
    if not isinstance(estimator, DecisionTreeClassifier | DecisionTreeRegressor):
        raise TypeError(
            "from_sklearn takes a DecisionTreeClassifier or DecisionTreeRegressor, not "
            f"{type(estimator).__name__}; trees of LightGBM and XGBoost are read by "
            "from_lightgbm and from_xgboost"
        )
    check_is_fitted(estimator)
    if estimator.n_outputs_ != 1:
        raise ValueError("the tree has several targets; omnitree's have one")
    tree = estimator.tree_
    numeric = isinstance(estimator, DecisionTreeRegressor)
    weight = tree.weighted_n_node_samples

    def record(above: int, node: int) -> NodeRecord:
        value = tree.value[node, 0, :]
        if not numeric:
            return NodeRecord(above, value / value.sum() * weight[node])
        return NodeRecord(
            above,
            weight[node : node + 1],
            constant=float(value[0]),
            loss=max(float(tree.impurity[node] * weight[node]), 0.0),
        )

    records = [record(-1, 0)]
    theirs = [0]  # their number of each of our nodes
    for at, node in enumerate(theirs):  # grows while it is read
        left, right = int(tree.children_left[node]), int(tree.children_right[node])
        if left < 0:
            continue
        records[at].split = AxisSplit(
            int(tree.feature[node]),
            as_double(float(tree.threshold[node])),
            merit=_decrease(tree, node),
            missing=0 if tree.missing_go_to_left[node] else 1,
        )
        records[at].children = [len(records), len(records) + 1]
        records += [record(at, left), record(at, right)]
        theirs += [left, right]
    names = getattr(estimator, "feature_names_in_", None)
    named = names is not None
    if names is None:
        names = [f"x{j}" for j in range(estimator.n_features_in_)]
    features = tuple(Feature(str(name), "numeric") for name in names)
    schema = Schema(features, named)
    if numeric:
        known = estimator.criterion == "absolute_error"
        criterion = "absolute_error" if known else "squared_error"
        regressor = TreeRegressor(criterion=criterion, random_state=0)
        regressor._set_fitted(tree_from_nodes(schema, (), records), np.empty(0))
        return regressor
    classes = np.asarray(estimator.classes_)
    ours = TreeClassifier(random_state=0)
    labels = tuple(classes.tolist())
    ours._set_fitted(tree_from_nodes(schema, labels, records), classes)
    return ours


def _decrease(tree: Any, node: int) -> float:
    """By how much the test lowers the impurity of the node's rows."""
    below = [int(tree.children_left[node]), int(tree.children_right[node])]
    weight = tree.weighted_n_node_samples
    mean = sum(weight[i] * tree.impurity[i] for i in below) / weight[node]
    return float(tree.impurity[node] - mean)


def as_double(threshold: float) -> float:
    """The largest double that float32 rounds to a number of at most `threshold`."""
    if math.isinf(threshold):  # present values on one side, missing ones on the other
        return math.copysign(sys.float_info.max, threshold)
    low = np.float32(threshold)
    if float(low) > threshold:
        low = np.nextafter(low, np.float32(-np.inf))
    high = np.nextafter(low, np.float32(np.inf))
    if not np.isfinite(high):
        return threshold
    middle = (float(low) + float(high)) / 2
    # A tie is rounded to the even one of the two.
    return middle if np.float32(middle) == low else math.nextafter(middle, -math.inf)
