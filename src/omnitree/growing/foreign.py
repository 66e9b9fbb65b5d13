"""Parts from other packages: what is asked of them, and how they are found.

A package announces its parts as entry points of the group `omnitree.parts`, named
``kind.name`` ("merit.hellinger"). They are loaded only when a name is asked for that nobody
registered, or when parts are listed; one that fails gives a warning. Used by `Registry`.
"""

from __future__ import annotations

import inspect
import warnings
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

GROUP = "omnitree.parts"


def import_name(cls: type) -> str:
    """The module and the name of a class, as in "package.module:Class"."""
    return f"{cls.__module__}:{cls.__qualname__}"


def slug(kind: str) -> str:
    """A kind of part in the form that entry points have it: "missing_value_policy"."""
    return kind.replace(" ", "_").replace("-", "_")


def check_part(kind: str, name: Any, cls: Any, base: type) -> None:
    """Refuse what cannot serve as a part of some kind."""
    if not isinstance(name, str) or not name or set(name) & set(". :\t\n"):
        raise ValueError(
            f"the name of a {kind} must be a string without dots, colons and blanks, "
            f"not {name!r}"
        )
    if not (isinstance(cls, type) and issubclass(cls, base)):
        raise TypeError(
            f"a {kind} must be a class derived from "
            f"{base.__module__}.{base.__name__}, not {cls!r}"
        )
    if inspect.isabstract(cls):
        lacking = ", ".join(sorted(getattr(cls, "__abstractmethods__", ())))
        raise TypeError(f"{cls.__name__} lacks what a {kind} needs: {lacking}")
    for parameter in inspect.signature(cls).parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise TypeError(
                f"{cls.__name__} takes *args or **kwargs; name all its parameters, so "
                "that it can be cloned and saved"
            )
        if parameter.default is parameter.empty:
            raise TypeError(
                f"{cls.__name__} needs a default for {parameter.name!r}, since its name "
                f"alone stands for a {kind}"
            )


@cache
def announced(kind: str) -> dict[str, EntryPoint]:
    """The entry points for one kind of part, by the name of the part."""
    found: dict[str, EntryPoint] = {}
    for point in entry_points(group=GROUP):
        of_kind, _, name = point.name.partition(".")
        if of_kind == slug(kind) and name:
            found.setdefault(name, point)
    return found


def warn_of(point: EntryPoint, error: Exception) -> None:
    """Say that the part of an entry point cannot be used."""
    package = point.dist.name if point.dist is not None else point.value
    warnings.warn(
        f"the part {point.name!r} of the package {package!r} cannot be used: "
        f"{type(error).__name__}: {error}",
        stacklevel=2,
    )
