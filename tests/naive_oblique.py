"""Obvious, slow versions of the oblique search: every step tried, every row counted anew.

Nothing here imports compiled code. A test is a list of weights and a bias; a row is in
branch 1 where its value is above 0.

- `steps`, `best_step`: all steps along a direction, and the one to take
- `climb`: hill climbing over coefficients, with gammas, jumps and steps that gain nothing
- `twoing`: by its definition, the best two superclasses
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from tests.naive import is_better

NONE = -math.inf
Merit = Callable[[np.ndarray], float]


def twoing(table: np.ndarray) -> float:
    """Largest decrease of p (1 - p) over all divisions of the classes into two."""

    def impurity(counts: np.ndarray, chosen: Sequence[int]) -> float:
        p = counts[list(chosen)].sum() / counts.sum()
        return p * (1 - p)

    total, sizes = table.sum(axis=0), table.sum(axis=1)
    best = 0.0
    for size in range(1, table.shape[1]):
        for chosen in itertools.combinations(range(table.shape[1]), size):
            inside = sum(
                n / sizes.sum() * impurity(branch, chosen)
                for n, branch in zip(sizes, table, strict=True)
                if n > 0
            )
            best = max(best, impurity(total, chosen) - inside)
    return best


def rate(values, y, weight, n_classes: int, merit: Merit) -> float:
    """Merit of the test `values > 0`; minus infinity if a branch is empty."""
    table = np.zeros((2, n_classes))
    for value, cls, w in zip(values, y, weight, strict=True):
        table[int(value > 0), cls] += w
    return NONE if table.sum(axis=1).min() <= 0 else merit(table)


def keys(v, d, weight) -> list[int]:
    """What orders the rows that a step along d can move: 42 bits of a map of -v / d."""
    up = sum(w * abs(a) for w, a in zip(weight, v, strict=True))
    across = sum(w * abs(a) for w, a in zip(weight, d, strict=True))
    s = up / across if across else 0.0
    s = 2.0 ** round(math.log2(s)) if 1e-200 < s < 1e200 else 1.0
    out = []
    for a, b in zip(v, d, strict=True):
        if b != 0:
            u = -a * math.copysign(1.0, b) / (s * abs(b) + abs(a))
            out.append(int(min((u + 1) * 2.0**41, 2.0**42 - 1)))
    return out


def steps(v, d, y, weight, n_classes, merit) -> list[tuple[float, float, int]]:
    """Each step between two neighbours: t, merit and the interval between their keys."""
    moved = [-a / b for a, b in zip(v, d, strict=True) if b != 0]
    order = sorted(zip(keys(v, d, weight), range(len(moved)), strict=True))
    out = []
    for (key, row), (next_key, next_row) in itertools.pairwise(order):
        t = moved[row] / 2 + moved[next_row] / 2
        if next_key > key and math.isfinite(t):
            # A whole interval lies between the neighbours, so rounding moves no row.
            score = rate(np.asarray(v) + t * np.asarray(d), y, weight, n_classes, merit)
            out.append((t, score, next_key - key))
    return out


def best_step(v, d, y, weight, n_classes, merit) -> tuple[float, float]:
    """The best step; of equal ones that in the widest interval, then the lowest."""
    best = (math.nan, NONE, 0)
    for step in steps(v, d, y, weight, n_classes, merit):
        if step[1] == NONE:
            continue
        wider = step[2] > best[2] and not (
            best[1] > NONE and is_better(best[1], step[1])
        )
        if best[1] == NONE or is_better(step[1], best[1]) or wider:
            best = step
    return best[0], best[1]


def mix(z: int) -> int:
    """splitmix64."""
    z = (z + 0x9E3779B97F4A7C15) % 2**64
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB % 2**64
    return z ^ (z >> 31)


@dataclass
class Climb:
    """A climb in progress: the test, its merit, and the rows it is made for."""

    z: np.ndarray  # rows x columns
    y: np.ndarray
    weight: np.ndarray
    n_classes: int
    merit: Merit
    w: np.ndarray
    gammas: Sequence[float] = (0.0,)
    order: str = "sequential"
    picks: int = 0
    jumps: int = 0
    stagnation: int = 0
    tolerance: float = 0.0
    epsilon: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        self.w = np.array(self.w, dtype=float)
        self.stagnant = 0
        self.trace: list[float] = []

    def values(self, w) -> np.ndarray:
        return self.z @ w[:-1] + w[-1]

    def rate(self, w) -> float:
        return rate(self.values(w), self.y, self.weight, self.n_classes, self.merit)

    @property
    def now(self) -> float:
        return self.rate(self.w)

    def pure(self) -> bool:
        above = self.values(self.w) > 0
        return all(len(set(self.y[side])) <= 1 for side in (above, ~above))

    def best(self, change: np.ndarray) -> tuple[float, float]:
        """The best step along a change of the weights and the bias."""
        return best_step(
            self.values(self.w),
            self.values(change),
            self.y,
            self.weight,
            self.n_classes,
            self.merit,
        )

    def progress(self, merit: float) -> bool:
        now = self.now
        if merit == NONE or now == NONE:
            return merit > now
        return is_better(merit, now * (1 + self.tolerance) if now > 0 else now)

    def look(self, j: int) -> tuple[float, float, np.ndarray]:
        """Step, merit and direction for coefficient j."""
        best = (math.nan, NONE, np.zeros(0))
        for gamma in self.gammas if j < len(self.w) - 1 else (0.0,):
            change = np.zeros(len(self.w))
            change[-1] = gamma
            change[j] = 1.0
            t, merit = self.best(change)
            if merit > NONE and (best[1] == NONE or is_better(merit, best[1])):
                best = (t, merit, change)
        return best

    def take(self, t: float, merit: float, change: np.ndarray) -> bool:
        now = self.now
        if merit == NONE or (now > NONE and is_better(now, merit)):
            return False
        if self.progress(merit):
            self.stagnant = 0
        elif self.stagnant >= self.stagnation:
            return False
        else:
            self.stagnant += 1
        self.w = self.w + t * change
        self.trace.append(merit)
        return True

    def uniform(self) -> float:
        self.seed = mix(self.seed)
        return (self.seed >> 11) * 2.0**-52 - 1

    def jump(self) -> bool:
        for _ in range(self.jumps):
            change = np.array([self.uniform() for _ in self.w])
            t, merit = self.best(change)
            if self.progress(merit):
                return self.take(t, merit, change)
        return False

    def cycle(self) -> bool:
        moved = False
        for j in range(len(self.w)):
            if not self.pure():
                moved |= self.take(*self.look(j))
        return moved

    def improve_best(self) -> bool:
        best = (math.nan, NONE, np.zeros(0))
        for j in range(len(self.w)):
            move = self.look(j)
            if move[1] > NONE and (best[1] == NONE or is_better(move[1], best[1])):
                best = move
        return self.take(*best)

    def run(self) -> float:
        """Climb to the end; the merit reached."""
        if self.order == "random":
            for _ in range(self.picks):
                if self.pure():
                    break
                j = int((self.uniform() + 1) / 2 * len(self.w))
                if not self.take(*self.look(j)):
                    self.jump()
            return self.now
        while not self.pure():
            before = self.now
            go = self.cycle() if self.order == "sequential" else self.improve_best()
            if not go and not self.jump():
                break
            if before > NONE and self.now < before + self.epsilon:
                break
        return self.now
