"""Tables: every kind of input, every refusal, and encoding by a known schema."""

from __future__ import annotations

import datetime
import subprocess
import sys
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from omnitree.data.encoding.columns import read_array
from omnitree.data.schema import Feature, Schema
from omnitree.data.table import Table, encode, learn_table, table_of_columns

NAN = np.nan


def kinds(table):
    return [f.kind for f in table.schema.features]


def categories(table, j=0):
    return table.schema.features[j].categories


def column(X):
    """The only column of X, learned."""
    table = learn_table(X)
    assert table.n_features == 1
    return table.values[:, 0].tolist(), table.schema.features[0]


def same(values, expected):
    np.testing.assert_array_equal(values, np.array(expected, dtype=float))


# ---- arrays


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("missing", [False, True])
def test_float64_arrays_are_not_copied(order, missing):
    X = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], order=order)
    if missing:
        X[0, 1] = NAN
    X.setflags(write=False)
    table = learn_table(X)
    assert np.shares_memory(table.values, X)
    assert np.shares_memory(encode(X, table.schema).values, X)
    assert table.has_missing is missing
    same(table.missing_by_feature, [0, int(missing), 0])
    assert table.schema.names == ("x0", "x1", "x2")
    assert not table.schema.named
    assert repr(table) == "Table(2 rows, 3 features)"


def test_strided_arrays_become_contiguous():
    X = np.arange(12.0).reshape(3, 4)[:, ::2]
    table = learn_table(X)
    same(table.values, X)
    assert table.values.flags.f_contiguous
    assert encode(X, table.schema).values.flags.f_contiguous


def test_columns_of_a_matrix_are_not_copied():
    cells = np.array([[0.0, 3.0], [1.0, 4.0], [2.0, 5.0]], order="F")
    columns = [read_array(f"x{j}", cells[:, j]) for j in range(2)]
    assert table_of_columns(columns, True).values is cells
    twice = [columns[0], replace(columns[0], name="x1")]
    for others in (columns[::-1], columns[:1], twice):
        values = table_of_columns(others, True).values
        assert values is not cells
        assert (values == np.stack([c.values for c in others], axis=1)).all()


@pytest.mark.parametrize("dtype", ["f2", "f4", "i1", "u8", "i8", ">f8", ">i4"])
def test_other_numbers_are_cast(dtype):
    X = np.array([[1, 2], [3, 4]], dtype=dtype)
    table = learn_table(X)
    assert kinds(table) == ["numeric"] * 2
    assert table.values.dtype == np.float64
    same(table.values, [[1, 2], [3, 4]])
    same(encode(X, table.schema).values, [[1, 2], [3, 4]])


def test_boolean_arrays():
    table = learn_table(np.array([[True], [False]]))
    assert kinds(table) == ["boolean"]
    assert categories(table) == (False, True)
    same(table.values, [[1], [0]])
    same(
        encode(np.array([[0.0], [1.0], [2.0]]), table.schema).values, [[0], [1], [NAN]]
    )


def test_masked_cells_are_missing():
    X = np.ma.masked_array([[1, 2], [3, 4]], mask=[[0, 1], [0, 0]])
    same(learn_table(X).values, [[1, NAN], [3, 4]])


@pytest.mark.parametrize("dtype", ["U3", "S3", object])
def test_arrays_of_words(dtype):
    X = np.array([["1", "b"], ["10", " "], ["9", "a"]], dtype=dtype)
    table = learn_table(X)
    assert kinds(table) == ["categorical"] * 2  # words that look like numbers are words
    assert categories(table) == ("1", "10", "9")
    same(table.values, [[0, 1], [1, NAN], [2, 0]])


def test_arrays_of_objects_column_by_column():
    X = np.array(
        [[1, "b", True, None], [2.5, "a", pd.NA, None], [None, NAN, False, None]],
        dtype=object,
    )
    table = learn_table(X)
    assert kinds(table) == ["numeric", "categorical", "boolean", "numeric"]
    same(table.values, [[1, 1, 1, NAN], [2.5, 0, NAN, NAN], [NAN, NAN, 0, NAN]])


