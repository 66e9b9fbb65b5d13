"""Discriminants of Gaussian classes: LDA with a common covariance, QDA with one each.

Both work on the principal components of the node's columns, scaled to variance 1: all of
them where the scatter is regular, else those that explain `epsilon` of the variance. There a
direction without scatter inside the classes has the variance 0, which would make densities
infinite; variances are kept above 1e-8 of the total, so such a direction decides, but
in finite numbers.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from omnitree.discriminants.base import Discriminants, Functions
from omnitree.linear_rows import Floats, LinearRows
from omnitree.parts import number

LEAST_VARIANCE = 1e-8


def whitening(rows: LinearRows, epsilon: float) -> Floats:
    """Matrix (p, q): `(columns - mean)` times it has the identity as covariance."""
    scatter = rows.scatter
    scale = np.sqrt(np.maximum(np.diag(scatter), 0.0))
    scale[scale <= 1e-12 * max(scale.max(initial=0.0), 1e-300)] = 0.0
    inverse = np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0)
    values, vectors = linalg.eigh(scatter * np.outer(inverse, inverse))
    values, vectors = values[::-1], vectors[:, ::-1]
    keep = int((values > 1e-9 * max(values.max(initial=0.0), 1e-300)).sum())
    if keep < np.count_nonzero(scale):
        share = np.cumsum(values[:keep]) / max(values[:keep].sum(), 1e-300)
        keep = min(keep, int(np.searchsorted(share, epsilon, side="right")) + 1)
    part = vectors[:, :keep] / np.sqrt(values[:keep])
    return inverse[:, None] * part * np.sqrt(rows.total)


def _precision(covariance: Floats) -> tuple[Floats, float]:
    """Inverse of a covariance in whitened columns, and the logarithm of its determinant."""
    values, vectors = linalg.eigh(covariance)
    values = np.maximum(values, LEAST_VARIANCE)
    return (vectors / values) @ vectors.T, -float(np.log(values).sum())


class _Gaussian(Discriminants):
    """One normal density a class.

    Parameters
    ----------
    epsilon : float, default=0.99
        Share of the variance that the components explain where the scatter is singular.
    """

    def __init__(self, epsilon=0.99):
        self.epsilon = epsilon

    def fit(self, rows: LinearRows, equal_priors: bool = False) -> Functions:
        basis = whitening(rows, number("epsilon", self.epsilon, most=1))
        here = rows.present
        means = (rows.means[here] - rows.mean) @ basis
        prior = np.zeros(len(here))
        if not equal_priors:
            prior = np.log(rows.class_weight[here] / rows.total)
        return self._functions(rows, basis, means, prior)

    def _functions(
        self, rows: LinearRows, basis: Floats, means: Floats, prior: Floats
    ) -> Functions:
        raise AssertionError(f"{type(self).__name__} has no density")


class LDA(_Gaussian):
    """Linear discriminant analysis: normal densities with a common covariance.

    Parameters
    ----------
    epsilon : float, default=0.99
        Share of the variance that the principal components explain where the scatter is
        singular.
    """

    def _functions(self, rows, basis, means, prior):
        size = rows.class_weight[rows.present]
        between = (means * size[:, None]).T @ means
        within = rows.total * np.eye(basis.shape[1]) - between
        precision, _ = _precision(within / max(rows.total - len(size), 1.0))
        slope = means @ precision
        weights = slope @ basis.T
        bias = prior - 0.5 * np.einsum("kq,kq->k", slope, means)
        return Functions(rows.present, weights, bias - weights @ rows.mean)


class QDA(_Gaussian):
    """Quadratic discriminant analysis: a normal density with its own covariance a class.

    Parameters
    ----------
    epsilon : float, default=0.99
        Share of the variance that the principal components explain where the scatter is
        singular.
    """

    linear = False

    def _functions(self, rows, basis, means, prior):
        z = (rows.columns - rows.mean) @ basis
        weights, bias, curvature = [], [], []
        for k, mean, own in zip(rows.present, means, prior, strict=True):
            here = rows.y == k
            centred = z[here] - mean
            scatter = centred.T @ (centred * rows.weight[here, None])
            size = rows.class_weight[k]
            precision, log_det = _precision(scatter / max(size - 1, 1.0))
            form = -0.5 * basis @ precision @ basis.T
            slope = basis @ precision @ mean
            level = own + 0.5 * log_det - 0.5 * mean @ precision @ mean
            # From columns around the node's mean to columns as they are.
            weights.append(slope - 2 * form @ rows.mean)
            bias.append(level - slope @ rows.mean + rows.mean @ form @ rows.mean)
            curvature.append(form)
        return Functions(
            rows.present, np.stack(weights), np.array(bias), np.stack(curvature)
        )
