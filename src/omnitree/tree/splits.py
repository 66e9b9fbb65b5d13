"""Fitted tests: what a decision node remembers.

A `Split` is a frozen value. It packs itself into the int and double slices that the
compiled routing rule reads (`_core/route.hpp` has the layouts), so a split routes rows in
exactly the way the finished tree will. `to_dict` gives the plain form that every exporter
reads. Learners make splits, the tree stores them packed, `Tree.split(node)` unpacks one.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar

import numpy as np

from omnitree._core.predict import route as kernel
from omnitree.data.schema import Schema
from omnitree.data.table import Table

KINDS = (
    "leaf",
    "axis",
    "multiway",
    "subset",
    "linear",
    "quadratic",
    "machine",
    "network",
    "quadratic_machine",
)

Packed = tuple[int, list[int], list[float]]


def _floats(values: Any) -> tuple[float, ...]:
    return tuple(float(v) for v in np.asarray(values, dtype=np.float64).ravel())


def _matrix(values: Any) -> tuple[tuple[float, ...], ...]:
    return tuple(_floats(row) for row in values)


@dataclass(frozen=True)
class Constructed:
    """A feature made at a node, that nodes below may test too.

    Attributes
    ----------
    test : LinearSplit or QuadraticSplit
        Whether the feature is at most 0.
    values : float array (n,)
        The feature for the rows of a node.
    """

    test: Any
    values: np.ndarray

    def take(self, here: np.ndarray) -> Constructed:
        """The feature for some of the rows."""
        return Constructed(self.test, self.values[here])

    def cut(self, threshold: float, merit: float) -> Split:
        """Whether the feature is at most `threshold`."""
        at = self.test.threshold + threshold
        return replace(self.test, threshold=at, merit=merit)


@dataclass(frozen=True)
class Considered:
    """A candidate for a node's test and what the choice thought of it.

    Attributes
    ----------
    learner : str
        Who proposed it.
    kind : str
        Kind of its test; "none" where it found none, "leaf" for a subtree that is one.
    parameters : int
        Free parameters of the test.
    criterion : str
        What the score is ("AIC", "error").
    score : float or None
        Smaller is better; None where there is none.
    chosen : bool
    """

    learner: str
    kind: str
    parameters: int
    criterion: str
    score: float | None
    chosen: bool


@dataclass(frozen=True)
class Split:
    """A fitted test with `n_children` branches.

    Attributes
    ----------
    merit : float
        What the learner thought of it; not part of the test itself.
    missing : int
        Branch of a row that neither the test nor its surrogates can place; -1 divides
        the row among all branches by their training weight.
    surrogates : tuple of Split
        Tests tried in turn where this one cannot tell.
    constructed : tuple of Constructed
        Features made at this node, for the nodes below; known only while the tree grows.
    candidates : tuple of Considered
        The tests among which this one was chosen, in order of complexity.
    free : int
        Free parameters, where principal components leave fewer than there are weights;
        0: count the weights. Known only while the tree grows.
    direction : int
        +1 where answers must not fall from branch 0 to branch 1, -1 where they must not
        rise, 0 where they may. Known only while the tree grows.
    """

    kind: ClassVar[str]
    merit: float = field(default=0.0, kw_only=True, compare=False)
    missing: int = field(default=0, kw_only=True)
    surrogates: tuple[Split, ...] = field(default=(), kw_only=True)
    constructed: tuple[Constructed, ...] = field(
        default=(), kw_only=True, compare=False, repr=False
    )
    candidates: tuple[Considered, ...] = field(
        default=(), kw_only=True, compare=False, repr=False
    )
    free: int = field(default=0, kw_only=True, compare=False, repr=False)
    direction: int = field(default=0, kw_only=True, compare=False, repr=False)

    def pack(self) -> Packed:
        """Kind code, ints and doubles, as `_core/route.hpp` lays them out."""
        index, weight = self._layout()
        return KINDS.index(self.kind), list(index), list(weight)

    def _layout(self) -> tuple[tuple[int, ...], tuple[float, ...]]:
        raise AssertionError(f"{type(self).__name__} has no layout")

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
        if isinstance(self, AxisSplit | _CategorySplit):
            return {self.feature}
        column_feature = schema.linear_columns()[0]
        return {int(column_feature[c]) for c in self.columns}  # type: ignore[attr-defined]

    def to_dict(self) -> dict[str, Any]:
        """The test in plain types, without merit, missing branch and surrogates."""
        own = [f.name for f in fields(self) if not f.kw_only]
        return {name: _plain(getattr(self, name)) for name in own}


def _plain(value: Any) -> Any:
    return [_plain(v) for v in value] if isinstance(value, tuple) else value


@dataclass(frozen=True)
class AxisSplit(Split):
    """One feature against a threshold: branch `low` where value <= threshold.

    `low` is 0 but in surrogates that run against their main test.
    """

    feature: int
    threshold: float
    low: int = 0
    kind = "axis"

    def _layout(self):
        return (self.feature, self.low), (self.threshold,)

    @classmethod
    def unpack(cls, index: list[int], weight: list[float], **rest: Any) -> AxisSplit:
        return cls(index[0], weight[0], index[1], **rest)


@dataclass(frozen=True)
class _CategorySplit(Split):
    """One symbolic feature; `branch[code]` is where a symbol goes, -1: cannot tell."""

    feature: int
    branch: tuple[int, ...]

    def _layout(self):
        return (self.feature, *self.branch), ()

    @classmethod
    def unpack(cls, index: list[int], weight: list[float], **rest: Any):
        return cls(index[0], tuple(index[1:]), **rest)


@dataclass(frozen=True)
class MultiwaySplit(_CategorySplit):
    """A symbolic feature with a branch per symbol."""

    kind = "multiway"

    @property
    def n_children(self) -> int:
        return max(self.branch) + 1


@dataclass(frozen=True)
class SubsetSplit(_CategorySplit):
    """A symbolic feature whose symbols fall into two sets."""

    kind = "subset"


@dataclass(frozen=True)
class LinearSplit(Split):
    """A weighted sum of encoded columns: branch 0 where it is <= threshold.

    A missing cell counts as its `fill`, the node's mean.
    """

    columns: tuple[int, ...]
    weights: tuple[float, ...]
    fill: tuple[float, ...]
    threshold: float
    kind = "linear"

    @classmethod
    def in_units(
        cls,
        columns: tuple[int, ...],
        weights: tuple[float, ...],
        fill: tuple[float, ...],
        threshold: float,
        **rest: Any,
    ) -> LinearSplit:
        """The test; of one column, with the weight 1 or -1, so that the threshold is in
        that column's unit."""
        size = abs(weights[0]) if len(weights) == 1 else 0.0
        if size > 0 and np.isfinite(threshold / size):
            weights, threshold = (weights[0] / size,), threshold / size
        return cls(columns, weights, fill, threshold, **rest)

    @property
    def n_params(self) -> int:
        return len(self.columns) + 1

    def _layout(self):
        return self.columns, (self.threshold, *self.weights, *self.fill)

    @classmethod
    def unpack(cls, index: list[int], weight: list[float], **rest: Any) -> LinearSplit:
        m = len(index)
        return cls(
            tuple(index),
            tuple(weight[1 : 1 + m]),
            tuple(weight[1 + m :]),
            weight[0],
            **rest,
        )


