"""Tests, sums and counts as text in the user's names.

`branch_text` is the one-line form, for rules, explanations, pictures and remarks in code;
`describe` (text.py) writes the same words over several lines.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from omnitree.export.model import NodeTest, encoded_columns
from omnitree.export.plain import centre_of, plain_test, spreads
from omnitree.tree.shared_models import terms_of

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
    """Name of an encoded column: a number's own, or "[feature = category]"."""
    found = encoded_columns(features)[column]
    feature = features[found.feature]
    if found.category < 0:
        return feature["name"]
    return f"[{feature['name']} = {feature['categories'][found.category]}]"


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


def set_text(name: str, categories: list[Any]) -> str:
    """The condition that a feature is one of some categories."""
    if len(categories) == 1:
        return f"{name} = {categories[0]}"
    return f"{name} in {{{', '.join(map(str, categories))}}}"


def rows_text(node: dict[str, Any]) -> str:
    """How many training rows a node for numbers has, and their mean loss."""
    total = sum(node["value"])
    loss = node["loss"] / total if total else 0.0
    return f"{counted(total)}, loss {number(loss)}"


def weight_text(rows: float) -> str:
    """A weight of rows without decimals that say nothing: at most one, of small weights.

    >>> weight_text(49.99999), weight_text(2.5), weight_text(0.02), weight_text(8123.4)
    ('50', '2.5', '<0.1', '8123')
    """
    if 0 < rows < 0.05:
        return "<0.1"
    return f"{rows:.0f}" if rows >= 1000 else f"{rows:.1f}".removesuffix(".0")


def counted(rows: float) -> str:
    """A weight of rows in words.

    >>> counted(1.0), counted(2.5)
    ('1 row', '2.5 rows')
    """
    text = weight_text(rows)
    return f"{text} row{'s' * (text != '1')}"


def sum_terms(
    weights: Sequence[float], names: Sequence[str], start: float | None = None
) -> list[str]:
    """A sum as a list of signed terms, so that it can be broken between them.

    Parameters
    ----------
    weights, names : sequences
        Of the terms; those of weight 0 say nothing and are left out.
    start : float, optional
        A constant to begin with.
    """
    used = [(w, name) for w, name in zip(weights, names, strict=True) if w]
    signed = [(w, f"{number(abs(w))} {name}") for w, name in used]
    if start is not None:
        signed.insert(0, (start, number(abs(start))))
    elif len(used) == 1 and abs(used[0][0]) == 1:
        weight, name = used[0]
        signed = [(weight, f"[{name}]" if name.startswith("-") else name)]
    terms = [f"{'-' if w < 0 else '+'} {text}" for w, text in signed]
    if terms:
        sign, text = terms[0].split(" ", 1)
        terms[0] = ("-" if sign == "-" else "") + text
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
    """A test of one sum: its terms, and how it compares with a cut on each branch.

    The value of the test is `start` more than the terms; `cut` is for the terms.
    """

    terms: list[str]
    signs: tuple[str, str]
    cut: float
    start: float = 0.0
    alone: tuple[str, str] | None = None  # conditions of a test of one column

    def conditions(self, name: str = "") -> list[str]:
        """The condition of each branch, of the sum itself or of what it is called.

        One term is turned to be positive; what explanations say of longer sums, their
        value and what adds to it, has the signs of the test.
        """
        if self.alone and not name:
            return list(self.alone)
        terms = [name] if name else self.terms
        turn = len(terms) == 1
        return [comparison(terms, sign, self.cut, turn) for sign in self.signs]

    def whole(self) -> str:
        """The value of the test, constant first."""
        if not self.start:
            return " ".join(self.terms)
        first = self.terms[0]
        first = f"- {first[1:]}" if first.startswith("-") else f"+ {first}"
        return " ".join([number(self.start), first, *self.terms[1:]])


@dataclass(frozen=True)
class Sums:
    """A machine: the terms of one sum a branch, constant first; the largest wins."""

    terms: list[list[str]]


