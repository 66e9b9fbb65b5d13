"""Blocks as columns, with a hash of each row that says which rows belong together.

The hash is made of the cells as they are, before anything is learned, so a row has the same
hash in every pass, in every block and in every engine. `joined` puts the columns of several
blocks together. Used by the survey and by all passes after it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from omnitree._core.univariate import bins as kernel
from omnitree.data.encoding.columns import (
    TableColumn,
    read_array,
    text_of_cell,
    translate,
)
from omnitree.data.encoding.sources import open_source
from omnitree.data.schema import Schema
from omnitree.data.sources.base import Block
from omnitree.data.table import Table

Hashes = NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of a block that have a weight."""

    columns: list[TableColumn]
    named: bool
    y: NDArray[Any] | None  # as given
    weight: NDArray[np.float64] | None
    key: Hashes  # hash of the cells, and of the target where that is asked for
    place: str

    def __len__(self) -> int:
        return len(self.key)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(c.name for c in self.columns)

    def take(self, at: NDArray) -> Rows:
        """Some of the rows."""
        cells = some_rows([c.values for c in self.columns], at)
        return replace(
            self,
            columns=[
                replace(c, values=own)
                for c, own in zip(self.columns, cells.T, strict=True)
            ],
            y=None if self.y is None else self.y[at],
            weight=None if self.weight is None else self.weight[at],
            key=self.key[at],
        )


def some_rows(columns: list[NDArray[np.float64]], at: NDArray) -> NDArray[np.float64]:
    """Some rows, by their numbers or a mask, of several columns, each contiguous."""
    at = np.flatnonzero(at) if at.dtype == bool else at
    cells = np.empty((len(at), len(columns)), order="F")
    kernel.put_rows(columns, at.astype(np.int64, copy=False), cells)
    return cells


def read_rows(block: Block, seed: int, hash_target: bool = False) -> Rows:
    """Read a block; rows of weight zero are left out."""
    source = open_source(block.X)
    columns = [source.column(j).read() for j in range(source.shape[1])]
    y = None if block.y is None else np.asarray(block.y)
    weight = None if block.weight is None else weight_numbers(block.weight)
    hashed = [(column, f"{seed}:{column.name}") for column in columns]
    if hash_target and y is not None:
        hashed.append((read_array("y", y), f"{seed}:target"))
    key = _hashes(hashed, source.shape[0])
    rows = Rows(columns, source.names is not None, y, weight, _mix(key), block.place)
    if weight is not None and not weight.all():
        rows = rows.take(weight > 0)
    return rows


def target_hash(rows: Rows, seed: int) -> Hashes:
    """Hash of target and weight of each row, to tell rows with equal cells apart."""
    hashed = []
    if rows.y is not None:
        hashed.append((read_array("y", rows.y), f"{seed}:label"))
    if rows.weight is not None:
        hashed.append((read_array("weight", rows.weight), f"{seed}:weight"))
    return _hashes(hashed, len(rows))


def encoded(
    rows: Rows, schema: Schema, used: NDArray[np.float64] | None = None
) -> Table:
    """The rows by a known schema, each column contiguous.

    `used` are cells that nobody needs any more: their memory is taken if it is large enough.
    """
    if schema.named and rows.named:
        place = {name: j for j, name in enumerate(rows.names)}
        try:
            where = [place[feature.input] for feature in schema.features]
        except KeyError as error:
            raise ValueError(f"{rows.place} lacks column {error}.") from None
    else:
        where = schema.position.tolist()
        if len(rows.columns) != schema.n_inputs:
            raise ValueError(
                f"{rows.place} has {len(rows.columns)} columns, not {schema.n_inputs}."
            )
    try:
        cells = [
            rows.columns[at].coded_as(feature)
            for at, feature in zip(where, schema.features, strict=True)
        ]
    except ValueError as error:
        raise ValueError(f"{rows.place}: {error}") from None
    values = matrix(len(rows), schema.n_features, used)
    kernel.put_rows(cells, None, values)
    return Table(values, schema)


