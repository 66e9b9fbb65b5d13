"""Tests, sums and counts as text in the user's names.

`branch_text` is the one-line form, for rules, explanations, pictures and remarks in code;
`describe` (text.py) writes the same words over several lines.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from omnitree.export.case_words import Line, case_lines, case_terms
from omnitree.export.curve_words import curve_spread, curve_text
from omnitree.export.encoded import EncodedColumn, encoded_columns
from omnitree.export.model import NodeTest
from omnitree.export.numbers import number
from omnitree.export.plain import centre_of, plain_test, spreads
from omnitree.tree.shared_models import terms_of

# Terms of a sum that a short description shows; a quarter more is not worth hiding.
MOST_TERMS = 8
# A comparison with both sides negated.
MIRRORED = {"<=": ">=", ">=": "<=", "<": ">", ">": "<"}


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


def set_text(name: str, categories: list[Any], longest: int | None = None) -> str:
    """The condition that a feature is one of some categories.

    Of a list longer than `longest`, the first ones and how many more there are.

    >>> set_text("colour", ["red", "green", "blue"])
    'colour in {red, green, blue}'
    >>> set_text("colour", ["red", "green", "blue"], 5)
    'colour in {red, ... 2 more}'
    """
    if len(categories) == 1:
        return f"{name} = {categories[0]}"
    names = [str(category) for category in categories]
    shown = len(names)
    while longest is not None and shown > 1 and len(", ".join(names[:shown])) > longest:
        shown -= 1
    if shown < len(names):
        names = [*names[:shown], f"... {len(names) - shown} more"]
    return f"{name} in {{{', '.join(names)}}}"


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

    It begins with the constant `start`, if there is one; terms of weight 0 are left out.
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

    The value of the test may be the terms and a constant; `cut` is for the terms.
    """

    terms: list[str]
    signs: tuple[str, str]
    cut: float
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


@dataclass(frozen=True)
class Sums:
    """A machine: the terms of one sum per branch, constant first; the largest wins.

    What sums of cases leave open follows in lines `below` them.
    """

    terms: list[list[str]]
    below: list[Line] = field(default_factory=list)


def sums_of(
    test: NodeTest,
    schema: dict[str, Any],
    deviations: Sequence[float] | None = None,
    standardised: bool = False,
    most: int | None = None,
    brief: bool = False,
    ranges: Sequence[Sequence[float] | None] | None = None,
) -> Sides | Sums:
    """A test on several features in terms; a machine of two branches compares one sum.

    Curves are told by `curve_text`, within the `ranges` of their features, or, if `brief`,
    by name; cases by their number, unless `most` is None. What is no sum of weighted
    columns, products of two and curves is told by the columns that it is a function of.
    """
    features, data = schema["features"], test.table
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
    writer = SumWriter(plain, features, deviations, standardised, most, brief, ranges)
    lines = plain.get("curve_values", ())
    if test.cases is not None or (test.is_machine and test.n_branches > 2):
        sums = writer.write(plain["weights"], plain["bias"], lines)
        return Sums([terms for _, terms in sums], writer.below())
    if test.is_machine:  # the first wins if the difference is not below 0
        weights = less(*plain["weights"])
        lines = [less(*two) for two in zip(*lines, strict=True)]
        cut, signs = plain["bias"][1] - plain["bias"][0], (">=", "<")
    else:
        weights, cut, signs = plain["weights"], plain["threshold"], ("<=", ">")
    ((start, terms),) = writer.write([weights], lines=[lines])
    alone = None
    if not standardised and not lines:
        alone = _of_one_column(plain, weights, signs, cut, features)
    return Sides(terms, signs, cut - start, alone)


def known_of(tree: dict[str, Any]) -> dict[str, Any]:
    """What a tree knows of its columns, for `sums_of`."""
    return {"deviations": tree.get("deviations"), "ranges": tree.get("ranges")}


