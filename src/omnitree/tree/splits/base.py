"""What all kinds of tests have in common, and the registry of kinds.

A `Split` is a frozen value. It packs itself into the int and double slices that the
compiled routing rule reads (`_core/predict/route.hpp`), so a split routes rows in exactly
the way the finished tree will. `to_dict` gives the plain form of the tree format, `rule`
the expression that exporters translate. Learners make splits, the tree stores them packed,
`Tree.split(node)` unpacks one.

A kind is a frozen dataclass in a file of its own: its fields, its `rule`, and its `problem`
where a test may be damaged in ways that building the rule does not find. A kind with a case
in `route.hpp` also has that case's layout; any other is routed by its rule.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache, cached_property
from typing import Any, ClassVar, TypeVar

import numpy as np

from omnitree._core.predict import route as kernel
from omnitree.data.schema import Schema
from omnitree.data.table import Table
from omnitree.tree.curves import category_problem
from omnitree.tree.expression import (
    Curve,
    Cut,
    Rule,
    columns_in,
    feature_of,
    walk,
)
from omnitree.tree.programs import program

# Kinds of tests by name, and all names by the code that trees store (`Kind` in route.hpp).
SPLITS: dict[str, type[Split]] = {}
KINDS: list[str] = ["leaf"]

Packed = tuple[int, list[int], list[float]]
_Kind = TypeVar("_Kind", bound="type[Split]")


def register(cls: _Kind) -> _Kind:
    """Make a kind of test known, so that trees may hold it; a class decorator."""
    if cls.kind in KINDS:
        raise ValueError(f"there is a kind of test called {cls.kind!r} already")
    SPLITS[cls.kind] = cls
    KINDS.append(cls.kind)
    return cls


def renumbered(codes: np.ndarray, kinds: Sequence[str]) -> np.ndarray:
    """Codes of kinds, in the order in which another process registered them, as here."""
    if kinds == tuple(KINDS):
        return codes
    used = {code: kinds[code] for code in np.unique(codes).tolist()}
    if unknown := sorted(set(used.values()) - set(KINDS)):
        raise ValueError(
            f"the tree has tests of kind {', '.join(unknown)}, which are not registered: "
            "import the package that defines them first"
        )
    out = codes.copy()
    for code, kind in used.items():
        out[codes == code] = KINDS.index(kind)
    return out


@dataclass(frozen=True)
class Constructed:
    """A feature made at a node, that nodes below may test too."""

    test: Any  # whether the feature is at most 0
    values: np.ndarray  # (n,): the feature for the rows of a node

    def take(self, here: np.ndarray) -> Constructed:
        """The feature for some of the rows."""
        return Constructed(self.test, self.values[here])

    def cut(self, threshold: float, merit: float) -> Split:
        """Whether the feature is at most `threshold`."""
        at = self.test.threshold + threshold
        return replace(self.test, threshold=at, merit=merit).in_own_unit()


@dataclass(frozen=True)
class Considered:
    """A candidate for a node's test and what the choice thought of it."""

    learner: str  # who proposed it
    # Kind of its test; "none" where it found none, "leaf" for a subtree that is one.
    kind: str
    parameters: int  # free parameters of the test
    criterion: str  # what the score is ("AIC", "error")
    score: float | None  # smaller is better; None where there is none
    chosen: bool
    # By how many standard errors the chosen one has a better score on held-out rows; None
    # where nobody measured that.
    behind: float | None = None
    # Of the chosen one: how many standard errors made a difference; None as above.
    se: float | None = None


