"""What a tree knows about its columns: names, kinds and categories.

A `Schema` is learned once from the training table (`omnitree.data.table`) and from
then on defines the features: it encodes new data, names the columns in
descriptions and exports, and lists the encoded columns that linear tests see. It is
plain data that can be written as JSON, so saved models carry it as it is.

Kinds of feature:

- ``numeric``: a number, tested by thresholds.
- ``ordered``: categories with an order, coded 0..m-1 and from then on a number.
- ``categorical``: categories without an order, coded 0..m-1.
- ``boolean``: a categorical feature with the categories False and True.

A feature is a column of the user's table, or a part of a date in it (`DatePart`). So the
user's columns, `Schema.inputs`, may be more than the features, where a column is left out,
or fewer, where a date has become several parts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from omnitree.data.date_part import DatePart
from omnitree.data.plain import fields
from omnitree.data.switches import cached_property

Kind: TypeAlias = Literal["numeric", "boolean", "categorical", "ordered"]
Category: TypeAlias = str | bool | int | float

KINDS: tuple[Kind, ...] = ("numeric", "boolean", "categorical", "ordered")


@dataclass(frozen=True)
class Feature:
    """One column: its name, its kind and its categories.

    Parameters
    ----------
    name : str
        Name in the user's table, or ``x0``, ``x1``, ... when that had none.
    kind : {"numeric", "boolean", "categorical", "ordered"}
        How the feature is tested.
    categories : tuple of str, bool, int or float, or None
        The category of each code; ``(False, True)`` for a boolean. A numeric feature has
        None, or ``()`` when the training data had neither a value nor a type; anything
        but a number in it later counts as missing.
    part : DatePart, optional
        What the feature takes from a column of dates; None for a column as it is.

    Examples
    --------
    >>> Feature("colour", "categorical", ("blue", "red")).n_categories
    2
    """

    name: str
    kind: Kind
    categories: tuple[Category, ...] | None = None
    part: DatePart | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise ValueError(f"A feature name must be a string, not {self.name!r}.")
        if self.kind not in KINDS:
            raise ValueError(
                f"Feature {self.name!r} has the unknown kind {self.kind!r}; "
                f"a kind is one of {', '.join(KINDS)}."
            )
        if self.categories is not None:
            if not isinstance(self.categories, tuple):
                raise ValueError(
                    f"The categories of feature {self.name!r} must be a tuple or None, "
                    f"not a {type(self.categories).__name__}."
                )
            plain = tuple(_plain(c, self.name) for c in self.categories)
            object.__setattr__(self, "categories", plain)
            if any(isinstance(c, str) and not c.strip() for c in plain):
                raise ValueError(
                    f"A category of feature {self.name!r} is blank text, which means a "
                    "missing value."
                )
            if len(set(plain)) < len(plain):
                raise ValueError(
                    f"The categories of feature {self.name!r} are not all different."
                )
        if self.kind == "numeric":
            if self.categories:
                raise ValueError(f"Numeric feature {self.name!r} has categories.")
        elif self.categories is None or (
            self.kind == "ordered" and not self.categories
        ):
            raise ValueError(f"Feature {self.name!r} ({self.kind}) has no categories.")
        elif self.kind == "boolean" and not (
            self.categories == (False, True)
            and all(isinstance(c, bool) for c in self.categories)
        ):
            raise ValueError(
                f"The categories of boolean feature {self.name!r} must be False, True."
            )
        if self.part is not None:
            if not isinstance(self.part, DatePart):
                raise ValueError(f"Feature {self.name!r} has no part {self.part!r}.")
            if (self.name, self.kind, self.categories) != self.part.layout:
                raise ValueError(f"Feature {self.name!r} is not as its part of a date.")

    @property
    def input(self) -> str:
        """The user's column that it comes from."""
        return self.name if self.part is None else self.part.column

    @property
    def is_categorical(self) -> bool:
        """True when the feature is tested by category, not as a number."""
        return self.kind in ("categorical", "boolean")

    @property
    def n_categories(self) -> int:
        """Number of categories; 0 for numeric and ordered features."""
        return len(self.categories or ()) if self.is_categorical else 0

    def to_dict(self) -> dict[str, Any]:
        """The feature in plain JSON types."""
        categories = None if self.categories is None else list(self.categories)
        plain = {"name": self.name, "kind": self.kind, "categories": categories}
        return plain if self.part is None else plain | {"part": self.part.to_dict()}

    @classmethod
    def from_dict(cls, data: object) -> Feature:
        """Check and rebuild what `to_dict` gave; ValueError says what is wrong."""
        given = fields(data, "feature", ("name", "kind", "categories"), ("part",))
        categories = given["categories"]
        if isinstance(categories, list):
            categories = tuple(categories)
        part = DatePart.from_dict(given["part"]) if "part" in given else None
        return cls(given["name"], given["kind"], categories, part)

    @classmethod
    def of_part(cls, part: DatePart) -> Feature:
        """The feature that holds a part of a date."""
        return cls(*part.layout, part)


