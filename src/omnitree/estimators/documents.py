"""A fitted estimator as one JSON document: its class, its parameters and its tree.

`export("json")` gives this document, `save` writes it and `load` reads it. The tree in it
is the public one (`Tree.to_dict`, docs/tree_format.md). Parameters are plain values, or
parts: omnitree's own by their registered names, those of other packages by the import names
of their classes. Nothing is imported because of a document: a part whose class is not
registered when it is read becomes an `UnregisteredPart`. Used by `base` and `persistence`.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from omnitree.estimators.class_inputs import label_type
from omnitree.estimators.registries import REGISTRIES
from omnitree.growing.foreign import import_name
from omnitree.growing.part import Part, UnregisteredPart
from omnitree.tree.tree import Tree

FORMAT = "omnitree-model"
VERSION = 1
CLASS_NAME = re.compile(r"[\w.]+:[\w.<>]+")  # "package.module:Class"


def to_json(estimator: Any) -> str:
    """The document of a fitted estimator; TypeError if JSON cannot hold something in it.

    ValueError if the tree could not be read again.
    """
    check_is_fitted(estimator, "tree_")
    estimator = without_client(estimator)
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
    kind = label_type(estimator.classes_) if hasattr(estimator, "classes_") else None
    if kind is not None:
        document["label_type"] = kind
    try:
        Tree.from_dict(document["tree"])
    except ValueError as error:  # `load` is stricter than `fit` about enormous numbers
        raise ValueError(
            f"cannot save this model ({error}): bring columns with very large or very "
            "small numbers to a usual size, and fit it again"
        ) from None
    return json.dumps(document, allow_nan=False)


def without_client(estimator: Any) -> Any:
    """The estimator that a file is to hold: that of `omnitree.dask` is an alias."""
    return estimator.to_local() if hasattr(estimator, "to_local") else estimator


def write_value(value: Any, name: str) -> Any:
    """A parameter in plain types."""
    if isinstance(value, Part):
        return _write_part(value, name)
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


def _write_part(part: Part, name: str) -> dict[str, Any]:
    """A part by its registered name and, if it is not omnitree's own, by its class."""
    if isinstance(part, UnregisteredPart):
        kind, short, class_name, own = (
            part.kind,
            part.name,
            part.class_name,
            part.params,
        )
    else:
        kind, short = _registered_as(part)
        class_name, own = import_name(type(part)), part.get_params(deep=False)
    params = {key: write_value(value, key) for key, value in own.items()}
    if short is not None and REGISTRIES[kind].is_own(short):
        return {"part": kind, "name": short, "params": params}
    return {"part": kind, "name": short, "class": class_name, "params": params}


def _registered_as(part: Part) -> tuple[str, str | None]:
    """Kind and name of a part; the name is None if its class is not registered."""
    kinds = [k for k, registry in REGISTRIES.items() if isinstance(part, registry.base)]
    for kind in kinds:
        for name, cls in REGISTRIES[kind].registered.items():
            if cls is type(part):
                return kind, name
    if not kinds:
        raise TypeError(f"cannot save {part!r}: it is no part of any kind")
    return kinds[0], None


def read_value(value: Any, name: str) -> Any:
    """A parameter from plain types; `name` says in errors where it stands."""
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    if isinstance(value, dict) and len(value) == 1:
        ((kind, items),) = value.items()
        if kind == "pairs" and _are_pairs(items):
            return {read_value(k, name): read_value(v, name) for k, v in items}
        if kind in ("list", "tuple") and isinstance(items, list):
            read = [read_value(item, f"{name}[{i}]") for i, item in enumerate(items)]
            return read if kind == "list" else tuple(read)
    if isinstance(value, dict) and set(value) - {"class"} == {"part", "name", "params"}:
        return _read_part(value, name)
    raise ValueError(f"damaged parameter {name}: no value that omnitree writes")


def _are_pairs(items: Any) -> bool:
    """Whether something is a list of pairs whose first can be the key of a dict."""
    return isinstance(items, list) and all(
        isinstance(pair, list) and len(pair) == 2 and not isinstance(pair[0], dict)
        for pair in items
    )


def _read_part(record: dict[str, Any], where: str) -> Part:
    """A part from its kind, its name or its class, and its parameters."""
    kind, name, class_name = record["part"], record["name"], record.get("class")
    registry = REGISTRIES.get(kind) if isinstance(kind, str) else None
    if registry is None or not isinstance(record["params"], dict):
        raise ValueError(f"damaged parameter {where}: unknown part")
    params = {
        key: read_value(value, f"{where}.{key}")
        for key, value in record["params"].items()
    }
    if "class" not in record:
        if not isinstance(name, str) or not registry.is_own(name):
            raise ValueError(f"damaged parameter {where}: unknown part")
        try:
            return registry[name](**params)
        except TypeError as error:
            raise ValueError(f"damaged parameter {where}: {error}") from None
    named = isinstance(class_name, str) and CLASS_NAME.fullmatch(class_name)
    if not named or not isinstance(name, str | None):
        raise ValueError(f"damaged parameter {where}: no name of a class")
    for cls in registry.registered.values():
        if import_name(cls) == class_name:
            return cls(**params)
    return UnregisteredPart(kind, class_name, params, name)
