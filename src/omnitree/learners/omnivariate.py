"""The omnivariate learner: several learners propose a test, a choice takes one of them.

So a node is as complex as its rows warrant (Yildiz & Alpaydin 2001, 2007). Any learners
can be candidates, several of one kind too; what was thought of each is remembered in the
tree. Used by the presets omni-aic, omni-bic, omni-cv and hybrid-5x2f.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np

from omnitree.growing.learner import SplitLearner
from omnitree.growing.node import Node
from omnitree.growing.part import unknown
from omnitree.learners.analytic import Analytic
from omnitree.learners.grouped import Grouped
from omnitree.learners.kway import KWay
from omnitree.learners.linear import Linear
from omnitree.learners.univariate import Univariate
from omnitree.parts.choice import CHOICES, Choice, Proposal, remembered
from omnitree.parts.direction import Fisher
from omnitree.parts.merit import MERITS
from omnitree.tree.splits import Split

# Short names for candidates; those of the paper are analytic, fisher and quadratic.
PALETTE: dict[str, SplitLearner] = {
    "univariate": Univariate(merit="gain", categories="one_rest"),
    "analytic": Analytic(),
    "sparse": Linear(max_features_per_test=3),
    "fisher": Linear(direction=Fisher("always")),
    "rls": Grouped("rls"),
    "logistic": Linear(direction="logistic"),
    "quadratic": Linear(direction=Fisher("always"), expansion="quadratic"),
    "machine": KWay(),
}


class Omnivariate(SplitLearner):
    """Several learners propose a test, and a criterion chooses one.

    Parameters
    ----------
    candidates : sequence of str or SplitLearner
        In order of rising complexity. Names: "univariate" (all cuts of one feature, by
        information gain), "analytic" (one feature, cut where two Gaussians meet),
        "sparse" (Fisher's discriminant of up to three columns), "fisher" and "quadratic"
        (Fisher's discriminant of all columns, or of all their products too, through
        principal components), "rls" (least squares), "logistic", "machine" (a branch for
        each class, by linear discriminant analysis).
    choice : str or Choice, default="aic"
    merit : str or Merit, default="gain"
        On its scale the tree says what the chosen test is worth, whatever the candidates
        are compared by: so nodes of different kinds can be set side by side.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from omnitree import TreeClassifier
    >>> from omnitree.learners import Omnivariate
    >>> clf = TreeClassifier(Omnivariate(choice="bic")).fit(*load_iris(return_X_y=True))
    >>> [(c.learner, round(c.score, 1)) for c in clf.tree_.split(0).candidates]
    [('analytic', 74.3), ('fisher', 79.3), ('quadratic', 91.9)]
    """

    palette: ClassVar[dict[str, SplitLearner]] = PALETTE

    def __init__(
        self,
        candidates: Sequence[str | SplitLearner] = ("analytic", "fisher", "quadratic"),
        choice="aic",
        merit="gain",
    ):
        self.candidates = candidates
        self.choice = choice
        self.merit = merit

    @property
    def resamples(self) -> bool:
        parts = [CHOICES.resolve(self.choice), *self._named().values()]
        return any(part.resamples for part in parts)

    def fit(self, node: Node, rng: np.random.Generator) -> Split | None:
        """The chosen test for one node; None where no candidate finds one."""
        choice: Choice = CHOICES.resolve(self.choice)
        named = self._named()
        streams = rng.spawn(len(named))
        found = []
        for (name, learner), own in zip(named.items(), streams, strict=True):
            split = learner.fit(node, own)
            if split is not None:
                proposal = self._proposal(name, learner, node, split)
                if proposal.divides:
                    found.append(proposal)
        if not found:
            return None
        verdict = choice.choose(found, rng)
        best = found[verdict.winner]
        split = replace(best.split, merit=self._worth(best))
        return remembered(split, list(named), found, verdict, choice.criterion)

    def _proposal(
        self, name: str, learner: SplitLearner, node: Node, split: Split
    ) -> Proposal:
        return Proposal(name, learner, node, split)

    def _worth(self, chosen: Proposal) -> float:
        """What the tree says the chosen test is worth."""
        return float(MERITS.resolve(self.merit)(chosen.statistics))

    def _named(self) -> dict[str, SplitLearner]:
        """The candidates by name; those of one name are numbered."""
        if isinstance(self.candidates, str) or not len(self.candidates):
            raise ValueError(
                "candidates must be a list of learners or of names; names are "
                f"{', '.join(self.palette)}"
            )
        out: dict[str, SplitLearner] = {}
        for candidate in self.candidates:
            if isinstance(candidate, SplitLearner):
                name, learner = candidate.label, candidate
            elif candidate in self.palette:
                name, learner = candidate, self.palette[candidate]
            else:
                raise ValueError(unknown("candidate", candidate, list(self.palette)))
            same = sum(known.split(" ")[0] == name for known in out)
            out[f"{name} {same + 1}" if same else name] = learner
        return out
