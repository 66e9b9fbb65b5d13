"""Fixtures for all tests.

Random tests take `seed` (or `rng`) and must hold for every seed. One seed is used by
default; OMNITREE_SEEDS=0-19 runs twenty.
"""

from __future__ import annotations

import os

import numpy as np
import pytest
from hypothesis import settings

settings.register_profile("omnitree", deadline=None, derandomize=True)
settings.load_profile("omnitree")


def _seeds() -> list[int]:
    first, _, last = os.environ.get("OMNITREE_SEEDS", "0").partition("-")
    return list(range(int(first), int(last or first) + 1))


@pytest.fixture(params=_seeds(), ids=lambda s: f"seed{s}")
def seed(request: pytest.FixtureRequest) -> int:
    """The seed of a random test."""
    return request.param


@pytest.fixture
def rng(seed: int) -> np.random.Generator:
    """Random numbers from `seed`."""
    return np.random.default_rng(seed)
