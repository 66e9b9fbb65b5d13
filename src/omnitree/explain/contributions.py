"""What the value of a test, or of a leaf's model, is made of for one row.

Each feature, or product of two, adds to what an average row has. Used by `path.py`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from omnitree.explain.counterfactual import cell
from omnitree.export.model import Model, NodeTest
from omnitree.export.plain import plain_test
from omnitree.export.words import column_name, less, term_names
from omnitree.tree.curves import curve_at
from omnitree.tree.expression import Column, evaluate, walk
from omnitree.tree.shared_models import terms_of


@dataclass(frozen=True)
class Contribution:
    """What a feature, or a product of two, adds to the value of a test.

    Attributes
    ----------
    name : str
        The feature; in quadratic tests and models, the encoded column or the product of
        two, whose contribution is that of both together.
    value : float, or a category
        The row's value; if it is missing, what the test uses instead, None for a category,
        whose columns get means.
    amount : float or None
        What it adds to the value of the test, or of the model, for an average row; where
        it is the only one, the value itself. None where a category is looked up.
    filled : bool
        Whether `value` stands in for a missing value.
    """

    name: str
    value: Any
    amount: float | None
    filled: bool = False


def taken_apart(
    model: Model, test: NodeTest, row: Sequence[float]
) -> tuple[float | None, float | None, list[Contribution]]:
    """Value, threshold and contributions of a test that can tell."""
    if test.can_fail:
        feature, cell_ = model.features[test.feature], row[test.feature]
        if model.branch_of_codes(test) is not None:
            category = feature["categories"][int(cell_)]
            return None, None, [Contribution(feature["name"], category, None)]
        part = Contribution(feature["name"], cell_, cell_)
        return cell_, test.data["threshold"], [part]
    columns, cut = columns_of(model, test, row), 0.0
    if "weights" not in test.data:
        return _by_removal(model, test, row)
    # Told as `describe` writes it: a category counts 1 or 0.
    plain = plain_test(test.data, model.features)
    told = [
        (value + 1) / 2 if model.columns[c].category >= 0 else value
        for c, value in zip(test.columns, columns, strict=True)
    ]
    base = plain["fill"]
    if test.is_machine:
        values = values_of(model, test, row)
        best, next_ = leading(values)
        rows = plain["weights"][best], plain["weights"][next_]
        weights = less(*rows)
        value = values[best] - values[next_]
        lines = plain.get("curve_values", [[]] * len(values))
        lines = [less(*two) for two in zip(lines[best], lines[next_], strict=True)]
    else:
        weights, cut = plain["weights"], plain["threshold"]
        lines = plain.get("curve_values", [])
        value = _total(plain, told)
        parts = weights if "terms" in test.data else model.features_of(test)
        base = base if len(parts) > 1 else [0.0] * len(told)
    found = column_parts(model, test, plain, row, told, weights, base)
    bent = curve_parts(model, test, row, lines)
    if not test.is_machine:
        value += sum(part.amount or 0.0 for part in bent)
    return value, cut, joined(found, bent)


def column_parts(
    model: Model,
    test: NodeTest,
    plain: dict[str, Any],
    row: Sequence[float],
    columns: list[float],
    weights: Sequence[float],
    base: Sequence[float],
) -> list[Contribution]:
    """What each term of a sum with products, or each feature, adds to what is at `base`."""
    if "terms" in test.data:
        return _terms(model, plain, row, columns, weights, base)
    amounts = {
        feature: sum(weights[at] * (columns[at] - base[at]) for at in places)
        for feature in model.features_of(test)
        if (places := _places(model, test, feature))
    }
    return _by_feature(model, test, row, amounts)


def curve_parts(
    model: Model, test: NodeTest, row: Sequence[float], lines: Sequence[Sequence[float]]
) -> list[Contribution]:
    """What each curve adds; a missing cell has a value of its own."""
    parts = []
    for j, line in enumerate(lines):
        feature = model.columns[test.data["curve_columns"][j]].feature
        amount = float(curve_at(test.data["knots"][j], line, row[feature]))
        name = model.features[feature]["name"]
        if any(line):
            value = cell(model, feature, row[feature])
            parts.append(Contribution(name, value, amount))
    return parts


def joined(terms: list[Contribution], curves: list[Contribution]) -> list[Contribution]:
    """Terms and curves; what a feature adds alone and by its curve is one contribution."""
    parts = list(terms)
    place = {part.name: at for at, part in enumerate(terms)}
    for part in curves:
        if part.name not in place:
            parts.append(part)
            continue
        alone = parts[place[part.name]]
        amount = (alone.amount or 0.0) + (part.amount or 0.0)
        both = Contribution(part.name, part.value, amount, alone.filled)
        parts[place[part.name]] = both
    return parts


def _by_removal(
    model: Model, test: NodeTest, row: Sequence[float]
) -> tuple[float, float, list[Contribution]]:
    """Value and threshold, and what the value loses with each feature at its mean."""
    values = values_of(model, test, row)
    # The model of a number is one value, though it is read like a machine.
    several = len(values) > 1
    best, next_ = leading(values) if several else (0, 0)

    def compared(values: list[float]) -> float:
        return values[best] - values[next_] if several else values[0]

    amounts = {}
    for feature in model.features_of(test):
        without = [*row[:feature], math.nan, *row[feature + 1 :]]
        rest = compared(values_of(model, test, without))
        amounts[feature] = compared(values) - rest
    parts = _by_feature(model, test, row, amounts)
    return compared(values), test.data.get("threshold", 0.0), parts


def columns_of(model: Model, test: NodeTest, row: Sequence[float]) -> list[float]:
    """Values of the encoded columns of a test."""
    pairs = zip(test.columns, test.fill, strict=True)
    return [model.column_value(Column(c, fill), row) for c, fill in pairs]


def filled_features(model: Model, test: NodeTest, row: Sequence[float]) -> list[str]:
    """Names of features whose missing cell is filled in; a curve needs no filling."""
    used = {v.number for v in walk(test.rule) if isinstance(v, Column)}
    features = sorted({model.columns[c].feature for c in used})
    return [model.features[j]["name"] for j in features if math.isnan(row[j])]


def values_of(model: Model, test: NodeTest, row: Sequence[float]) -> list[float]:
    """What a test on several features compares."""
    return [
        float(evaluate(value, lambda column: model.column_value(column, row)))
        for value in test.values
    ]


def leading(sums: Sequence[float]) -> tuple[int, int]:
    """Positions of the largest sum, the first of several, and of the next."""
    best = max(range(len(sums)), key=sums.__getitem__)
    others = (k for k in range(len(sums)) if k != best)
    return best, max(others, key=sums.__getitem__)


def _places(model: Model, test: NodeTest, feature: int) -> list[int]:
    """Positions of a feature's columns in a test."""
    return [
        at for at, c in enumerate(test.columns) if model.columns[c].feature == feature
    ]


