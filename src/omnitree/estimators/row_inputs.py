"""What users give for each row beside its cells: weights and groups, checked; and words
for the cases that rows do not fit into memory, or their time is too short. And a row alone,
in any form.

Used by the estimators.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from omnitree.data.sources.coding import weight_numbers
from omnitree.data.table import Table
from omnitree.resampling.folds import mix, row_hash

# Share of the rows that may be copies before anybody is warned.
COPIES = 0.1
# A column is continuous if at least so many, and such a share, of the different rows differ
# in it: then no two rows are equal by chance.
DISTINCT, DISTINCT_SHARE = 20, 0.75
# Of all rows together: sums of weights times squares, and squares of those, stay finite.
LARGEST_WEIGHT = 1e30


def check_weights(n_rows: int, sample_weight: ArrayLike | None) -> NDArray[np.float64]:
    """Weights of the rows, not all zero."""
    if sample_weight is None:
        return np.ones(n_rows)
    weight = weight_numbers(sample_weight)
    if weight.ndim == 0:
        weight = np.full(n_rows, float(weight))
    if weight.shape != (n_rows,):
        raise ValueError(
            f"sample_weight has shape {weight.shape}; one weight a row is needed, "
            f"({n_rows},)"
        )
    if not (weight > 0).any():
        raise ValueError("sample_weight is zero everywhere; no row is left")
    return weight


def check_total(weight: NDArray[np.float64]) -> None:
    """Refuse weights, those of classes included, that are too large to count with."""
    if weight.max() * len(weight) > LARGEST_WEIGHT:
        raise ValueError(
            f"the weights of rows and classes go up to {weight.max():.3g}: divide them so "
            f"that those of all rows add up to less than {LARGEST_WEIGHT:g}"
        )


def scaled(weight: NDArray[np.float64], always: bool) -> NDArray[np.float64]:
    """Weights that average one over the rows that have any.

    If not `always`, only weights that average less are scaled.
    """
    mean = weight.sum() / np.count_nonzero(weight)
    if not always:
        return weight / mean if mean < 1 - 1e-12 else weight
    # Without the last bits, which depend on the scale that the weights came in.
    mantissa, exponent = np.frexp(weight / mean)
    return np.ldexp(np.round(np.ldexp(mantissa, 40)), exponent - 40)


def check_groups(n_rows: int, groups: ArrayLike | None) -> NDArray[np.int64] | None:
    """Number of the group of each row."""
    if groups is None:
        return None
    given = np.asarray(groups)
    if given.shape != (n_rows,):
        raise ValueError(
            f"groups has shape {given.shape}; one group a row is needed, ({n_rows},)"
        )
    numbers: dict[Any, int] = {}
    out = np.empty(n_rows, dtype=np.int64)
    for i, group in enumerate(given.tolist()):
        if is_missing(group):
            raise ValueError(
                f"groups has a missing value in row {i}: give each row that belongs to "
                "no group a group of its own"
            )
        out[i] = numbers.setdefault(group, len(numbers))
    return out


def warn_of_time(table: Table, seconds: Any) -> None:
    """Warn that `max_seconds` left no time for a single test."""
    warnings.warn(
        f"The tree is a single leaf: max_seconds={seconds} is too short for a table of "
        f"{table.n_rows} rows and {table.n_features} features. Allow more time, or fit "
        "some of the rows.",
        UserWarning,
        stacklevel=3,
    )


def warn_of_copies(table: Table, y: NDArray) -> None:
    """Warn where many rows are exact copies of others, as in an oversampled table."""
    n = table.n_rows
    # Rows that differ in one column are no copies: one sort instead of hashes of all cells.
    for column in table.values.T:
        some = column[:1000]
        if len(np.unique(some)) > DISTINCT_SHARE * len(some):
            if n - len(np.unique(column)) <= COPIES * n:
                return
            break
    label = np.ascontiguousarray(y, dtype=np.float64).view(np.uint64)
    _, first = np.unique(row_hash(table, 0) ^ mix(label), return_index=True)
    copies = n - len(first)
    if copies <= COPIES * n:
        return
    least = max(DISTINCT, DISTINCT_SHARE * len(first))
    for j, feature in enumerate(table.schema.features):
        if feature.is_categorical or len(np.unique(table.values[first, j])) < least:
            continue
        warnings.warn(
            f"{copies} of {n} rows ({copies / n:.0%}) repeat other rows exactly, as in a "
            f"table that was oversampled: by chance, rows would hardly agree in "
            f"{feature.name!r}. Where one copy is in the training part of the inner "
            "cross-validation and another is held out, the held-out error comes out too "
            "small. Give all copies of a row the same number in groups=, or keep each row "
            "once and give its number of copies in sample_weight.",
            UserWarning,
            stacklevel=4,  # the line that calls `fit`
        )
        return


def is_missing(value: Any) -> bool:
    """Whether a value is None, NaN, NaT or pandas' NA, which compares to nothing."""
    return value is None or type(value).__name__ == "NAType" or bool(value != value)


@contextmanager
def memory_explained(n_rows: int, n_columns: int, n_classes: int) -> Iterator[None]:
    """A context in which the end of memory is said in terms of the table."""
    try:
        yield
    except MemoryError as error:
        classes = f" of {n_classes:,} classes" if n_classes else ""
        hint = "every node counts every class, so " if n_classes > 100 else ""
        raise MemoryError(
            f"no memory is left for a tree of {n_rows:,} rows{classes} and {n_columns:,} "
            f"columns: {hint}limit its size (max_leaves, max_depth), or fit fewer "
            f"{'classes or ' if n_classes > 100 else ''}rows"
        ) from error


def one_row(row: Any) -> Any:
    """A row in any form as a table of one row."""
    if isinstance(row, Mapping) or type(row).__name__ == "Series":
        import pandas as pd

        return pd.DataFrame([dict(row)])
    if hasattr(row, "columns"):
        return row
    n_dims = row.ndim if hasattr(row, "ndim") else 1 + _holds_rows(row)
    return [list(row)] if n_dims == 1 else row


def _holds_rows(given: Any) -> bool:
    return len(given) > 0 and isinstance(given[0], list | tuple | np.ndarray)
