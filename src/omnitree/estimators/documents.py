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

from omnitree.estimators.registries import REGISTRIES
from omnitree.growing.foreign import import_name
from omnitree.growing.part import Part, UnregisteredPart

FORMAT = "omnitree-model"
VERSION = 1
CLASS_NAME = re.compile(r"[\w.]+:[\w.<>]+")  # "package.module:Class"


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
    if set(value) - {"class"} == {"part", "name", "params"}:
        return _read_part(value)
    raise ValueError("damaged parameter")


def _read_part(record: dict[str, Any]) -> Part:
    """A part from its kind, its name or its class, and its parameters."""
    kind, name, class_name = record["part"], record["name"], record.get("class")
    registry = REGISTRIES.get(kind) if isinstance(kind, str) else None
    if registry is None or not isinstance(record["params"], dict):
        raise ValueError("damaged parameter: unknown part")
    params = {key: read_value(value) for key, value in record["params"].items()}
    if "class" not in record:
        if not isinstance(name, str) or not registry.is_own(name):
            raise ValueError("damaged parameter: unknown part")
        return registry[name](**params)
    named = isinstance(class_name, str) and CLASS_NAME.fullmatch(class_name)
    if not named or not isinstance(name, str | None):
        raise ValueError("damaged parameter: no name of a class")
    for cls in registry.registered.values():
        if import_name(cls) == class_name:
            return cls(**params)
    return UnregisteredPart(kind, class_name, params, name)
