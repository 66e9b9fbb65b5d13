"""Leaves below one test that share a model: whether its sums are the test's own functions.

A machine hands each row to the branch of its largest function, and a test of two branches
compares one sum with a threshold, which is a machine of 0 and that difference. The leaves
below may answer by those same functions, scaled so that softmax makes probabilities of
them. Such a model need not be told, or counted, again: `own_functions` finds the scale.
Reads tests as `plain_rule` gives them and models in the plain form of
`docs/tree_format.md`, so that trees and exports see the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from omnitree.tree.expression import plain_rule
from omnitree.tree.splits import split_from_dict

Floats = NDArray[np.float64]
# Parts of a number by which the products of different orders of rounding differ.
CLOSE = 1e-7


@dataclass(frozen=True)
class OwnFunctions:
    """A model that is a test's functions times a positive number.

    Attributes
    ----------
    scale : float
    classes : tuple of int
        The class whose probability each branch's function gives.
    others : dict of int to (float, list of float)
        Bias and weights of the model's terms for classes without a branch: absent where
        the test was fitted, with a constant, or never the most likely. They stand beside
        a machine's scaled functions; of a test of one sum, beside plus and minus half
        that sum, scaled.
    """

    scale: float
    classes: tuple[int, ...]
    others: dict[int, tuple[float, list[float]]]

    @property
    def n_params(self) -> int:
        """Free parameters beside those of the test: the scale, and functions of others."""
        rows = [weights for _, weights in self.others.values() if any(weights)]
        return 1 + sum(1 + int(np.count_nonzero(row)) for row in rows)


def shared_models(nodes: Sequence[dict[str, Any]]) -> dict[int, OwnFunctions | None]:
    """The nodes whose children are all leaves with one and the same model.

    With each of them the scale, if that model is the functions of the node's test.
    """
    found: dict[int, OwnFunctions | None] = {}
    for at, node in enumerate(nodes):
        below = [nodes[child] for child in node.get("children", ())]
        model = below[0].get("model") if below else None
        if model is None or any(
            child["kind"] != "leaf" or child.get("model") != model for child in below
        ):
            continue
        rule = split_from_dict(node["kind"], node["test"]).rule
        found[at] = own_functions(plain_rule(rule), model)
    return found


def terms_of(test: dict[str, Any]) -> Sequence[Sequence[int]]:
    """What the weights of a test on several features, or of a model, belong to.

    Pairs of positions in its columns, whose product is the term; -1 leaves one out.
    """
    if "terms" in test:
        return test["terms"]
    return [(at, -1) for at in range(len(test["columns"]))]


def own_functions(test: dict[str, Any], model: dict[str, Any]) -> OwnFunctions | None:
    """The scale of a model that is the functions of a test (`plain_rule`), else None."""
    if (
        "weights" not in test
        or model["link"] != "softmax"
        or not _same_fill(test, model)
    ):
        return None
    keys = {key: i for i, key in enumerate(sorted({*_keys(test), *_keys(model)}))}
    sums = _rows(model, model["bias"], model["weights"], keys)
    if "bias" in test:
        functions = _rows(test, test["bias"], test["weights"], keys)
    else:
        one = _rows(test, [-test["threshold"]], [test["weights"]], keys)
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
    rows = np.column_stack([model["bias"], model["weights"]])
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


def _keys(holder: dict[str, Any]) -> list[tuple[int, int]]:
    """The columns of each term, the smaller number first; -1 where there is one alone."""
    columns = holder["columns"]
    pairs = ((columns[a], columns[b] if b >= 0 else -1) for a, b in terms_of(holder))
    return [(min(pair), max(pair)) for pair in pairs]


def _rows(
    holder: dict[str, Any], bias: Any, weights: Any, keys: dict[tuple[int, int], int]
) -> Floats:
    """A line for each sum: the weight of each term, then the bias."""
    out = np.zeros((len(bias), len(keys) + 1))
    at = [keys[key] for key in _keys(holder)]
    for line, row in zip(out, weights, strict=True):
        np.add.at(line, at, row)
    out[:, -1] = bias
    return out


def _sizes(
    sums: Floats, model: dict[str, Any], keys: dict[tuple[int, int], int]
) -> Floats:
    """What the weights of each term, and the biases, amount to.

    A bias is what is left of sums over the terms at their means, and so is its rounding.
    """
    size = np.abs(sums).max(axis=0)
    fill = model["fill"]
    for key, (a, b) in zip(_keys(model), terms_of(model), strict=True):
        value = fill[a] * (fill[b] if b >= 0 else 1.0)
        size[-1] += size[keys[key]] * abs(value)
    return size


def _same_fill(test: dict[str, Any], model: dict[str, Any]) -> bool:
    """Whether a missing cell counts the same in both."""
    fill = dict(zip(test["columns"], test["fill"], strict=True))
    pairs = zip(model["columns"], model["fill"], strict=True)
    return all(np.isclose(fill.get(c, f), f, rtol=CLOSE) for c, f in pairs)
