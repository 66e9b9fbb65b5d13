"""The omnivariate learner for a numeric target: the kind of test that the rows warrant.

As for classes, several learners propose a test and a choice takes one; the likelihood is
that of the loss with the leaves that the tree will have, and trials on folds count the loss.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from omnitree.growing.learner import SplitLearner
from omnitree.growing.node import Node
from omnitree.learners.omnivariate import Omnivariate
from omnitree.learners.regression.linear import RegressionLinear
from omnitree.learners.regression.search import search_of
from omnitree.learners.regression.univariate import RegressionUnivariate
from omnitree.parts.choice import Proposal
from omnitree.tree.splits import Split

PALETTE: dict[str, SplitLearner] = {
    "univariate": RegressionUnivariate(),
    "sparse": RegressionLinear(max_features_per_test=3),
    "linear": RegressionLinear(),
    "residual": RegressionLinear("residual"),
    "hinge": RegressionLinear("hinge"),
    "quadratic": RegressionLinear(expansion="quadratic"),
}


class RegressionOmnivariate(Omnivariate):
    """Several learners propose a test for a numeric target, and a criterion chooses one.

    Parameters
    ----------
    candidates : sequence of str or SplitLearner
        In order of rising complexity. Names: "univariate", "sparse" (Fisher's
        discriminant of the rows above and below the mean, of up to three columns),
        "linear" (of all), "residual" (of rows by the sign of residuals), "hinge" (where
        two linear models meet) and "quadratic".
    choice : str or Choice, default="bic"
    min_branch : float, default=1
        Least weight of a branch, for candidates given by name.
    """

    palette: ClassVar[dict[str, SplitLearner]] = PALETTE

    def __init__(
        self,
        candidates: Sequence[str | SplitLearner] = (
            "univariate",
            "sparse",
            "linear",
            "quadratic",
        ),
        choice="bic",
        min_branch=1,
    ):
        self.candidates = candidates
        self.choice = choice
        self.min_branch = min_branch

    def _named(self) -> dict[str, SplitLearner]:
        given = {id(c) for c in self.candidates if isinstance(c, SplitLearner)}
        return {
            name: learner
            if id(learner) in given
            else type(learner)(
                **learner.get_params(deep=False) | {"min_branch": self.min_branch}
            )
            for name, learner in super()._named().items()
        }

    def _proposal(
        self, name: str, learner: SplitLearner, node: Node, split: Split
    ) -> Proposal:
        criterion, total = node.target.criterion, node.total
        assert criterion is not None
        loss = search_of(node, self.min_branch).loss
        left = max(loss - split.merit * total, 0.0)
        likelihood = float(criterion.log_likelihood(left, total))
        return Proposal(name, learner, node, split, likelihood)

    def _worth(self, chosen: Proposal) -> float:
        return chosen.split.merit
