"""Protocols: how rows are divided for fitting, pruning and testing, as plain values.

A protocol and a seed give the same parts for every method. Seed 0 deals the folds of repeat
r as `StratifiedKFold(shuffle=True, random_state=r)` does. `parse` reads the names:

- `10fold`, `3x10fold`: (repeated) stratified k-fold; `5x2cv` is `5x2fold`.
- `10x4fold+prune`, short `bu95`: in each fold another part of the rows is for pruning, so
  with four folds half is for growing, a quarter for pruning, a quarter for testing.
- `fixed`, `fixed:repeats=10`: the division that comes with the data.
- `mc`, `mc:repeats=50:test=0.25`: Monte Carlo, random stratified divisions.
- `loo`: leave-one-out; `loo-path`: by dynamic path generation (Liu & White 1994).
"""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit

from omnitree.data.reading import InputError
from omnitree.growing.part import number, unknown
from omnitree.lab import specs
from omnitree.lab.data import Dataset
from omnitree.lab.statistics import HypothesisTest, corrected_t, five_by_two_f, mcnemar

SEEDS_APART = 1000  # repeats that one seed may have before it meets the next seed's


@dataclass(frozen=True)
class Division:
    """Rows for growing, for testing and, with some protocols, for pruning."""

    train: np.ndarray
    test: np.ndarray
    prune: np.ndarray | None = None
    by_path: bool = False


@dataclass(frozen=True)
class Protocol:
    """How a data set is divided. Parts are in order: all of repeat 0, of repeat 1, ..."""

    by_rows: ClassVar[bool] = False  # whether methods are compared row by row

    @property
    def name(self) -> str:
        """What `parse` reads."""
        raise AssertionError(f"{type(self).__name__} has no name")

    @property
    def test_name(self) -> str:
        """The test of a difference that suits the protocol, in words."""
        if self.by_rows:
            return "McNemar's test on the test rows"
        return "corrected resampled t test (Nadeau & Bengio)"

    def divide(self, data: Dataset, seed: int) -> list[Division]:
        """All divisions of a data set."""
        raise AssertionError(f"{type(self).__name__} divides nothing")

    def compare(self, a: np.ndarray, b: np.ndarray) -> HypothesisTest:
        """Test the errors of two methods (of folds; of rows if `by_rows`)."""
        return mcnemar(a == 0, b == 0)


def _dealt(deal: Any, data: Dataset) -> list[tuple[np.ndarray, np.ndarray]]:
    """Training and test rows, as a splitter of scikit-learn deals them."""
    with warnings.catch_warnings():  # a class may have fewer rows than folds
        warnings.simplefilter("ignore", UserWarning)
        try:
            return list(deal.split(np.zeros(len(data.y)), data.y))
        except ValueError as error:
            raise InputError(f"{data.name}: {error}") from None


@dataclass(frozen=True)
class RepeatedFolds(Protocol):
    """Repeated stratified k-fold cross-validation, if need be with a part for pruning."""

    folds: int = 10
    repeats: int = 1
    prune: bool = False

    def __post_init__(self) -> None:
        if self.folds < (3 if self.prune else 2) or self.repeats < 1:
            raise InputError(
                "cross-validation needs two folds (three with a part for pruning) and "
                f"one repeat or more, not {self.folds} and {self.repeats}"
            )

    @property
    def name(self) -> str:
        times = f"{self.repeats}x" if self.repeats > 1 else ""
        return f"{times}{self.folds}fold{'+prune' if self.prune else ''}"

    @property
    def _is_5x2(self) -> bool:
        return (self.repeats, self.folds) == (5, 2)

    @property
    def test_name(self) -> str:
        return "combined 5x2cv F test (Alpaydın)" if self._is_5x2 else super().test_name

    def divide(self, data: Dataset, seed: int) -> list[Division]:
        out = []
        for repeat in range(self.repeats):
            state = SEEDS_APART * seed + repeat
            deal = StratifiedKFold(self.folds, shuffle=True, random_state=state)
            parts = [test for _, test in _dealt(deal, data)]
            for i, test in enumerate(parts):
                after = parts[i + 1 :] + parts[:i]
                prune = after.pop(0) if self.prune else None
                out.append(Division(np.sort(np.concatenate(after)), test, prune))
        return out

    def compare(self, a: np.ndarray, b: np.ndarray) -> HypothesisTest:
        if self._is_5x2:
            return five_by_two_f(a, b)
        return corrected_t(a, b, 1 / (self.folds - 1 - self.prune))


