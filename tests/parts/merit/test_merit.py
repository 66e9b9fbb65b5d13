"""Merits: known values, what may not change them, and the compiled twins."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats
from tests import naive

from omnitree._core.univariate.general import merits_of
from omnitree.growing.criterion import SquaredError
from omnitree.growing.target import NumericTarget
from omnitree.parts.merit import CUSTOM, MERITS, Merit, VarianceReduction

ALL = [name for name, cls in MERITS.items() if "classification" in cls.tasks]
ORDERED = {"ordered_twoing"}  # the order of the classes matters
# Of weights far below 1 the merits are differences of nearly equal numbers.
tables = hnp.arrays(
    np.float64,
    st.tuples(st.integers(2, 5), st.integers(2, 5)),
    elements=st.one_of(st.integers(0, 20).map(float), st.floats(2**-10, 50, width=32)),
).filter(lambda t: t.sum() > 1e-3)

# Golf (Quinlan 1993): outlook sunny, overcast, rain x play, don't play.
OUTLOOK = np.array([[2.0, 3.0], [4.0, 0.0], [3.0, 2.0]])
PERFECT = np.array([[6.0, 0.0], [0.0, 2.0]])
KNOWN = {
    # 1 - (9^2 + 5^2)/14^2 - [5 (1 - 13/25) 2]/14
    "gini": (OUTLOOK, 1 - 106 / 196 - (5 * 12 / 25 * 2) / 14),
    "gain": (OUTLOOK, 0.2467498),
    "gain_ratio": (OUTLOOK, 0.2467498 / 1.5774063),
    "entropy": (OUTLOOK, 0.2467498 * np.log(2)),
    "g_statistic": (OUTLOOK, 2 * 14 * 0.2467498 * np.log(2)),
    "misclassification": (OUTLOOK, (3 + 4 + 3 - 9) / 14),
    # 6/8 * 2/8 / 4 * (1 + 1)^2
    "twoing": (PERFECT, 6 / 8 * 2 / 8),
    "ordered_twoing": (PERFECT, 6 / 8 * 2 / 8),
    "chi_square": (PERFECT, 8.0),
    "kolmogorov_smirnov": (np.array([[3.0, 1.0], [1.0, 3.0]]), 0.5),
    "symmetric_gini": (PERFECT, 1.0),
}


@pytest.mark.parametrize("name", ALL)
def test_known_value(name):
    table, value = KNOWN[name]
    assert float(MERITS[name]()(table)) == pytest.approx(value, abs=1e-6)


@settings(max_examples=30)
@given(tables)
def test_against_the_definitions(table):
    """Written out once more in plain Python, or taken from SciPy."""
    assert float(MERITS["gini"]()(table)) == pytest.approx(naive.gini(table), abs=1e-9)
    assert float(MERITS["gain"]()(table)) == pytest.approx(naive.gain(table), abs=1e-9)
    whole = table[table.sum(1) > 0][:, table.sum(0) > 0]
    if min(whole.shape) > 1:
        for name, kind in (("chi_square", None), ("g_statistic", "log-likelihood")):
            theirs = stats.chi2_contingency(whole, correction=False, lambda_=kind)[0]
            ours = float(MERITS[name]()(table))
            assert ours == pytest.approx(theirs, abs=1e-6, rel=1e-6)


@pytest.mark.parametrize("name", ALL)
@settings(max_examples=30)
@given(table=tables, order=st.randoms(use_true_random=False))
def test_order_of_branches_and_classes_does_not_matter(name, table, order):
    merit = MERITS[name]()
    value = float(merit(table))
    rows, columns = list(range(len(table))), list(range(table.shape[1]))
    order.shuffle(rows)
    assert float(merit(table[rows])) == pytest.approx(value, abs=1e-9, rel=1e-9)
    if name in ORDERED:
        columns.reverse()  # the only order that keeps neighbours together
    else:
        order.shuffle(columns)
    assert float(merit(table[:, columns])) == pytest.approx(value, abs=1e-9, rel=1e-9)


@pytest.mark.parametrize("name", ALL)
@settings(max_examples=30)
@given(row=hnp.arrays(np.float64, 3, elements=st.integers(1, 30).map(float)))
def test_copies_are_worth_nothing(name, row):
    """Branches with the same class shares tell nothing."""
    copies = np.array([row, 2 * row, row])
    assert float(MERITS[name]()(copies)) == pytest.approx(0, abs=1e-9)
    assert merits_of(MERITS[name].code, copies[None])[0] == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("name", ALL)
@settings(max_examples=30)
@given(table=tables)
def test_compiled_twin(name, table):
    merit = MERITS[name]()
    assert merit.code != CUSTOM
    ours = merits_of(merit.code, np.ascontiguousarray(table)[None])[0]
    assert ours == pytest.approx(float(merit(table)), abs=1e-8, rel=1e-8)


@pytest.mark.parametrize("name", ALL)
@settings(max_examples=30)
@given(table=tables)
def test_never_below_zero(name, table):
    assert float(MERITS[name]()(table)) >= -1e-9


@pytest.mark.parametrize("name", ALL)
def test_empty_branches_and_classes_change_nothing(name):
    merit = MERITS[name]()
    table = np.array([[5.0, 1.0], [2.0, 7.0]])
    wide = np.zeros((3, 4))
    wide[:2, 1:3] = table
    assert float(merit(wide)) == pytest.approx(float(merit(table)))
    assert merits_of(merit.code, wide[None])[0] == pytest.approx(float(merit(table)))


@pytest.mark.parametrize("name", ALL)
def test_many_tables_at_once(name, rng):
    merit = MERITS[name]()
    many = rng.integers(0, 9, size=(4, 5, 3, 2)).astype(float)
    many[0, 0] = 0  # an empty table
    one_by_one = [[float(merit(t)) for t in row] for row in many]
    np.testing.assert_allclose(merit(many), one_by_one, atol=1e-12)
    assert merit(many)[0, 0] == 0


def test_codes_are_distinct():
    codes = [cls.code for cls in MERITS.values()]
    assert len(set(codes)) == len(codes)


def test_registered_merits_are_parts():
    assert MERITS["variance"] is VarianceReduction
    for wrong, task in (("variance", "classification"), ("gini", "regression")):
        with pytest.raises(
            ValueError, match=f"is not for {task}; choose another merit"
        ):
            MERITS.resolve(wrong, task)
    for cls in MERITS.values():
        assert issubclass(cls, Merit)
        assert cls() == cls()
        assert hash(cls()) == hash(cls())
        assert cls.summary()


def test_variance_reduction(rng):
    """The variance of a numeric target less that inside of the branches."""
    for _ in range(30):
        n, branches = rng.integers(2, 20), rng.integers(2, 5)
        y, weight = rng.integers(0, 4, n).astype(float), rng.uniform(0.5, 2, n)
        branch = rng.integers(branches, size=n)
        target = NumericTarget(y, SquaredError())
        merit = VarianceReduction()(target.statistics_by(branch, branches, weight))

        def loss(at, y=y, weight=weight):
            mean = np.average(y[at], weights=weight[at])
            return weight[at] @ (y[at] - mean) ** 2

        inside = sum(loss(branch == b) for b in np.unique(branch))
        expected = (loss(np.arange(n)) - inside) / weight.sum()
        assert merit == pytest.approx(expected, abs=1e-12)
    assert VarianceReduction()(np.zeros((2, 3))) == 0
    # Sums below 0 are no empty table.
    assert VarianceReduction()([[1.0, -3.0, 9.0], [1.0, -5.0, 25.0]]) == 1
