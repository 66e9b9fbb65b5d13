"""The time that a fit may take, for loops deep inside a node to look at.

`max_seconds` becomes a deadline (`stopping.Limits`). The grower looks at it between nodes,
and puts it into a context (`until`) while a learner works on one. Whatever runs long there
asks `check_time` now and then, or hands `tick` to compiled code. When the time is up, the
search ends by `TimeUp`, and the node stays a leaf, or gets the best test found so far where
a learner has one. Without a deadline nothing is ever raised.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_DEADLINE: ContextVar[float | None] = ContextVar("deadline", default=None)


class TimeUp(Exception):
    """The time of a fit is up in the middle of a search."""


@contextmanager
def until(deadline: float | None) -> Iterator[None]:
    """A context whose work ends at a deadline, on the clock of `time.monotonic`."""
    token = _DEADLINE.set(deadline)
    try:
        yield
    finally:
        _DEADLINE.reset(token)


def time_is_up() -> bool:
    """Whether the deadline has passed."""
    deadline = _DEADLINE.get()
    return deadline is not None and time.monotonic() > deadline


def check_time() -> None:
    """Raise `TimeUp` once the deadline has passed.

    Examples
    --------
    >>> check_time()
    >>> with until(0.0):
    ...     check_time()
    Traceback (most recent call last):
    ...
    omnitree.growing.clock.TimeUp
    """
    if time_is_up():
        raise TimeUp


def tick(fraction: float) -> bool:
    """The same question as compiled code asks it (`_core/common/tick.hpp`)."""
    return time_is_up()
