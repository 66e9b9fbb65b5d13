"""Hostile tables: everything that users have in arrays and frames, and should not.

Each function makes rows and a target from a `numpy` generator. `TABLES` holds all of them;
those in `LARGE` take seconds to fit. Used by the campaign `tables`.
"""

from __future__ import annotations

import datetime
import decimal
import tempfile
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import scipy.sparse

Rng = np.random.Generator
TABLES: dict[str, Callable[[Rng], tuple[Any, Any]]] = {}
LARGE: set[str] = set()
EXTREMES = np.array(
    [0, -0.0, 5e-324, 1e-300, 1, 1e15, 2**53, 1e155, 1e300, 1.7e308, -1.7e308, np.nan]
)
WORDS = [
    "a",
    "a\0",
    "A",
    "a ",
    "",
    "\ud800",
    "\x1b[31m",
    "é",
    "e\u0301",
    "1",
    "nan",
    "\n",
]


def _table(make: Callable[[Rng], tuple[Any, Any]]):
    TABLES[make.__name__.replace("_", " ")] = make
    return make


def _large(make: Callable[[Rng], tuple[Any, Any]]):
    LARGE.add(make.__name__.replace("_", " "))
    return _table(make)


def _classes(rng: Rng, X: np.ndarray, k: int = 3) -> np.ndarray:
    """Classes that depend on the first column a little; all occur."""
    first = np.nan_to_num(np.asarray(X, dtype=float)[:, 0])
    y = (
        np.argsort(np.argsort(first)) * k // len(first) + (rng.random(len(first)) < 0.2)
    ) % k
    y[:k] = np.arange(k)
    return y


def _numbers(rng: Rng, n: int = 40, d: int = 3) -> tuple[np.ndarray, np.ndarray]:
    X = rng.normal(size=(n, d)).round(1)
    return X, _classes(rng, X)


# -- cells -----------------------------------------------------------------------------


@_table
def mixed_cells(rng: Rng):
    cells = [
        1,
        1.5,
        True,
        False,
        "1",
        "1.5",
        "True",
        "x",
        None,
        np.nan,
        2**60,
        "",
        -0.0,
    ]
    X = np.empty((40, 3), dtype=object)
    for place in np.ndindex(X.shape):
        X[place] = cells[rng.integers(len(cells))]
    return X, rng.integers(0, 2, 40)


@_table
def numbers_and_truth_values(rng: Rng):
    X = np.empty((40, 2), dtype=object)
    for place in np.ndindex(X.shape):
        X[place] = [0, 1, True, False, 2.5, None][rng.integers(6)]
    return X, rng.integers(0, 2, 40)


@_table
def extreme_numbers(rng: Rng):
    X = rng.choice(EXTREMES, size=(40, 4))
    return X, _classes(rng, X)


@_table
def huge_and_tiny_columns(rng: Rng):
    X = rng.normal(size=(40, 4)) * np.array([1e300, 1e-300, 1e150, 1.0])
    return X, _classes(rng, X)


@_table
def infinite_cells(rng: Rng):
    X, y = _numbers(rng)
    X[rng.integers(40), 1] = np.inf
    return X, y


@_table
def large_integers(rng: Rng):
    X = rng.integers(2**53, 2**53 + 10, size=(40, 2))
    return X, rng.integers(0, 2, 40)


@_table
def unsigned_integers(rng: Rng):
    X = rng.integers(0, 2**64 - 1, size=(40, 2), dtype=np.uint64)
    return X, rng.integers(0, 2, 40)


@_table
def integers_beyond_int64(rng: Rng):
    X = np.array(
        [[2**70 + int(i), 10**400] for i in rng.integers(0, 9, 40)], dtype=object
    )
    return X, rng.integers(0, 2, 40)


@_table
def small_floats(rng: Rng):
    X, y = _numbers(rng)
    return X.astype(rng.choice([np.float16, np.float32])), y


@_table
def long_doubles(rng: Rng):
    X, y = _numbers(rng)
    return X.astype(np.longdouble) * np.longdouble("1e4000"), y


@_table
def complex_numbers(rng: Rng):
    X, y = _numbers(rng)
    return X + 1j, y


@_table
def decimals(rng: Rng):
    X, y = _numbers(rng)
    return pd.DataFrame(X).map(lambda v: decimal.Decimal(str(v))), y


@_table
def nested_cells(rng: Rng):
    X, y = _numbers(rng)
    frame = pd.DataFrame(X).astype(object)
    for row in range(40):
        frame.iat[row, 1] = [[1, 2], {"a": 1}, (3,), np.zeros(2), {1}][row % 5]
    return frame, y


