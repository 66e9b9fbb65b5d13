"""Columns of Python objects: what a cell means does not depend on the other cells."""

from __future__ import annotations

import datetime
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from omnitree import TreeClassifier
from omnitree.data.table import encode, learn_table

NAN = float("nan")
UTC = datetime.timezone.utc
EAST = datetime.timezone(datetime.timedelta(hours=5))
# Cells that some pairs of which are equal, or have the same text, without being the same.
CELLS = [
    *["a", "b", "1", "2.5", "True", "", "  ", "2020-01-02", np.str_("a"), "a\0"],
    *[True, False, np.True_, 0, 1, 2, 1.0, 2.5, np.int8(1), np.float32(0.1), 0.1],
    *[Decimal("1"), Decimal("1.0"), Decimal("2.50"), Fraction(5, 2), -0.0],
    *[2**53, 2**53 + 1, 2**70, 1e300, None, NAN, pd.NA, pd.NaT, np.datetime64("NaT")],
]
DATES = [
    datetime.date(2020, 1, 2),
    datetime.datetime(2020, 1, 2, 12, tzinfo=UTC),
    datetime.datetime(2020, 1, 2, 17, tzinfo=EAST),
    pd.Timestamp("2020-01-02"),
    np.datetime64("2020-01-03"),
    datetime.time(3, 4),
]
TRAINING = {
    "words": ["a", "b", "a", "b"],
    "words, numbers and booleans": ["a", True, 1, 2.5, "2.5", False, np.float32(0.1)],
    "words and dates": ["a", "b", "a", datetime.date(2020, 1, 2), "b"],
    "numbers": [1, 2.5, 3, True],
    "booleans": [True, False, None],
    "dates": [datetime.date(2020, 1, 2), datetime.date(2021, 3, 4)],
    "dates in words": ["2020-01-02", "2021-03-04", "2021-03-05"],
    "numbers as categories": pd.Categorical([1, 2, 3, 1]),
    "words in order": pd.Categorical(["a", "b", "a"], ordered=True),
    "nothing": [None, None, NAN],
}


def frame_of(cells) -> pd.DataFrame:
    """A table of these cells as they are, beside a column of numbers."""
    column = pd.Series(cells, dtype=object) if isinstance(cells, list) else cells
    return pd.DataFrame({"x": column, "n": np.arange(len(cells)) % 2.0})


def values_of(X, schema):
    """What the table is read as; None if it is refused."""
    try:
        return encode(X, schema).values[:, :-1]
    except (ValueError, TypeError):
        return None


@pytest.mark.parametrize("name", TRAINING)
@pytest.mark.parametrize("kind", ["frame", "array", "list"])
def test_a_row_is_read_as_in_any_batch(name, kind, rng):
    learned = frame_of(TRAINING[name])
    schema = learn_table(learned).schema
    whole = np.vstack(
        [values_of(learned.iloc[[i]], schema) for i in range(len(learned))]
    )
    np.testing.assert_array_equal(whole, values_of(learned, schema))
    pool = CELLS + DATES
    for _ in range(60):
        chosen = [pool[i] for i in rng.integers(0, len(pool), size=rng.integers(2, 7))]
        batch = frame_of(chosen)
        rows = [batch.iloc[[i]] for i in range(len(batch))]
        if kind != "frame":
            batch = batch.to_numpy(dtype=object)
            rows = [batch[[i]] for i in range(len(batch))]
        if kind == "list":
            batch, rows = batch.tolist(), [row.tolist() for row in rows]
        alone = [values_of(row, schema) for row in rows]
        together = values_of(batch, schema)
        if any(row is None for row in alone):
            assert together is None, chosen
        else:
            np.testing.assert_array_equal(together, np.vstack(alone), str(chosen))


def test_true_among_numbers_stays_a_word():
    X = [["a"], [True], [1], ["b"], [2]] * 4
    clf = TreeClassifier().fit(X, ["a", "true", "one", "b", "two"] * 4)
    assert clf.predict([[True], [1]]).tolist() == ["true", "one"]
    assert clf.predict([[True]]).tolist() == ["true"]
    assert clf.predict([[1], [True], ["b"]]).tolist() == ["one", "true", "b"]


def test_numbers_and_booleans_of_categories_beside_a_word():
    y = ["x", "y", "z"] * 4
    clf = TreeClassifier().fit(pd.DataFrame({"n": pd.Categorical([1, 2, 3] * 4)}), y)
    new = pd.DataFrame({"n": [1, 3, "word"]})
    assert clf.predict(new)[:2].tolist() == ["x", "z"]
    flags = TreeClassifier().fit([[True], [False]] * 4, ["yes", "no"] * 4)
    assert flags.predict([[True], ["word"], [False]])[[0, 2]].tolist() == ["yes", "no"]
