"""One tree of a LightGBM or XGBoost model, as omnitree's: for words, pictures and exporters.

Both packages publish their trees as plain data, `Booster.dump_model()` and
`Booster.save_raw("json")`; only that is read, and neither package is imported. Such a tree
answers a number, the part of the raw score that it adds, so it becomes a regression tree.
Neither stores the training rows: a node's rows are LightGBM's counts or XGBoost's sums of
Hessians ("cover"), and losses are those of the tree's own values.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from omnitree.data.schema import Feature, Schema
from omnitree.estimators.from_sklearn import as_double
from omnitree.estimators.regressor import TreeRegressor
from omnitree.tree.splits import AxisSplit, Split, SubsetSplit
from omnitree.tree.tree import NodeRecord, tree_from_nodes


@dataclass
class _Node:
    """A node of a boosted tree: a leaf's value, or a test and two children."""

    weight: float
    value: float = 0.0
    split: Split | None = None
    children: tuple[Any, Any] | None = None  # as the package has them, left and right


def from_lightgbm(model: Any, tree: int = 0) -> TreeRegressor:
    """One tree of a LightGBM model, as a fitted regressor.

    Parameters
    ----------
    model : lightgbm.Booster, or a fitted LGBMRegressor, LGBMClassifier or LGBMRanker
    tree : int, default=0
        Position of the tree. A model of several classes has a tree for each class in every
        iteration.

    Returns
    -------
    TreeRegressor
        Its `predict` is what this tree adds to the raw score, missing values and
        categories included; a category that LightGBM never saw is treated as missing, as
        LightGBM does.

    Examples
    --------
    >>> from lightgbm import LGBMRegressor  # doctest: +SKIP
    >>> model = LGBMRegressor().fit(X, y)  # doctest: +SKIP
    >>> from_lightgbm(model, tree=3).to_html("tree.html")  # doctest: +SKIP
    """
    booster = getattr(model, "booster_", model)
    if not hasattr(booster, "dump_model") or not hasattr(booster, "num_trees"):
        raise TypeError(
            f"from_lightgbm takes a fitted model of LightGBM, not {type(model).__name__}"
        )
    dump = booster.dump_model()
    found = _chosen(dump["tree_info"], tree)
    names = dump["feature_names"]
    categories = _lightgbm_categories(dump)

    def read(node: dict[str, Any]) -> _Node:
        if "leaf_value" in node:
            if node.get("leaf_features"):
                raise ValueError(
                    "the leaves have linear models (linear_tree=True), in which LightGBM "
                    "treats missing values in a way that omnitree's models do not"
                )
            return _Node(float(node.get("leaf_count", 1)), float(node["leaf_value"]))
        feature, merit = int(node["split_feature"]), float(node["split_gain"])
        split: Split
        if node["decision_type"] == "==":
            left = {int(code) for code in node["threshold"].split("||")}
            known = categories[feature]
            branch = tuple(0 if code in left else 1 for code in range(len(known)))
            split = SubsetSplit(feature, branch, merit=merit, missing=1)
        else:
            threshold = float(node["threshold"])
            missing = _lightgbm_missing(node, threshold, names[feature])
            split = AxisSplit(feature, threshold, merit=merit, missing=missing)
        children = node["left_child"], node["right_child"]
        return _Node(float(node["internal_count"]), split=split, children=children)

    return _regressor(
        found["tree_structure"], read, names, categories, _are_named(names, "Column_")
    )


def _lightgbm_missing(node: dict[str, Any], threshold: float, name: str) -> int:
    """The branch of a missing value."""
    default = 0 if node["default_left"] else 1
    of_zero = 0 if threshold >= 0 else 1
    if node["missing_type"] == "None":  # LightGBM takes a missing value as 0
        return of_zero
    if node["missing_type"] == "Zero" and of_zero != default:
        raise ValueError(
            f"a test of {name!r} sends 0 where missing values go (zero_as_missing), which "
            "a test of omnitree cannot do"
        )
    return default


def _lightgbm_categories(dump: dict[str, Any]) -> dict[int, list[Any]]:
    """Categories of each categorical feature, by code."""
    names = dump["feature_names"]
    infos = dump["feature_infos"]
    codes = {j: infos[n]["values"] for j, n in enumerate(names) if n in infos}
    codes = {j: values for j, values in codes.items() if values}
    named = dump.get("pandas_categorical") or []
    if not named:
        return {j: list(range(max(values) + 1)) for j, values in codes.items()}
    if len(named) != len(codes):
        raise ValueError(
            f"the model has {len(named)} categorical columns, but only {len(codes)} of "
            "them had several values in training, and it does not say which"
        )
    return {j: list(own) for j, own in zip(codes, named, strict=True)}