class ArrayLike:
    def __array__(self, dtype=None, copy=None):
        return np.array([[1.0, 2.0]])


def test_whatever_turns_into_an_array():
    same(learn_table(ArrayLike()).values, [[1, 2]])


# ---- cells


@pytest.mark.parametrize(
    "missing", [None, NAN, pd.NA, pd.NaT, "", "  \t", np.float32(NAN)]
)
def test_every_missing_in_every_kind(missing):
    for kind, cells in {
        "numeric": [1, 2.5],
        "boolean": [True, False],
        "categorical": ["b", "a"],
    }.items():
        values, feature = column([[c] for c in [*cells, missing]])
        assert feature.kind == kind
        assert np.isnan(values).tolist() == [False, False, True]


def test_booleans_among_numbers_are_numbers():
    values, feature = column([[True], [NAN], [1.0], [""]])
    assert feature.kind == "numeric"
    same(values, [1, NAN, 1, NAN])


def test_numbers_of_all_sorts():
    cells = [1, 2.5, np.int8(3), np.float32(4), Decimal("5.5"), Fraction(1, 2), True]
    values, feature = column([[c] for c in cells])
    assert feature.kind == "numeric"
    assert values == [1, 2.5, 3, 4, 5.5, 0.5, 1]


def test_numbers_among_words_are_words():
    values, feature = column([["x"], [1], [1.0], [2.5], [NAN], [True], ["1"]])
    assert feature.categories == ("1", "2.5", "True", "x")
    same(values, [3, 0, 0, 1, NAN, 2, 0])


def test_numbers_among_blanks_are_numbers():
    values, feature = column([[""], [1], [" "], [2]])
    assert feature.kind == "numeric"
    same(values, [NAN, 1, NAN, 2])


def test_words_keep_their_spaces():
    assert column([[" a"], ["a"]])[1].categories == (" a", "a")


def test_a_column_of_missing_takes_anything_later():
    for X in (
        [[None, 1.0], [None, 2.0]],
        pd.DataFrame({"a": [None, None], "b": [1.0, 2.0]}),
        pd.DataFrame({"a": pd.Series([None, None], dtype="str"), "b": [1.0, 2.0]}),
        pd.DataFrame({"a": pd.Categorical([None, None]), "b": [1.0, 2.0]}),
        pl.DataFrame({"a": [None, None], "b": [1.0, 2.0]}),
    ):
        table = learn_table(X)
        assert kinds(table) == ["numeric"] * 2
        same(table.missing_by_feature, [2, 0])
        same(encode([["word", 3.0]], table.schema).values, [[NAN, 3]])


# ---- data frames

FRAME = pd.DataFrame(
    {
        "number": [1.5, NAN, 3.0],
        "int": pd.array([1, None, 3], dtype="Int64"),
        "flag": [True, False, True],
        "maybe": pd.array([True, None, False], dtype="boolean"),
        "word": ["b", None, "a"],
        "object": pd.Series(["b", 1, NAN], dtype=object),
        "digits": ["2", "1", ""],
        "free": pd.Categorical(["y", "x", None], categories=["z", "y", "x"]),
        "sized": pd.Categorical(["L", "S", None], ["S", "M", "L"], ordered=True),
    }
)


def test_pandas():
    table = learn_table(FRAME)
    assert table.schema.named
    assert {f.name: (f.kind, f.categories) for f in table.schema.features} == {
        "number": ("numeric", None),
        "int": ("numeric", None),
        "flag": ("boolean", (False, True)),
        "maybe": ("boolean", (False, True)),
        "word": ("categorical", ("a", "b")),
        "object": ("categorical", ("1", "b")),
        "digits": ("categorical", ("1", "2")),
        "free": ("categorical", ("y", "x")),
        "sized": ("ordered", ("S", "M", "L")),
    }
    same(
        table.values,
        [
            [1.5, 1, 1, 1, 1, 1, 1, 0, 2],
            [NAN, NAN, 0, NAN, NAN, 0, 0, 1, 0],
            [3, 3, 1, 0, 0, NAN, NAN, NAN, NAN],
        ],
    )
    same(encode(FRAME, table.schema).values, table.values)
    same(encode(FRAME[::-1], table.schema).values, table.values[::-1])