def sums_of(
    test: NodeTest,
    schema: dict[str, Any],
    deviations: Sequence[float] | None = None,
    standardised: bool = False,
    most: int | None = None,
) -> Sides | Sums:
    """A test on several features in terms; a machine of two branches compares one sum.

    What is no sum of weighted columns, or of products of two, is told by the columns that
    it is a function of.
    """
    features, data = schema["features"], test.data
    if "weights" not in data:
        columns = [column_name(c, features) for c in data["columns"]]
        if standardised:
            columns = [f"z({name})" for name in columns]
        if test.is_machine:
            every = range(1, test.n_branches + 1)
            return Sums([_listed(f"{test.kind} {k}", columns, most) for k in every])
        terms = _listed(test.kind, columns, most)
        return Sides(terms, ("<=", ">"), data["threshold"])
    plain = plain_test(data, features)
    writer = SumWriter(plain, features, deviations, standardised, most)
    if test.is_machine and test.n_branches > 2:
        sums = writer.write(plain["weights"], plain["bias"])
        return Sums([terms for _, terms in sums])
    if test.is_machine:  # the first wins if the difference is not below 0
        weights = [w - v for w, v in zip(*plain["weights"], strict=True)]
        cut, signs = plain["bias"][1] - plain["bias"][0], (">=", "<")
    else:
        weights, cut, signs = plain["weights"], plain["threshold"], ("<=", ">")
    ((start, terms),) = writer.write([weights])
    alone = (
        None if standardised else _of_one_column(plain, weights, signs, cut, features)
    )
    return Sides(terms, signs, cut - start, start, alone)


def _of_one_column(
    plain: dict[str, Any],
    weights: Sequence[float],
    signs: tuple[str, str],
    cut: float,
    features: list[dict[str, Any]],
) -> tuple[str, str] | None:
    """Conditions of a sum with one term, no product: in the column's unit, or categories."""
    used = [(w, term) for w, term in zip(weights, terms_of(plain), strict=True) if w]
    if len(used) != 1 or used[0][1][1] >= 0:
        return None
    (weight, (at, _)), found = used[0], encoded_columns(features)
    column = found[plain["columns"][at]]
    feature = features[column.feature]
    if column.category < 0:
        own = cut / abs(weight)
        if not math.isfinite(own):
            return None
        terms = sum_terms([math.copysign(1.0, weight)], [feature["name"]])
        low, high = (comparison(terms, sign, own) for sign in signs)
        return low, high
    compare = {"<=": operator.le, ">=": operator.ge}[signs[0]]
    inside, outside = compare(weight, cut), compare(0.0, cut)
    if inside == outside:  # one branch for all
        return None
    category = feature["categories"][column.category]
    others = [c for c in feature["categories"] if c != category]
    low, high = set_text(feature["name"], [category]), set_text(feature["name"], others)
    return (low, high) if inside else (high, low)


def _listed(name: str, columns: Sequence[str], most: int | None) -> list[str]:
    """A function of some columns, so that it can be broken between them."""
    rest = 0 if most is None else max(len(columns) - most, 0)
    tail = [f"... {rest} more"] if rest else []
    *listed, last = [*columns[:most], *tail] or [""]
    listed = [*(f"{column}," for column in listed), f"{last})"]
    return [f"{name}({listed[0]}", *listed[1:]]


