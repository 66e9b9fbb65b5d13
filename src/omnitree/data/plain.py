"""Plain data from a file that nobody checked: its fields, all there and no others.

Used by all that `to_dict` and `from_dict` describe columns.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast


def fields(
    data: object, what: str, keys: tuple[str, ...], optional: tuple[str, ...] = ()
) -> Mapping[str, Any]:
    """The mapping itself, once it is known to hold these keys and no others."""
    if not isinstance(data, Mapping):
        raise ValueError(f"A {what} must be a mapping, not a {type(data).__name__}.")
    for key in keys:
        if key not in data:
            raise ValueError(f"A {what} lacks its {key!r}.")
    for key in data:
        if key not in keys + optional:
            raise ValueError(f"A {what} has no field {key!r}.")
    return cast("Mapping[str, Any]", data)
