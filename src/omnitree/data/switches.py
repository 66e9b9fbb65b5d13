"""Optimisations that can be switched off, to show that they change no result.

The environment variable `OMNITREE_DISABLE` holds names from `SWITCHES`, separated by commas.
It is for tests: everything gets slower and must come out the same. SIMD is switched off when
the package is built (`-Dsimd=false`).

- ``presorting``: growers that sort every column once.
- ``whole_trees``: all compiled growers of whole trees; every node is asked by itself.
- ``threads``: more than one thread in prediction and pruning.
- ``fast_routing``: the loop for trees of plain cuts on tables without missing values.
- ``caches``: what tables and trees compute once and keep; read when the package is imported.
"""

from __future__ import annotations

import os
from functools import cached_property as _cached_property
from typing import TYPE_CHECKING

SWITCHES = ("presorting", "whole_trees", "threads", "fast_routing", "caches")


def disabled(name: str) -> bool:
    """Whether an optimisation is switched off."""
    given = os.environ.get("OMNITREE_DISABLE", "")
    if not given:
        return False
    names = given.split(",")
    unknown = sorted(set(names) - set(SWITCHES))
    if unknown:
        raise ValueError(
            f"OMNITREE_DISABLE has {', '.join(unknown)}; it takes {', '.join(SWITCHES)}"
        )
    return name in names


if TYPE_CHECKING:
    from functools import cached_property
else:
    # A property that is computed at every access is a cache switched off.
    cached_property = property if disabled("caches") else _cached_property
