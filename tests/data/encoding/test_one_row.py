"""One row of a frame is read as the same row among others, whatever its columns are."""

from __future__ import annotations

import datetime
import decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest

from omnitree import TreeClassifier
from omnitree.data import table
from omnitree.data.encoding.one_row import encode_row
from omnitree.data.table import encode, learn_table

DATES = pd.to_datetime(["2024-01-31", "2024-02-29", "2024-03-31", None])
PANDAS = {
    "float": pd.Series([0.5, 1.0, np.nan, -3.25]),
    "float32": pd.Series([0.1, 1.0, np.nan, 2.5], dtype="float32"),
    "int": pd.Series([1, 2, 3, 0]),
    "uint8": pd.Series([1, 2, 3, 200], dtype="uint8"),
    "Int64": pd.Series([1, 2, None, 0], dtype="Int64"),
    "Float64": pd.Series([1.5, 2, None, 0], dtype="Float64"),
    "big": pd.Series([2**60, 2**60 + 1, 5, 0]),
    "bool": pd.Series([True, False, True, True]),
    "boolean": pd.Series([True, False, None, True], dtype="boolean"),
    "str": pd.Series(["a", "b", None, " "]),
    "string": pd.Series(["a", "1", None, "True"], dtype="string"),
    "object words": pd.Series(["a", "b", None, ""], dtype=object),
    "object mixed": pd.Series(["a", 1, True, 2.0], dtype=object),
    "object numbers": pd.Series([1, 2.5, None, 3], dtype=object),
    "object booleans": pd.Series([True, None, False, np.nan], dtype=object),
    "object huge": pd.Series([10**400, 1, 2, 3], dtype=object),
    "decimals": pd.Series([decimal.Decimal("1.5"), 1, None, 3], dtype=object),
    "category": pd.Series(["a", "c", None, "b"], dtype="category"),
    "ordered": pd.Series(
        pd.Categorical(["lo", "hi", None, "lo"], ["lo", "mid", "hi"], ordered=True)
    ),
    "number category": pd.Series([1, 2, None, 3], dtype="category"),
    "boolean category": pd.Series([True, False, None, True], dtype="category"),
    "interval": pd.Series(pd.cut([1, 2, 3, 9], [0, 2, 4])),
    "interval object": pd.Series(pd.arrays.IntervalArray.from_breaks([0, 1, 2, 3, 4])),
    "date": pd.Series(DATES),
    "period": pd.Series(DATES.to_period("M")),
    "delta": pd.Series(DATES - DATES[0]),
    "arrow date": pd.Series(DATES.date, dtype="date32[pyarrow]"),
    "arrow int": pd.Series([1, 2, None, 3], dtype="int64[pyarrow]"),
    "python dates": pd.Series([datetime.date(2024, 1, 1), None, None, None]),
    "missing": pd.Series([None, None, None, None], dtype=object),
    "infinite": pd.Series([np.inf, 1.0, 2.0, 3.0]),
    "complex": pd.Series([1j, 2, 3, 4]),
    "list": pd.Series([[1], [2], None, [3]], dtype=object),
    "sparse": pd.Series(pd.arrays.SparseArray([0.0, 0.0, 1.0, np.nan])),
}
POLARS = {
    "float": pl.Series([0.5, 1.0, None, float("nan")]),
    "float32": pl.Series([0.1, 1.0, None, 2.5], dtype=pl.Float32),
    "int": pl.Series([1, 2, None, 0]),
    "uint8": pl.Series([1, 2, None, 200], dtype=pl.UInt8),
    "bool": pl.Series([True, False, None, True]),
    "str": pl.Series(["a", "1", None, " "]),
    "category": pl.Series(["a", "b", None, "c"], dtype=pl.Categorical),
    "enum": pl.Series(["lo", "hi", None, "lo"], dtype=pl.Enum(["lo", "mid", "hi"])),
    "date": pl.Series([datetime.date(2024, 1, 31), None, None, None]),
    "decimal": pl.Series([decimal.Decimal("1.5"), None, None, None]),
    "binary": pl.Series([b"a", None, None, b"b"]),
    "list": pl.Series([[1], [2], None, [3]]),
    "object": pl.Series(["a", None, 2, 3.5], dtype=pl.Object),
    "null": pl.Series([None, None, None, None]),
    "big": pl.Series([2**60, 2**60 + 1, 5, 0]),
}