def matrix(
    n: int, d: int, used: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """A matrix to be filled, each column contiguous, in used memory if there is enough.

    Examples
    --------
    >>> used = matrix(4, 3)
    >>> np.shares_memory(matrix(3, 4, used), used), matrix(3, 5, used).shape
    (True, (3, 5))
    """
    if used is None or used.size < n * d:
        return np.empty((n, d), order="F")
    return used.ravel("F")[: n * d].reshape((n, d), order="F")


def joined(columns: Sequence[TableColumn], places: Sequence[str]) -> TableColumn:
    """A column of several blocks as one, whatever their order.

    Categories are sorted, unless they have an order of their own.
    """
    known = [
        (c, place)
        for c, place in zip(columns, places, strict=True)
        if not (c.kind == "numeric" and c.categories == ())
    ]
    if not known:
        return replace(columns[0], values=np.concatenate([c.values for c in columns]))
    first, first_place = known[0]
    for other, place in known[1:]:
        alike = other.kind == first.kind and (
            first.kind != "ordered" or other.categories == first.categories
        )
        if not alike:
            raise ValueError(
                f"Column {first.name!r} is {first.kind} in {first_place}, but "
                f"{other.kind} in {place}. Give it the same type everywhere."
            )
    if first.kind != "categorical":
        return replace(first, values=np.concatenate([c.values for c in columns]))
    found = {c for column, _ in known for c in column.categories or ()}
    categories = tuple(sorted(found, key=lambda c: (isinstance(c, str), c)))
    code = {category: float(i) for i, category in enumerate(categories)}
    values = [
        translate(c.values, [code[k] for k in c.categories])
        if c.categories
        else c.values
        for c in columns
    ]
    declared = any(c.declared for c, _ in known)
    return replace(
        first, values=np.concatenate(values), categories=categories, declared=declared
    )


def compact(column: TableColumn) -> TableColumn:
    """The column with only those categories that it holds, unless they have an order."""
    if column.kind != "categorical" or not column.categories:
        return column
    present = ~np.isnan(column.values)
    codes = column.values[present].astype(np.intp)
    used = np.bincount(codes, minlength=len(column.categories)) > 0
    if used.all():
        return column
    if not used.any():
        return replace(column, kind="numeric", categories=())
    kept = tuple(c for c, u in zip(column.categories, used, strict=True) if u)
    new = np.where(used, np.cumsum(used) - 1.0, np.nan)
    return replace(column, values=translate(column.values, new), categories=kept)


def weight_numbers(given: Any) -> NDArray[np.float64]:
    """Weights of rows as numbers that are not negative; always a new array."""
    problem = "sample_weight must be finite numbers, none missing"
    try:
        # What is no array may refuse to be asked as one.
        if np.iscomplexobj(np.asarray(given)):
            raise ValueError("complex numbers")
        weight = np.array(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{problem}: {error}") from error
    if not np.isfinite(weight).all():
        raise ValueError(problem)
    if (weight < 0).any():
        raise ValueError("sample_weight is negative somewhere; weights start at 0")
    return weight


def _hashes(columns: Sequence[tuple[TableColumn, str]], n_rows: int) -> Hashes:
    """Sum of the hashes of each row's cells, in columns with a name each.

    A category counts as its text.
    """
    out = np.zeros(n_rows, dtype=np.uint64)
    plain, keys = [], []
    for column, name in columns:
        if column.kind == "boolean" or not column.categories:
            plain.append(column.values)
            keys.append(_number(name))
            continue
        words = [text_of_cell(c) or "" for c in column.categories]
        missing = np.zeros(1, dtype=np.uint64)
        own = np.array([_number(name)], dtype=np.uint64)
        kernel.add_hashes([np.array([np.nan])], own, missing)
        texts = [_number(f"{name}={word}") for word in words]
        hashes = np.array([*texts, int(missing[0])], dtype=np.uint64)
        at = np.where(np.isnan(column.values), -1, column.values).astype(np.intp)
        out += hashes[at]
    kernel.add_hashes(plain, np.array(keys, dtype=np.uint64), out)
    return out


@lru_cache(1 << 12)
def _number(text: str) -> int:
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little")


def _mix(key: Hashes) -> Hashes:
    """The last step of a hash that was added up."""
    key = (key ^ (key >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    key = (key ^ (key >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return key ^ (key >> np.uint64(31))