@_table
def bytes_cells(rng: Rng):
    return np.array([[b"a"], [b"b\0"]] * 20, dtype=object), rng.integers(0, 2, 40)


@_table
def hostile_words(rng: Rng):
    frame = pd.DataFrame({w: rng.choice(WORDS, 40) for w in WORDS[:4]}, dtype=object)
    return frame, rng.choice(["yes", "no"], 40)


@_table
def dates_of_all_kinds(rng: Rng):
    days = pd.to_timedelta(rng.integers(0, 10**5, 40), "D")
    start = pd.Timestamp("1900-01-01")
    frame = pd.DataFrame(
        {
            "stamp": start + days,
            "zone": (start + days).tz_localize("UTC"),
            "text": (start + days).strftime("%Y-%m-%d"),
            "date": [d.date() for d in start + days],
            "time": [datetime.time(int(h)) for h in rng.integers(0, 24, 40)],
            "delta": days,
            "month": (start + days).to_period("M"),
        }
    )
    keep = rng.choice(frame.columns, rng.integers(1, 8), replace=False)
    frame.loc[3, keep[0]] = None
    return frame[keep], rng.integers(0, 2, 40)


@_table
def extension_types(rng: Rng):
    X, y = _numbers(rng, d=1)
    frame = pd.DataFrame(
        {
            "Int64": pd.array(rng.integers(0, 9, 40), dtype="Int64"),
            "Float64": pd.array(X[:, 0], dtype="Float64"),
            "boolean": pd.array(rng.random(40) < 0.5, dtype="boolean"),
            "string": pd.array(rng.choice(["x", "y"], 40), dtype="string"),
            "arrow": pd.array(rng.choice(["x", "y"], 40), dtype="string[pyarrow]"),
            "int[arrow]": pd.array(rng.integers(0, 9, 40), dtype="int64[pyarrow]"),
            "interval": pd.cut(X[:, 0], 4),
            "sparse": pd.arrays.SparseArray(np.round(X[:, 0])),
        }
    )
    for name in ("Int64", "Float64", "boolean", "string", "arrow", "int[arrow]"):
        frame.loc[rng.integers(40), name] = pd.NA
    return frame[rng.permutation(frame.columns)[: rng.integers(1, 9)]], y


@_table
def categories_without_rows(rng: Rng):
    cells = pd.Categorical(
        rng.choice(["a", "b"], 40), list("abcdef"), bool(rng.integers(2))
    )
    return pd.DataFrame({"c": cells, "x": rng.normal(size=40)}), rng.integers(0, 2, 40)


@_table
def polars_frame(rng: Rng):
    X, y = _numbers(rng)
    frame = pl.DataFrame(X, schema=["a", "b", "c"]).with_columns(
        pl.Series("d", rng.choice(["x", "y"], 40)).cast(pl.Categorical),
        pl.Series("e", [None if i % 7 else [i] for i in range(40)]),
    )
    return frame.drop("e") if rng.integers(2) else frame, y


# -- shapes and memory -----------------------------------------------------------------


@_table
def no_columns(rng: Rng):
    return np.empty((40, 0)), rng.integers(0, 2, 40)


@_table
def no_rows(rng: Rng):
    return np.empty((0, 3)), np.empty(0)


@_table
def one_row(rng: Rng):
    return rng.normal(size=(1, 3)), [0]


@_table
def one_class(rng: Rng):
    return rng.normal(size=(20, 3)), np.zeros(20, dtype=int)


@_table
def constant_columns(rng: Rng):
    return np.ones((40, 3)), rng.integers(0, 2, 40)


@_table
def empty_columns(rng: Rng):
    X, y = _numbers(rng)
    X[:, rng.integers(3)] = np.nan
    return X, y


@_table
def nothing_but_missing(rng: Rng):
    return np.full((40, 3), np.nan), rng.integers(0, 2, 40)


@_table
def three_dimensions(rng: Rng):
    return rng.normal(size=(20, 2, 2)), rng.integers(0, 2, 20)


@_table
def ragged_rows(rng: Rng):
    return [[1.0] * int(k) for k in rng.integers(1, 4, 40)], rng.integers(0, 2, 40)


@_table
def lists_of_rows(rng: Rng):
    X, y = _numbers(rng)
    return X.tolist(), y.tolist()


@_table
def duplicated_rows(rng: Rng):
    X, y = _numbers(rng, 8)
    return np.repeat(X, 6, axis=0), rng.permutation(np.repeat(y, 6))


