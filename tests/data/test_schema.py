"""Schemas: what they tell, what they refuse, and the trip through JSON."""

from __future__ import annotations

import json
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from omnitree.data.schema import Feature, Schema

HEIGHT = Feature("height", "numeric")
COLOUR = Feature("colour", "categorical", ("blue", "green", "red"))
SEX = Feature("sex", "categorical", ("f", "m"))
OLD = Feature("old", "boolean", (False, True))
SIZE = Feature("size", "ordered", ("S", "M", "L"))
ONE = Feature("one", "categorical", ("only",))
NONE = Feature("none", "categorical", ())
ALL = Schema((HEIGHT, COLOUR, SEX, OLD, SIZE, ONE, NONE), named=True)


def test_tells_its_features():
    assert ALL.n_features == 7
    assert ALL.names == ("height", "colour", "sex", "old", "size", "one", "none")
    np.testing.assert_array_equal(ALL.is_categorical, [0, 1, 1, 1, 0, 1, 1])
    np.testing.assert_array_equal(ALL.n_categories, [0, 3, 2, 2, 0, 1, 0])
    assert ALL.is_categorical.dtype == bool
    assert ALL.n_categories.dtype == np.int32


def test_all_numeric_means_that_floats_need_no_encoding():
    assert Schema((HEIGHT,), named=False).all_numeric
    assert not Schema((HEIGHT, SIZE), named=False).all_numeric


def test_linear_columns():
    feature, category = ALL.linear_columns()
    np.testing.assert_array_equal(feature, [0, 1, 1, 1, 2, 3, 4])
    np.testing.assert_array_equal(category, [-1, 0, 1, 2, 1, 1, -1])
    assert feature.dtype == category.dtype == np.int32
    assert ALL.n_columns == 7


def test_time_grows_with_the_number_of_features():
    """Each feature was looked for among all inputs: 2 s for 20,000 of them."""
    features = tuple(Feature(f"x{j}", "numeric") for j in range(50_000))
    start = time.process_time()
    Schema.from_dict(Schema(features, named=True).to_dict())
    assert time.process_time() - start < 5


def test_column_names():
    names = [ALL.column_name(j) for j in range(ALL.n_columns)]
    assert names[:4] == ["height", "colour=blue", "colour=green", "colour=red"]
    assert names[4:] == ["sex=m", "old=True", "size"]


def test_no_linear_column_at_all():
    schema = Schema((ONE,), named=True)
    assert schema.n_columns == 0
    assert [len(a) for a in schema.linear_columns()] == [0, 0]


def test_shared_arrays_cannot_be_changed():
    with pytest.raises(ValueError, match="read-only"):
        ALL.n_categories[0] = 5
    with pytest.raises(ValueError, match="read-only"):
        ALL.linear_columns()[0][0] = 5


def test_numpy_categories_become_python_ones():
    values = (np.str_("a"), np.int64(1), np.float32(0.5), np.bool_(False))
    feature = Feature("f", "categorical", values)
    assert [type(c) for c in feature.categories] == [str, int, float, bool]


category = (
    st.text().filter(str.strip)
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, width=64)
).filter(lambda c: not isinstance(c, float) or abs(c) < float("inf"))


@st.composite
def schemas(draw):
    names = draw(st.lists(st.text(), min_size=1, max_size=6, unique=True))
    features = []
    for name in names:
        kind = draw(st.sampled_from(["numeric", "boolean", "categorical", "ordered"]))
        least = int(kind == "ordered")
        drawn = st.lists(category, min_size=least, max_size=5, unique=True)
        categories = {"numeric": None, "boolean": (False, True)}.get(
            kind, tuple(draw(drawn))
        )
        features.append(Feature(name, kind, categories))
    return Schema(tuple(features), named=draw(st.booleans()))


@given(schemas())
def test_dict_round_trip(schema):
    text = json.dumps(schema.to_dict(), allow_nan=False)
    back = Schema.from_dict(json.loads(text))
    assert back == schema
    for old, new in zip(schema.features, back.features, strict=True):
        assert [type(c) for c in old.categories or ()] == [
            type(c) for c in new.categories or ()
        ]


def one(name="f", kind="numeric", categories=None, **more):
    feature = {"name": name, "kind": kind, "categories": categories} | more
    return {"named": True, "features": [feature]}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (None, "schema must be a mapping, not a NoneType"),
        ([], "schema must be a mapping"),
        ({"features": []}, "lacks its 'named'"),
        ({"named": True}, "lacks its 'features'"),
        ({"named": True, "features": [], "x": 1}, "no field 'x'"),
        ({"named": 1, "features": one()["features"]}, "named must be True or False"),
        ({"named": True, "features": []}, "at least one feature"),
        ({"named": True, "features": "abc"}, "must be a list"),
        ({"named": True, "features": ["abc"]}, "feature must be a mapping"),
        ({"named": True, "features": [{"name": "f"}]}, "lacks its 'kind'"),
        ({"named": True, "features": one()["features"] * 2}, "more than once: 'f'"),
        (one(extra=1), "feature has no field 'extra'"),
        (one(name=3), "name must be a string"),
        (one(kind="date"), "unknown kind 'date'"),
        (one(kind=["numeric"]), "unknown kind"),
        (one(categories=["a"]), "Numeric feature 'f' has categories"),
        (one(kind="ordered"), "no categories"),
        (one(kind="ordered", categories=[]), "no categories"),
        (one(kind="categorical", categories=[2**63]), "whole number of 64 bits"),
        (one(kind="categorical", categories="ab"), "must be a tuple or None"),
        (one(kind="categorical", categories=["a", "a"]), "not all different"),
        (one(kind="categorical", categories=[1, 1.0]), "not all different"),
        (one(kind="categorical", categories=["a", "\t"]), "blank text"),
        (one(kind="categorical", categories=[None]), "neither a string"),
        (one(kind="categorical", categories=[["a"]]), "neither a string"),
        (one(kind="categorical", categories=[float("nan")]), "finite number"),
        (one(kind="boolean", categories=[True, False]), "must be False, True"),
        (one(kind="boolean", categories=[0, 1]), "must be False, True"),
    ],
)
def test_from_dict_says_what_is_wrong(data, message):
    with pytest.raises(ValueError, match=message):
        Schema.from_dict(data)


def test_wrong_features_are_refused():
    with pytest.raises(ValueError, match="tuple of Feature"):
        Schema([HEIGHT], named=True)
