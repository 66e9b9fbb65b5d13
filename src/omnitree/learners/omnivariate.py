"""The omnivariate learner: several learners propose a test, a choice takes one of them.

So a node is as complex as its rows warrant (Yildiz & Alpaydin 2001, ECML 2005). Any learners
can be candidates, several of one kind too; what was thought of each is remembered in the
tree. Where a number is predicted, the likelihood is that of the loss with the leaves that
the tree will have. Used by the presets omni-aic, omni-bic, omni-cv and hybrid-5x2f and by
the default regressor.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from omnitree.growing.clock import TimeUp
from omnitree.growing.learner import SplitLearner
from omnitree.growing.node import Node
from omnitree.growing.part import unknown
from omnitree.growing.scaling import TooManyProducts
from omnitree.learners.analytic import Analytic
from omnitree.learners.grouped import Grouped
from omnitree.learners.kway import KWay
from omnitree.learners.linear import Linear
from omnitree.learners.numeric_cuts import numeric_likelihood
from omnitree.learners.univariate import Univariate
from omnitree.parts.choice import CHOICES, Choice, Proposal, remembered
from omnitree.parts.choice.base import Verdict
from omnitree.parts.direction import Fisher
from omnitree.parts.merit import MERITS
from omnitree.tree.splits import Split

# Short names for candidates; those of the paper are analytic, fisher and quadratic.
PALETTES: dict[str, dict[str, SplitLearner]] = {
    "classification": {
        "univariate": Univariate(merit="gain", categories="one_rest"),
        "analytic": Analytic(),
        "sparse": Linear(max_features_per_test=3),
        "fisher": Linear(direction=Fisher("always")),
        "rls": Grouped("rls"),
        "logistic": Linear(direction="logistic"),
        "quadratic": Linear(direction=Fisher("always"), expansion="quadratic"),
        "machine": KWay(),
    },
    "regression": {
        "univariate": Univariate(),
        "sparse": Linear(max_features_per_test=3),
        "linear": Linear(),
        "residual": Linear(groups="residual"),
        "hinge": Linear(groups="hinge"),
        "quadratic": Linear(expansion="quadratic"),
    },
}
CANDIDATES = {
    "classification": ("analytic", "fisher", "quadratic"),
    "regression": ("univariate", "sparse", "linear", "quadratic"),
}
CHOICE = {"classification": "aic", "regression": "bic"}


class Omnivariate(SplitLearner):
    """Several learners propose a test and one is chosen; for classes and for numbers.

    Parameters
    ----------
    candidates : sequence of str or SplitLearner, optional
        In order of rising complexity. Names: "univariate" (all cuts of one feature, by
        information gain), "analytic" (one feature, cut where two Gaussians meet),
        "sparse" (Fisher's discriminant of up to three columns), "fisher" and "quadratic"
        (Fisher's discriminant of all columns, or of all their products too, through
        principal components), "rls" (least squares), "logistic", "machine" (a branch for
        each class, by linear discriminant analysis). For a numeric target: "univariate",
        "sparse", "linear" and "quadratic" (discriminants of the rows above and below the
        mean), "residual" (of rows by the sign of residuals) and "hinge" (where two linear
        models meet). Default: analytic, fisher and quadratic; for a numeric target
        univariate, sparse, linear and quadratic.
    choice : str or Choice, optional
        Default: "aic"; for a numeric target "bic".
    merit : str or Merit, default="gain"
        The scale on which the tree reports the chosen test, whatever the candidates were
        compared by, so that nodes of different kinds can be compared.
    min_branch : float, default=1
        Least weight of a branch, for candidates given by name; for a numeric target.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from omnitree import TreeClassifier
    >>> from omnitree.learners import Omnivariate
    >>> clf = TreeClassifier(Omnivariate(choice="bic")).fit(*load_iris(return_X_y=True))
    >>> [(c.learner, round(c.score, 1)) for c in clf.tree_.split(0).candidates]
    [('analytic', 74.3), ('fisher', 79.3), ('quadratic', 91.9)]
    """

    candidates: Sequence[str | SplitLearner] | None = None
    choice: str | Choice | None = None
    merit: Any = "gain"
    min_branch: float = 1

    tasks = ("classification", "regression")
    options_of: ClassVar = {"classification": ("merit",), "regression": ("min_branch",)}

    @property
    def resamples(self) -> bool:
        # No candidate that has a name does, nor do the choices by default.
        parts = [] if self.choice is None else [CHOICES.resolve(self.choice)]
        parts += [c for c in self.candidates or () if isinstance(c, SplitLearner)]
        return any(part.resamples for part in parts)

    def check_options(self, task: str) -> None:
        super().check_options(task)
        for learner in self._named(task).values():
            learner.check_options(task)

    def fit(self, node: Node, rng: np.random.Generator) -> Split | None:
        """The chosen test for one node; None where no candidate finds one."""
        task = node.target.task
        choice: Choice = CHOICES.resolve(self.choice or CHOICE[task])
        named = self._named(task)
        streams = rng.spawn(len(named))
        found = []
        for (name, learner), own in zip(named.items(), streams, strict=True):
            try:
                split = learner.fit(node, own)
            except TimeUp:
                break  # what simpler candidates found is kept
            except TooManyProducts as error:
                if node.depth == 0:
                    warnings.warn(
                        f"the candidate {name!r} is left out: {error}",
                        UserWarning,
                        stacklevel=2,
                    )
                continue
            if split is not None:
                proposal = Proposal(name, learner, node, split)
                if not node.target.n_classes:
                    likelihood = numeric_likelihood(node, split, self.min_branch)
                    proposal = replace(proposal, numeric_likelihood=likelihood)
                if proposal.divides:
                    found.append(proposal)
        if not found:
            return None
        try:
            verdict = choice.choose(found, rng)
        except TimeUp:
            verdict = Verdict(0, (None,) * len(found))
        best = found[verdict.winner]
        split = best.split
        if node.target.n_classes:
            merit = float(MERITS.resolve(self.merit, "classification")(best.statistics))
            split = replace(split, merit=merit)
        return remembered(split, list(named), found, verdict, choice.criterion)

    def _named(self, task: str) -> dict[str, SplitLearner]:
        """The candidates by name; those of one name are numbered."""
        palette = PALETTES[task]
        given = CANDIDATES[task] if self.candidates is None else self.candidates
        if isinstance(given, str) or not len(given):
            raise ValueError(
                "candidates must be a list of learners or of names; names are "
                f"{', '.join(palette)}"
            )
        out: dict[str, SplitLearner] = {}
        for candidate in given:
            if isinstance(candidate, SplitLearner):
                if task not in candidate.tasks:
                    raise ValueError(
                        f"the candidate {type(candidate).__name__} is not for {task}; "
                        f"names of candidates that are: {', '.join(palette)}"
                    )
                name, learner = candidate.label, candidate
            elif candidate in palette:
                name, learner = candidate, palette[candidate]
                if task == "regression":
                    learner = copy(learner)
                    learner.min_branch = self.min_branch
            else:
                raise ValueError(unknown("candidate", candidate, list(palette)))
            same = sum(known.split(" ")[0] == name for known in out)
            out[f"{name} {same + 1}" if same else name] = learner
        return out