@dataclass(frozen=True)
class QuadraticSplit(Split):
    """A weighted sum of monomials up to degree two: branch 0 where it is <= threshold.

    `terms` holds pairs of positions in `columns`; (a, -1) is the linear term of a.
    """

    columns: tuple[int, ...]
    fill: tuple[float, ...]
    terms: tuple[tuple[int, int], ...]
    weights: tuple[float, ...]
    threshold: float
    kind = "quadratic"

    @property
    def n_params(self) -> int:
        return len(self.terms) + 1

    def _layout(self):
        pairs = [i for term in self.terms for i in term]
        index = (len(self.columns), *self.columns, *pairs)
        return index, (self.threshold, *self.fill, *self.weights)

    @classmethod
    def unpack(
        cls, index: list[int], weight: list[float], **rest: Any
    ) -> QuadraticSplit:
        m = index[0]
        pairs = index[1 + m :]
        return cls(
            tuple(index[1 : 1 + m]),
            tuple(weight[1 : 1 + m]),
            tuple(zip(pairs[::2], pairs[1::2], strict=True)),
            tuple(weight[1 + m :]),
            weight[0],
            **rest,
        )


@dataclass(frozen=True)
class MachineSplit(Split):
    """A linear machine: the branch whose discriminant is largest (ties: the first)."""

    columns: tuple[int, ...]
    fill: tuple[float, ...]
    bias: tuple[float, ...]
    weights: tuple[tuple[float, ...], ...]
    kind = "machine"

    @property
    def n_children(self) -> int:
        return len(self.bias)

    @property
    def n_params(self) -> int:
        return len(self.bias) + int(np.count_nonzero(self.weights))

    def _layout(self):
        rows = [
            v for b, w in zip(self.bias, self.weights, strict=True) for v in (b, *w)
        ]
        return (len(self.bias), *self.columns), (*self.fill, *rows)

    @classmethod
    def unpack(cls, index: list[int], weight: list[float], **rest: Any) -> MachineSplit:
        columns = tuple(index[1:])
        m = len(columns)
        rows = np.reshape(weight[m:], (index[0], m + 1))
        return cls(
            columns,
            tuple(weight[:m]),
            _floats(rows[:, 0]),
            _matrix(rows[:, 1:]),
            **rest,
        )


