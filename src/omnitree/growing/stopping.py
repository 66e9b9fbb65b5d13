"""When a node stays a leaf: rules of the part `stopping` and limits of the estimator.

`Stopping` says how much evidence a node needs; the limits (depth, leaves, seconds) say how
large the tree may become and how long it may take. `Limits` combines both for the grower. A
pure node is a leaf under every rule.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from omnitree.growing.clock import (
    LAST,
    cell_seconds,
    check_time,
    now,
    time_is_up,
    until,
)
from omnitree.growing.part import Part, Registry, number

# Passes over its rows that a search makes before it looks at the clock.
PASSES = 3
# Times that the class counts of a node are made, copied or added up until a tree is done.
COUNTED = 6


class Stopping(Part):
    """Grow until nodes are pure or too small.

    Parameters
    ----------
    min_rows : float, default=2
        A node with less weight than this many rows is a leaf.
    min_share : float, default=0
        A node with less than this share of the training weight is a leaf. LDT05's
        pre-pruning is 0.05.
    """

    min_rows: float = 2
    min_share: float = 0.0


class PrePruning(Stopping):
    """Stop at nodes with less than 5 % of the training rows (LDT05's pre-pruning)."""

    min_share: float = 0.05


STOPPING = Registry(
    "stopping rule", Stopping, {"pure": Stopping, "pre_pruning": PrePruning}
)


@dataclass(frozen=True)
class Limits:
    """Stopping rules in numbers, for one growth."""

    min_rows: float = 2.0
    max_depth: int = -1
    max_leaves: int | None = None
    deadline: float | None = None
    after: float = 0.0  # seconds after the deadline, for pruning and measuring the tree

    @classmethod
    def of(
        cls,
        stopping: Stopping,
        total: float,
        max_depth: int | None,
        max_leaves: int | None,
        max_seconds: float | None,
    ) -> Limits:
        """The rules and limits for a training table of weight `total`."""
        min_rows = number("min_rows", stopping.min_rows)
        min_share = number("min_share", stopping.min_share, most=1)
        return cls(
            min_rows=max(min_rows, min_share * total),
            max_depth=-1 if max_depth is None else int(max_depth),
            max_leaves=max_leaves,
            deadline=None if max_seconds is None else now() + max_seconds,
        )

    def ending(self, deadline: float, seconds: float, n_classes: int = 0) -> Limits:
        """The same for a fit of so many seconds whose growth must end at `deadline`.

        Where the classes cannot all be told apart in half of that time, because every node
        counts every class, the tree is no deeper than one that can be counted by then.
        """
        limits = replace(self, deadline=deadline, after=LAST * seconds)
        counting = cell_seconds(COUNTED * n_classes * (2.0 * n_classes - 1))
        if counting <= seconds / 2:
            return limits
        leaves = max(n_classes * seconds / 2 / counting, 2.0)
        depth = int(math.log2(leaves))
        if 0 <= self.max_depth < depth:
            return limits
        return replace(limits, max_depth=depth)

    @property
    def depth_needed(self) -> int:
        """Depth within which a best-first tree of `max_leaves` leaves lies; -1: any."""
        if self.max_leaves is None:
            return self.max_depth
        most = self.max_leaves - 1
        return most if self.max_depth < 0 else min(most, self.max_depth)

    def expired(self) -> bool:
        """Whether the time is up."""
        return self.deadline is not None and now() > self.deadline

    def check_time_after(self, n_cells: float) -> None:
        """Raise `TimeUp` if so many cells cannot be gone over before the fit must end."""
        if self.deadline is not None:
            with until(self.deadline + self.after):
                check_time(n_cells=n_cells)

    def is_late(self, n_cells: float) -> bool:
        """Whether the time is up before so many cells could be gone over a few times."""
        with until(self.deadline):
            return time_is_up(n_cells=PASSES * n_cells)