@dataclass(frozen=True)
class Schema:
    """The columns of a table, in order.

    Parameters
    ----------
    features : tuple of Feature
        At least one; names all different.
    named : bool
        True when the training data had column names, so that new data frames are read
        by name; False when columns are known by position only.
    inputs : tuple of str
        The user's columns, in order; those of the features when left out. A column that
        no feature comes from is left out of the tree.

    Examples
    --------
    >>> schema = Schema(
    ...     (
    ...         Feature("height", "numeric"),
    ...         Feature("colour", "categorical", ("blue", "green", "red")),
    ...         Feature("old", "boolean", (False, True)),
    ...     ),
    ...     named=True,
    ... )
    >>> schema.n_features, schema.n_categories
    (3, array([0, 3, 2], dtype=int32))
    >>> [schema.column_name(j) for j in range(schema.n_columns)]
    ['height', 'colour=blue', 'colour=green', 'colour=red', 'old=True']
    >>> Schema.from_dict(schema.to_dict()) == schema
    True
    >>> parts = [
    ...     Feature.of_part(DatePart("sold", part)) for part in ("year", "month")
    ... ]
    >>> price = Feature("price", "numeric")
    >>> sales = Schema((price, *parts), True, inputs=("id", "price", "sold"))
    >>> sales.names
    ('price', 'sold: year', 'sold: month')
    >>> sales.left_out, sales.position
    (('id',), array([1, 2, 2], dtype=int32))
    """

    features: tuple[Feature, ...]
    named: bool
    inputs: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.features, tuple) or not all(
            isinstance(f, Feature) for f in self.features
        ):
            raise ValueError("The features of a schema must be a tuple of Feature.")
        if not self.features:
            raise ValueError("A schema needs at least one feature.")
        if not isinstance(self.named, bool):
            raise ValueError(f"named must be True or False, not {self.named!r}.")
        check_unique(self.names)
        used = dict.fromkeys(f.input for f in self.features)
        if not self.inputs:
            object.__setattr__(self, "inputs", tuple(used))
        if not isinstance(self.inputs, tuple) or not all(
            isinstance(name, str) for name in self.inputs
        ):
            raise ValueError("The inputs of a schema must be a tuple of strings.")
        check_unique(self.inputs)
        known = set(self.inputs)
        for name in used:
            if name not in known:
                raise ValueError(f"A feature comes from {name!r}, which is no input.")
        whole = {f.name for f in self.features if f.part is None}
        for f in self.features:
            if f.part is not None and f.part.column in whole:
                raise ValueError(f"{f.part.column!r} is a date and a feature itself.")

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.features)

    @property
    def n_inputs(self) -> int:
        """Number of the user's columns."""
        return len(self.inputs)

    @cached_property
    def is_plain(self) -> bool:
        """True when the features are the user's columns, one by one."""
        return self.inputs == self.names

    @cached_property
    def has_dates(self) -> bool:
        """True when some feature is a part of a date."""
        return any(feature.part is not None for feature in self.features)

    @cached_property
    def position(self) -> NDArray[np.int32]:
        """Which of the user's columns each feature comes from."""
        place = {name: j for j, name in enumerate(self.inputs)}
        return _fixed(np.array([place[f.input] for f in self.features], dtype=np.int32))

    @property
    def left_out(self) -> tuple[str, ...]:
        """The user's columns that no feature comes from."""
        used = {f.input for f in self.features}
        return tuple(name for name in self.inputs if name not in used)

    def by_input(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Add up values of features by the user's columns; 0 for one that is left out."""
        if self.is_plain:
            return values
        total = np.zeros(self.n_inputs)
        np.add.at(total, self.position, values)
        return total

    def features_of(self, name: str) -> list[int]:
        """Positions of the features with this name, or that come from this column."""
        if name in self.names:
            return [self.names.index(name)]
        return [j for j, f in enumerate(self.features) if f.input == name]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Column names, in order."""
        return tuple(f.name for f in self.features)

    @cached_property
    def is_categorical(self) -> NDArray[np.bool_]:
        """True where codes are tested by category: categorical and boolean features."""
        return _fixed(np.array([f.is_categorical for f in self.features], dtype=bool))

    @cached_property
    def n_categories(self) -> NDArray[np.int32]:
        """Number of categories per feature; 0 for numeric and ordered ones."""
        return _fixed(np.array([f.n_categories for f in self.features], dtype=np.int32))

    @cached_property
    def codes(self) -> tuple[dict[Category, float] | None, ...]:
        """Code of each category, by feature; None where cells are numbers."""
        return tuple(
            None
            if f.kind == "numeric"
            else {c: float(code) for code, c in enumerate(f.categories or ())}
            for f in self.features
        )

    @cached_property
    def all_numeric(self) -> bool:
        """True when every column is a number, so a float array needs no encoding."""
        return self.is_plain and all(f.kind == "numeric" for f in self.features)

    def linear_columns(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The encoded columns that linear tests see.

        A numeric or ordered feature is one column. A categorical feature with two
        categories is one column, +1 for its second category and -1 for its first; with
        m > 2 categories it is m columns, +1 for that category and -1 for the others;
        with fewer than two it tells nothing and has no column.

        Returns
        -------
        feature : int32 array
            The feature behind each encoded column.
        category : int32 array
            The code that is +1 in it, or -1 for a number.

        Examples
        --------
        >>> colour = Feature("colour", "categorical", ("blue", "green", "red"))
        >>> Schema((Feature("height", "numeric"), colour), named=True).linear_columns()
        (array([0, 1, 1, 1], dtype=int32), array([-1,  0,  1,  2], dtype=int32))
        """
        return self._linear

    @cached_property
    def _linear(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        pairs: list[tuple[int, int]] = []
        for j, feature in enumerate(self.features):
            m = feature.n_categories
            if not feature.is_categorical:
                pairs.append((j, -1))
            elif m == 2:
                pairs.append((j, 1))
            elif m > 2:
                pairs.extend((j, s) for s in range(m))
        columns = np.array(pairs, dtype=np.int32).reshape(-1, 2)
        return _fixed(columns[:, 0].copy()), _fixed(columns[:, 1].copy())

    @property
    def n_columns(self) -> int:
        """Number of encoded columns."""
        return len(self._linear[0])

    def column_name(self, j: int) -> str:
        """Name of encoded column `j`: ``height``, or ``colour=red`` for a category."""
        feature = self.features[self._linear[0][j]]
        category = int(self._linear[1][j])
        if category < 0 or feature.categories is None:
            return feature.name
        return f"{feature.name}={feature.categories[category]}"

    def to_dict(self) -> dict[str, Any]:
        """The schema in plain JSON types."""
        plain = {"named": self.named, "features": [f.to_dict() for f in self.features]}
        return plain if self.is_plain else plain | {"inputs": list(self.inputs)}

    @classmethod
    def from_dict(cls, data: object) -> Schema:
        """Check and rebuild what `to_dict` gave.

        Raises
        ------
        ValueError
            When anything is amiss; the message says what. The data may come from a
            file that nobody checked, so nothing in it is trusted.

        Examples
        --------
        >>> Schema.from_dict({"named": False, "features": []})
        Traceback (most recent call last):
        ...
        ValueError: A schema needs at least one feature.
        """
        given = fields(data, "schema", ("named", "features"), ("inputs",))
        features, inputs = given["features"], given.get("inputs", ())
        for name, value in (("features", features), ("inputs", inputs)):
            if not isinstance(value, list | tuple):
                raise ValueError(f"The {name} of a schema must be a list.")
        read = tuple(Feature.from_dict(f) for f in features)
        return cls(read, given["named"], tuple(inputs))


def check_unique(names: tuple[str, ...]) -> None:
    """Raise ValueError, naming the culprits, when a column name occurs twice."""
    if len(set(names)) == len(names):
        return
    twice = [n for n in dict.fromkeys(names) if names.count(n) > 1]
    listed = ", ".join(map(repr, twice))
    raise ValueError(f"Column name(s) used more than once: {listed}.")


def _plain(category: object, name: str) -> Category:
    """The category as a Python str, bool, int or finite float."""
    if isinstance(category, np.generic):
        category = category.item()
    if isinstance(category, str):
        return str(category)
    if isinstance(category, int) and -(2**63) <= category < 2**63:  # or a bool
        return category
    if isinstance(category, float) and math.isfinite(category):
        return category
    raise ValueError(
        f"Category {category!r} of feature {name!r} is neither a string, a bool, a whole "
        "number of 64 bits nor a finite number."
    )


def _fixed(array: Any) -> Any:
    """The array made read-only, because callers share it."""
    array.setflags(write=False)
    return array
