"""Rules that tests on one feature must keep: monotone answers, groups of features.

A monotone feature may only raise (+1) or only lower (-1) the answer: the probability of the
second class, or the number. As in scikit-learn's trees, the answers of the two branches of
a test on it must stand in that order, and halfway between them lies a bound that no node
below may cross. So a node's answer always lies within its own bounds, and a tree that is
cut back anywhere stays monotone. Interactions are limited by groups: the features on one
path must lie in one group. Made by a learner, kept in `node.Rules`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from omnitree.data.schema import Schema
from omnitree.growing.part import unknown


@dataclass(frozen=True, eq=False)
class Constraints:
    """The rules by the number of a feature in the tree."""

    # (n_features,): +1, -1, or 0 where the answer may go either way.
    direction: NDArray[np.int8]
    # Features that may stand on one path; None: all of them.
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
    out = np.zeros(schema.n_features, dtype=np.int8)
    if monotone is None:
        return out
    if not isinstance(monotone, Mapping):
        given = list(monotone)
        if len(given) != schema.n_inputs:
            raise ValueError(
                f"monotone has {len(given)} entries; one a feature is needed, "
                f"{schema.n_inputs}"
            )
        monotone = dict(enumerate(given))
    for name, d in monotone.items():
        found = _positions(name, "monotone", schema)
        if isinstance(d, str) or d not in (-1, 0, 1):
            raise ValueError(f"monotone must hold +1, -1 or 0, not {d!r}")
        if d and any(schema.n_categories[j] for j in found):
            raise ValueError(
                f"monotone names {schema.names[found[0]]!r}, whose categories have no order"
            )
        if d and len(found) > 1:
            listed = ", ".join(repr(schema.names[j]) for j in found)
            raise ValueError(
                f"monotone names a date; name one of its parts instead: {listed}"
            )
        out[found] = int(d)
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
        groups.append(
            frozenset(
                j
                for feature in group
                for j in _positions(feature, "interactions", schema)
            )
        )
    rest = frozenset(range(schema.n_features)).difference(*groups)
    return (*groups, rest) if rest else tuple(groups)


def _positions(feature: Any, where: str, schema: Schema) -> list[int]:
    """The features of a column given by name or number, or one part of a date by name."""
    if isinstance(feature, int | np.integer) and not isinstance(feature, bool):
        if not 0 <= feature < schema.n_inputs:
            raise ValueError(
                f"{where} names feature {feature}, but there are {schema.n_inputs}"
            )
        feature = schema.inputs[feature]
    elif feature not in schema.inputs and feature not in schema.names:
        known = [*schema.inputs, *(n for n in schema.names if n not in schema.inputs)]
        raise ValueError(unknown(f"feature in {where}", feature, known))
    return schema.features_of(feature)