def answer(X, schema):
    """Values, or what is said of the data."""
    try:
        return encode(X, schema).values.tolist()
    except (ValueError, TypeError, AttributeError) as error:
        return [type(error).__name__, str(error)]


def both_ways(X, schema, monkeypatch):
    quick = answer(X, schema)
    with monkeypatch.context() as patch:
        patch.setattr(table, "encode_row", lambda X, schema: None)
        usual = answer(X, schema)
    return str(quick), str(usual)


def learnable(columns):
    for name, column in columns.items():
        try:
            yield name, learn_table(column.to_frame("x")).schema
        except (ValueError, TypeError):
            continue


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("columns", [PANDAS, POLARS], ids=["pandas", "polars"])
def test_every_type_against_every_feature(columns, monkeypatch):
    n_quick = 0
    for learned, schema in learnable(columns):
        for given, column in columns.items():
            frame = column.to_frame("x")
            for i in range(4):
                row = frame[i : i + 1]
                quick, usual = both_ways(row, schema, monkeypatch)
                assert quick == usual, (learned, given, i)
                n_quick += encode_row(row, schema) is not None
    assert n_quick > 300  # the test is of something


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_rows_are_those_of_the_batch(library, rng):
    n = 40
    frame = pd.DataFrame(
        {
            "a": rng.normal(size=n),
            "b": rng.choice(["p", "q", "r"], n),
            "c": rng.random(n) > 0.5,
            "d": rng.integers(0, 5, n),
        }
    )
    frame.loc[::5, "a"] = np.nan
    frame.loc[3:6, "b"] = None
    schema = learn_table(frame).schema
    frame.loc[7:9, "b"] = "unseen"
    new = frame if library == "pandas" else pl.from_pandas(frame)
    turned = new[["d", "b", "a", "c"]].assign(more=1) if library == "pandas" else (
        new.select(["d", "b", "a", "c"]).with_columns(more=1)
    )  # fmt: skip
    whole = encode(new, schema).values
    for i in range(n):
        for table_ in (new, turned):
            row = encode_row(table_[i : i + 1], schema)
            np.testing.assert_array_equal(row, whole[i : i + 1])


def test_labels(monkeypatch):
    """Lacking, numbered, double and mixed labels: the same answer or the same error."""
    named = learn_table(pd.DataFrame({"a": [1.0, 2], "b": [3.0, 4]})).schema
    numbered = learn_table(np.array([[1.0, 2], [3, 4]])).schema
    rows = [
        pd.DataFrame({"b": [1.0], "a": [2.0]}),
        pd.DataFrame({"a": [1.0]}),
        pd.DataFrame([[1.0, 2.0]]),
        pd.DataFrame([[1.0, 2.0]], columns=["a", "a"]),
        pd.DataFrame([[1.0, 2.0]], columns=["a", 1]),
        pd.DataFrame([[1.0, 2.0, 3.0]], columns=["a", "b", "b"]),
        pl.DataFrame({"b": [1.0], "a": [2.0]}),
        pl.DataFrame({"b": [1.0]}),
    ]
    for schema in (named, numbered):
        for row in rows:
            quick, usual = both_ways(row, schema, monkeypatch)
            assert quick == usual
    assert encode_row(rows[0], named).tolist() == [[2.0, 1.0]]
    assert encode_row(rows[0], numbered).tolist() == [[1.0, 2.0]]
    assert encode_row(pd.DataFrame({"a": [1.0, 2], "b": [1.0, 2]}), named) is None
    assert encode_row(rows[0].iloc[0], named) is None
    assert encode_row([[1.0, 2.0]], named) is None


def test_the_estimator_predicts_single_rows(rng):
    frame = pd.DataFrame({"a": rng.normal(size=60), "b": rng.choice(["p", "q"], 60)})
    y = (frame["a"] > 0) ^ (frame["b"] == "p")
    clf = TreeClassifier(max_depth=3).fit(frame, y)
    whole = clf.predict_proba(frame)
    rows = [clf.predict_proba(frame.iloc[[i]])[0] for i in range(60)]
    np.testing.assert_array_equal(rows, whole)
