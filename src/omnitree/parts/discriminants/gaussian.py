"""Discriminants of Gaussian classes: LDA with a common covariance, QDA with one each.

Both work on the principal components of the node's columns, scaled to variance 1: all of
them where the scatter is regular, else those that explain `epsilon` of the variance.
(Linear discriminant trees keep 0.99 of it; but categories as columns always make a singular
scatter, and what separates the classes may lie in the last hundredth.) A direction without
scatter inside the classes has the variance 0, which would make densities infinite;
variances are kept above 1e-8 of the total, so such a direction decides, but in finite
numbers.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from omnitree.growing.clock import EIGH, check_time
from omnitree.growing.node_columns import Floats, NodeColumns
from omnitree.growing.part import number
from omnitree.parts.discriminants.base import Discriminants, Functions

LEAST_VARIANCE = 1e-8


def whitening(scatter: Floats, total: float, epsilon: float) -> Floats:
    """Matrix (p, q): columns around their mean times it have the identity as covariance."""
    scale = np.sqrt(np.maximum(np.diag(scatter), 0.0))
    scale[scale <= 1e-12 * max(scale.max(initial=0.0), 1e-300)] = 0.0
    inverse = np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0)
    values, vectors = _axes(scatter * inverse[:, None] * inverse)
    values, vectors = values[::-1], vectors[:, ::-1]
    keep = int((values > 1e-9 * max(values.max(initial=0.0), 1e-300)).sum())
    if keep < np.count_nonzero(scale):
        share = np.cumsum(values[:keep]) / max(values[:keep].sum(), 1e-300)
        keep = min(keep, int(np.searchsorted(share, epsilon, side="right")) + 1)
    part = vectors[:, :keep] / np.sqrt(values[:keep])
    return inverse[:, None] * part * np.sqrt(total)


def _axes(symmetric: Floats) -> tuple[Floats, Floats]:
    """Eigenvalues in ascending order, and eigenvectors."""
    if not len(symmetric):  # which SciPy 1.11 refuses
        return np.empty(0), symmetric
    return linalg.eigh(symmetric)


def _precision(covariance: Floats) -> tuple[Floats, float]:
    """Inverse of a covariance in whitened columns, and the logarithm of its determinant."""
    values, vectors = _axes(covariance)
    values = np.maximum(values, LEAST_VARIANCE)
    return (vectors / values) @ vectors.T, -float(np.log(values).sum())


class _Gaussian(Discriminants):
    """One normal density a class."""

    epsilon: float = 1.0

    def fit(self, rows: NodeColumns, equal_priors: bool = False) -> Functions:
        if not self.linear:
            rows.scaling.check_products()
        here, size = rows.present, rows.class_weight[rows.present]
        # Around the mean, so that a column that is constant here is exactly that.
        mean = rows.weight @ rows.columns / rows.total
        centred = rows.columns - mean
        n, p = centred.shape
        check_time(4.0 * n * p**2 + EIGH * p**3)
        scatter = centred.T @ (centred * rows.weight[:, None])
        basis = whitening(scatter, rows.total, number("epsilon", self.epsilon, most=1))
        z = centred @ basis
        means = (rows.one_hot.T @ z)[here] / size[:, None]
        prior = np.zeros(len(here))
        if not equal_priors:
            prior = np.log(size / rows.total)
        functions = self._functions(rows, z, means, prior)
        return functions.of(basis, mean)

    def _functions(
        self, rows: NodeColumns, z: Floats, means: Floats, prior: Floats
    ) -> Functions:
        """Functions of whitened columns z, from the classes' means there."""
        raise AssertionError(f"{type(self).__name__} has no density")


class LDA(_Gaussian):
    """Linear discriminant analysis: normal densities with a common covariance.

    Parameters
    ----------
    epsilon : float, default=1.0
        Share of the variance that the principal components explain where the scatter is
        singular; 1 leaves out only directions without any variance.
    """

    def _functions(self, rows, z, means, prior):
        size = rows.class_weight[rows.present]
        between = (means * size[:, None]).T @ means
        check_time(EIGH * z.shape[1] ** 3)
        within = rows.total * np.eye(z.shape[1]) - between
        precision, _ = _precision(within / max(rows.total - len(size), 1.0))
        slope = means @ precision
        bias = prior - 0.5 * np.einsum("kq,kq->k", slope, means)
        return Functions(rows.present, slope, bias)


class QDA(_Gaussian):
    """Quadratic discriminant analysis: normal densities, each with its own covariance.

    Parameters
    ----------
    epsilon : float, default=1.0
        As for `LDA`.
    """

    linear = False

    def _functions(self, rows, z, means, prior):
        weights, bias, curvature = [], [], []
        for k, mean, own in zip(rows.present, means, prior, strict=True):
            here = rows.y == k
            centred = z[here] - mean
            n, q = centred.shape
            check_time(2.0 * n * q**2 + EIGH * q**3)
            scatter = centred.T @ (centred * rows.weight[here, None])
            size = rows.class_weight[k]
            precision, log_det = _precision(scatter / max(size - 1, 1.0))
            weights.append(precision @ mean)
            bias.append(own + 0.5 * log_det - 0.5 * mean @ precision @ mean)
            curvature.append(-0.5 * precision)
        return Functions(
            rows.present, np.stack(weights), np.array(bias), np.stack(curvature)
        )
