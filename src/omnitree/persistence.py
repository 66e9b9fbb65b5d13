"""Saving and loading fitted trees as JSON: no pickle, nothing run, everything checked.

A model file holds the estimator's class and parameters, and the tree in its public form
(`Tree.to_dict`). Only classes and parts that omnitree knows are made from it. A file is
replaced only when the new one is complete.
"""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from omnitree.choice import CHOICES
from omnitree.coefficients import COEFFICIENTS
from omnitree.criterion import CRITERIA
from omnitree.direction import DIRECTIONS
from omnitree.discriminants import DISCRIMINANTS
from omnitree.estimators import OmniTreeClassifier, TreeClassifier
from omnitree.features import SELECTIONS
from omnitree.files import replace_file
from omnitree.grouping import GROUPINGS
from omnitree.learners import LEARNERS
from omnitree.learners.regression import REGRESSION_LEARNERS
from omnitree.leaves import LEAVES
from omnitree.merit import MERITS
from omnitree.missing import MISSING
from omnitree.parts import Part, Registry
from omnitree.pruning import PRUNINGS
from omnitree.regressor import OmniTreeRegressor, TreeRegressor
from omnitree.stopping import STOPPING
from omnitree.threshold import THRESHOLDS
from omnitree.tree import Tree

FORMAT = "omnitree-model"
VERSION = 1
ESTIMATORS = {
    cls.__name__: cls
    for cls in (TreeClassifier, OmniTreeClassifier, TreeRegressor, OmniTreeRegressor)
}
REGISTRIES: dict[str, Registry] = {
    r.kind: r
    for r in (
        LEARNERS,
        REGRESSION_LEARNERS,
        CRITERIA,
        CHOICES,
        COEFFICIENTS,
        GROUPINGS,
        DIRECTIONS,
        DISCRIMINANTS,
        SELECTIONS,
        THRESHOLDS,
        LEAVES,
        MERITS,
        MISSING,
        PRUNINGS,
        STOPPING,
    )
}


def save(estimator: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted estimator to a JSON file.

    Parameters
    ----------
    estimator : TreeClassifier, OmniTreeClassifier, TreeRegressor or OmniTreeRegressor
    path : path of the file; replaced only when the new file is complete

    Examples
    --------
    >>> import os, tempfile
    >>> from omnitree import TreeClassifier, load, save
    >>> clf = TreeClassifier().fit([[1], [2], [3]], ["a", "a", "b"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(clf, os.path.join(folder, "model.json"))
    ...     load(os.path.join(folder, "model.json")).predict([[5]])
    array(['b'], dtype='<U1')
    """
    name = type(estimator).__name__
    if ESTIMATORS.get(name) is not type(estimator):
        raise TypeError(f"cannot save a {name}; these can be: {', '.join(ESTIMATORS)}")
    check_is_fitted(estimator, "tree_")
    for label in estimator.tree_.classes:
        if not isinstance(label, str | bool | int | float):
            raise TypeError(
                f"cannot save the class label {label!r}: use strings, numbers or booleans"
            )
    params = estimator.get_params(deep=False)
    text = json.dumps(
        {
            "format": FORMAT,
            "version": VERSION,
            "estimator": name,
            "params": {key: _write(value, key) for key, value in params.items()},
            "tree": estimator.tree_.to_dict(),
        },
        allow_nan=False,
    )
    replace_file(Path(path), text)


def load(path: str | os.PathLike[str]) -> Any:
    """Read a fitted estimator from a file written by `save`.

    Raises
    ------
    ValueError
        If the file is no model, is damaged or truncated, or comes from a newer version.
    """
    raw = Path(path).read_bytes()
    try:
        data = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is no model file, or is cut off: {error}") from None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise ValueError(f"{path} is no omnitree model")
    if data.get("version") != VERSION:
        raise ValueError(
            f"{path} has model version {data.get('version')!r}; this omnitree reads "
            f"{VERSION}: update omnitree"
        )
    name = data.get("estimator")
    if not isinstance(name, str) or name not in ESTIMATORS:
        raise ValueError(f"{path} holds an unknown estimator, {name!r}")
    params = data.get("params")
    if not isinstance(params, dict):
        raise ValueError(f"{path} is damaged: no parameters")
    known = ESTIMATORS[name]().get_params(deep=False)
    if not set(params) <= set(known):
        odd = ", ".join(sorted(set(params) - set(known)))
        raise ValueError(f"{path} is damaged: unknown parameters {odd}")
    try:
        tree = Tree.from_dict(data.get("tree"))
        estimator = ESTIMATORS[name](**{k: _read(v) for k, v in params.items()})
    except (ValueError, TypeError) as error:
        raise ValueError(f"{path}: {error}") from None
    if tree.task != estimator._task:
        raise ValueError(f"{path} is damaged: a {name} has no tree for {tree.task}")
    if tree.task == "regression":
        estimator._set_tree(tree)
    else:
        estimator._set_fitted(tree, np.array(tree.classes))
    return estimator


def _write(value: Any, name: str) -> Any:
    """A parameter in plain types."""
    if isinstance(value, Part):
        for kind, registry in REGISTRIES.items():
            for short, cls in registry.items():
                if cls is type(value):
                    own = value.get_params(deep=False)
                    params = {key: _write(v, key) for key, v in own.items()}
                    return {"part": kind, "name": short, "params": params}
        raise TypeError(
            f"cannot save {name}={value!r}: it is no registered part of omnitree"
        )
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"cannot save {name}={value!r}")
    if isinstance(value, dict):  # class_weight: keys need not be strings
        pairs = [[_write(k, name), _write(v, name)] for k, v in value.items()]
        return {"pairs": pairs}
    if isinstance(value, list | tuple | np.ndarray):  # feature_costs
        return {"list": [_write(v, name) for v in value]}
    if isinstance(value, np.random.RandomState):
        return None  # a stream cannot be saved; the tree is what matters
    if value is None or isinstance(value, str | bool | int | float):
        return value
    raise TypeError(f"cannot save {name}={value!r}")


def _read(value: Any) -> Any:
    """A parameter from plain types."""
    if not isinstance(value, dict):
        if value is None or isinstance(value, str | bool | int | float):
            return value
        raise ValueError("damaged parameter")
    if set(value) == {"pairs"} and isinstance(value["pairs"], list):
        return {_read(k): _read(v) for k, v in value["pairs"]}
    if set(value) == {"list"} and isinstance(value["list"], list):
        return [_read(v) for v in value["list"]]
    if set(value) == {"part", "name", "params"} and isinstance(value["params"], dict):
        registry = REGISTRIES.get(value["part"])
        if registry is not None and value["name"] in registry:
            params = {k: _read(v) for k, v in value["params"].items()}
            return registry[value["name"]](**params)
    raise ValueError("damaged parameter: unknown part")
