"""Cells that are no numbers: when they are missing, and what is said of them."""

from __future__ import annotations

import pandas as pd
import pytest

from omnitree.data.reading.cells import OddCells, odd_cells


def column(*others: str, n: int = 60) -> pd.Series:
    """Different numbers, some fractional, and other cells."""
    return pd.Series([*(str(i / 2) for i in range(n)), *others], name="x")


@pytest.mark.parametrize(
    ("cells", "missing"),
    [
        (column("-", "-", "-", "-", "-", "-"), True),  # a mark, however often
        (column("low", "high"), True),  # few texts
        (column("a", "b", "c", "d", "e", "f", n=300), False),  # too many different ones
        (column(*["low"] * 10), False),  # too many cells
        (pd.Series(["1", "2", "3"] * 20 + ["x"], name="x"), False),  # codes
    ],
)
def test_few_texts_among_numbers_are_missing(cells, missing):
    found = odd_cells(cells)
    assert found.missing == missing
    assert found.n_known == len(cells)
    assert found.n_cells == sum(not c.replace(".", "").isdigit() for c in cells)


def test_a_column_that_is_known_to_be_numeric():
    assert odd_cells(pd.Series(["1", "2", "x", "y"]), numeric=True).missing


@pytest.mark.parametrize("cells", [column(), pd.Series(["red", "blue", "1"])])
def test_nothing_to_say(cells):
    assert odd_cells(cells) is None


def test_thousands_and_decimal_commas():
    found = odd_cells(pd.Series(["1,234", "2,000,000", "17"], name="x"))
    assert (found.thousands, found.missing, found.texts) == ("1,234", True, ())
    assert odd_cells(pd.Series(["1,5", "2,25"]), decimal=",") is None


def test_warnings():
    odd = OddCells("x", ("a", "b", "c", "d"), 4, 90, True, "1,234")
    with pytest.warns(UserWarning) as caught:
        odd.warn()
    assert len(caught) == 2
    assert "1,234 is read as 1234" in str(caught[0].message)
    assert "4 of 90 cells are no numbers ('a', 'b', 'c', ...)" in str(caught[1].message)
