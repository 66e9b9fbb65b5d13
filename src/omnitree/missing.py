"""What a univariate test does with a gap: the policies, by name.

A test answers -1 for a row it cannot place. What happens then is decided here, in one
place, for growing and for prediction alike: the policy makes the learner store in every
node either a branch for such rows or -1, "divide". The rows of a node are (row, weight)
entries, so a divided row is simply an entry in several children; fractional instances
live in the grower and in the router, and no learner has to know of them beyond the
weights it is given. Linear tests fill gaps with the node's means and never come here.
"""

from __future__ import annotations

from omnitree.parts import Part, Registry


class MissingPolicy(Part):
    """How rows with a gap in the tested feature go on."""

    code: int
    max_surrogates = 0


class Mean(MissingPolicy):
    """Fill in the node's mean, of symbols the most frequent one (BU95, LDT05)."""

    code = 0


class Fractional(MissingPolicy):
    """Send the row down every branch, weighted by the branches' known rows (C4.5)."""

    code = 1


class Surrogate(MissingPolicy):
    """Use the tests that agree best with the main one, then the larger branch (CART).

    Surrogates are looked for where the training table has gaps. A table without any is
    grown without them, and gaps met later follow the larger branch.

    Parameters
    ----------
    max_surrogates : int, default=5
        How many are kept at a node.
    """

    code = 2

    def __init__(self, max_surrogates: int = 5):
        self.max_surrogates = max_surrogates


MISSING = Registry(
    "missing-value policy",
    MissingPolicy,
    {"mean": Mean, "fractional": Fractional, "surrogate": Surrogate},
)