@dataclass(frozen=True)
class Split:
    """A fitted test with `n_children` branches."""

    kind: ClassVar[str]
    family: ClassVar[str] = ""  # what users call such tests; the kind itself if empty
    title: ClassVar[str] = ""  # the same in a few words
    # What the learner thought of it; not part of the test itself.
    merit: float = field(default=0.0, kw_only=True, compare=False)
    # Branch of a row that neither the test nor its surrogates can place; -1 divides the
    # row among all branches by their training weight.
    missing: int = field(default=0, kw_only=True)
    # Tests tried in turn where this one cannot tell.
    surrogates: tuple[Split, ...] = field(default=(), kw_only=True)
    # What was made at this node for the nodes below; known only while the tree grows.
    constructed: tuple[Any, ...] = field(
        default=(), kw_only=True, compare=False, repr=False
    )
    # The tests among which this one was chosen, in order of complexity.
    candidates: tuple[Considered, ...] = field(
        default=(), kw_only=True, compare=False, repr=False
    )
    # Free parameters, where principal components leave fewer than there are weights; 0:
    # count the weights.
    free: int = field(default=0, kw_only=True, compare=False, repr=False)
    # +1 where answers must not fall from branch 0 to branch 1, -1 where they must not
    # rise, 0 where they may. Known only while the tree grows.
    direction: int = field(default=0, kw_only=True, compare=False, repr=False)

    @property
    def rule(self) -> Rule:
        """What the test does, in the form that exporters translate."""
        raise AssertionError(f"{type(self).__name__} has no rule")

    def problem(self, schema: Schema) -> str | None:
        """What is wrong with the test under this schema, or None."""
        if feature_of(self.rule) is not None:
            return one_feature_problem(self.rule, schema)
        if not all(0 <= c < schema.n_columns for c in columns_in(self.rule)):
            return "column out of range"
        bent = [v.column for v in walk(self.rule) if isinstance(v, Curve)]
        return category_problem(bent, schema)

    def in_own_unit(self) -> Split:
        """The same test, with the threshold in the unit of its column if it has but one."""
        return self

    def pack(self) -> Packed:
        """Kind code, ints and doubles, as the routing rule reads them."""
        return self._packed

    @cached_property
    def _packed(self) -> Packed:
        index, weight = self._layout()
        return KINDS.index(self.kind), list(index), list(weight)

    def _layout(self) -> tuple[Sequence[int], Sequence[float]]:
        """Ints and doubles; of a kind without a case of its own, its fields and program."""
        index: list[int] = []
        weight: list[float] = []
        for name in _own_fields(type(self)):
            _flatten(getattr(self, name), index, weight)
        code, numbers = program(self.rule)
        return [len(index), len(weight), *index, *code], [*weight, *numbers]

    @classmethod
    def unpack(cls, index: list[int], weight: list[float], **rest: Any) -> Split:
        """The test from its packed form."""
        ints, doubles = iter(index[2:]), iter(weight)
        shapes = _own_fields(cls)
        return cls(**{n: _restore(s, ints, doubles) for n, s in shapes.items()}, **rest)

    @property
    def n_children(self) -> int:
        """Number of branches."""
        return 2

    @property
    def n_params(self) -> int:
        """Free parameters as AIC and BIC count them (univariate tests: 2)."""
        return 2

    @property
    def complexity(self) -> int:
        """Free parameters: 2 of a univariate test, k + 1 of one over k dimensions."""
        return self.free or self.n_params

    @property
    def is_finite(self) -> bool:
        """Whether all its numbers are finite."""
        return all_finite(self.pack()[2])

    def route(self, table: Table, rows: np.ndarray) -> np.ndarray:
        """Branch of each row, -1 where test and surrogates cannot tell."""
        rows = np.ascontiguousarray(rows, dtype=np.int64)
        branch = self._branches(table, rows)
        for test in self.surrogates:
            left = np.flatnonzero(branch < 0)
            if not len(left):
                break
            branch[left] = test._branches(table, rows[left])
        return branch

    def _branches(self, table: Table, rows: np.ndarray) -> np.ndarray:
        """Branch of each row under this test alone."""
        kind, index, weight = self.pack()
        out = np.empty(len(rows), dtype=np.int32)
        kernel.route_test(
            kind,
            np.asarray(index, dtype=np.int32),
            np.asarray(weight, dtype=np.float64),
            table.values,
            rows,
            *table.schema.linear_columns(),
            out,
        )
        return out

    def features(self, schema: Schema) -> set[int]:
        """Features that the test, without its surrogates, looks at."""
        rule = self.rule
        feature = feature_of(rule)
        if feature is not None:
            return {feature}
        of_column = schema.linear_columns()[0]
        return {int(of_column[c]) for c in columns_in(rule)}

    def own_values(self) -> dict[str, Any]:
        """What makes the test, by name: without merit, missing branch and surrogates."""
        return {name: getattr(self, name) for name in _own_fields(type(self))}

    def to_dict(self) -> dict[str, Any]:
        """The same in plain types."""
        return {name: _plain(value) for name, value in self.own_values().items()}


def all_finite(values: Sequence[float]) -> bool:
    """Whether no number is infinite or NaN."""
    # Infinite numbers stay infinite in a sum, or become NaN; finite ones may, too.
    return math.isfinite(sum(values)) or all(map(math.isfinite, values))


def _plain(value: Any) -> Any:
    if not isinstance(value, tuple):
        return value
    return [_plain(v) if isinstance(v, tuple) else v for v in value]


def one_feature_problem(rule: Any, schema: Schema) -> str | None:
    """What is wrong with a test on one cell under this schema, or None."""
    feature = feature_of(rule)
    if feature is None or not 0 <= feature < schema.n_features:
        return f"feature {feature} is not in the schema"
    categories = int(schema.n_categories[feature])
    if isinstance(rule, Cut):
        if rule.low not in (0, 1):
            return f"low is {rule.low}, not 0 or 1"
        return "a threshold on a categorical feature" if categories else None
    if len(rule.branch) != categories:
        return f"{len(rule.branch)} categories where the schema has {categories}"
    return None


