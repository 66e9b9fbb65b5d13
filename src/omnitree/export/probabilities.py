"""How the leaves below a test compute probabilities, in words, where they share a model.

The model is described once, at the test: in one line if it consists of the test's own
functions, else sum by sum. Used by `describe`, rules, pictures and explanations.
"""

from __future__ import annotations

from typing import Any

from omnitree.export.lines import MODEL_TERMS, model_lines
from omnitree.export.model import Model
from omnitree.export.numbers import number
from omnitree.export.words import Sides, model_kind, sum_name, sums_of
from omnitree.tree.shared_models import OwnFunctions, with_sums

# Scales this near to 1 say nothing.
NO_SCALE = 1e-6
# Classes without a branch that are listed by name.
MOST_NAMES = 3


def probability_notes(model: Model) -> list[str]:
    """What the words of `probability_lines` mean, as far as the tree needs them."""
    texts = [probability_text(model, node) for node in model.shared]
    notes = []
    if any("logistic(" in text for text in texts):
        notes.append("logistic(t): 1 / (1 + exp(-t))")
    if any("softmax" in text for text in texts):
        notes.append("softmax: exp(score) of a class over the sum of exp(score) of all")
    return notes


def probability_lines(
    model: Model,
    node: int,
    pad: str,
    terms: int | None = MODEL_TERMS,
    **options: Any,
) -> list[str]:
    """Lines about the model that the leaves below a node share; none if they do not.

    Of a model that is not the test's own, each sum shows so many terms. `options` are
    those with which `sums_of` writes the test.
    """
    if node not in model.shared:
        return []
    line = pad + probability_text(model, node, **options)
    own, names = model.shared[node], None
    data = model.nodes[model.children(node)[0]]["model"]
    if own is not None:
        more = _functions(own)
        if not _is_told(more, options.get("most")):
            return [line]
        terms, line = options.get("most"), f"{line}:"
        unit = _unit(own)
        bias = [own.others[k][0] / unit for k in more]
        rows = [[w / unit for w in own.others[k][1]] for k in more]
        data = with_sums(data, bias, rows)
        names = [str(model.classes[k]) for k in more]
    scale = options.get("standardised")
    lines = model_lines({"model": data}, model.tree, pad + "  ", scale, terms, names)
    return [line, *lines]


def _unit(own: OwnFunctions) -> float:
    """What scores of others are divided by to be told: a machine's are told unscaled."""
    return own.scale if len(own.classes) > 2 else 1.0


def _is_told(more: list[int], most: int | None) -> bool:
    """Whether the functions of classes without a branch are written out: of few classes."""
    return bool(more) and (most is None or len(more) <= MOST_NAMES)


def _functions(own: OwnFunctions) -> list[int]:
    """Classes without a branch whose score is no constant."""
    return [k for k, (_, weights) in own.others.items() if any(weights)]


def probability_text(model: Model, node: int, name: str = "", **options: Any) -> str:
    """One line about the model that the leaves below a node share.

    `name` is that of the sum of a test of two branches, by default `sum_name`.
    """
    own = model.shared[node]
    if own is None:
        data = model.nodes[model.children(node)[0]]["model"]
        if model.numeric:
            return f"answer, by one {model_kind(data)} model:"
        return f"probabilities: softmax of the scores of one {model_kind(data)} model:"
    test = model.tests(node)[0]
    found = sums_of(test, model.tree["schema"], **options)
    rest = _rest(model, own, options.get("most"))
    if isinstance(found, Sides):
        return _of_two(model, own, found, name or sum_name(node), rest)
    calibrated = f", calibrated (scale {number(own.scale)})"
    if abs(own.scale - 1) < NO_SCALE:
        calibrated = ""
    return f"probabilities: softmax of the scores{rest}{calibrated}"


def _of_two(model: Model, own: OwnFunctions, found: Sides, name: str, rest: str) -> str:
    """The sum of a test of two branches, as one probability or as scores."""
    low, high = own.classes
    if found.signs[0] == ">=":  # branch 0 has the larger sums
        low, high = high, low
    cut = number(abs(found.cut), 6)
    apart = f"{name} {'-' if found.cut > 0 else '+'} {cut}" if found.cut else name
    if not own.others:
        score = f"{number(own.scale)} ({apart})"
        if abs(own.scale - 1) < NO_SCALE:
            score = apart
        return f"probability of {model.classes[high]}: logistic({score})"
    return (
        f"probabilities: softmax of t for {model.classes[high]}, -t for "
        f"{model.classes[low]}{rest}; t = {number(own.scale / 2)} ({apart})"
    )


def _rest(model: Model, own: OwnFunctions, most: int | None) -> str:
    """The scores of classes without a branch; those with a function are told below."""
    more, by_score = _functions(own), dict[str, list[str]]()
    for k, (constant, _) in own.others.items():
        if k not in more:
            score = number(constant / _unit(own))
            by_score.setdefault(score, []).append(str(model.classes[k]))
    parts = [f", {score} for {_listed(names)}" for score, names in by_score.items()]
    if more:
        names = _listed([str(model.classes[k]) for k in more])
        which = f"the sum{'s' * (len(more) > 1)} below"
        if not _is_told(more, most):
            which = "sums (not shown)"
        parts.append(f", {which} for {names}")
    return "".join(parts)


def _listed(names: list[str]) -> str:
    many = len(names) > MOST_NAMES
    return f"{len(names)} other classes" if many else ", ".join(names)
