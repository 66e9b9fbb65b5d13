"""What a direction search is."""

from __future__ import annotations

from typing import Any

from omnitree.growing.part import Part


class Direction(Part):
    """Finds the direction on which a linear test projects the rows of a node."""

    def project(self, rows: Any) -> Any:
        """The projections of some rows, for every grouping of their classes."""
        raise AssertionError(f"{type(self).__name__} projects nothing")
