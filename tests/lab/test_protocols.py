"""Divisions: complete, disjoint, stratified, the same for every method."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold

from omnitree.data.reading import InputError
from omnitree.lab import data, protocols

IRIS = data.load("iris")


def test_seed_zero_deals_the_folds_of_scikit_learn():
    parts = protocols.parse("5x2cv").divide(IRIS, 0)
    assert len(parts) == 10
    for repeat in range(5):
        deal = StratifiedKFold(2, shuffle=True, random_state=repeat)
        for i, (train, test) in enumerate(deal.split(IRIS.X, IRIS.y)):
            part = parts[2 * repeat + i]
            assert part.train.tolist() == train.tolist()
            assert part.test.tolist() == test.tolist()
    other = protocols.parse("5x2cv").divide(IRIS, 1)
    assert all((a.test != b.test).any() for a, b in zip(parts, other, strict=True))


def test_bu95_halves_and_quarters():
    parts = protocols.parse("bu95").divide(IRIS, 0)
    assert len(parts) == 40
    for part in parts:
        assert part.prune is not None
        rows = np.concatenate([part.train, part.test, part.prune])
        assert sorted(rows) == list(range(150))
        for share, rows in ((2, part.train), (1, part.test), (1, part.prune)):
            assert abs(len(rows) - share * 37.5) <= 3
            counts = np.unique(IRIS.y[rows], return_counts=True)[1]
            assert np.ptp(counts) <= 2
    for repeat in range(10):
        tested = np.concatenate([p.test for p in parts[4 * repeat : 4 * repeat + 4]])
        assert sorted(tested) == list(range(150))


def test_monte_carlo_and_leave_one_out():
    parts = protocols.parse("mc:repeats=5:test=0.2").divide(IRIS, 3)
    assert [len(p.test) for p in parts] == [30] * 5
    assert len({tuple(p.test) for p in parts}) == 5
    alone = protocols.parse("loo").divide(IRIS, 0)
    assert [p.test.tolist() for p in alone] == [[i] for i in range(150)]
    assert all(i not in p.train for i, p in enumerate(alone))
    (paths,) = protocols.parse("loo-path").divide(IRIS, 0)
    assert paths.by_path


def test_fixed_needs_a_division():
    with pytest.raises(InputError, match="split"):
        protocols.parse("fixed").divide(IRIS, 0)
    split = np.where(np.arange(150) % 3 == 0, "test", "train")
    given = data.Dataset("iris", IRIS.X, IRIS.y, split)
    parts = protocols.parse("fixed:repeats=2").divide(given, 0)
    assert len(parts) == 2 and len(parts[0].train) == 100


@pytest.mark.parametrize("name", protocols.NAMES)
def test_names_are_read_back(name: str):
    protocol = protocols.parse(name)
    assert protocols.parse(protocol.name) == protocol


@pytest.mark.parametrize(
    "name",
    ["", "1fold", "5x2", "2fold+prune", "mc:test=2", "loo:x=1", "0x2fold", "mc:x"],
)
def test_bad_names(name: str):
    with pytest.raises((InputError, ValueError)):
        protocols.parse(name)


def test_the_test_suits_the_protocol(rng: np.random.Generator):
    from omnitree.lab import statistics

    a, b = rng.random((2, 10))
    two = protocols.parse("5x2cv").compare(a, b)
    assert two == statistics.five_by_two_f(a, b)
    ten = protocols.parse("10fold").compare(a, b)
    assert ten == statistics.corrected_t(a, b, 1 / 9)
    wrong = (rng.random((2, 50)) < 0.3).astype(float)
    assert protocols.parse("loo").compare(*wrong) == statistics.mcnemar(*(wrong == 0))