def from_xgboost(model: Any, tree: int = 0) -> TreeRegressor:
    """One tree of an XGBoost model, as a fitted regressor.

    Parameters
    ----------
    model : xgboost.Booster, or a fitted XGBRegressor, XGBClassifier or XGBRanker
    tree : int, default=0
        Position of the tree, as for `from_lightgbm`.

    Returns
    -------
    TreeRegressor
        Its `predict` is what this tree adds to the margin, without the base score, for
        every cell that float32 can hold. A category that XGBoost never saw is treated as
        missing.

    Examples
    --------
    >>> from xgboost import XGBRegressor  # doctest: +SKIP
    >>> model = XGBRegressor().fit(X, y)  # doctest: +SKIP
    >>> print(from_xgboost(model, tree=3).export("sql"))  # doctest: +SKIP
    """
    get = getattr(model, "get_booster", None)
    booster = model if get is None else get()
    if not hasattr(booster, "save_raw"):
        raise TypeError(
            f"from_xgboost takes a fitted model of XGBoost, not {type(model).__name__}"
        )
    learner = json.loads(bytes(booster.save_raw("json")))["learner"]
    boosted = learner["gradient_booster"]
    name = boosted["name"]
    if "weight_drop" in boosted.get("model", ()):  # so since XGBoost 3.4
        name = "dart"
    if name != "gbtree":
        raise ValueError(
            f"the booster is {name!r}; only trees of 'gbtree' can be taken: "
            "'gblinear' has none, and those of 'dart' are weighted afterwards"
        )
    found = _chosen(boosted["model"]["trees"], tree)
    if int(found["tree_param"]["size_leaf_vector"]) > 1:
        raise ValueError("the leaves answer several numbers; omnitree's answer one")
    n_features = int(learner["learner_model_param"]["num_feature"])
    names = list(learner.get("feature_names") or ())
    named = bool(names)
    names = names or [f"x{j}" for j in range(n_features)]
    categories = _xgboost_categories(learner, found)
    sets = {
        node: set(found["categories"][start : start + size])
        for node, start, size in zip(
            found["categories_nodes"],
            found["categories_segments"],
            found["categories_sizes"],
            strict=True,
        )
    }

    def read(at: int) -> _Node:
        weight, left = float(found["sum_hessian"][at]), found["left_children"][at]
        value = float(np.float32(found["split_conditions"][at]))
        if left < 0:
            return _Node(weight, value)
        feature, merit = found["split_indices"][at], float(found["loss_changes"][at])
        missing = 0 if found["default_left"][at] else 1
        split: Split
        if at in sets:  # these categories go to the right
            codes = range(len(categories[feature]))
            branch = tuple(1 if code in sets[at] else 0 for code in codes)
            split = SubsetSplit(feature, branch, merit=merit, missing=missing)
        else:
            # To the left goes what float32 makes smaller than the condition.
            below = float(np.nextafter(np.float32(value), np.float32(-np.inf)))
            split = AxisSplit(feature, as_double(below), merit=merit, missing=missing)
        return _Node(weight, split=split, children=(left, found["right_children"][at]))

    return _regressor(0, read, names, categories, named)


def _xgboost_categories(
    learner: dict[str, Any], tree: dict[str, Any]
) -> dict[int, list[Any]]:
    """Categories of each categorical feature, by code: names if they are stored."""
    types = learner.get("feature_types") or []
    codes = [j for j, kind in enumerate(types) if kind == "c"]
    stored = learner["gradient_booster"]["model"].get("cats", {}).get("enc", [])
    most = max(tree["categories"], default=0) + 1
    found: dict[int, list[Any]] = {}
    for j in codes:
        own = stored[j] if j < len(stored) else {}
        values = own.get("values", [])
        if "offsets" in own and values:  # text, one after the other
            text, ends = bytes(values), own["offsets"]
            found[j] = [text[a:b].decode() for a, b in pairwise(ends)]
        else:
            found[j] = list(values) or list(range(most))
    return found


# -- both ------------------------------------------------------------------------------


def _chosen(trees: list[Any], tree: int) -> Any:
    if not 0 <= tree < len(trees):
        raise ValueError(f"tree must be 0 to {len(trees) - 1}, not {tree!r}")
    return trees[tree]


def _are_named(names: list[str], prefix: str) -> bool:
    """Whether the names are the user's, not made up by the package."""
    return names != [f"{prefix}{j}" for j in range(len(names))]


def _regressor(
    root: Any,
    read: Callable[[Any], _Node],
    names: list[str],
    categories: dict[int, list[Any]],
    named: bool,
) -> TreeRegressor:
    """A regressor with the tree that `read` gives node by node, from the root."""
    nodes = [read(root)]
    above, children = [-1], [[]]  # type: list[int], list[list[int]]
    for at, node in enumerate(nodes):  # grows while it is read
        for child in node.children or ():
            children[at].append(len(nodes))
            nodes.append(read(child))
            above.append(at)
            children.append([])
    # Values of inner nodes: means over the leaves below, by their weights.
    weight, total, squares = (np.zeros(len(nodes)) for _ in range(3))
    for at in range(len(nodes) - 1, -1, -1):
        if not children[at]:
            weight[at] = max(nodes[at].weight, 1e-12)
            total[at] = weight[at] * nodes[at].value
            squares[at] = total[at] * nodes[at].value
        for sums in (weight, total, squares):
            sums[at] += sum(sums[c] for c in children[at])
    records = []
    for at, node in enumerate(nodes):
        mean = total[at] / weight[at] if children[at] else node.value
        loss = max(squares[at] - total[at] ** 2 / weight[at], 0.0)
        record = NodeRecord(
            above[at],
            weight[at : at + 1],
            constant=float(mean),
            loss=float(loss) if children[at] else 0.0,
        )
        record.split = node.split
        record.children = children[at]
        records.append(record)
    features = tuple(
        Feature(name, "categorical", tuple(categories[j]))
        if j in categories
        else Feature(name, "numeric")
        for j, name in enumerate(
            names if named else [f"x{j}" for j in range(len(names))]
        )
    )
    regressor = TreeRegressor(random_state=0)
    tree = tree_from_nodes(Schema(features, named), (), records)
    regressor._set_fitted(tree, np.empty(0))
    return regressor
