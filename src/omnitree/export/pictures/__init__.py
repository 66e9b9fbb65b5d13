"""Pictures in matplotlib: the tree, a node, the boundary of two features, importance.

Each draws on a given Axes or a new one and returns it. matplotlib is imported when the first
picture is asked for; it comes with `pip install "omnitree[plot]"`.
"""

from omnitree.export.pictures.boundary import boundary_grid, plot_boundary
from omnitree.export.pictures.importance import importance_by_level, plot_importance
from omnitree.export.pictures.node import plot_node
from omnitree.export.pictures.tree import plot_tree

__all__ = [
    "boundary_grid",
    "importance_by_level",
    "plot_boundary",
    "plot_importance",
    "plot_node",
    "plot_tree",
]