def _by_feature(
    model: Model, test: NodeTest, row: Sequence[float], amounts: dict[int, float]
) -> list[Contribution]:
    parts = []
    for feature, amount in amounts.items():
        value = cell(model, feature, row[feature])
        filled = value is None
        if filled and not model.is_categorical(feature):
            value = test.fill[_places(model, test, feature)[0]]
        name = model.features[feature]["name"]
        parts.append(Contribution(name, value, amount, filled))
    return parts


def _terms(
    model: Model,
    test: dict[str, Any],
    row: Sequence[float],
    columns: list[float],
    weights: Sequence[float],
    base: Sequence[float],
) -> list[Contribution]:
    """What each term of a quadratic test or model adds to its value at `base`."""
    own = test["columns"]
    names = term_names(test, [column_name(c, model.features) for c in own])
    missing = [math.isnan(row[model.columns[c].feature]) for c in own]
    parts = []
    for name, w, (a, b) in zip(names, weights, terms_of(test), strict=True):
        value = columns[a] * (columns[b] if b >= 0 else 1.0)
        filled = missing[a] or (b >= 0 and missing[b])
        start = base[a] * (base[b] if b >= 0 else 1.0)
        parts.append(Contribution(name, value, w * (value - start), filled))
    return parts


def _total(test: dict[str, Any], columns: Sequence[float]) -> float:
    """The weighted sum of a plain test."""
    total = 0.0
    for w, (a, b) in zip(test["weights"], terms_of(test), strict=True):
        total += w * (columns[a] if b < 0 else columns[a] * columns[b])
    return total