def less(first: Sequence[float], second: Sequence[float]) -> list[float]:
    """Numbers less others."""
    return [a - b for a, b in zip(first, second, strict=True)]


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

    `test` is from `plain_test`, `deviations` are those of the encoded columns. With
    `standardised`, weights are for columns in units of these. If at most about `most` terms
    of a sum are shown, the largest by weight times deviations, sums are centred: numbers
    are differences from their means, so that all terms, those left out as well, are 0 for
    an average row, as curves are, which learners centre. With `brief`, for one line, curves
    are told by name alone, and sums are centred only where terms are left out.
    """

    def __init__(
        self,
        test: dict[str, Any],
        features: list[dict[str, Any]],
        deviations: Sequence[float] | None = None,
        standardised: bool = False,
        most: int | None = None,
        brief: bool = False,
        ranges: Sequence[Sequence[float] | None] | None = None,
    ):
        self.ranges = ranges
        self.most, self.standardised, self.brief = most, standardised, brief
        self.features = features
        self.names = [column_name(c, features) for c in test["columns"]]
        self.pairs = [(a, b) for a, b in terms_of(test)]
        self.fill, self.test = test["fill"], test
        self.spread = spreads(test, features, deviations)
        self.known = bool(deviations)
        self.scale = [self._product(self.spread, pair) for pair in self.pairs]
        self.moves = [self._moves(pair) for pair in self.pairs]
        every = encoded_columns(features)
        self.counts = [self._is_flag(every[c]) for c in test["columns"]]

    def _is_flag(self, column: EncodedColumn) -> bool:
        """Whether a column is 1 or 0: an indicator, or a number that goes from 0 to 1."""
        ends = self.ranges[column.feature] if self.ranges else None
        return column.category >= 0 or (ends is not None and list(ends) == [0.0, 1.0])

    @staticmethod
    def _product(values: Sequence[float], pair: tuple[int, int]) -> float:
        a, b = pair
        return values[a] * (values[b] if b >= 0 else 1.0)

    def _moves(self, pair: tuple[int, int]) -> float:
        """Deviation of a term: a product of two moves with either, as large as the other."""
        a, b = pair
        if b < 0:
            return self.spread[a]
        one, other = self.fill[a] * self.spread[b], self.fill[b] * self.spread[a]
        return math.hypot(one, other, self.spread[a] * self.spread[b])

    def write(
        self,
        rows: Sequence[Sequence[float]],
        starts: Sequence[float] | None = None,
        lines: Sequence[Sequence[Sequence[float]]] = (),
    ) -> list[tuple[float, list[str]]]:
        """Constant and signed terms of sums; the constant is among them if it is given.

        `lines` are those of the curves in each sum. In `used`, they follow the terms.
        """
        n = len(self.pairs)
        curves = lines or [()] * len(rows)
        used = [
            [at for at, w in enumerate((*row, *map(any, own))) if w]
            for row, own in zip(rows, curves, strict=True)
        ]
        limit = math.inf if self.most is None else self.most + self.most // 4
        # A sum in one line keeps the units of the table as long as it is whole.
        centred = self.most is not None and (
            not self.brief or max(map(len, used)) > limit
        )
        centres = [self._centre(pair) if centred else 0.0 for pair in self.pairs]
        names = self._names(centres)
        out = []
        for i, row in enumerate(rows):
            sizes = [w * s for w, s in zip(row, self.moves, strict=True)]
            sizes += map(curve_spread, curves[i])
            shown = used[i]
            if len(shown) > limit:
                shown = sorted(shown, key=lambda at: -abs(sizes[at]))[: self.most]
            hidden = set(used[i]) - set(shown)
            start = 0.0 if starts is None else starts[i]
            plain = [at for at in shown if at < n]
            start += sum(row[at] * centres[at] for at in plain)
            start += sum(
                row[at] * self._product(self.fill, self.pairs[at])
                for at in hidden
                if at < n
            )
            weights = row
            if self.standardised:
                weights = [w * s for w, s in zip(row, self.scale, strict=True)]
            terms = sum_terms(
                [weights[at] for at in plain],
                [names[at] for at in plain],
                None if starts is None else start,
            )
            bent = [self._curve(at - n, curves[i]) for at in shown if at >= n]
            if bent and not plain and starts is None:
                terms = [bent.pop(0)]
            terms += [f"+ {text}" for text in bent]
            if "cases" in self.test:
                terms += case_terms(self.test, i, self.most is None and not self.brief)
            if hidden:
                many = "s" * (len(hidden) > 1)
                text = f"{len(hidden)} smaller term{many}, 0 for an average row"
                terms.append(f"+ ... ({text})")
            out.append((start, terms))
        return out

    def below(self) -> list[Line]:
        """Lines that say what sums of cases compare; none of other sums."""
        if "cases" not in self.test:
            return []
        names = self._columns
        units = self.spread if self.standardised else None
        return case_lines(self.test, names, units, self.spread, self.most)

    @property
    def _columns(self) -> list[str]:
        """Names of the columns as products and cases have them."""
        return [f"z({n})" for n in self.names] if self.standardised else self.names

    def _curve(self, j: int, lines: Sequence[Sequence[float]]) -> str:
        column, knots = self.test["curve_columns"][j], self.test["knots"][j]
        if self.brief:
            return f"curve({column_name(column, self.features)})"
        feature = encoded_columns(self.features)[column].feature
        reach = self.ranges[feature] if self.ranges else None
        return f"({curve_text(column, knots, lines[j], self.features, reach)})"

    def _centre(self, pair: tuple[int, int]) -> float:
        """From where a term is measured; flags keep their 1 and 0."""
        a, b = pair
        if self.counts[a] or (b >= 0 and self.counts[b]):
            return 0.0
        spread = self.spread[a] if self.known and b < 0 else None
        return centre_of(self._product(self.fill, pair), spread)

    def _names(self, centres: Sequence[float]) -> list[str]:
        names = []
        for name, pair, centre in zip(  # those of single terms get their z below
            term_names(self.test, self._columns), self.pairs, centres, strict=True
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
    longest: int | None = None,
) -> str:
    """Condition of branch `b` of a test on one line.

    `deviations` are those of the encoded columns. A sum of more than `most` terms shows
    the largest of them, a list of categories longer than `longest` the first.
    """
    if test.can_fail:
        return _of_one_feature(test, b, schema["features"], longest)
    found = sums_of(test, schema, deviations, most=most, brief=True)
    if isinstance(found, Sides):
        return found.conditions()[b]
    return f"{largest(b, test.names)}: {' '.join(found.terms[b])}"


def subject_text(test: NodeTest, tree: dict[str, Any], most: int | None = None) -> str:
    """What a test looks at: a feature, a sum, or how many scores."""
    if test.can_fail:
        return tree["schema"]["features"][test.feature]["name"]
    if test.is_machine:
        return f"largest of {test.n_branches} scores"
    found = sums_of(test, tree["schema"], **known_of(tree), most=most, brief=True)
    assert isinstance(found, Sides)
    return " ".join(found.terms)


def model_kind(model: dict[str, Any]) -> str:
    """What a model is: additive with curves, quadratic with products, or linear.

    That of cases is called after these whatever it adds to them.
    """
    if "cases" in model:
        return "case-based"
    if "knots" in model:
        return "additive"
    return "quadratic" if "terms" in model else "linear"


def sum_name(node: int) -> str:
    """The name of a node's sum, by its number: no feature is likely to be called so."""
    return f"sum #{node}"


def largest(b: int, names: Sequence[str] = ()) -> str:
    """That branch `b` of a machine has the largest score."""
    return f"{names[b] if names else f'branch {b + 1}'} is largest"


def _of_one_feature(
    test: NodeTest, b: int, features: list[dict[str, Any]], longest: int | None
) -> str:
    feature, data = features[test.feature], test.data
    if "branch" in data:
        pairs = zip(feature["categories"], data["branch"], strict=True)
        return set_text(feature["name"], [c for c, to in pairs if to == b], longest)
    sign = "<=" if b == data["low"] else ">"
    if feature["kind"] == "ordered":
        categories = feature["categories"]
        cut = min(max(int(data["threshold"]), 0), len(categories) - 1)
        return f"{feature['name']} {sign} {categories[cut]}"
    return f"{feature['name']} {sign} {number(data['threshold'], 6)}"
