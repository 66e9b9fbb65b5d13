"""Sums as people read them have the values of the tests they stand for."""

from __future__ import annotations

import re

import numpy as np
import pytest
from tests.trees import SCHEMA, random_rows, random_test

from omnitree import presets
from omnitree.data.schema import Feature, Schema
from omnitree.export.encoded import encoded_columns
from omnitree.export.model import NodeTest
from omnitree.export.plain import plain_test
from omnitree.export.sample import encoded
from omnitree.export.words import SumWriter, counted, sums_of
from omnitree.tree.shared_models import terms_of
from omnitree.tree.splits import split_from_dict

FEATURES = SCHEMA.to_dict()["features"]
KINDS = ("linear", "quadratic", "machine", "quadratic_machine")


def totals(test, x):
    """Weighted sums of columns `x`, each less the cut or more the bias."""
    pairs = np.reshape(np.asarray(terms_of(test), dtype=int), (-1, 2))
    a, b = pairs.T
    values = x[:, a] * np.where(b < 0, 1.0, x[:, b])
    start = test["bias"] if "bias" in test else [-test["threshold"]]
    return values @ np.atleast_2d(test["weights"]).T + np.asarray(start)


@pytest.mark.parametrize("kind", KINDS)
def test_indicators_change_no_value(rng, kind):
    every = encoded_columns(FEATURES)
    for _ in range(50):
        test = random_test(rng, kind).to_dict()
        plain = plain_test(test, FEATURES)
        coded = encoded(test, SCHEMA, random_rows(rng, 30))  # missing values are filled
        category = np.array(
            [every[c].category >= 0 for c in test["columns"]], dtype=bool
        )
        counts = np.where(category, (coded + 1) / 2, coded)
        np.testing.assert_allclose(totals(plain, counts), totals(test, coded))
        found = [counts[:, k].tolist() for k in range(counts.shape[1])]
        assert len(plain["fill"]) == len(test["fill"]) == len(found)


@pytest.mark.parametrize("standardised", [False, True])
def test_shown_terms_and_constant_are_the_sum(rng, standardised):
    """Where the hidden terms have their means, what is shown is the whole sum."""
    d = 12
    features = [
        Feature(f"x{j}", "numeric").to_dict() if j % 3 else
        Feature(f"x{j}", "categorical", ("a", "b")).to_dict()
        for j in range(d)
    ]  # fmt: skip
    for _ in range(20):
        deviations = np.round(10.0 ** rng.uniform(-2, 2, d), 3)
        weights = rng.choice([-1, 1], d) * np.round(rng.uniform(0.1, 3, d), 2)
        fill = rng.normal(size=d) * 5 * deviations
        test = {
            "columns": list(range(d)),
            "weights": weights.tolist(),
            "fill": fill.tolist(),
            "threshold": 0.5,
        }
        plain = plain_test(test, features)
        most = int(rng.integers(1, d - 2))  # with more, all are shown
        writer = SumWriter(plain, features, deviations.tolist(), standardised, most)
        ((start, terms),) = writer.write([plain["weights"]])
        *shown, last = terms
        assert f"({d - most} smaller term" in last and "0 for an average row" in last
        names = re.findall(r"x\d+", " ".join(shown))
        assert len(names) == most
        row = np.array(plain["fill"])
        for name in names:
            j = int(name[1:])
            row[j] = rng.integers(2) if j % 3 == 0 else rng.normal()
        spread = [s / 2 if j % 3 == 0 else s for j, s in enumerate(deviations)]
        value = start
        for term in shown:
            sign, size, j, shift = re.fullmatch(
                r"([+-]?) ?([\d.e+-]+) (?:z\()?\(*\[?x(\d+)(?: = b\])?( [+-] [\d.e-]+)?\)*",
                term,
            ).groups()
            moved = row[int(j)] + float((shift or "0").replace(" ", ""))
            unit = spread[int(j)] if standardised else 1.0
            value += (-1 if sign == "-" else 1) * float(size) * moved / unit
        whole = row @ plain["weights"]
        size = np.abs(plain["weights"]) * (np.abs(row) + np.abs(plain["fill"]))
        assert value == pytest.approx(whole, abs=1e-3 * size.sum())
        split = split_from_dict("linear", test)
        sides = sums_of(
            NodeTest.of(split),
            {"features": features},
            deviations.tolist(),
            standardised,
            most,
        )
        assert sides.cut + start == pytest.approx(plain["threshold"])


def test_the_constant_is_that_of_an_average_row(rng):
    """A year far from 0 does not make a constant that nobody can read."""
    X = rng.normal(size=(300, 12))
    X[:, 0] = 2000 + 5 * X[:, 0]
    y = 3 * (X[:, 0] - 2000) / 5 + X[:, 1:].sum(axis=1) > 0
    clf = presets.make("ldt", max_depth=1).fit(X, y)
    assert re.search(r"\(x0 - (199|200)\d", clf.describe())
    (cut,) = set(re.findall(r"sum #0 (?:<=|>) (\S+):", clf.describe()))
    weight = np.abs(clf.tree_.split(0).weights)[0]
    assert abs(float(cut)) < 3 * 5 * weight  # not 2000 times the weight


def test_counts_have_no_noise():
    assert counted(49.9999999) == "50 rows"
    assert counted(1.0000001) == "1 row"
    assert counted(33.3333) == "33.3 rows"
    assert counted(123456.7) == "123457 rows"


def test_schema_columns_agree():
    features, categories = Schema.from_dict(SCHEMA.to_dict()).linear_columns()
    found = encoded_columns(FEATURES)
    assert [c.feature for c in found] == features.tolist()
    assert [c.category for c in found] == categories.tolist()