def columns_problem(holder: Any, schema: Schema) -> str | None:
    """What is wrong with the columns, fills and terms of a test or a model, or None."""
    m = len(holder.columns)
    if m and not (min(holder.columns) >= 0 and max(holder.columns) < schema.n_columns):
        return "column out of range"
    if len(holder.fill) != m:
        return "one fill a column is needed"
    terms = getattr(holder, "terms", ())  # there can be a million of them
    if not terms:
        return None
    if set(map(len, terms)) != {2}:
        return "a term must be a pair of positions"
    first, second = zip(*terms, strict=True)
    inside = min(first) >= 0 and min(second) >= -1 and max(max(first), max(second)) < m
    return None if inside else "term out of range"


def widths_problem(rows: Any, n_rows: int, width: int) -> str | None:
    """What is wrong with a matrix of weights, or None."""
    if len(rows) == n_rows and all(len(row) == width for row in rows):
        return None
    return "numbers of weights and columns differ"


# -- plain and packed fields ------------------------------------------------------------

# What a field holds, by its type as it is written: a list is a tuple of what it lists.
_SHAPES: dict[Any, Any] = {
    "int": int,
    "float": float,
    "str": str,
    "tuple[int, ...]": [int],
    "tuple[float, ...]": [float],
    "tuple[tuple[int, int], ...]": [[int]],
    "tuple[tuple[float, ...], ...]": [[float]],
    "tuple[tuple[tuple[float, ...], ...], ...]": [[[float]]],
}


def _own_fields(cls: Any) -> dict[str, Any]:
    """Fields that make up the test itself, or a model, and their shapes."""
    return _shapes_of(cls)


@cache
def _shapes_of(cls: Any) -> dict[str, Any]:
    return {f.name: _SHAPES[_name(f.type)] for f in fields(cls) if not f.kw_only}


@cache
def _optional_fields(cls: Any) -> frozenset[str]:
    """Fields that the plain form may leave out."""
    return frozenset(f.name for f in fields(cls) if f.metadata.get("optional"))


def _name(type_: Any) -> str:
    """A type as it is written, which it is already under postponed annotations."""
    return type_.__name__ if isinstance(type_, type) else str(type_)


def _flatten(value: Any, ints: list[int], doubles: list[float]) -> None:
    """Put a field at the end of ints and doubles; tuples begin with their length."""
    if isinstance(value, tuple):
        ints.append(len(value))
        for one in value:
            _flatten(one, ints, doubles)
    elif isinstance(value, float):
        doubles.append(value)
    else:
        ints.append(value)


def _restore(shape: Any, ints: Iterator[int], doubles: Iterator[float]) -> Any:
    """Take a field from ints and doubles."""
    if isinstance(shape, list):
        return tuple(_restore(shape[0], ints, doubles) for _ in range(next(ints)))
    return next(doubles if shape is float else ints)


def split_from_dict(kind: str, test: dict[str, Any], **rest: Any) -> Split:
    """Read a test written by `Split.to_dict`; raises ValueError where it is damaged."""
    if not isinstance(kind, str) or kind not in SPLITS:
        raise ValueError(f"unknown kind of test {kind!r}")
    what = f"a test of kind {kind!r}"
    split = fields_from_dict(SPLITS[kind], what, test, **rest)
    try:
        split.pack()
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"damaged {what[2:]}: {error}") from None
    return split


def fields_from_dict(cls: Any, what: str, data: dict[str, Any], **rest: Any) -> Any:
    """An object of a dataclass from its plain form; ValueError where it is damaged.

    Fields whose metadata say "optional" may be left out.
    """
    readers = _own_fields(cls)
    optional = _optional_fields(cls)
    if set(data) | optional != set(readers) or not set(readers) - optional <= set(data):
        needed = f"{what} needs exactly {sorted(set(readers) - optional)}"
        also = f", and may have {sorted(optional)}" if optional else ""
        raise ValueError(needed + also)
    try:
        values = {name: _read(readers[name], data[name]) for name in data}
        return cls(**values, **rest)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"damaged {what[2:]}: {error}") from None


_WORDS = {int: "whole number", float: "number", str: "text"}


def _read(shape: Any, value: Any) -> Any:
    """A field from its plain form."""
    if isinstance(shape, list):
        if not isinstance(value, list | tuple):
            raise ValueError(f"{value!r} is no list")
        (inner,) = shape
        if isinstance(inner, type) and set(map(type, value)) <= {inner}:
            return tuple(value)  # as most are: nothing to check one by one
        return tuple(_read(inner, v) for v in value)
    accepted = (int, float) if shape is float else shape
    if not isinstance(value, accepted) or isinstance(value, bool):
        raise ValueError(f"{value!r} is no {_WORDS[shape]}")
    return shape(value)
