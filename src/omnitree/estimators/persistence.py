"""Saving and loading fitted trees as JSON: no pickle, nothing run, everything checked.

A model file holds the document of `omnitree.estimators.documents`: the estimator's class
and parameters, and the tree in its public form (`Tree.to_dict`). Only omnitree's estimators
and registered parts are made from it, and nothing is imported because of it. A file is
replaced only when the new one is complete.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from omnitree.data.files import replace_file
from omnitree.estimators.class_inputs import label_array, labels_of_type
from omnitree.estimators.classifier import OmniTreeClassifier, TreeClassifier
from omnitree.estimators.documents import (
    FORMAT,
    VERSION,
    read_value,
    to_json,
    without_client,
)
from omnitree.estimators.regressor import OmniTreeRegressor, TreeRegressor
from omnitree.tree.records import FORMAT as TREE_FORMAT
from omnitree.tree.tree import Tree

ESTIMATORS = {
    cls.__name__: cls
    for cls in (TreeClassifier, OmniTreeClassifier, TreeRegressor, OmniTreeRegressor)
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
    estimator = without_client(estimator)
    name = type(estimator).__name__
    if ESTIMATORS.get(name) is not type(estimator):
        raise TypeError(f"cannot save a {name}; these can be: {', '.join(ESTIMATORS)}")
    replace_file(Path(path), to_json(estimator))


def load(path: str | os.PathLike[str]) -> Any:
    """Read a fitted estimator from a file with what `save` or `export("json")` gave.

    A file that holds a tree alone (`Tree.to_dict`, which `export("json")` gave before
    0.1.0) becomes a `TreeClassifier` or `TreeRegressor` with that tree.

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
    if isinstance(data, dict) and data.get("format") == TREE_FORMAT:
        plain = (
            "TreeRegressor" if data.get("task") == "regression" else "TreeClassifier"
        )
        data = {"format": FORMAT, "version": VERSION, "params": {}, "tree": data}
        data["estimator"] = plain
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
        read = {key: read_value(value, key) for key, value in params.items()}
        estimator = ESTIMATORS[name](**read)
        estimator._check_options()
        labels = label_array(tree.classes)
        if "label_type" in data:
            labels = labels_of_type(labels, data["label_type"])
    except (ValueError, TypeError) as error:
        raise ValueError(f"{path}: {error}") from None
    if tree.task != estimator._task:
        raise ValueError(f"{path} is damaged: a {name} has no tree for {tree.task}")
    estimator._set_fitted(tree, labels)
    return estimator
