"""Information criteria: the likelihood of the branches against the number of parameters.

L is the log likelihood of the classes in the branches (OMNI, equation 6) and d the number
of free parameters. Training is done once and no rows are held out. The same sums judge
subtrees (`pruning/criterion.py`). Used by the presets omni-aic and omni-bic.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from omnitree.growing.part import one_of
from omnitree.parts.choice.base import Choice, Floats, Proposal, Verdict

LOGARITHMS = {"natural": 1.0, "binary": np.log(2)}


class InformationCriterion(Choice):
    """The least of minus the log likelihood plus a price of the parameters.

    Parameters
    ----------
    logarithm : {"natural", "binary"}, default="natural"
        Of the likelihood. The authors' program takes it to base 2, and the natural one in
        BIC's price of a parameter.
    """

    logarithm: str = "natural"

    def value(self, likelihood: Floats, parameters: Floats, rows: Floats) -> Floats:
        """The criterion, from the log likelihood in nats; arrays are compared by element."""
        raise AssertionError(f"{type(self).__name__} has no value")

    def choose(
        self, proposals: Sequence[Proposal], rng: np.random.Generator
    ) -> Verdict:
        scores = [
            float(
                self.value(
                    np.asarray(p.likelihood),
                    np.asarray(float(p.split.complexity)),
                    np.asarray(p.total),
                )
            )
            for p in proposals
        ]
        return Verdict(int(np.argmin(np.round(scores, 9))), tuple(scores))

    def _bits(self, likelihood: Floats) -> Floats:
        return likelihood / LOGARITHMS[one_of("logarithm", self.logarithm, LOGARITHMS)]


class AIC(InformationCriterion):
    """Akaike's information criterion, 2 (-L + d).

    Parameters
    ----------
    logarithm : {"natural", "binary"}, default="natural"
        Of the likelihood; the authors' program takes it to base 2.
    """

    criterion = "AIC"

    def value(self, likelihood, parameters, rows):
        return 2 * (parameters - self._bits(likelihood))


class BIC(InformationCriterion):
    """The Bayesian information criterion, -L + d/2 log N.

    Parameters
    ----------
    logarithm : {"natural", "binary"}, default="natural"
        Of the likelihood; the authors' program takes it to base 2, but not log N.
    """

    criterion = "BIC"

    def value(self, likelihood, parameters, rows):
        price = np.log(np.maximum(rows, 1.0)) / 2
        return parameters * price - self._bits(likelihood)
