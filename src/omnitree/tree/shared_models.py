"""Leaves below one test that share a model: whether its sums are the test's own functions.

A machine hands each row to the branch of its largest function, and a test of two branches
compares one sum with a threshold, which is a machine of 0 and that difference. The leaves
below may answer by those same functions, scaled so that softmax makes probabilities of
them. Such a model need not be told, or counted, again: `own_functions` finds the scale.
Reads tests as `plain_rule` gives them and models in the plain form of
`docs/tree_format.md`, so that trees and exports see the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
# Parts of a number by which the products of different orders of rounding differ.
CLOSE = 1e-7


@dataclass(frozen=True)
class OwnFunctions:
    """A model that is a test's functions times a positive number."""

    scale: float
    classes: tuple[int, ...]  # the class whose probability each branch's function gives
    # Bias and `flat_weights` of the model for classes without a branch: absent where
    # the test was fitted, with a constant, or never the most likely. They stand beside
    # a machine's scaled functions; of a test of one sum, beside plus and minus half
    # that sum, scaled.
    others: dict[int, tuple[float, list[float]]]

    @property
    def n_params(self) -> int:
        """Free parameters beside those of the test: the scale, and functions of others."""
        rows = [weights for _, weights in self.others.values() if any(weights)]
        return 1 + sum(1 + int(np.count_nonzero(row)) for row in rows)


def shared_models(
    nodes: Sequence[dict[str, Any]], rule_of: Callable[[int], dict[str, Any]]
) -> dict[int, OwnFunctions | None]:
    """The nodes whose children are all leaves with one and the same model.

    With each of them the scale, if that model is the functions of the node's test, which
    `rule_of` gives as `plain_rule` does.
    """
    found: dict[int, OwnFunctions | None] = {}
    for at, node in enumerate(nodes):
        below = [nodes[child] for child in node.get("children", ())]
        model = below[0].get("model") if below else None
        if model is None or any(
            child["kind"] != "leaf" or child.get("model") != model for child in below
        ):
            continue
        found[at] = own_functions(rule_of(at), model)
    return found


def terms_of(test: dict[str, Any]) -> Sequence[Sequence[int]]:
    """What the weights of a test on several features, or of a model, belong to.

    Pairs of positions in its columns, whose product is the term; -1 leaves one out. The
    columns of cases belong to these alone.
    """
    if "terms" in test or "cases" in test:
        return test.get("terms", ())
    return [(at, -1) for at in range(len(test["columns"]))]


def case_table(holder: Any) -> dict[str, Any] | None:
    """The sums of a test or a model of cases in plain types, None of any other.

    As `plain_rule` gives weighted sums, of which these have none.
    """
    if not getattr(holder, "cases", ()):
        return None
    table = {name: list(getattr(holder, name)) for name in ("columns", "fill", "bias")}
    table["weights"] = [
        list(w) for w in getattr(holder, "weights", [()] * len(holder.bias))
    ]
    if terms := getattr(holder, "terms", ()):
        table["terms"] = [list(pair) for pair in terms]
    table["precision"] = list(holder.precision)
    for name in ("cases", "case_weights"):
        table[name] = [list(line) for line in getattr(holder, name)]
    return table


def flat_weights(test: dict[str, Any]) -> list[list[float]]:
    """For each sum its weights, then the values of its curves or the weights of cases."""
    if "cases" in test:
        pairs = zip(test["weights"], test["case_weights"], strict=True)
        return [[*own, *more] for own, more in pairs]
    weights, values = test["weights"], test.get("curve_values", [])
    if "bias" not in test:
        weights, values = [weights], [values]
    lines = values or [[]] * len(weights)
    pairs = zip(weights, lines, strict=True)
    return [[*own, *(v for line in rest for v in line)] for own, rest in pairs]


def with_sums(
    model: dict[str, Any], bias: Sequence[float], flat: Sequence[Sequence[float]]
) -> dict[str, Any]:
    """A model over the same terms and curves with other sums, as `flat_weights`."""
    n = len(terms_of(model))
    out = model | {"bias": list(bias), "weights": [list(row[:n]) for row in flat]}
    if "cases" in model:
        out["case_weights"] = [list(row[n:]) for row in flat]
    if "knots" in model:
        starts = np.cumsum([n, *(len(knots) + 1 for knots in model["knots"])]).tolist()
        places = [slice(a, b) for a, b in pairwise(starts)]
        out["curve_values"] = [[list(row[at]) for at in places] for row in flat]
    return out


