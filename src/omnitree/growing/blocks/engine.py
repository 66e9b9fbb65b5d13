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
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from joblib import effective_n_jobs

from omnitree.data.sources import Block, BlockSource, SourcePart
from omnitree.growing.threads import one_thread

T = TypeVar("T")


class Engine(Protocol):
    """Goes through the blocks of a source."""

    @property
    def source(self) -> BlockSource: ...

    def map_blocks(self, function: Callable[[Block], T]) -> T | None:
        """Sum of what the function returns for each block; None without any block."""


@dataclass(frozen=True, eq=False)
class LocalEngine:
    """Threads of this process, each with a part at a time."""

    source: BlockSource
    n_jobs: int | None = None  # number of threads, as in scikit-learn

    def map_blocks(self, function: Callable[[Block], T]) -> T | None:
        n_threads = effective_n_jobs(self.n_jobs)
        total: Any = None
        with one_thread():
            if n_threads == 1:
                for part in self.source.parts():
                    total = part_sum(part, function, total)
                return total
            sums: deque[Any] = deque()  # one for each thread, which goes on with it

            def work(part: SourcePart) -> None:
                try:
                    so_far = sums.pop()
                except IndexError:
                    so_far = None
                sums.append(part_sum(part, function, so_far))

            waiting: deque[Future] = deque()
            with ThreadPoolExecutor(n_threads) as pool:
                try:
                    for part in self.source.parts():
                        # Parts may hold rows, so no more than can be worked on are made.
                        if len(waiting) > n_threads:
                            waiting.popleft().result()
                        waiting.append(pool.submit(work, part))
                    while waiting:
                        waiting.popleft().result()
                finally:
                    for future in waiting:
                        future.cancel()
            while sums:
                total = plus(total, sums.pop())
        return total


def part_sum(
    part: SourcePart, function: Callable[[Block], T], total: T | None = None
) -> T | None:
    """What a function returns for the blocks of one part, added up.

    A function with `add_to` adds a block to what there is, which saves the memory and the
    time for another sum of the same size. `total` is used up.
    """

    def plainly(so_far: T | None, block: Block) -> T | None:
        return plus(so_far, function(block))

    add = getattr(function, "add_to", plainly)
    for block in part.blocks():
        if block.n_rows:
            total = add(total, block)
    return total


def plus(a: Any, b: Any) -> Any:
    """a + b, where None is nothing."""
    if a is None or b is None:
        return b if a is None else a
    return a + b
