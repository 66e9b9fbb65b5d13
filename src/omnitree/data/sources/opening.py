"""Which source serves what a user gave."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from omnitree.data.sources.arrays import ArraySource, BatchSource
from omnitree.data.sources.base import BlockSource, Roles
from omnitree.data.sources.files import DatasetSource, open_files
from omnitree.data.sources.lazy import DaskSource, LazyFrameSource


def open_blocks(
    X: Any, y: Any = None, weight: Any = None, columns: Sequence[str] | None = None
) -> BlockSource | None:
    """See `X` as a sequence of parts; None where it lies in memory already.

    Parameters
    ----------
    X : str or path, list of them, pyarrow.dataset, polars.LazyFrame, np.memmap, \
dask.dataframe, dask.array, or an iterable of batches
    y, weight : str or array
        Name of a column, or one number a row.
    columns : names, optional
        The only columns to read, where the source can choose.
    """
    if hasattr(X, "parts") and hasattr(X, "n_bytes"):  # a source already
        return X
    roles, module = Roles(y, weight), type(X).__module__.split(".")[0]
    if isinstance(X, str | Path) or (
        isinstance(X, list | tuple) and X and all(isinstance(x, str | Path) for x in X)
    ):
        return open_files(X, roles, columns)
    if isinstance(X, np.memmap):
        return ArraySource(X, roles) if X.ndim == 2 else None
    if module == "pyarrow" and hasattr(X, "get_fragments"):
        return DatasetSource(X, roles, columns)
    if module == "polars" and type(X).__name__ == "LazyFrame":
        return LazyFrameSource(X, roles, columns)
    if hasattr(X, "dask") and hasattr(X, "to_delayed"):
        return DaskSource(X, roles)
    if _is_batches(X):
        return BatchSource(X, roles)
    return None


def _is_batches(X: Any) -> bool:
    """Whether `X` gives batches, one after the other."""
    if isinstance(X, list | tuple):
        return bool(X) and all(_is_batch(batch) for batch in X)
    if not hasattr(X, "__iter__") or hasattr(X, "shape") or hasattr(X, "__array__"):
        return False
    if hasattr(X, "__dataframe__") or isinstance(X, dict):
        return False
    if isinstance(X, Iterator):
        raise TypeError(
            "An iterator can be gone through only once, and a tree needs several passes. "
            "Give an object whose __iter__ starts anew, or a list of batches."
        )
    return not isinstance(X, set | frozenset | bytes | bytearray | range)


def _is_batch(batch: Any) -> bool:
    """Whether it is a table: alone, or the first of a tuple with target and weights."""
    table = batch[0] if isinstance(batch, tuple) and 2 <= len(batch) <= 3 else batch
    if isinstance(table, np.ndarray):
        return table.ndim == 2
    return hasattr(table, "shape") and len(table.shape) == 2
