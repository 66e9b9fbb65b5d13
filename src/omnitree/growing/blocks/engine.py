"""Who goes through the blocks: a pure function of a block, mapped and added up.

An engine has one method, `map_blocks(function)`: it calls the function once with every block
of its source and returns the sum of the results, in any order. Results are values that can
be added, and their sums do not depend on the order, so nothing else has to be agreed on. A
function is a small value that can be pickled (a frozen dataclass with `__call__`) and knows
all it needs: the tree so far, the schema, which nodes to count. So an engine may run it in
threads, in other processes or on other machines, and run it again where that failed.

To add an engine, write a class with `map_blocks`; see `docs/large_data.md`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, wait
from dataclasses import dataclass
from functools import cached_property, reduce
from threading import Condition
from typing import Any, Protocol, TypeVar

from joblib import effective_n_jobs

from omnitree.data.sources import Block, BlockSource, SourcePart
from omnitree.data.sources.base import BLOCK_CELLS
from omnitree.growing.threads import one_thread, threads

T = TypeVar("T")


class Engine(Protocol):
    """Goes through the blocks of a source."""

    @property
    def source(self) -> BlockSource: ...

    def map_blocks(self, function: Callable[[Block], T]) -> T | None:
        """Sum of what the function returns for each block; None without any block."""


@dataclass(frozen=True, eq=False)
class LocalEngine:
    """Threads of this process, each with a block at a time."""

    source: BlockSource
    n_jobs: int | None = None  # number of threads, as in scikit-learn
    cells: int = BLOCK_CELLS  # of a block

    @cached_property
    def pool(self) -> Executor:
        """The threads, which others may use, too.

        They stay from pass to pass: new ones would have to be given new memory.
        """
        return threads(self.n_jobs)

    def map_blocks(self, function: Callable[[Block], T]) -> T | None:
        add = adder(function)
        blocks = SharedBlocks(self.source.parts(self.cells))

        def work() -> T | None:
            total: T | None = None
            try:
                while (block := blocks.next()) is not None:
                    total = add(total, block)
            except BaseException:
                blocks.stop()
                raise
            return total

        sums: list[Future[T | None]] = []
        with one_thread():
            try:
                for _ in range(effective_n_jobs(self.n_jobs)):
                    sums.append(self.pool.submit(work))
                return reduce(plus, [future.result() for future in sums])
            finally:
                blocks.stop()
                wait([future for future in sums if not future.cancel()])


class SharedBlocks:
    """The blocks of all parts, for several threads.

    A thread reads on where no other is reading: in a part that is open or in a new one, so
    that files are read side by side, and those with a few large parts are still worked on
    by all threads.
    """

    def __init__(self, parts: Iterator[SourcePart]) -> None:
        self.parts = parts
        self.idle: deque[Iterator[Block]] = deque()  # parts that nobody is reading
        self.n_reading = 0
        # Whether someone asks for the next part, and whether there are none left.
        self.is_opening = self.is_last = self.is_stopped = False
        self.changed = Condition()

    def next(self) -> Block | None:
        """A block with rows that nobody else has had; None: there are no more."""
        while (part := self._part()) is not None:
            block = None
            try:
                block = next((b for b in part if b.n_rows), None)
            finally:
                with self.changed:
                    self.n_reading -= 1
                    if block is not None:
                        self.idle.append(part)
                    self.changed.notify_all()
            if block is not None:
                return block
        return None

    def _part(self) -> Iterator[Block] | None:
        """A part that nobody is reading; None: all are read."""
        while True:
            with self.changed:
                while not self.idle and (
                    self.is_opening or (self.is_last and self.n_reading)
                ):
                    self.changed.wait()
                if self.is_stopped or (self.is_last and not self.idle):
                    return None
                if self.idle:
                    self.n_reading += 1
                    return self.idle.popleft()
                self.is_opening = True
            new = None
            try:
                new = next(self.parts, None)
            finally:
                with self.changed:
                    self.is_opening, self.is_last = False, new is None
                    if new is not None:
                        self.idle.append(iter(new.blocks()))
                    self.changed.notify_all()

    def stop(self) -> None:
        """Let no more blocks be read."""
        with self.changed:
            self.is_stopped = self.is_last = True
            self.idle.clear()
            self.changed.notify_all()


def adder(function: Callable[[Block], T]) -> Callable[[T | None, Block], T | None]:
    """What adds the result of a block to a sum, which is used up.

    A function with `add_to` does so itself, which saves the memory and the time for another
    sum of the same size.
    """

    def plainly(total: T | None, block: Block) -> T | None:
        return plus(total, function(block))

    return getattr(function, "add_to", plainly)


def part_sum(
    part: SourcePart, function: Callable[[Block], T], total: T | None = None
) -> T | None:
    """What a function returns for the blocks of one part, added to a sum so far."""
    add = adder(function)
    for block in part.blocks():
        if block.n_rows:
            total = add(total, block)
    return total


def plus(a: Any, b: Any) -> Any:
    """a + b, where None is nothing."""
    if a is None or b is None:
        return b if a is None else a
    return a + b
