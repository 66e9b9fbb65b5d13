"""A fixture for all tests and for the examples in docstrings: what one registers goes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from omnitree.estimators.registries import REGISTRIES
from omnitree.growing.foreign import announced


@pytest.fixture(autouse=True)
def _registries_as_before() -> Iterator[None]:
    """Parts that a test or an example registers are forgotten after it."""
    before = {kind: dict(r.registered) for kind, r in REGISTRIES.items()}
    yield
    for kind, registry in REGISTRIES.items():
        if registry.registered != before[kind] or registry._failed:
            announced.cache_clear()
            registry._parts.clear()
            registry._parts.update(before[kind])
            registry._failed.clear()