class SumWriter:
    """Writes the sums of a plain test, or of a leaf's model, all in the same way.

    Parameters
    ----------
    test : dict
        From `plain_test`: `columns`, `fill` and, with products, `terms`.
    features : list of dict
        Of the schema.
    deviations : sequence of float, optional
        Standard deviations of the encoded columns.
    standardised : bool
        Show weights for columns in units of their deviations.
    most : int, optional
        Show only so many terms of a sum, the largest by weight times deviations. The
        sums are then centred: numbers are shown as differences from their means, and
        terms that are left out are 0 for an average row.
    """

    def __init__(
        self,
        test: dict[str, Any],
        features: list[dict[str, Any]],
        deviations: Sequence[float] | None = None,
        standardised: bool = False,
        most: int | None = None,
    ):
        self.most, self.standardised = most, standardised
        self.names = [column_name(c, features) for c in test["columns"]]
        self.pairs = [(a, b) for a, b in terms_of(test)]
        self.fill, self.test = test["fill"], test
        self.spread = spreads(test, features, deviations)
        self.known = bool(deviations)
        self.scale = [self._product(self.spread, pair) for pair in self.pairs]
        every = encoded_columns(features)
        self.counts = [every[c].category >= 0 for c in test["columns"]]  # 1 or 0

    @staticmethod
    def _product(values: Sequence[float], pair: tuple[int, int]) -> float:
        a, b = pair
        return values[a] * (values[b] if b >= 0 else 1.0)

    def write(
        self, rows: Sequence[Sequence[float]], starts: Sequence[float] | None = None
    ) -> list[tuple[float, list[str]]]:
        """Constant and signed terms of sums; the constant is among them if it is given."""
        used = [[at for at, w in enumerate(row) if w] for row in rows]
        centred = self.most is not None and max(map(len, used)) > self.most
        centres = [self._centre(pair) if centred else 0.0 for pair in self.pairs]
        names = self._names(centres)
        out = []
        for i, row in enumerate(rows):
            sizes = [w * s for w, s in zip(row, self.scale, strict=True)]
            shown = used[i]
            if centred and len(shown) > (self.most or 0):
                shown = sorted(shown, key=lambda at: -abs(sizes[at]))[: self.most]
            hidden = set(used[i]) - set(shown)
            start = 0.0 if starts is None else starts[i]
            start += sum(row[at] * centres[at] for at in shown)
            start += sum(
                row[at] * self._product(self.fill, self.pairs[at]) for at in hidden
            )
            weights = sizes if self.standardised else row
            terms = sum_terms(
                [weights[at] for at in shown],
                [names[at] for at in shown],
                None if starts is None else start,
            )
            if hidden:
                n = len(hidden)
                text = f"{n} smaller term{'s' * (n > 1)}, 0 for an average row"
                terms.append(f"+ ... ({text})")
            out.append((start, terms))
        return out

    def _centre(self, pair: tuple[int, int]) -> float:
        """From where a term is measured; indicators keep their 1 and 0."""
        a, b = pair
        if self.counts[a] or (b >= 0 and self.counts[b]):
            return 0.0
        spread = self.spread[a] if self.known and b < 0 else None
        return centre_of(self._product(self.fill, pair), spread)

    def _names(self, centres: Sequence[float]) -> list[str]:
        columns = self.names
        if self.standardised:  # those of single terms get their z below
            columns = [f"z({name})" for name in columns]
        names = []
        for name, pair, centre in zip(
            term_names(self.test, columns), self.pairs, centres, strict=True
        ):
            if not centre:
                names.append(name)
                continue
            alone = self.standardised and pair[1] < 0
            inside = self.names[pair[0]] if alone else name
            unit = self._product(self.spread, pair) if self.standardised else 1.0
            shift = centre if alone else centre / (unit or 1.0)
            text = f"({inside} {'-' if shift > 0 else '+'} {number(abs(shift), 6)})"
            names.append(f"z{text}" if alone else text)
        return names


def branch_text(
    test: NodeTest,
    b: int,
    schema: dict[str, Any],
    deviations: Sequence[float] | None = None,
    most: int | None = None,
) -> str:
    """Condition of branch `b` of a test on one line.

    `deviations` are those of the encoded columns. A sum of more than `most` terms shows
    the largest of them.
    """
    if test.can_fail:
        return _of_one_feature(test, b, schema["features"])
    found = sums_of(test, schema, deviations, most=most)
    if isinstance(found, Sides):
        return found.conditions()[b]
    return f"{largest(b, test.names)}: {' '.join(found.terms[b])}"


def subject_text(
    test: NodeTest, tree: dict[str, Any], most: int | None = None, whole: bool = False
) -> str:
    """What a test looks at: a feature, a sum, or how many scores.

    With `whole`, the sum has its constant, so that it is the value of the test.
    """
    if test.can_fail:
        return tree["schema"]["features"][test.feature]["name"]
    if test.is_machine:
        return f"largest of {test.n_branches} scores"
    found = sums_of(test, tree["schema"], tree.get("deviations"), most=most)
    assert isinstance(found, Sides)
    return found.whole() if whole else " ".join(found.terms)


def model_kind(model: dict[str, Any]) -> str:
    """What a model is: linear, or quadratic if some of its terms are products."""
    return "quadratic" if "terms" in model else "linear"


def sum_name(node: int) -> str:
    """The name of a node's sum, by its number: no feature is likely to be called so."""
    return f"sum #{node}"


def largest(b: int, names: Sequence[str] = ()) -> str:
    """That branch `b` of a machine has the largest score."""
    return f"{names[b] if names else f'branch {b + 1}'} largest"


def _of_one_feature(test: NodeTest, b: int, features: list[dict[str, Any]]) -> str:
    feature, data = features[test.feature], test.data
    if "branch" in data:
        pairs = zip(feature["categories"], data["branch"], strict=True)
        return set_text(feature["name"], [c for c, to in pairs if to == b])
    sign = "<=" if b == data["low"] else ">"
    if feature["kind"] == "ordered":
        categories = feature["categories"]
        cut = min(max(int(data["threshold"]), 0), len(categories) - 1)
        return f"{feature['name']} {sign} {categories[cut]}"
    return f"{feature['name']} {sign} {number(data['threshold'], 6)}"