def test_polars():
    frame = pl.DataFrame(
        {
            "number": [1.5, None, NAN],
            "int": [1, None, 3],
            "exact": pl.Series([Decimal("1.5"), None, Decimal("2.5")]),
            "maybe": [True, None, False],
            "word": ["b", None, " "],
            "free": pl.Series(["y", "x", None], dtype=pl.Categorical),
            "sized": pl.Series(["L", "S", None], dtype=pl.Enum(["S", "M", "L"])),
        }
    )
    table = learn_table(frame)
    assert [(f.kind, f.categories) for f in table.schema.features] == [
        ("numeric", None),
        ("numeric", None),
        ("numeric", None),
        ("boolean", (False, True)),
        ("categorical", ("b",)),
        ("categorical", ("x", "y")),
        ("ordered", ("S", "M", "L")),
    ]
    same(
        table.values,
        [
            [1.5, 1, 1.5, 1, 0, 1, 2],
            [NAN, NAN, NAN, NAN, NAN, 0, 0],
            [NAN, 3, 2.5, 0, NAN, NAN, NAN],
        ],
    )
    same(encode(frame, table.schema).values, table.values)


def test_pyarrow():
    table = learn_table(
        pa.table(
            {
                "int": [1, None, 3],
                "maybe": [True, None, False],
                "word": ["b", None, ""],
                "free": pa.array(["y", "x", None]).dictionary_encode(),
            }
        )
    )
    assert kinds(table) == ["numeric", "boolean", "categorical", "categorical"]
    same(table.values, [[1, 1, 0, 1], [NAN, NAN, NAN, 0], [3, 0, NAN, NAN]])


def test_declared_categories_of_other_types():
    frame = pd.DataFrame(
        {
            "cut": pd.cut([1, 5, 9], [0, 3, 6, 9]),
            "code": pd.Categorical([7, 3, 7]),
            "blank": pd.Categorical(["", "x", "x"]),
        }
    )
    table = learn_table(frame)
    assert categories(table, 0) == ("(0, 3]", "(3, 6]", "(6, 9]")
    assert categories(table, 1) == (3, 7)
    assert [type(c) for c in categories(table, 1)] == [int, int]
    same(table.values, [[0, 1, NAN], [1, 0, 0], [2, 1, 0]])
    same(encode(frame, table.schema).values, table.values)


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"])
def test_sparse_matrices_are_made_dense(kind):
    dense = np.array([[0.0, 1.5, 0.0], [2.0, 0.0, NAN]])
    for name in (f"{kind}_array", f"{kind}_matrix"):
        table = learn_table(getattr(sparse, name)(dense))
        np.testing.assert_array_equal(table.values, dense)
        assert table.schema.names == ("x0", "x1", "x2")
        again = encode(getattr(sparse, name)(dense), table.schema)
        np.testing.assert_array_equal(again.values, dense)


def test_a_sparse_matrix_too_large_for_memory():
    huge = sparse.coo_array((2**25, 2**25))
    with pytest.raises(MemoryError, match=r"made dense.*SelectKBest"):
        learn_table(huge)


def test_sparse_pandas_columns_are_filled():
    values, _ = column(pd.DataFrame({"a": pd.arrays.SparseArray([0.0, 1.0, 0.0])}))
    assert values == [0, 1, 0]


def test_numbered_columns_count_as_unnamed():
    table = learn_table(pd.DataFrame([[1.0, "a"], [2.0, "b"]]))
    assert not table.schema.named
    assert table.schema.names == ("x0", "x1")


# ---- the same data in every form

missing = st.none()
columns_by_kind = {
    "numeric": st.floats(-1e9, 1e9) | missing,
    "boolean": st.booleans() | missing,
    "categorical": st.text(
        st.characters(codec="utf-8", exclude_characters="\0"), max_size=3
    )
    | missing,
}


