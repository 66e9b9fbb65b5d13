"""What a classifier is told of classes: the labels of rows, and what wrong answers cost.

Everything is checked here, with errors that say what to do. Used by the classifiers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length

from omnitree.estimators.row_inputs import is_missing
from omnitree.growing.part import unknown
from omnitree.growing.target import Target

# Types of labels that a model file can name.
LABEL_TYPES = (
    *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64", "object"),
)


def check_costs(given: Any, classes: tuple) -> NDArray[np.float64] | None:
    """What an answer (column) costs for a row of a class (line), in order of classes."""
    if given is None:
        return None
    n = len(classes)
    if isinstance(given, Mapping):
        costs = np.where(np.eye(n, dtype=bool), 0.0, np.nan)
        place = {label: k for k, label in enumerate(classes)}
        for true, line in given.items():
            for said, cost in line.items():
                for label in (true, said):
                    if label not in place:
                        raise ValueError(
                            unknown("class in cost_matrix", label, [*map(str, classes)])
                        )
                costs[place[true], place[said]] = cost
        if np.isnan(costs).any():
            i, j = np.argwhere(np.isnan(costs))[0]
            raise ValueError(
                f"cost_matrix says nothing of answer {classes[j]!r} for rows of class "
                f"{classes[i]!r}"
            )
    else:
        costs = np.asarray(given, dtype=np.float64)
    if costs.shape != (n, n):
        raise ValueError(f"cost_matrix has shape {costs.shape}; ({n}, {n}) is needed")
    if not (np.isfinite(costs).all() and (costs >= 0).all()):
        raise ValueError("cost_matrix must hold numbers of at least 0")
    if costs.diagonal().any():
        raise ValueError("cost_matrix must have zeros on its diagonal: right is free")
    return costs


def check_classes(target: Target, weight: NDArray[np.float64]) -> None:
    """Refuse rows of which fewer than two classes have a weight."""
    present = target.take(weight > 0)
    if not len(present):
        raise ValueError("class_weight leaves no row with a weight above 0")
    if present.is_pure:
        raise ValueError(
            f"y has one class ({present.labels[present.y[0]]!r}); a classifier needs rows "
            "of two classes or more"
        )


def with_ties(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Class counts of nodes in which what differs by rounding alone is equal.

    Fractional weights, such as balanced ones, add up to nearly equal sums; which class a
    leaf answers must not depend on the last bit.

    Examples
    --------
    >>> a, b = with_ties(np.array([[0.1 + 0.2, 0.3]]))[0].tolist()
    >>> a == b
    True
    """
    unit = counts.sum(axis=1, keepdims=True) * 2.0**-40
    return np.round(np.divide(counts, unit, where=unit > 0, out=counts.copy())) * unit


def classes_and_codes(labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """The labels that occur, in order, and the place of each row's among them."""
    if labels.dtype.kind in "iu":
        low, high = int(labels.min()), int(labels.max())
        if high - low < len(labels):  # counting beats sorting
            shifted = (labels - low).astype(np.intp)
            present = np.flatnonzero(np.bincount(shifted))
            place = np.zeros(high - low + 1, dtype=np.intp)
            place[present] = np.arange(len(present))
            return (present + low).astype(labels.dtype), place[shifted]
    if _is_text(labels):
        cells = labels.tolist()
        code = {label: k for k, label in enumerate(sorted(set(cells)))}
        codes = np.fromiter(map(code.__getitem__, cells), np.intp, len(cells))
        return np.array(list(code), dtype=object), codes
    return np.unique(labels, return_inverse=True)


def label_array(labels: Sequence[Any]) -> NDArray[Any]:
    r"""Labels as an array in which all stay what they are.

    NumPy drops a NUL at the end of text, and makes floats of whole numbers beside floats.

    Examples
    --------
    >>> label_array(["a", "b"]), label_array(["a", "a\0"])
    (array(['a', 'b'], dtype='<U1'), array(['a', 'a\x00'], dtype=object))
    """
    array = np.array(labels)
    same = array.tolist() == list(labels)
    return array if same else np.array(labels, dtype=object)


def label_type(classes: NDArray[Any]) -> str | None:
    """The type of labels by name, if it is not the one that `label_array` gives them."""
    name = classes.dtype.name
    usual = label_array(classes.tolist()).dtype
    return name if name in LABEL_TYPES and classes.dtype != usual else None


def labels_of_type(labels: NDArray[Any], name: Any) -> NDArray[Any]:
    """The same labels in the type of that name; ValueError if it cannot hold them.

    Examples
    --------
    >>> labels_of_type(np.array([0, 1]), "int8")
    array([0, 1], dtype=int8)
    """
    if isinstance(name, str) and name in LABEL_TYPES:
        kind, given = np.dtype(name).kind, labels.dtype.kind
        if kind in ("O", given) or {kind, given} == {"i", "u"}:
            with np.errstate(over="ignore"):
                typed = labels.astype(name)
            if typed.tolist() == labels.tolist():
                return typed
    raise ValueError(f"labels cannot be of type {name!r}")


def check_labels(y: ArrayLike, n_rows: int) -> NDArray[Any]:
    """Class labels as an array without missing values."""
    if isinstance(y, list | tuple) and all(isinstance(label, str) for label in y):
        y = label_array(y)
    labels = column_or_1d(y, warn=True)
    if labels.dtype.kind in "fu" and _merged(y, labels):
        raise ValueError(
            "y has whole numbers that float64 or int64 cannot tell apart: make the labels "
            "strings"
        )
    text = labels.dtype.kind == "U" or _is_text(labels)
    if labels.dtype.kind == "O" and not text:
        bad = [i for i, v in enumerate(labels) if is_missing(v)]
        if bad:
            raise ValueError(
                f"y has a missing value in row {bad[0]}: drop rows without a label first"
            )
        if any(isinstance(v, str) for v in labels):
            raise TypeError("y mixes strings with other labels: make them all strings")
    elif labels.dtype.kind in "fc" and not np.isfinite(labels).all():
        raise ValueError(
            "Input y contains NaN or infinity: drop the rows without a label first"
        )
    if not text:  # which is always of classes, and takes long to look at
        check_classification_targets(labels)
    if len(labels) != n_rows:
        check_consistent_length(np.empty(n_rows), labels)
    return labels


def _is_text(labels: NDArray[Any]) -> bool:
    """Whether all of some objects are strings."""
    return labels.dtype.kind == "O" and all(
        issubclass(kind, str) for kind in set(map(type, labels.tolist()))
    )


def _merged(y: ArrayLike, labels: NDArray[Any]) -> bool:
    """Whether numbers are beyond 64 bits, or were different before they became an array."""
    if labels.dtype.kind == "u":
        return bool((labels > np.iinfo(np.int64).max).any())
    return isinstance(y, list | tuple) and len(set(y)) > len(set(labels.tolist()))
