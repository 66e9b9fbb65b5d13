"""Branches of machines with thousands of classes are found piece by piece."""

from __future__ import annotations

from omnitree.parts.coefficients import cases


def test_branches_in_pieces_are_those_of_the_whole(rng, monkeypatch):
    machine = cases.Machine(rng.normal(size=(30, 4)), rng.normal(size=30))
    z = rng.normal(size=(101, 4))
    whole = machine.branches(z)
    monkeypatch.setattr(cases, "MANY", 100)
    monkeypatch.setattr(cases, "PIECE", 210)  # seven rows
    assert machine.branches(z).tolist() == whole.tolist()
    assert len(machine.branches(z[:0])) == 0