@dataclass(frozen=True)
class NetworkSplit(Split):
    """A net with one hidden layer of tanh units: branch 0 where its output is <= 0."""

    columns: tuple[int, ...]
    fill: tuple[float, ...]
    hidden_bias: tuple[float, ...]
    hidden_weights: tuple[tuple[float, ...], ...]
    output_bias: float
    output_weights: tuple[float, ...]
    kind = "network"

    @property
    def n_params(self) -> int:
        return len(self.hidden_bias) * (len(self.columns) + 2) + 1

    def _layout(self):
        hidden = [
            v
            for b, w in zip(self.hidden_bias, self.hidden_weights, strict=True)
            for v in (b, *w)
        ]
        index = (len(self.hidden_bias), *self.columns)
        return index, (*self.fill, *hidden, self.output_bias, *self.output_weights)

    @classmethod
    def unpack(cls, index: list[int], weight: list[float], **rest: Any) -> NetworkSplit:
        columns = tuple(index[1:])
        m, h = len(columns), index[0]
        end = m + h * (m + 1)
        rows = np.reshape(weight[m:end], (h, m + 1))
        return cls(
            columns,
            tuple(weight[:m]),
            _floats(rows[:, 0]),
            _matrix(rows[:, 1:]),
            weight[end],
            tuple(weight[end + 1 :]),
            **rest,
        )


@dataclass(frozen=True)
class QuadraticMachineSplit(Split):
    """A machine of quadratic forms: the branch whose sum of terms is largest.

    A term (a, b) is the product of the columns at positions a and b; b = -1 leaves the
    second one out.
    """

    columns: tuple[int, ...]
    fill: tuple[float, ...]
    terms: tuple[tuple[int, int], ...]
    bias: tuple[float, ...]
    weights: tuple[tuple[float, ...], ...]
    kind = "quadratic_machine"

    @property
    def n_children(self) -> int:
        return len(self.bias)

    @property
    def n_params(self) -> int:
        return len(self.bias) + int(np.count_nonzero(self.weights))

    def _layout(self):
        rows = [
            v for b, w in zip(self.bias, self.weights, strict=True) for v in (b, *w)
        ]
        pairs = [position for term in self.terms for position in term]
        index = (len(self.bias), len(self.columns), *self.columns, *pairs)
        return index, (*self.fill, *rows)

    @classmethod
    def unpack(
        cls, index: list[int], weight: list[float], **rest: Any
    ) -> QuadraticMachineSplit:
        m = index[1]
        pairs = index[2 + m :]
        terms = tuple(zip(pairs[::2], pairs[1::2], strict=True))
        rows = np.reshape(weight[m:], (index[0], len(terms) + 1))
        return cls(
            tuple(index[2 : 2 + m]),
            tuple(weight[:m]),
            terms,
            _floats(rows[:, 0]),
            _matrix(rows[:, 1:]),
            **rest,
        )


SPLITS: dict[str, type[Split]] = {
    cls.kind: cls
    for cls in (
        AxisSplit,
        MultiwaySplit,
        SubsetSplit,
        LinearSplit,
        QuadraticSplit,
        MachineSplit,
        NetworkSplit,
        QuadraticMachineSplit,
    )
}


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
    readers = {f.name: f.type for f in fields(cls) if not f.kw_only}
    optional = {f.name for f in fields(cls) if f.metadata.get("optional")}
    if set(data) | optional != set(readers) or not set(readers) - optional <= set(data):
        needed = f"{what} needs exactly {sorted(set(readers) - optional)}"
        also = f", and may have {sorted(optional)}" if optional else ""
        raise ValueError(needed + also)
    try:
        values = {name: _READ[readers[name]](data[name]) for name in data}
        return cls(**values, **rest)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"damaged {what[2:]}: {error}") from None


def _whole(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise ValueError(f"{value!r} is no whole number")
    return value


def _number(value: Any) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise ValueError(f"{value!r} is no number")
    return float(value)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{value!r} is no text")
    return value


def _list_of(read: Any) -> Any:
    def read_list(values: Any) -> tuple:
        if not isinstance(values, list | tuple):
            raise ValueError(f"{values!r} is no list")
        return tuple(read(v) for v in values)

    return read_list


# Field types are strings under `from __future__ import annotations`.
_READ: dict[Any, Any] = {
    "int": _whole,
    "float": _number,
    "str": _text,
    "tuple[int, ...]": _list_of(_whole),
    "tuple[float, ...]": _list_of(_number),
    "tuple[tuple[int, int], ...]": _list_of(_list_of(_whole)),
    "tuple[tuple[float, ...], ...]": _list_of(_list_of(_number)),
}
