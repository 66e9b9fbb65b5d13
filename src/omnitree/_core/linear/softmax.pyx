# distutils: language = c++
# cython: boundscheck=False, wraparound=False, initializedcheck=False
"""Multinomial logistic regression: softmax.hpp between two BLAS products; mixed.hpp."""
import numpy as np

from libc.stdint cimport int32_t, int64_t
from libcpp.vector cimport vector
from scipy.linalg.cython_blas cimport dgemm
from scipy.linalg.cython_lapack cimport dpotrs

from omnitree._core.common.ticks cimport Tick, make_tick


cdef extern from "linear/softmax.hpp" namespace "omnitree" nogil:
    double softmax_loss(double*, int64_t, int64_t, int64_t, const int32_t*, const double*,
                        int64_t)
    double ridge(const double*, const double*, int64_t, int64_t, double*)
    cdef cppclass Descent:
        Descent(const double*, int64_t) except +
        const double* at()
        const double* best()
        bint take(double, const double*, const double*, double, int64_t) except +

cdef extern from "linear/mixed.hpp" namespace "omnitree" nogil:
    double mixed_loss(const double*, int64_t, int64_t, int64_t, const int32_t*, const double*,
                      const double*, double*, double*) except +


def mixed(const double[:, :, ::1] scores, const int32_t[::1] y, const double[::1] share,
          const double[::1] parts, double[::1] slope, double[:, ::1] bend):
    """The sum of share * -log p_y for scores (m, k, n) times their parts (m,), added up.

    Writes its first and second derivatives by the parts, `slope` (m,) and `bend` (m, m).
    O(rows * classes * parts^2).
    """
    cdef double loss
    if scores.shape[0] == 0 or scores.shape[1] == 0 or scores.shape[2] == 0:
        slope[:] = 0
        bend[:, :] = 0
        return 0.0
    with nogil:
        loss = mixed_loss(&scores[0, 0, 0], scores.shape[0], scores.shape[1], scores.shape[2],
                          &y[0], &share[0], &parts[0], &slope[0], &bend[0, 0])
    return loss


def descend(const double[:, ::1] x, const int32_t[::1] y, const double[:, ::1] share,
            const double[::1] price, double[:, :, ::1] w, double tolerance, int64_t most, *,
            const double[:, ::1] factor=None, const double[:, :, ::1] inverse=None,
            tick=None):
    """Fit the weights w (m, l, r), in place, to each column of `share` (n, m).

    Minimises  sum(share * -log p_y) + sum(price * w^2) / 2  for the columns of x (n, r); l is
    the number of classes, but 1 of two. The metric of the steps is either the matrix (r, r)
    with the lower Cholesky `factor`, or diagonal, with the `inverse` (m, l, r): where that is
    0, a weight stays as it is. O(rows * columns * lines * fits) for each of the `most` steps.
    `tick`, called with the part that is done, ends the work by True.
    """
    cdef int64_t n = x.shape[0], m = w.shape[0], lines = w.shape[1], a, j, f, size
    cdef int r = <int> x.shape[1], wide, rows = <int> n, info
    cdef double one = 1, zero = 0
    size = lines * r
    if n == 0 or m == 0 or size == 0:
        return
    cdef double[:, ::1] asked = np.empty((m, size)), gradient = np.empty((m, size))
    cdef double[:, ::1] solved = np.empty((m, size))
    cdef double[::1] sums = np.empty(n * m * lines), losses = np.empty(m)
    cdef vector[Descent*] fits
    cdef vector[int64_t] active, left
    cdef list box = [tick]
    cdef Tick clock = make_tick(box)
    try:
        with nogil:
            fits.reserve(m)
            for f in range(m):
                fits.push_back(new Descent(&w[f, 0, 0], size))
                active.push_back(f)
            while active.size():
                wide = <int> (active.size() * lines)
                for a in range(<int64_t> active.size()):
                    for j in range(size):
                        asked[a, j] = fits[active[a]].at()[j]
                dgemm("T", "N", &wide, &rows, &r, &one, &asked[0, 0], &r, <double*> &x[0, 0], &r,
                      &zero, &sums[0], &wide)
                for a in range(<int64_t> active.size()):
                    losses[a] = softmax_loss(&sums[a * lines], n, wide, lines, &y[0],
                                             &share[0, active[a]], m)
                dgemm("N", "T", &r, &wide, &rows, &one, <double*> &x[0, 0], &r, &sums[0], &wide,
                      &zero, &gradient[0, 0], &r)
                for a in range(<int64_t> active.size()):
                    losses[a] += ridge(&asked[a, 0], &price[0], lines, r, &gradient[a, 0])
                    for j in range(size):
                        solved[a, j] = gradient[a, j]
                        if inverse is not None:
                            solved[a, j] *= (&inverse[active[a], 0, 0])[j]
                if factor is not None:
                    # The lower triangle of rows is the upper one of columns.
                    dpotrs("U", &r, &wide, <double*> &factor[0, 0], &r, &solved[0, 0], &r, &info)
                left.clear()
                for a in range(<int64_t> active.size()):
                    f = active[a]
                    if fits[f].take(losses[a], &gradient[a, 0], &solved[a, 0], tolerance, most):
                        left.push_back(f)
                active.swap(left)
                if clock(0):
                    break
            for f in range(m):
                for j in range(size):
                    (&w[f, 0, 0])[j] = fits[f].best()[j]
    finally:
        for f in range(<int64_t> fits.size()):
            del fits[f]
    if len(box) > 1:
        raise box[1]