def own_functions(test: dict[str, Any], model: dict[str, Any]) -> OwnFunctions | None:
    """The scale of a model that is the functions of a test (`plain_rule`), else None."""
    if (
        "weights" not in test
        or model["link"] != "softmax"
        or not _same_fill(test, model)
        or not _same_knots(test, model)
        or not _same_widths(test, model)
    ):
        return None
    keys = {key: i for i, key in enumerate(sorted({*_keys(test), *_keys(model)}))}
    sums = _rows(model, model["bias"], keys)
    if "bias" in test:
        functions = _rows(test, test["bias"], keys)
    else:
        one = _rows(test, [-test["threshold"]], keys)
        functions = np.vstack([np.zeros_like(one), one])
    near = CLOSE * _sizes(sums, model, keys)
    for first, second in combinations(range(len(sums)), 2):
        step, own = sums[second] - sums[first], functions[1] - functions[0]
        scale = _ratio(step, own, near)
        if scale is None:
            continue
        shifted = sums - sums[first] + scale * functions[0]
        classes = [first, second]
        for function in functions[2:]:
            rest = range(classes[-1] + 1, len(sums))
            fits = (k for k in rest if _close(shifted[k], scale * function, near))
            found = next(fits, None)
            if found is None:
                break
            classes.append(found)
        if len(classes) == len(functions):
            two = "bias" not in test
            beside = len(functions) > 2 and _close(sums, shifted, near)
            if len(classes) == len(sums) or two or beside:
                at = [keys[key] for key in _keys(model)]
                others = _others(model, classes, two, near[at])
                return OwnFunctions(scale, tuple(classes), others)
    return None


def _others(
    model: dict[str, Any], classes: list[int], centred: bool, near: Floats
) -> dict[int, tuple[float, list[float]]]:
    """Biases and weights of other classes, less the mean of these if asked for."""
    rows = np.column_stack([model["bias"], flat_weights(model)])
    if centred:
        rows -= rows[classes].mean(axis=0)
    others = sorted(set(range(len(rows))) - set(classes))
    weights = np.where(np.abs(rows[:, 1:]) > near, rows[:, 1:], 0.0)
    return {k: (float(rows[k, 0]), weights[k].tolist()) for k in others}


def _ratio(step: Floats, own: Floats, near: Floats) -> float | None:
    """The positive number that `own` is to be multiplied by to give `step`."""
    unit = np.where(near > 0, near, 1.0)
    length = float(((own / unit) ** 2).sum())
    if not length > 0:
        return None
    scale = float(((own / unit) * (step / unit)).sum()) / length
    return scale if scale > 0 and _close(step, scale * own, near) else None


def _close(a: Floats, b: Floats, near: Floats) -> bool:
    return bool((np.abs(a - b) <= near).all())


def _keys(holder: dict[str, Any]) -> list[tuple[float, ...]]:
    """What each of `flat_weights` belongs to.

    The columns of a term, the smaller number first, -1 where there is one alone; the column
    of a curve, -2 and the place of the value; -3 and the numbers of a case, of which a
    test leaves out those without a weight.
    """
    columns = holder["columns"]
    pairs = ((columns[a], columns[b] if b >= 0 else -1) for a, b in terms_of(holder))
    keys: list[tuple[float, ...]] = [(min(pair), max(pair)) for pair in pairs]
    for column, knots in _bends(holder):
        keys += [(column, -2, i) for i in range(len(knots) + 1)]
    return keys + [(-3, *case) for case in holder.get("cases", ())]


def _bends(holder: dict[str, Any]) -> list[tuple[int, Sequence[float]]]:
    """Columns and knots of the curves."""
    pairs = zip(holder.get("curve_columns", ()), holder.get("knots", ()), strict=True)
    return list(pairs)


def _rows(
    holder: dict[str, Any], bias: Any, keys: dict[tuple[float, ...], int]
) -> Floats:
    """A line for each sum: its weights and values, then the bias."""
    out = np.zeros((len(bias), len(keys) + 1))
    at = [keys[key] for key in _keys(holder)]
    for line, row in zip(out, flat_weights(holder), strict=True):
        np.add.at(line, at, row)
    out[:, -1] = bias
    return out


def _sizes(
    sums: Floats, model: dict[str, Any], keys: dict[tuple[float, ...], int]
) -> Floats:
    """What the weights of each term, the values of curves, and the biases amount to.

    A bias is what is left of sums over the terms at their means, and so is its rounding.
    """
    size = np.abs(sums).max(axis=0)
    fill = model["fill"]
    for column, knots in _bends(model):  # values of one curve are rounded alike
        at = [keys[column, -2, i] for i in range(len(knots) + 1)]
        size[at] = size[at].max()
        size[-1] += size[at[0]]
    for key, (a, b) in zip(_keys(model), terms_of(model), strict=False):
        value = fill[a] * (fill[b] if b >= 0 else 1.0)
        size[-1] += size[keys[key]] * abs(value)
    return size


def _same_fill(test: dict[str, Any], model: dict[str, Any]) -> bool:
    """Whether a missing cell counts the same in both."""
    fill = dict(zip(test["columns"], test["fill"], strict=True))
    pairs = zip(model["columns"], model["fill"], strict=True)
    return all(np.isclose(fill.get(c, f), f, rtol=CLOSE) for c, f in pairs)


def _same_knots(test: dict[str, Any], model: dict[str, Any]) -> bool:
    """Whether curves of a column have the same knots wherever there are several."""
    knots: dict[int, Sequence[float]] = {}
    pairs = [*_bends(test), *_bends(model)]
    return all(list(knots.setdefault(c, own)) == list(own) for c, own in pairs)


def _same_widths(test: dict[str, Any], model: dict[str, Any]) -> bool:
    """Whether both compare the same columns with cases alike, or neither does."""
    if "cases" not in test and "cases" not in model:
        return True
    return all(test.get(name) == model.get(name) for name in ("columns", "precision"))