@st.composite
def mixed_columns(draw):
    n = draw(st.integers(1, 6))
    chosen = draw(
        st.lists(st.sampled_from(sorted(columns_by_kind)), min_size=1, max_size=4)
    )
    return [
        (k, draw(st.lists(columns_by_kind[k], min_size=n, max_size=n))) for k in chosen
    ]


@settings(deadline=None)
@given(mixed_columns())
def test_pandas_polars_and_lists_agree(data):
    pandas_types = {"numeric": "Float64", "boolean": "boolean", "categorical": "string"}
    polars_types = {
        "numeric": pl.Float64,
        "boolean": pl.Boolean,
        "categorical": pl.Utf8,
    }
    named = {f"c{j}": (kind, cells) for j, (kind, cells) in enumerate(data)}
    frames = [
        pd.DataFrame(
            {c: pd.array(v, dtype=pandas_types[k]) for c, (k, v) in named.items()}
        ),
        pl.DataFrame(
            {c: pl.Series(v, dtype=polars_types[k]) for c, (k, v) in named.items()}
        ),
        pa.table({c: pa.array(v) for c, (k, v) in named.items()}),
        pd.DataFrame({c: pd.Series(v, dtype=object) for c, (k, v) in named.items()}),
    ]
    rows = [list(row) for row in zip(*(v for _, v in named.values()), strict=True)]
    words = [[c for c in v if isinstance(c, str)] for _, v in named.values()]
    if all(
        c is None or (isinstance(c, str) and not c.strip()) for r in rows for c in r
    ):
        with pytest.raises(ValueError, match="All cells"):
            learn_table(rows)
        return
    table = learn_table(rows)
    for X in frames:
        other = learn_table(X)
        same(other.values, table.values)
        # An empty column has a type in some forms and none in others.
        for a, b, (_, v) in zip(
            table.schema.features, other.schema.features, named.values(), strict=True
        ):
            if any(c is not None and str(c).strip() for c in v):
                assert (a.kind, a.categories) == (b.kind, b.categories)
        same(encode(X, table.schema).values, table.values)
        same(encode(rows, other.schema).values, table.values)
    for feature, found in zip(table.schema.features, words, strict=True):
        if feature.kind == "categorical":
            assert feature.categories == tuple(sorted({w for w in found if w.strip()}))


# ---- encoding by a known schema


def test_columns_are_found_by_name_in_any_order():
    schema = learn_table(pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]})).schema
    for X in (
        pd.DataFrame({"extra": [datetime.date.today()], "b": ["y"], "a": [5.0]}),
        pl.DataFrame({"b": ["y"], "extra": [[1, 2]], "a": [5.0]}),
        pa.table({"b": ["y"], "a": [5]}),
    ):
        table = encode(X, schema)
        assert table.schema is schema
        same(table.values, [[5, 1]])


def test_all_numeric_frames_are_found_by_name_too():
    schema = learn_table(pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0]})).schema
    same(encode(pd.DataFrame({"b": [1.0], "a": [2.0]}), schema).values, [[2, 1]])


def test_missing_columns_are_listed():
    schema = learn_table(pd.DataFrame({"a": [1], "b": [2], "c": [3]})).schema
    with pytest.raises(ValueError, match=r"The table lacks column\(s\) 'a', 'c'\."):
        encode(pl.DataFrame({"b": [1], "d": [2]}), schema)


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("kind", [float, object])
def test_arrays_are_taken_by_position_and_must_fit(named, kind):
    schema = Schema((Feature("a", "numeric"), Feature("b", "numeric")), named=named)
    same(encode(np.array([[1, 2]], dtype=kind), schema).values, [[1, 2]])
    message = "X has 3 features, but Oak is expecting 2 features as input"
    with pytest.raises(ValueError, match=message):
        encode(np.array([[1, 2, 3]], dtype=kind), schema, who="Oak")


