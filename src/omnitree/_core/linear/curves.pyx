# distutils: language = c++
# cython: boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""The columns that piecewise linear curves are sums of: all of one feature in one pass.

Used by `growing/curve_basis.py`.
"""
import numpy as np

from libc.math cimport isnan
from libc.stdint cimport int64_t


def fill(const double[:] z, const double[::1] knots, const double[:, ::1] values,
         double[:, :] out):
    """Write the columns (n, c) at the values z, constant beyond the first and last knot.

    `values` (m + 1, c) has the columns at the m knots, then where z is missing (NaN).
    """
    cdef int64_t n = z.shape[0], m = knots.shape[0], c = values.shape[1]
    cdef int64_t i, j, k
    cdef double x, step
    cdef double[:, ::1] slopes = np.empty((m, c))
    with nogil:
        for j in range(m - 1):
            for k in range(c):
                slopes[j, k] = (values[j + 1, k] - values[j, k]) / (knots[j + 1] - knots[j])
        for i in range(n):
            x = z[i]
            if isnan(x):
                j = m
            elif x >= knots[m - 1]:
                j = m - 1
            elif x < knots[0]:
                j = 0
            else:
                j = 0
                while x >= knots[j + 1]:
                    j += 1
                step = x - knots[j]
                for k in range(c):
                    out[i, k] = slopes[j, k] * step + values[j, k]
                continue
            for k in range(c):
                out[i, k] = values[j, k]
