"""Tests, sums and counts as text in the user's names. Reads the public dict.

`branch_text` is the one-line form, for rules, explanations, pictures and remarks in code;
`describe` (text.py) writes the same words over several lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from omnitree.export.model import MACHINES, terms_of

# Terms of a sum that a short description shows.
MOST_TERMS = 8
# A comparison with both sides negated.
MIRRORED = {"<=": ">=", ">=": "<=", "<": ">", ">": "<"}


def number(value: float, digits: int = 4) -> str:
    """A number with so many digits; large ones in full instead of with an exponent.

    >>> number(0.123456), number(1234567.8), number(1e-7)
    ('0.1235', '1234568', '1e-07')
    """
    text = f"{value:.{digits}g}"
    return f"{value:.0f}" if "e+" in text and abs(value) < 1e12 else text


def column_name(column: int, features: list[dict[str, Any]]) -> str:
    """Name of an encoded column: numbers have one, symbols one each (two share one)."""
    at = 0
    for feature in features:
        symbols = feature["categories"] or []
        if feature["kind"] in ("numeric", "ordered"):
            width, labels = 1, [feature["name"]]
        elif len(symbols) == 2:
            width, labels = 1, [f"[{feature['name']} = {symbols[1]}]"]
        else:
            width = len(symbols) if len(symbols) > 2 else 0
            labels = [f"[{feature['name']} = {s}]" for s in symbols]
        if column < at + width:
            return labels[column - at]
        at += width
    raise ValueError(f"no encoded column {column}")


def term_names(test: dict[str, Any], columns: Sequence[str]) -> list[str]:
    """Names of the terms of a test on several features, from those of its columns.

    Names that are no single word stand in brackets, so that a product can be told from
    a name and "length (cm)" squared from square centimetres.
    """

    def factor(name: str) -> str:
        plain = name.isidentifier() or name.startswith(("[", "z("))
        return name if plain else f"[{name}]"

    names = []
    for i, j in terms_of(test):
        if j < 0:
            names.append(columns[i])
        elif i == j:
            names.append(f"{factor(columns[i])}^2")
        else:
            names.append(f"{factor(columns[i])}*{factor(columns[j])}")
    return names


def set_text(name: str, symbols: list[Any]) -> str:
    """The condition that a feature is one of some symbols."""
    if len(symbols) == 1:
        return f"{name} = {symbols[0]}"
    return f"{name} in {{{', '.join(map(str, symbols))}}}"


def rows_text(node: dict[str, Any]) -> str:
    """How many training rows a node for numbers has, and their mean loss."""
    total = sum(node["value"])
    loss = node["loss"] / total if total else 0.0
    return f"{counted(total)}, loss {number(loss)}"


def counted(rows: float) -> str:
    """A weight of rows: "1 row", "2.5 rows"."""
    return f"{number(rows, 6)} row{'s' * (rows != 1)}"


def sum_terms(
    weights: Sequence[float],
    names: Sequence[str],
    sizes: Sequence[float] = (),
    most: int | None = None,
    start: float | None = None,
) -> list[str]:
    """A sum as a list of signed terms, so that it can be broken between them.

    Parameters
    ----------
    weights, names : sequences
        Of the terms; those of weight 0 say nothing and are left out.
    sizes : sequence of float, optional
        What the terms amount to; the largest of them come first where not all are shown.
    most : int, optional
        How many to show; all if not given.
    start : float, optional
        A constant to begin with.
    """
    shown = [i for i, w in enumerate(weights) if w]
    rest = 0
    if most is not None and len(shown) > most:
        rest = len(shown) - most
        shown = sorted(shown, key=lambda i: -abs(sizes[i]))[:most]
    signed = [(weights[i], f"{number(abs(weights[i]))} {names[i]}") for i in shown]
    if start is not None:
        signed.insert(0, (start, number(abs(start))))
    elif len(shown) == 1 and abs(weights[shown[0]]) == 1:
        name = names[shown[0]]
        signed = [(weights[shown[0]], f"[{name}]" if name.startswith("-") else name)]
    terms = [f"{'-' if w < 0 else '+'} {text}" for w, text in signed]
    if terms:
        sign, text = terms[0].split(" ", 1)
        terms[0] = ("-" if sign == "-" else "") + text
    if rest:
        terms.append(f"+ ... ({rest} smaller term{'s' * (rest > 1)})")
    return terms or ["0"]


def comparison(terms: Sequence[str], sign: str, cut: float, turn: bool = True) -> str:
    """A sum beside a number; unless `turn` is False, a sum of negative terms is turned.

    >>> comparison(["2 x", "- 3 y"], ">", 1.5), comparison(["-2 x", "- 3 y"], "<=", -2.0)
    ('2 x - 3 y > 1.5', '2 x + 3 y >= 2')
    """
    text = " ".join(terms)
    if turn and all(term.startswith("-") for term in terms):
        text = " + ".join(term[1:].lstrip() for term in terms)
        sign, cut = MIRRORED[sign], 0.0 - cut
    return f"{text} {sign} {number(cut, 6)}"


@dataclass(frozen=True)
class Sides:
    """A test of one sum: its terms, and how it compares with a cut on each branch."""

    terms: list[str]
    signs: tuple[str, str]
    cut: float

    def conditions(self, name: str = "") -> list[str]:
        """The condition of each branch, of the sum itself or of what it is called.

        One term is turned to be positive; what explanations say of longer sums, their
        value and what adds to it, has the signs of the test.
        """
        terms = [name] if name else self.terms
        turn = len(terms) == 1
        return [comparison(terms, sign, self.cut, turn) for sign in self.signs]


@dataclass(frozen=True)
class Sums:
    """A machine: the terms of one sum a branch; the largest wins."""

    terms: list[list[str]]


def sums_of(
    kind: str,
    test: dict[str, Any],
    schema: dict[str, Any],
    deviations: Sequence[float] | None = None,
    standardised: bool = False,
    most: int | None = None,
) -> Sides | Sums:
    """A test on several features in terms; a machine of two branches compares one sum."""
    columns = [column_name(c, schema["features"]) for c in test["columns"]]
    if standardised:
        columns = [f"z({name})" for name in columns]
    if kind == "network":
        rest = 0 if most is None else max(len(columns) - most, 0)
        tail = [f"... {rest} more"] if rest else []
        *listed, last = [*columns[:most], *tail]
        listed = [*(f"{name}," for name in listed), f"{last})"]
        listed[0] = f"network({listed[0]}"
        return Sides(listed, ("<=", ">"), 0.0)
    names = term_names(test, columns)
    spread = [deviations[c] if deviations else 1.0 for c in test["columns"]]
    scale = [spread[i] * (spread[j] if j >= 0 else 1.0) for i, j in terms_of(test)]

    def terms(weights: Sequence[float], start: float | None = None) -> list[str]:
        sizes = [w * s for w, s in zip(weights, scale, strict=True)]
        shown = sizes if standardised else weights
        return sum_terms(shown, names, sizes, most, start)

    if kind not in MACHINES:
        return Sides(terms(test["weights"]), ("<=", ">"), test["threshold"])
    if len(test["bias"]) == 2:  # the first wins if the difference is not below 0
        pairs = zip(*test["weights"], strict=True)
        cut = test["bias"][1] - test["bias"][0]
        return Sides(terms([w - v for w, v in pairs]), (">=", "<"), cut)
    return Sums(
        [terms(w, b) for w, b in zip(test["weights"], test["bias"], strict=True)]
    )


def branch_text(
    kind: str,
    test: dict[str, Any],
    b: int,
    schema: dict[str, Any],
    names: Sequence[str] = (),
    deviations: Sequence[float] | None = None,
    most: int | None = None,
) -> str:
    """Condition of branch `b` of a test on one line.

    `names` are those of a machine's branches, `Test.names`. `deviations` are those of the
    encoded columns. A sum of more than `most` terms shows the largest of them.
    """
    if kind in ("axis", "multiway", "subset"):
        return _of_one_feature(kind, test, b, schema["features"])
    found = sums_of(kind, test, schema, deviations, most=most)
    if isinstance(found, Sides):
        return found.conditions()[b]
    return f"{largest(b, names)}: {' '.join(found.terms[b])}"


def subject_text(
    node: dict[str, Any], tree: dict[str, Any], most: int | None = None
) -> str:
    """What the test of a node looks at: a feature, a sum, or how many sums."""
    kind, test = node["kind"], node["test"]
    if "feature" in test:
        return tree["schema"]["features"][test["feature"]]["name"]
    if kind in MACHINES:
        return f"largest of {len(test['bias'])} sums"
    found = sums_of(kind, test, tree["schema"], tree.get("deviations"), most=most)
    assert isinstance(found, Sides)
    return " ".join(found.terms)


def sum_name(node: int) -> str:
    """The name of a node's sum, by its number: no feature is likely to be called so."""
    return f"sum #{node}"


def largest(b: int, names: Sequence[str] = ()) -> str:
    """That branch `b` of a machine has the largest sum."""
    return f"{names[b] if names else f'branch {b + 1}'} largest"


def _of_one_feature(
    kind: str, test: dict[str, Any], b: int, features: list[dict[str, Any]]
) -> str:
    feature = features[test["feature"]]
    if kind != "axis":
        pairs = zip(feature["categories"], test["branch"], strict=True)
        return set_text(feature["name"], [c for c, to in pairs if to == b])
    sign = "<=" if b == test["low"] else ">"
    if feature["kind"] == "ordered":
        symbols = feature["categories"]
        cut = min(max(int(test["threshold"]), 0), len(symbols) - 1)
        return f"{feature['name']} {sign} {symbols[cut]}"
    return f"{feature['name']} {sign} {number(test['threshold'], 6)}"
