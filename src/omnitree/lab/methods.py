"""Methods of a comparison: presets with options, such as `ldt:threshold=exhaustive`."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from omnitree import presets
from omnitree.data.reading import InputError
from omnitree.estimators.classifier import OmniTreeClassifier
from omnitree.growing.part import unknown
from omnitree.lab import specs

DEFAULT_PRESET = "omni"


@dataclass(frozen=True)
class Method:
    """A preset, its options, and what it is called in tables."""

    preset: str
    options: dict[str, Any] = field(default_factory=dict)
    label: str = ""

    @property
    def name(self) -> str:
        """What `parse` reads."""
        return specs.show(
            self.preset, {k: v for k, v in self.options.items() if _is_plain(v)}
        )

    @property
    def title(self) -> str:
        """What tables call it."""
        return self.label or self.name

    def make(self, seed: int | None = None) -> Any:
        """An unfitted estimator."""
        if self.preset == DEFAULT_PRESET and DEFAULT_PRESET not in presets.names():
            return OmniTreeClassifier(random_state=seed, **self.options)
        return presets.make(self.preset, random_state=seed, **self.options)

    @property
    def parameters(self) -> str:
        """All parameters of the estimator and its parts, as JSON; the seed is the run's.

        >>> one, other = (Method("omni-aic", {"epsilon": e}) for e in (0.9, 0.99))
        >>> one.parameters == other.parameters
        False
        """
        estimator = self.make()
        params = estimator.get_params(deep=True) | {"": estimator}
        shown = {
            key: value if _is_plain(value) else _named(value)
            for key, value in sorted(params.items())
            if key not in ("random_state", "n_jobs", "verbose")
        }
        return json.dumps(shown)


def parse(text: str) -> Method:
    """The method of a specification; an `InputError` if there is no such preset.

    >>> parse("cart:se=1.0").make().pruning
    CostComplexity(repeats=10, se=1.0)
    """
    try:
        name, options = specs.parse(text)
        known = list(dict.fromkeys([DEFAULT_PRESET, *presets.names()]))
        if name not in known:
            raise InputError(unknown("preset", name, known))
        method = Method(name, options)
        method.make()
    except (TypeError, ValueError) as error:
        raise InputError(str(error)) from None
    return method


def _named(value: Any) -> str:
    """A part by its type, since its parameters are listed, too; several in full."""
    return repr(value) if isinstance(value, tuple | list) else type(value).__name__


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, str | int | float | bool)
