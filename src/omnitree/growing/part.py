"""Parts: the exchangeable pieces a tree learner is made of, and how names find them.

Every merit, learner, pruning method and so on is a `Part`: a value whose constructor
arguments are its whole state, with scikit-learn's `get_params`, `clone` and `repr`. Each
part folder has one `Registry` that maps short names to classes; wherever a part is
expected, a name or an object will do. The registries feed validation, error messages and
`omnitree parts`; other packages can add to them (`foreign.py`). A model file may name a
part that is not registered: `UnregisteredPart` takes its place.
"""

from __future__ import annotations

import inspect
import math
import numbers
import sys
from abc import ABC
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any, ClassVar

from sklearn.base import BaseEstimator

from omnitree.growing.foreign import announced, check_part, import_name, warn_of

if sys.version_info >= (3, 11):
    from typing import dataclass_transform
else:

    def dataclass_transform(**_: Any) -> Any:
        """Nothing: types are checked with newer versions of Python."""
        return lambda cls: cls


@dataclass_transform(eq_default=False)
class Part(BaseEstimator, ABC):
    """A piece of a tree learner: immutable in use, compared by its parameters.

    A subclass declares its parameters as annotated attributes with defaults, as a
    dataclass does; its constructor is made from them. It may also write its own.
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        own = inspect.get_annotations(cls).values()
        declares = any("ClassVar" not in str(annotation) for annotation in own)
        if declares and "__init__" not in vars(cls):
            dataclass(eq=False, repr=False)(cls)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.get_params() == other.get_params()  # type: ignore[attr-defined]

    def __hash__(self) -> int:
        return hash((type(self), repr(sorted(self.get_params(deep=False).items()))))

    tasks: ClassVar[tuple[str, ...]] = ("classification", "regression")  # it serves

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


class UnregisteredPart(Part):
    """Stands in for a part of a loaded model whose class is not registered here.

    It keeps what the file says; the model predicts, but cannot be fitted again.

    Parameters
    ----------
    kind : str
    class_name : str
        Where the class is imported from, as in "package.module:Class". It is a text from a
        file: nothing is ever imported because of it.
    params : dict
    name : str or None
        The name under which the class was registered.
    """

    kind: str
    class_name: str
    params: dict[str, Any]
    name: str | None = None


def require_present(value: Any) -> None:
    """Refuse a value with stand-ins for absent parts, in parts of parts and lists, too."""
    if isinstance(value, UnregisteredPart):
        module, _, cls = value.class_name.partition(":")
        name = value.name or "a_name"
        raise ValueError(
            f"this model has a {value.kind} of another package, {value.class_name}, which "
            f"is not registered: `from {module} import {cls}`, "
            f"`omnitree.register({value.kind!r}, {name!r}, {cls})` and load the model "
            "again to fit it"
        )
    if isinstance(value, Part):
        value = vars(value)
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for item in value:
            require_present(item)


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
        self._own = frozenset(parts)
        self._failed: set[str] = set()  # entry points that gave a warning

    def __getitem__(self, name: str) -> type[Part]:
        if name not in self._parts:
            self._load(name)
        return self._parts[name]

    def __iter__(self) -> Iterator[str]:
        for name in announced(self.kind):
            self._load(name)
        return iter(self._parts)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    @property
    def registered(self) -> Mapping[str, type[Part]]:
        """The parts that are known already; entry points are not looked at."""
        return MappingProxyType(self._parts)

    def is_own(self, name: str) -> bool:
        """Whether a name is omnitree's own."""
        return name in self._own

    def add(self, name: str, cls: type[Part]) -> None:
        """Register a part of another package; see `omnitree.register`."""
        check_part(self.kind, name, cls, self.base)
        known = self._parts.get(name)
        # A class that is defined once more, in a notebook say, takes its own place.
        if known is not None and import_name(known) != import_name(cls):
            raise ValueError(
                f"the {self.kind} {name!r} is {import_name(known)} already; choose "
                "another name"
            )
        self._parts[name] = cls

    def _load(self, name: str) -> None:
        """Register what an entry point announces under a name, if there is one."""
        point = announced(self.kind).get(name)
        if point is None or name in self._parts or name in self._failed:
            return
        try:
            self.add(name, point.load())
        except Exception as error:
            self._failed.add(name)
            warn_of(point, error)

    def resolve(self, part: Any, task: str | None = None) -> Any:
        """Turn a name into a part with default options; leave objects as they are.

        With a task, refuse parts that do not serve it.

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
        if not isinstance(part, self.base):
            require_present(part)
            if not isinstance(part, str):
                raise TypeError(
                    f"{self.kind} must be a name or a {self.base.__name__}, not {part!r}"
                )
            if part not in self:
                raise ValueError(unknown(self.kind, part, list(self)))
            part = self[part]()
        if task is not None and task not in part.tasks:
            able = [name for name, cls in self.items() if task in cls.tasks]
            raise ValueError(
                f"{type(part).__name__} is not for {task}; choose another {self.kind}: "
                f"{', '.join(able) or 'there is none'}"
            )
        return part


def number(name: str, value: Any, least: float = 0.0, most: float = math.inf) -> float:
    """The value of a numeric option; an error that names it if it is out of range."""
    try:
        # The usual types first: asking for the abstract one takes longer.
        if (
            isinstance(value, (int, float, numbers.Real))
            and least <= float(value) <= most
        ):
            return float(value)
    except OverflowError:  # a whole number beyond all floats
        pass
    upper = "" if most == math.inf else f" and at most {most:g}"
    raise ValueError(f"{name} must be at least {least:g}{upper}, not {value!r}")


def one_of(name: str, value: Any, known: Collection[str]) -> str:
    """The value of an option that has a few; an error that names them if it is another."""
    if isinstance(value, str) and value in known:
        return value
    raise ValueError(unknown(name, value, list(known)))


def unknown(kind: str, name: object, known: list[str]) -> str:
    """Error message for a name that is not among the known ones."""
    close = get_close_matches(str(name), known, n=1)
    hint = f", did you mean {close[0]!r}?" if close else "."
    return f"unknown {kind} {name!r}{hint} Choose one of: {', '.join(known)}."