def test_a_named_frame_for_an_unnamed_schema_goes_by_position():
    schema = learn_table([[1.0, 2.0]]).schema
    same(encode(pd.DataFrame({"q": [3.0], "p": [4.0]}), schema).values, [[3, 4]])


def test_a_new_category_is_missing():
    train = pd.DataFrame(
        {"a": ["x", "y"], "o": pd.Categorical(["l", "h"], ordered=True)}
    )
    schema = learn_table(train).schema
    new = pd.DataFrame({"a": ["z", "y"], "o": ["h", "m"]})
    for X in (
        new,
        pl.from_pandas(new),
        new.to_numpy().tolist(),
        new.astype("category"),
    ):
        same(encode(X, schema).values, [[NAN, 0], [1, NAN]])


def test_categories_are_matched_by_value_not_by_code():
    schema = learn_table(pd.DataFrame({"a": pd.Categorical(["x", "y"])})).schema
    other = pd.Categorical(["y", "x"], categories=["w", "y", "x"])
    same(encode(pd.DataFrame({"a": other}), schema).values, [[1], [0]])


def test_numbers_match_categories_by_equality():
    schema = learn_table(pd.DataFrame({"a": pd.Categorical([3, 7])})).schema
    for X in (
        np.array([[7], [3], [5]]),
        np.array([[7.0], [3.0], [NAN]]),
        [[np.int8(7)], [3.0], [None]],
        pl.DataFrame({"a": [7, 3, 5]}),
    ):
        same(encode(X, schema).values, [[1], [0], [NAN]])


def test_numbers_match_categories_that_are_their_text():
    schema = learn_table([["3"], ["7"], ["x"]]).schema
    same(encode(np.array([[7], [3], [5]]), schema).values, [[1], [0], [NAN]])
    same(encode([[7.0], [3], [None]], schema).values, [[1], [0], [NAN]])


def test_a_number_may_come_as_category_or_boolean():
    schema = learn_table(np.array([[1.0], [2.0]])).schema
    same(encode(pd.DataFrame({"a": pd.Categorical([3, 1])}), schema).values, [[3], [1]])
    same(encode(np.array([[True], [False]]), schema).values, [[1], [0]])


@pytest.mark.parametrize(
    "X", [[["high"]], [["1"]], pl.DataFrame({"a": ["high"]}), np.array([["high"]])]
)
def test_a_word_in_a_numeric_column(X):
    schema = Schema((Feature("a", "numeric"),), named=True)
    with pytest.raises(ValueError, match="Column 'a' is numeric, but holds '"):
        encode(X, schema)


def test_a_row_of_missing_can_be_encoded():
    schema = learn_table(np.eye(2)).schema
    table = encode(np.full((1, 2), NAN), schema)
    assert table.has_missing
    same(table.missing_by_feature, [1, 1])


def test_a_sum_that_overflows_is_no_infinity():
    table = learn_table(np.full((4, 2), 1e308))
    assert not table.has_missing


def test_missing_are_counted_in_a_table_made_by_hand():
    schema = learn_table(np.eye(2)).schema
    assert Table(np.array([[1.0, NAN]]), schema).has_missing
    assert not Table(np.eye(2), schema).has_missing


# ---- refusals

