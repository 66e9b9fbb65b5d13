"""All registries of parts, by kind, and how other packages add to them.

Used by the model documents, by `omnitree parts` and by the documentation.
"""

from __future__ import annotations

from typing import Any

from omnitree.growing.criterion import CRITERIA
from omnitree.growing.foreign import slug
from omnitree.growing.missing import MISSING
from omnitree.growing.part import Registry, unknown
from omnitree.growing.stopping import STOPPING
from omnitree.learners import LEARNERS
from omnitree.parts.choice import CHOICES
from omnitree.parts.coefficients import COEFFICIENTS
from omnitree.parts.direction import DIRECTIONS
from omnitree.parts.discriminants import DISCRIMINANTS
from omnitree.parts.feature_selection import SELECTIONS
from omnitree.parts.grouping import GROUPINGS
from omnitree.parts.leaves import LEAVES
from omnitree.parts.merit import MERITS
from omnitree.parts.threshold import THRESHOLDS
from omnitree.pruning import PRUNINGS
from omnitree.refinement import REFINEMENTS

REGISTRIES: dict[str, Registry] = {
    r.kind: r
    for r in (
        LEARNERS,
        CRITERIA,
        CHOICES,
        COEFFICIENTS,
        GROUPINGS,
        DIRECTIONS,
        DISCRIMINANTS,
        SELECTIONS,
        THRESHOLDS,
        LEAVES,
        MERITS,
        MISSING,
        PRUNINGS,
        REFINEMENTS,
        STOPPING,
    )
}


def register(kind: str, name: str, cls: Any) -> None:
    """Give a part of your own a name, as omnitree's parts have them.

    The name then serves wherever one of this kind is taken, in error messages and in
    `omnitree parts`, and saved models with the part can be fitted again after `load`. A
    package can have its parts found without this call, through entry points of the group
    ``omnitree.parts`` whose names are ``kind.name``.

    Parameters
    ----------
    kind : str
        One of those that `omnitree parts` lists: "merit", "learner", "pruning" and so on.
    name : str
    cls : class
        Derived from the class of its kind, with a default for every parameter.

    Raises
    ------
    ValueError
        If the kind is unknown, or the name is taken.
    TypeError
        If the class is not one of this kind, or lacks methods or defaults.

    Examples
    --------
    >>> import omnitree
    >>> from omnitree.parts.merit import Gini
    >>> class Squared(Gini):
    ...     def score(self, counts):
    ...         return super().score(counts) ** 2
    >>> omnitree.register("merit", "squared_gini", Squared)
    >>> from omnitree.learners import Univariate
    >>> clf = omnitree.TreeClassifier(Univariate(merit="squared_gini"))
    >>> clf.fit([[1], [2], [3]], ["a", "a", "b"]).tree_.n_leaves
    2
    """
    by_slug = {slug(known): registry for known, registry in REGISTRIES.items()}
    if not isinstance(kind, str) or slug(kind) not in by_slug:
        raise ValueError(unknown("kind of part", kind, list(REGISTRIES)))
    by_slug[slug(kind)].add(name, cls)
