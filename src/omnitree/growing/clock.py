"""The time that a fit may take, for loops deep inside a node to look at.

`max_seconds` becomes a deadline (`stopping.Limits`). The grower looks at it between nodes,
and puts it into a context (`until`) while a learner works on one. Whatever runs long there
asks `check_time` now and then, or hands `tick` to compiled code. When the time is up, the
search ends by `TimeUp`, and the node stays a leaf, or gets the best test found so far where
a learner has one. Without a deadline nothing is ever raised.

A product or factorisation of large matrices cannot be stopped once it has begun. Whoever
starts one says how long it is (`check_time(flops)`), and it is not begun unless it would end
in time, by the speed of a small product that is measured once. The same goes for a node's
first pass over its rows, and some time is kept for what comes after growing
(`last_steps`).

Tests and benchmarks put another clock in place of the usual one (`by_clock`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache

import numpy as np

from omnitree.growing.threads import one_thread

_DEADLINE: ContextVar[float | None] = ContextVar("deadline", default=None)
_WATCH: ContextVar[Watch | None] = ContextVar("watch", default=None)

# Operations that are over before anybody looks at a clock.
SHORT = 1e7
# Operations of a product that takes as long as a decomposition of an n x n matrix, in n^3.
# Measured with n = 500 to 1,500.
EIGH, INVERSE, CHOLESKY = 9.0, 3.0, 0.5
# Operations of a product that takes as long as hashing, sorting or copying a cell does.
CELL = 250.0
# Products that are tried to find out how fast cells are gone over, and how much slower an
# operation is then than one of the fastest of them.
ROUNDS, SLOWER = 7, 2.8
# Part of the time of a fit that pruning and measuring the tree may take.
LAST = 0.15
# Terms of a test in which pruning and measuring a tree take as long as going over a cell.
TERMS = 6


_clock: Callable[[], float] = time.monotonic


def now() -> float:
    """Seconds on the clock that deadlines are on."""
    return _clock()


@contextmanager
def by_clock(clock: Callable[[], float]) -> Iterator[None]:
    """A context in which deadlines of all threads are on another clock.

    Parameters
    ----------
    clock : callable
        Seconds, such as `time.process_time`: then nothing else on the machine counts.
    """
    global _clock
    usual, _clock = _clock, clock
    try:
        yield
    finally:
        _clock = usual


@dataclass
class Watch:
    """Whether a step was given up, or not begun, because of the time."""

    late: bool = False


@contextmanager
def watched() -> Iterator[Watch]:
    """A context that finds out whether the time was too short for its work."""
    watch = Watch()
    token = _WATCH.set(watch)
    try:
        yield watch
    finally:
        _WATCH.reset(token)


class TimeUp(Exception):
    """The time of a fit is up in the middle of a search."""


@contextmanager
def until(deadline: float | None) -> Iterator[None]:
    """A context whose work ends at a deadline, on the clock of `now`."""
    token = _DEADLINE.set(deadline)
    try:
        yield
    finally:
        _DEADLINE.reset(token)


def time_is_up(flops: float = 0.0, n_cells: float = 0.0) -> bool:
    """Whether the deadline has passed, or will have after so many operations."""
    deadline = _DEADLINE.get()
    if deadline is None:
        return False
    ahead = flops / _speed() if flops > SHORT else 0.0
    return now() + ahead + cell_seconds(n_cells) > deadline


def check_time(flops: float = 0.0, n_cells: float = 0.0) -> None:
    """Raise `TimeUp` once the deadline has passed, or if it would pass in the next step.

    Parameters
    ----------
    flops : float, default=0
        Additions and multiplications of the matrix product that follows; for other
        algorithms, of a product that takes as long (`EIGH`, `CHOLESKY`).
    n_cells : float, default=0
        Cells of a table that are hashed, copied or sorted by then.

    Examples
    --------
    >>> check_time()
    >>> with until(0.0):
    ...     check_time()
    Traceback (most recent call last):
    ...
    omnitree.growing.clock.TimeUp
    """
    if time_is_up(flops, n_cells):
        if (watch := _WATCH.get()) is not None:
            watch.late = True
        raise TimeUp


@contextmanager
def leaving(n_cells: float) -> Iterator[None]:
    """A context whose work ends early enough for so many cells to be gone over after it.

    Examples
    --------
    >>> with until(now() + 60), leaving(n_cells=1e12):
    ...     time_is_up()
    True
    """
    deadline = _DEADLINE.get()
    if deadline is not None:
        deadline -= cell_seconds(n_cells)
    with until(deadline):
        yield


def last_steps(seconds: float, n_cells: int) -> float:
    """Seconds of a fit that are kept for what follows after its deadline.

    Parameters
    ----------
    seconds : float
        What the fit may take.
    n_cells : int
        Cells of the training table: the ends of columns, and where rows come to lie, are
        found in a last pass over them.
    """
    return LAST * seconds + cell_seconds(n_cells)


def cell_seconds(n_cells: float) -> float:
    """Seconds that it takes to hash, sort or copy so many cells; 0 for few."""
    flops = CELL * n_cells
    return flops / _pace() if flops > SHORT else 0.0


def cells_of_test(n_rows: float, n_terms: float) -> float:
    """Cells that are gone over while rows pass a test that was found.

    They pass it several times: when the node is divided, and when the tree is pruned and
    measured.
    """
    return n_rows * n_terms / TERMS


@cache
def _speed() -> float:
    """Operations that a matrix product does in a second."""
    return 1 / _product_time()


@cache
def _pace() -> float:
    """Operations a second as `CELL` counts them.

    The best of several products in one thread: a busy machine, where threads wait for each
    other, is still one that reads a table in time.
    """
    with one_thread():
        return 1 / (SLOWER * min(_product_time() for _ in range(ROUNDS)))


def _product_time() -> float:
    """Seconds of an operation of a matrix product."""
    n = 128
    matrix = np.ones((n, n))
    matrix @ matrix  # the first call sets up threads and buffers
    start = now()
    for _ in range(8):
        matrix @ matrix
    return max(now() - start, 1e-6) / (16.0 * n**3)


def tick(fraction: float) -> bool:
    """The same question as compiled code asks it (`_core/common/tick.hpp`)."""
    return time_is_up()
