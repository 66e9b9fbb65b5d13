"""Parts: the exchangeable pieces a tree learner is made of, and how names find them.

Every merit, learner, pruning method and so on is a `Part`: a value whose constructor
arguments are its whole state, with scikit-learn's `get_params`, `clone` and `repr`. Each
part folder has one `Registry` that maps short names to classes; wherever a part is
expected, a name or an object will do. The registries feed validation, error messages and
`omnitree parts`.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any

from sklearn.base import BaseEstimator


class Part(BaseEstimator):
    """A piece of a tree learner: immutable in use, compared by its parameters."""

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.get_params() == other.get_params()  # type: ignore[attr-defined]

    def __hash__(self) -> int:
        return hash((type(self), repr(sorted(self.get_params(deep=False).items()))))

    @property
    def resamples(self) -> bool:
        """Whether rows are held out of those it gets, by itself or by one of its parts.

        Then weights are scaled to average one: a row stays the unit of evidence. Else a
        row of weight two counts as two rows.
        """
        return False

    @classmethod
    def summary(cls) -> str:
        """First line of the docstring: what the part is, in a few words."""
        return (cls.__doc__ or "").strip().split("\n")[0]


class Registry(Mapping[str, type[Part]]):
    """Short names of one kind of part.

    Parameters
    ----------
    kind : str
        What the parts are, in the words of error messages ("merit", "pruning").
    base : class
        What every part of this kind is derived from.
    parts : mapping of str to class
    """

    def __init__(self, kind: str, base: type[Part], parts: Mapping[str, type[Part]]):
        self.kind = kind
        self.base = base
        self._parts = dict(parts)

    def __getitem__(self, name: str) -> type[Part]:
        return self._parts[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._parts)

    def __len__(self) -> int:
        return len(self._parts)

    def resolve(self, part: Any) -> Any:
        """Turn a name into a part with default options; leave objects as they are.

        Examples
        --------
        >>> from omnitree.parts.merit import MERITS
        >>> MERITS.resolve("gini")
        Gini()
        >>> MERITS.resolve("ginni")
        Traceback (most recent call last):
            ...
        ValueError: unknown merit 'ginni', did you mean 'gini'? Choose one of: ...
        """
        if isinstance(part, self.base):
            return part
        if not isinstance(part, str):
            raise TypeError(
                f"{self.kind} must be a name or a {self.base.__name__}, not {part!r}"
            )
        if part not in self._parts:
            raise ValueError(unknown(self.kind, part, list(self)))
        return self._parts[part]()


def number(name: str, value: Any, least: float = 0.0, most: float = math.inf) -> float:
    """The value of a numeric option; an error that names it if it is out of range."""
    if isinstance(value, numbers.Real) and least <= float(value) <= most:
        return float(value)
    upper = "" if most == math.inf else f" and at most {most:g}"
    raise ValueError(f"{name} must be at least {least:g}{upper}, not {value!r}")


def unknown(kind: str, name: object, known: list[str]) -> str:
    """Error message for a name that is not among the known ones."""
    close = get_close_matches(str(name), known, n=1)
    hint = f", did you mean {close[0]!r}?" if close else "."
    return f"unknown {kind} {name!r}{hint} Choose one of: {', '.join(known)}."