@_table
def duplicated_columns(rng: Rng):
    X, y = _numbers(rng)
    return np.hstack([X] * 4), y


@_table
def columns_of_one_name(rng: Rng):
    X, y = _numbers(rng)
    return pd.DataFrame(X, columns=["a", "a", "b"]), y


@_table
def columns_of_mixed_names(rng: Rng):
    X, y = _numbers(rng)
    return pd.DataFrame(X, columns=["a", 1, None]), y


@_table
def columns_with_levels(rng: Rng):
    X, y = _numbers(rng)
    names = pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1)])
    return pd.DataFrame(X, columns=names), y


@_table
def read_only(rng: Rng):
    X, y = _numbers(rng)
    X.setflags(write=False)
    y.setflags(write=False)
    return X, y


@_table
def fortran_order(rng: Rng):
    X, y = _numbers(rng)
    return np.asfortranarray(X), y


@_table
def odd_strides(rng: Rng):
    X, y = _numbers(rng, 80, 6)
    return X[::-2, ::2], y[::-2]


@_table
def swapped_bytes(rng: Rng):
    X, y = _numbers(rng)
    return X.astype(">f8"), y.astype(">i4")


@_table
def memory_map(rng: Rng):
    X, y = _numbers(rng)
    with tempfile.TemporaryFile() as file:
        mapped = np.memmap(file, dtype=float, shape=X.shape)
    mapped[:] = X
    return mapped, y


@_table
def masked_cells(rng: Rng):
    X, y = _numbers(rng)
    return np.ma.masked_array(X, rng.random(X.shape) < 0.2), y


@_table
def sparse_matrix(rng: Rng):
    X, y = _numbers(rng)
    kind = [scipy.sparse.csr_matrix, scipy.sparse.csc_array, scipy.sparse.coo_array]
    return kind[rng.integers(3)](X * (rng.random(X.shape) < 0.3)), y


@_table
def records(rng: Rng):
    X, y = _numbers(rng)
    return np.array(
        [tuple(r) for r in X], dtype=[("a", float), ("b", float), ("c", float)]
    ), y


@_table
def matrix(rng: Rng):
    X, y = _numbers(rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.matrix(X), y


# -- targets ---------------------------------------------------------------------------


@_table
def labels_of_mixed_types(rng: Rng):
    X, _ = _numbers(rng)
    return X, np.array(
        [[0, "a", 1.5, None][i] for i in rng.integers(0, 4, 40)], dtype=object
    )


@_table
def labels_that_look_alike(rng: Rng):
    X, _ = _numbers(rng)
    return X, np.array(
        [WORDS[i] for i in rng.integers(0, len(WORDS), 40)], dtype=object
    )


@_table
def labels_of_large_integers(rng: Rng):
    X, _ = _numbers(rng)
    return X, (2**53 + rng.integers(0, 3, 40)).astype(rng.choice([np.int64, np.uint64]))


@_table
def labels_that_are_missing(rng: Rng):
    X, y = _numbers(rng)
    return X, np.where(rng.random(40) < 0.1, np.nan, y)


@_table
def labels_in_a_column(rng: Rng):
    X, y = _numbers(rng)
    return X, y[:, None]


@_table
def labels_of_other_length(rng: Rng):
    X, y = _numbers(rng)
    return X, y[:-1]


@_table
def labels_of_a_frame(rng: Rng):
    X, y = _numbers(rng)
    kinds = ["category", "Int64", "string", "boolean"]
    y = y % 2 == 1 if (kind := str(rng.choice(kinds))) == "boolean" else y
    return X, pd.Series(y, index=range(100, 140)).astype(kind)


@_table
def every_row_a_class(rng: Rng):
    return rng.normal(size=(30, 3)), np.arange(30)


# -- large -----------------------------------------------------------------------------


@_large
def thousands_of_categories(rng: Rng):
    cells = [f"c{i}" for i in rng.integers(0, 3000, 6000)]
    frame = pd.DataFrame({"c": cells, "x": rng.normal(size=6000)})
    return frame, rng.integers(0, 2, 6000)


@_large
def five_thousand_columns(rng: Rng):
    X = rng.normal(size=(60, 5000)).round(2)
    return X, _classes(rng, X)


@_large
def a_thousand_classes(rng: Rng):
    return rng.normal(size=(3000, 4)), np.arange(3000) % 1000


@_large
def a_long_chain(rng: Rng):
    X = np.arange(3000.0)[:, None]
    return X, np.arange(3000) % 2