DAY = datetime.date(2020, 1, 1)


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        (
            np.zeros((0, 3)),
            ValueError,
            r"0 sample\(s\) \(shape=\(0, 3\)\) while a minim",
        ),
        (
            np.zeros((3, 0)),
            ValueError,
            r"0 feature\(s\) \(shape=\(3, 0\)\) while a mini",
        ),
        (
            pd.DataFrame({"a": []}),
            ValueError,
            r"0 sample\(s\) \(shape=\(0, 1\)\) while",
        ),
        (pd.DataFrame(index=[0]), ValueError, r"0 feature\(s\) \(shape=\(1, 0\)\) whi"),
        (
            np.zeros(3),
            ValueError,
            "Expected 2D array, got 1D array.*\n.*\nReshape your",
        ),
        ([1, 2], ValueError, "Reshape your data"),
        ([], ValueError, "Reshape your data"),
        (5.0, ValueError, "Expected 2D array, got scalar"),
        (pd.Series([1.0]), ValueError, "Reshape your data"),
        (pl.Series([1.0]), ValueError, "Reshape your data"),
        (np.zeros((2, 2, 2)), ValueError, "dim 3"),
        ([[1, 2], [3]], ValueError, "Row 1 has 1 cells, but row 0 has 2"),
        (np.array([[1j]]), ValueError, "Complex data not supported"),
        ([[1.0], [1j]], ValueError, "Complex data not supported"),
        (pd.DataFrame({"a": [1j]}), ValueError, "Complex data not supported"),
        (np.array([[1.0, np.inf]]), ValueError, "Column 'x1' .*infinite .*row 0.*NaN"),
        (
            np.array([[np.inf, -np.inf]]),
            ValueError,
            "Column 'x0' contains an infinite value",
        ),
        ([[1.0, -np.inf]], ValueError, "Column 'x1' contains an infinite value"),
        (pl.DataFrame({"x0": [1.0, np.inf]}), ValueError, "Column 'x0' .*row 1"),
        (np.full((2, 2), NAN), ValueError, "All cells of the table are missing"),
        ([[None, ""]], ValueError, "All cells of the table are missing"),
        ([[10**400]], ValueError, "'x0' holds a number too large"),
        (np.array([[1]], dtype="m8[s]"), ValueError, "'x0' holds durations"),
        ([[datetime.timedelta(1)]], ValueError, "'x0' holds durations. Turn it into"),
        (pd.DataFrame({"t": [pd.Timedelta(1)]}), ValueError, "'t' holds durations"),
        (
            pl.DataFrame({"t": [datetime.timedelta(1)]}),
            ValueError,
            "'t' holds durations",
        ),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), ValueError, "more than once: 'a'"),
        (pd.DataFrame([[1, 2]], columns=["a", 1]), TypeError, "all .* string names"),
        ([[{"foo": "bar"}, 1.0]], TypeError, "argument must be .* string.* number"),
        (pl.DataFrame({"a": [[1]]}), TypeError, "'a' .* argument must be .* string"),
        (pl.DataFrame({"a": [b"1"]}), TypeError, "'a' .* argument must be .* string"),
        (pl.DataFrame({"a": [1]}).lazy(), TypeError, "collect"),
    ],
)
def test_refusals(X, error, message):
    with pytest.raises(error, match=message):
        learn_table(X)
    if "All cells" not in message:  # rows of missing values alone are fine to predict
        with pytest.raises(error, match=message):
            encode(X, SCHEMAS[_width(X)])


def test_dates_among_numbers():
    X = [[DAY], [1.0]]
    with pytest.raises(TypeError, match="'x0' holds cells of type date"):
        learn_table(X)
    with pytest.raises(ValueError, match="'x0' holds dates, but was numeric"):
        encode(X, SCHEMAS[1])


SCHEMAS = {
    n: Schema(tuple(Feature(f"x{j}", "numeric") for j in range(n)), named=False)
    for n in (1, 2, 3)
}


def _width(X):
    try:
        return max(1, np.shape(X)[1])
    except (IndexError, ValueError, AttributeError, TypeError):
        return 1


def test_narwhals_is_not_imported_for_arrays():
    code = (
        "import sys; before = 'narwhals' in sys.modules\n"
        "from omnitree.data.table import learn_table\n"
        "learn_table([[1.0, 'a']])\n"
        "assert before or 'narwhals' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_lone_surrogates_are_words_like_others():
    """Arrow's strings cannot hold them, which is how pandas keeps words."""
    frame = pd.DataFrame({"c": ["\ud800", "a", None, "\udfff", "a"]}, dtype=object)
    table = learn_table(frame)
    assert table.schema.features[0].categories == ("a", "\ud800", "\udfff")
    np.testing.assert_array_equal(table.values[:, 0], [1, 0, np.nan, 2, 0])
