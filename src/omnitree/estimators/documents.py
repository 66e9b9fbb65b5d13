"""A fitted estimator as one JSON document: its class, its parameters and its tree.

`export("json")` gives this document, `save` writes it and `load` reads it. The tree in it
is the public one (`Tree.to_dict`, docs/tree_format.md). Parameters are plain values, or
parts by their registered names; nothing else is made from a document. Used by
`base` and `persistence`.
"""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from omnitree.growing.criterion import CRITERIA
from omnitree.growing.missing import MISSING
from omnitree.growing.part import Part, Registry
from omnitree.growing.stopping import STOPPING
from omnitree.learners import LEARNERS
from omnitree.learners.regression import REGRESSION_LEARNERS
from omnitree.parts.choice import CHOICES
from omnitree.parts.coefficients import COEFFICIENTS
from omnitree.parts.direction import DIRECTIONS
from omnitree.parts.discriminants import DISCRIMINANTS
from omnitree.parts.feature_selection import SELECTIONS
from omnitree.parts.grouping import GROUPINGS
from omnitree.parts.leaves import LEAVES
from omnitree.parts.merit import MERITS
from omnitree.parts.threshold import THRESHOLDS
from omnitree.pruning import PRUNINGS

FORMAT = "omnitree-model"
VERSION = 1
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


def to_json(estimator: Any) -> str:
    """The document of a fitted estimator, as text.

    Raises
    ------
    TypeError
        If a class label or a parameter is nothing that JSON or omnitree knows.
    """
    check_is_fitted(estimator, "tree_")
    for label in estimator.tree_.classes:
        if not isinstance(label, str | bool | int | float):
            raise TypeError(
                f"cannot save the class label {label!r}: use strings, numbers or booleans"
            )
    params = estimator.get_params(deep=False)
    document = {
        "format": FORMAT,
        "version": VERSION,
        "estimator": type(estimator).__name__,
        "params": {key: write_value(value, key) for key, value in params.items()},
        "tree": estimator.tree_.to_dict(),
    }
    return json.dumps(document, allow_nan=False)


def write_value(value: Any, name: str) -> Any:
    """A parameter in plain types."""
    if isinstance(value, Part):
        for kind, registry in REGISTRIES.items():
            for short, cls in registry.items():
                if cls is type(value):
                    own = value.get_params(deep=False)
                    params = {key: write_value(v, key) for key, v in own.items()}
                    return {"part": kind, "name": short, "params": params}
        raise TypeError(
            f"cannot save {name}={value!r}: it is no registered part of omnitree"
        )
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"cannot save {name}={value!r}")
    if isinstance(value, dict):  # class_weight: keys need not be strings
        pairs = [[write_value(k, name), write_value(v, name)] for k, v in value.items()]
        return {"pairs": pairs}
    if isinstance(value, tuple):  # the candidates of an omnivariate learner
        return {"tuple": [write_value(v, name) for v in value]}
    if isinstance(value, list | np.ndarray):  # feature_costs
        return {"list": [write_value(v, name) for v in value]}
    if isinstance(value, np.random.RandomState):
        return None  # a stream cannot be saved; the tree is what matters
    if value is None or isinstance(value, str | bool | int | float):
        return value
    raise TypeError(f"cannot save {name}={value!r}")


def read_value(value: Any) -> Any:
    """A parameter from plain types."""
    if not isinstance(value, dict):
        if value is None or isinstance(value, str | bool | int | float):
            return value
        raise ValueError("damaged parameter")
    if set(value) == {"pairs"} and isinstance(value["pairs"], list):
        return {read_value(k): read_value(v) for k, v in value["pairs"]}
    if set(value) == {"list"} and isinstance(value["list"], list):
        return [read_value(v) for v in value["list"]]
    if set(value) == {"tuple"} and isinstance(value["tuple"], list):
        return tuple(read_value(v) for v in value["tuple"])
    if set(value) == {"part", "name", "params"} and isinstance(value["params"], dict):
        registry = REGISTRIES.get(value["part"])
        if registry is not None and value["name"] in registry:
            params = {k: read_value(v) for k, v in value["params"].items()}
            return registry[value["name"]](**params)
    raise ValueError("damaged parameter: unknown part")
