"""Parts as values, and the registries that find them by name."""

from __future__ import annotations

import math
import pickle
from typing import ClassVar

import numpy as np
import pytest
from sklearn.base import clone

from omnitree.estimators.registries import REGISTRIES
from omnitree.growing.part import (
    Part,
    Registry,
    UnregisteredPart,
    number,
    require_present,
    unknown,
)
from omnitree.parts.merit import Gini

EVERY = [
    pytest.param(cls, id=f"{kind}-{name}")
    for kind, registry in REGISTRIES.items()
    for name, cls in registry.items()
]


class Spoon(Part):
    """Stirs.

    More about it.
    """

    def __init__(self, size=1.0, inner=None):
        self.size = size
        self.inner = inner


class Fork(Spoon):
    """Has the options of a spoon and is none."""


@pytest.mark.parametrize("cls", EVERY)
def test_every_part_is_a_value(cls):
    part = cls()
    for same in (cls(), clone(part), pickle.loads(pickle.dumps(part))):
        assert same is not part
        assert same == part
        assert hash(same) == hash(part)
        assert repr(same) == repr(part)
    assert part.summary()
    assert "\n" not in part.summary()
    for name, value in part.get_params(deep=False).items():
        if type(value) is float:
            other = clone(part).set_params(**{name: value + 0.125})
            assert other != part
            assert clone(part).set_params(**{name: value + 0.125}) == other


def test_equality():
    assert Spoon(2.0) == Spoon(2.0)
    assert Spoon(2.0) != Spoon(3.0)
    assert Spoon(inner=Spoon(2.0)) == Spoon(inner=Spoon(2.0))
    assert Spoon(inner=Spoon(2.0)) != Spoon(inner=Spoon(3.0))
    assert Spoon() != Fork()
    assert Spoon() != 1.0
    assert len({Spoon(2.0), Spoon(2.0), Spoon(3.0), Fork(2.0)}) == 3
    assert hash(Spoon(inner=Spoon(2.0))) == hash(Spoon(inner=Spoon(2.0)))
    assert Spoon.summary() == "Stirs."


def test_a_clone_shares_nothing():
    part = Spoon(inner=Spoon(2.0))
    copy = clone(part).set_params(inner__size=5.0)
    assert part.inner.size == 2.0
    assert copy.inner.size == 5.0


def registry():
    return Registry("piece of cutlery", Spoon, {"spoon": Spoon, "fork": Fork})


def test_a_registry_is_a_mapping():
    found = registry()
    assert list(found) == ["spoon", "fork"]
    assert len(found) == 2
    assert found["fork"] is Fork
    assert "knife" not in found
    with pytest.raises(KeyError, match="knife"):
        found["knife"]
    with pytest.raises(TypeError):
        found.registered["knife"] = Fork


def test_names_and_objects_resolve():
    found = registry()
    assert found.resolve("fork") == Fork()
    own = Spoon(7.0)
    assert found.resolve(own) is own
    with pytest.raises(
        ValueError,
        match=r"unknown piece of cutlery 'spon', did you mean 'spoon'\? "
        r"Choose one of: spoon, fork\.",
    ):
        found.resolve("spon")
    for wrong in (3, None, Spoon, ["spoon"]):
        with pytest.raises(TypeError, match="must be a name or a Spoon, not"):
            found.resolve(wrong)


def test_parts_of_others_are_added_once():
    class Ladle(Spoon):
        """Another."""

    found = registry()
    assert found.is_own("fork")
    found.add("ladle", Ladle)
    assert found.resolve("ladle") == Ladle()
    assert not found.is_own("ladle")
    found.add("ladle", Ladle)
    assert list(found) == ["spoon", "fork", "ladle"]
    with pytest.raises(ValueError, match=r"'fork' is .*Fork already; choose another"):
        found.add("fork", Ladle)
    assert found["fork"] is Fork


def test_absent_parts_are_found_wherever_they_are():
    absent = UnregisteredPart("merit", "shop.cutlery:Knife", {}, "knife")
    require_present([Spoon(), {"a": (Spoon(inner="x"), 3)}])
    for holder in (
        absent,
        Spoon(inner=absent),
        [Spoon(inner=(1, absent))],
        {"a": {"b": absent}},
    ):
        with pytest.raises(
            ValueError, match=r"from shop.cutlery import Knife"
        ) as error:
            require_present(holder)
        assert "omnitree.register('merit', 'knife', Knife)" in str(error.value)
    with pytest.raises(ValueError, match="is not registered"):
        registry().resolve(absent)


def test_numbers():
    assert number("x", 3) == 3.0
    assert number("x", np.float32(0.5), 0, 1) == 0.5
    assert number("x", 0) == 0.0
    assert number("x", math.inf) == math.inf
    for bad in (-1, "3", None, math.nan, [1]):
        with pytest.raises(ValueError, match="x must be at least 0, not"):
            number("x", bad)
    with pytest.raises(ValueError, match="x must be at least 2 and at most 3, not 4"):
        number("x", 4, 2, 3)


def test_unknown_names():
    known = ["gain", "gini"]
    assert unknown("merit", "ginni", known) == (
        "unknown merit 'ginni', did you mean 'gini'? Choose one of: gain, gini."
    )
    assert unknown("merit", 3, known) == ("unknown merit 3. Choose one of: gain, gini.")


def test_declared_parameters():
    class Plain(Gini):
        level: float = 0.5
        name: str = "a"
        shared: ClassVar[int] = 3

    class Further(Plain):
        level: float = 0.1
        extra: int = 1

    class Written(Plain):
        other: int  # no parameter: it has a constructor of its own

        def __init__(self, level=0.2):
            self.level = level

    assert Plain().get_params() == {"level": 0.5, "name": "a"}
    assert Further(0.3).get_params() == {"level": 0.3, "name": "a", "extra": 1}
    assert Written().get_params() == {"level": 0.2}
    assert clone(Plain(0.7)) == Plain(0.7) != Plain() != Further(0.5)
    assert len({Plain(0.7), Plain(0.7), Plain()}) == 2
    assert repr(Further(level=0.4)) == "Further(level=0.4)"
    assert Plain.code == Gini.code == 0
