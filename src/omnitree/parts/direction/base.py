"""What a direction search is."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from omnitree.growing.part import Part


class Direction(Part):
    """Finds the direction on which a linear test projects the rows of a node."""

    @abstractmethod
    def project(self, rows: Any) -> Any:
        """The projections of some rows, for every grouping of their classes."""
