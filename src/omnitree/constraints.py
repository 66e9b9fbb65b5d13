"""Rules that tests on one feature must keep: monotone answers, groups of features.

A monotone feature may only raise (+1) or only lower (-1) the answer: the probability of the
second class, or the number. As in scikit-learn's trees, the answers of the two branches of
a test on it must stand in that order, and halfway between them lies a bound that no node
below may cross. So a node's answer always lies within its own bounds, and a tree that is
cut back anywhere stays monotone. Interactions are limited by groups: the features on one
path must lie in one group. Made by a learner, kept in `node.Problem`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from omnitree.parts import unknown
from omnitree.schema import Schema


@dataclass(frozen=True, eq=False)
class Constraints:
    """The rules by feature number.

    Attributes
    ----------
    direction : int8 array (n_features,)
        +1, -1, or 0 where the answer may go either way.
    groups : tuple of frozenset, or None
        Features that may stand on one path; None: all of them.
    """

    direction: NDArray[np.int8]
    groups: tuple[frozenset[int], ...] | None

    @classmethod
    def of(cls, monotone: Any, interactions: Any, schema: Schema) -> Constraints | None:
        """The rules as a user gives them; None if there are none."""
        if monotone is None and interactions is None:
            return None
        return cls(_directions(monotone, schema), _groups(interactions, schema))

    @property
    def monotone(self) -> bool:
        """Whether some feature has a direction."""
        return bool(self.direction.any())

    def allowed(self, tested: frozenset[int]) -> list[int]:
        """Features that may be tested below a path that tested some."""
        every = range(len(self.direction))
        if self.groups is None or not tested:
            return list(every)
        able = [group for group in self.groups if tested <= group]
        return [j for j in every if any(j in group for group in able)]


def _directions(monotone: Any, schema: Schema) -> NDArray[np.int8]:
    n = schema.n_features
    out = np.zeros(n, dtype=np.int8)
    if monotone is None:
        return out
    if isinstance(monotone, Mapping):
        pairs = [(_position(j, "monotone", schema), d) for j, d in monotone.items()]
    else:
        given = list(monotone)
        if len(given) != n:
            raise ValueError(
                f"monotone has {len(given)} entries; one a feature is needed, {n}"
            )
        pairs = list(enumerate(given))
    for j, d in pairs:
        if isinstance(d, str) or d not in (-1, 0, 1):
            raise ValueError(f"monotone must hold +1, -1 or 0, not {d!r}")
        if d and schema.n_categories[j]:
            raise ValueError(
                f"monotone names {schema.names[j]!r}, whose symbols have no order"
            )
        out[j] = int(d)
    return out


def _groups(interactions: Any, schema: Schema) -> tuple[frozenset[int], ...] | None:
    if interactions is None:
        return None
    if isinstance(interactions, str) or not isinstance(interactions, Iterable):
        raise ValueError(
            f"interactions must be a list of groups of features, not {interactions!r}"
        )
    groups = []
    for group in interactions:
        if isinstance(group, str) or not isinstance(group, Iterable):
            raise ValueError(
                f"interactions must hold groups of features, not {group!r} alone"
            )
        groups.append(frozenset(_position(j, "interactions", schema) for j in group))
    rest = frozenset(range(schema.n_features)).difference(*groups)
    return (*groups, rest) if rest else tuple(groups)


def _position(feature: Any, where: str, schema: Schema) -> int:
    """The number of a feature given by name or number."""
    names, n = list(schema.names), schema.n_features
    if feature in names:
        return names.index(feature)
    if isinstance(feature, int | np.integer) and not isinstance(feature, bool):
        if 0 <= feature < n:
            return int(feature)
        raise ValueError(f"{where} names feature {feature}, but there are {n}")
    raise ValueError(unknown(f"feature in {where}", feature, names))
