"""Whether labels as written are numbers to predict."""

from __future__ import annotations

import numpy as np
import pytest

from omnitree.data.reading import InputError, as_numbers, is_numeric


@pytest.mark.parametrize(
    ("labels", "numeric"),
    [
        (["1", "2", "3"] * 9, False),
        ([str(i) for i in range(30)], False),
        ([str(i) for i in range(31)], True),
        (["1", "2.5"], True),
        (["1", "2.5", "x"], False),
        (["1e3", "inf"], False),
    ],
)
def test_is_numeric(labels, numeric):
    assert is_numeric(np.array(labels)) == numeric


def test_as_numbers():
    np.testing.assert_array_equal(as_numbers(np.array(["1", "-2.5e1"]), "y"), [1, -25])
    with pytest.raises(InputError, match="column 'y' contains 'x'"):
        as_numbers(np.array(["1", "x"]), "y")
