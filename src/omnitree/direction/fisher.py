"""Fisher's discriminant: one factorisation of the total scatter serves every grouping.

With total scatter T, groups L and R, d = m_L - m_R and c = n_L n_R / n, the within-group
scatter is S = T - c dd', so by Sherman and Morrison S^-1 d is T^-1 d up to a factor. Per
node: factorise T once, Z = T^-1 M for the K class means, P = X Z for the rows; the
projection of any grouping is then P times K numbers. No pass over the columns per grouping.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from omnitree.linear_rows import Floats, LinearRows
from omnitree.parts import Part, unknown
from omnitree.threshold.base import Projected

PCA = ("singular", "always", "never")


@dataclass(frozen=True)
class Projections:
    """Rows of a node along T^-1 (m_k - m) for every class k."""

    rows: LinearRows
    basis: Floats  # (p, K)
    scores: Floats  # (n, K)

    def mix(self, left: NDArray[np.bool_]) -> Floats:
        """Shares of the class means in m_L - m_R for each grouping, (C, K)."""
        n = self.rows.class_weight
        n_left = (left @ n)[:, None]
        return np.where(left, n / n_left, -n / (self.rows.total - n_left))

    def project(self, left: NDArray[np.bool_]) -> Projected:
        """The rows on Fisher's direction of each grouping."""
        return Projected(self.rows, self.scores @ self.mix(left).T, left)

    def weights(self, left: NDArray[np.bool_]) -> Floats:
        """Weights of the columns for one grouping."""
        return self.basis @ self.mix(left[None])[0]


class Fisher(Part):
    """Fisher's linear discriminant (LDT05, section 2.1).

    Parameters
    ----------
    pca : {"singular", "always", "never"}, default="singular"
        Where to go through principal components of the node's columns: where the scatter
        is singular (LDT05), always (OMNI and the authors' program), or never, which drops
        only directions without any scatter.
    epsilon : float, default=0.99
        Share of the variance that the kept components explain.
    shrinkage : None, "ledoit_wolf" or float, default=None
        Our addition: shrink the scatter towards a multiple of the identity.
    """

    def __init__(self, pca="singular", epsilon=0.99, shrinkage=None):
        self.pca = pca
        self.epsilon = epsilon
        self.shrinkage = shrinkage

    def project(self, rows: LinearRows) -> Projections:
        """Factorise the scatter of a node and project its rows."""
        if self.pca not in PCA:
            raise ValueError(unknown("pca", self.pca, list(PCA)))
        deviations = np.where(
            (rows.class_weight > 0)[:, None], rows.means - rows.mean, 0.0
        )
        scatter = self._shrunk(rows)
        scale = np.sqrt(np.diag(scatter))
        scale[scale <= 1e-12 * max(scale.max(initial=0.0), 1e-300)] = 0.0
        inverse = np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0)
        basis = self._solve(
            scatter * np.outer(inverse, inverse), deviations.T * inverse[:, None]
        )
        basis = basis * inverse[:, None]
        scores = (rows.columns - rows.mean) @ basis
        return Projections(rows, basis, scores)

    def _shrunk(self, rows: LinearRows) -> Floats:
        scatter = rows.scatter
        if self.shrinkage is None:
            return scatter
        share = self.shrinkage
        if share == "ledoit_wolf":
            # Imported here: it loads half of scikit-learn, which few will need.
            from sklearn.covariance import ledoit_wolf_shrinkage

            share = ledoit_wolf_shrinkage(rows.columns)
        target = np.trace(scatter) / len(scatter)
        return (1 - share) * scatter + share * target * np.eye(len(scatter))

    def _solve(self, correlation: Floats, right: Floats) -> Floats:
        """T^-1 times the class means.

        `correlation` has a unit diagonal (0 where a column is constant), so what counts as
        singular does not depend on units.
        """
        if not len(correlation):  # no columns
            return right
        if self.pca != "always":
            try:
                factor = linalg.cho_factor(correlation, lower=True)
                if np.diag(factor[0]).min() > 1e-5:
                    return linalg.cho_solve(factor, right)
            except linalg.LinAlgError:
                pass
        values, vectors = linalg.eigh(correlation)
        values, vectors = values[::-1], vectors[:, ::-1]
        positive = values > 1e-9 * max(values[0], 1e-300)
        keep = int(positive.sum())
        if self.pca != "never":
            share = np.cumsum(values) / max(values[positive].sum(), 1e-300)
            keep = min(
                keep, int(np.searchsorted(share, self.epsilon, side="right")) + 1
            )
        part = vectors[:, :keep]
        return part @ ((part.T @ right) / values[:keep, None])