@dataclass(frozen=True)
class MonteCarlo(Protocol):
    """Random stratified divisions, each drawn anew."""

    repeats: int = 30
    test: float = 0.25

    def __post_init__(self) -> None:
        try:
            number("repeats", self.repeats, 2)
            number("test", self.test, 0.01, 0.99)
        except ValueError as error:
            raise InputError(f"protocol mc: {error}") from None

    @property
    def name(self) -> str:
        return specs.show("mc", {"repeats": self.repeats, "test": self.test})

    def divide(self, data: Dataset, seed: int) -> list[Division]:
        deal = StratifiedShuffleSplit(
            self.repeats, test_size=self.test, random_state=seed
        )
        parts = _dealt(deal, data)
        return [Division(np.sort(train), np.sort(test)) for train, test in parts]

    def compare(self, a: np.ndarray, b: np.ndarray) -> HypothesisTest:
        return corrected_t(a, b, self.test / (1 - self.test))


@dataclass(frozen=True)
class Fixed(Protocol):
    """The division that comes with the data; repeats differ in the methods' seeds."""

    by_rows: ClassVar[bool] = True
    repeats: int = 1

    @property
    def name(self) -> str:
        return "fixed" if self.repeats == 1 else f"fixed:repeats={self.repeats}"

    def divide(self, data: Dataset, seed: int) -> list[Division]:
        if data.split is None:
            raise InputError(
                f"{data.name} has no column `split`, which protocol {self.name} needs"
            )
        train, test = (np.flatnonzero(data.split == part) for part in ("train", "test"))
        if not len(train) or not len(test):
            raise InputError(f"{data.name}: column `split` lacks train or test rows")
        return [Division(train, test)] * self.repeats


@dataclass(frozen=True)
class LeaveOneOut(Protocol):
    """Every row is tested by a tree of all others, or only by the path it takes."""

    by_rows: ClassVar[bool] = True
    paths: bool = False

    @property
    def name(self) -> str:
        return "loo-path" if self.paths else "loo"

    def divide(self, data: Dataset, seed: int) -> list[Division]:
        rows = np.arange(len(data.y))
        if self.paths:
            return [Division(rows, rows, by_path=True)]
        return [Division(np.delete(rows, i), rows[i : i + 1]) for i in rows]


NAMES = ["5x2cv", "10fold", "3x10fold", "bu95", "fixed", "mc", "loo", "loo-path"]


def parse(text: str) -> Protocol:
    """The protocol of a name.

    >>> parse("5x2cv")
    RepeatedFolds(folds=2, repeats=5, prune=False)
    >>> parse("bu95").name
    '10x4fold+prune'
    """
    name, options = specs.parse(text)
    name = {"5x2cv": "5x2fold", "bu95": "10x4fold+prune"}.get(name, name)
    found = re.fullmatch(r"(?:(\d{1,3})x)?(\d{1,4})fold(\+prune)?", name)
    if found and not options:
        repeats, folds, prune = found.groups()
        return RepeatedFolds(int(folds), int(repeats or 1), prune is not None)
    kinds: dict[str, tuple[Any, dict[str, Any]]] = {
        "mc": (MonteCarlo, {}),
        "fixed": (Fixed, {}),
        "loo": (LeaveOneOut, {}),
        "loo-path": (LeaveOneOut, {"paths": True}),
    }
    if name not in kinds:
        raise InputError(
            unknown("protocol", text, [*NAMES, "RxKfold", "RxKfold+prune"])
        )
    kind, given = kinds[name]
    try:
        return kind(**given, **options)
    except TypeError:
        raise InputError(f"protocol {name!r} has no such options: {options}") from None
