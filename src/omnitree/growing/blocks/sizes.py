"""How much a fit to blocks holds at once."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Sizes:
    """How much is held at once."""

    # Most cells, and most rows, of the sample of the survey.
    sample_cells: int = 1 << 23
    sample_rows: int = 1 << 17
    # A node with at most so many is grown in memory.
    node_cells: int = 1 << 22
    node_rows: int = 1 << 16
    bins: int = 256  # most bins of a feature
    drawn_rows: int = 1 << 13  # least number of rows drawn in a large node
    memory: int = 1 << 29  # bytes that the sums and rows of one pass may take

    def rows_of_sample(self, n_columns: int) -> int:
        """Rows of the sample of a table with so many columns."""
        return min(self.sample_rows, max(self.sample_cells // n_columns, 1 << 12))

    def rows_of_node(self, n_features: int) -> int:
        """Rows up to which a node is grown in memory."""
        return min(self.node_rows, max(self.node_cells // n_features, 1 << 10))

    def within(self, limit: int) -> Sizes:
        """Sizes that stay below so many bytes.

        From 512 MB on only `memory` differs: it decides how many nodes share a pass, and
        the tree does not depend on that.
        """
        return replace(
            self,
            sample_cells=min(self.sample_cells, limit // 64),
            node_cells=min(self.node_cells, limit // 128),
            memory=max(limit // 4, 1 << 22),
        )
