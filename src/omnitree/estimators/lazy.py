"""Answers for data that is not in memory: block by block, or as lazy as the data.

A polars LazyFrame gives a LazyFrame, dask collections give dask collections: nothing is
computed before someone asks. Files, memory-mapped arrays and batches give an array, of
which only the answers are held. Only the columns that the model needs are read. Used by
the methods of the estimators that `by_blocks` marks.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from omnitree.data.sources import open_blocks
from omnitree.data.table import Table

Method = TypeVar("Method", bound=Callable[..., Any])


def by_blocks(method: Method) -> Method:
    """Make a method that answers for each row of a table take lazy collections, too."""

    @wraps(method)
    def answer(self: Any, X: Any) -> Any:
        # The usual case first: one row must not wait for the others.
        if type(X) is np.ndarray or type(X) is list:
            return method(self, X)
        name, module = type(X).__name__, type(X).__module__.split(".")[0]
        if module == "polars" and name == "LazyFrame":
            return _lazy_frame(self, method, X)
        if module == "dask":
            return _dask_collection(self, method, X)
        if name in ("DataFrame", "Table") or (blocks := _opened(self, X)) is None:
            return method(self, X)
        pieces = [
            method(self, block.X) for part in blocks.parts() for block in part.blocks()
        ]
        if not pieces:
            raise ValueError("Found array with 0 sample(s): the data has no rows.")
        return np.concatenate(pieces)

    return answer  # type: ignore[return-value]


def _opened(model: Any, X: Any) -> Any:
    """The source of some data; None if it lies in memory."""
    check_is_fitted(model, "tree_")
    return open_blocks(X, columns=needed(model))


def needed(model: Any) -> list[str] | None:
    """The columns that a model looks at, by name; None where columns have no names."""
    schema = model.tree_.schema
    if not schema.named:
        return None
    return list(dict.fromkeys(feature.input for feature in schema.features))


def _check_columns(columns: list[str], given: list[str]) -> None:
    """Refuse a lazy collection at once, not when someone asks for its answers."""
    lacking = [repr(name) for name in columns if name not in given]
    if lacking:
        raise ValueError(f"The table lacks column(s) {', '.join(lacking)}.")


def answer_names(model: Any, answers: np.ndarray) -> list[str]:
    """Names for the columns of answers."""
    if answers.ndim == 1:
        return ["prediction"]
    classes = getattr(model, "classes_", None)
    if classes is not None and len(classes) == answers.shape[1]:
        return [str(label) for label in classes]
    return [str(j) for j in range(answers.shape[1])]


def _some_answers(model: Any, method: Callable[..., Any]) -> np.ndarray:
    """Answers for one row without values: they show shape and type."""
    schema = model.tree_.schema
    unknown = Table(np.full((1, schema.n_features), np.nan), schema)
    return np.asarray(method(model, unknown))


def _lazy_frame(model: Any, method: Callable[..., Any], X: Any) -> Any:
    """A LazyFrame of answers."""
    import polars as pl

    check_is_fitted(model, "tree_")
    names = answer_names(model, _some_answers(model, method))
    columns = needed(model)

    def answers(frame: Any) -> Any:
        found = method(model, frame)
        return pl.DataFrame(dict(zip(names, np.atleast_2d(found.T), strict=True)))

    sample = pl.DataFrame(
        dict(zip(names, np.atleast_2d(_some_answers(model, method).T), strict=True))
    )
    if columns is not None:
        _check_columns(columns, X.collect_schema().names())
    query = X if columns is None else X.select(columns)
    return query.map_batches(answers, schema=sample.schema, streamable=True)


def _dask_collection(model: Any, method: Callable[..., Any], X: Any) -> Any:
    """A dask collection of answers, with the partitions of the data."""
    check_is_fitted(model, "tree_")
    sample = _some_answers(model, method)
    if not hasattr(X, "map_partitions"):  # an array
        whole = X.rechunk({1: -1})
        if sample.ndim == 1:
            return whole.map_blocks(
                lambda rows: method(model, rows), drop_axis=1, dtype=sample.dtype
            )
        chunks = (whole.chunks[0], (sample.shape[1],))
        return whole.map_blocks(
            lambda rows: method(model, rows), chunks=chunks, dtype=sample.dtype
        )
    import pandas as pd

    names = answer_names(model, sample)

    def framed(found: np.ndarray, index: Any) -> Any:
        if found.ndim == 1:
            return pd.Series(found, index=index, name=names[0])
        return pd.DataFrame(found, index=index, columns=names)

    def answers(rows: Any) -> Any:
        found = method(model, rows) if len(rows) else sample[:0]
        return framed(found, rows.index)

    columns = needed(model)
    if columns is not None:
        _check_columns(columns, list(X.columns))
    query = X if columns is None else X[columns]
    return query.map_partitions(answers, meta=framed(sample[:0], None))
