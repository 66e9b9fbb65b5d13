# distutils: language = c++
# cython: boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""The columns that piecewise linear curves are sums of: all of one feature in one pass.

Used by `growing/curve_basis.py`.
"""
import numpy as np

from libc.math cimport fabs, isnan
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


cdef double _worst(const double[::1] knots, const double[:, ::1] lines, int64_t a,
                   int64_t b) noexcept nogil:
    """By how much the lines differ from straight ones between two knots, at most.

    Differences between lines count, or one line itself if there is no other.
    """
    cdef int64_t k = lines.shape[0], i, c
    cdef double worst = 0, slope, off, least = 0, most = 0
    for i in range(a + 1, b):
        for c in range(k):
            slope = (lines[c, b] - lines[c, a]) / (knots[b] - knots[a])
            off = slope * (knots[i] - knots[a]) + lines[c, a] - lines[c, i]
            least = off if c == 0 else min(least, off)
            most = off if c == 0 else max(most, off)
        worst = max(worst, fabs(most) if k == 1 else most - least)
    return worst


def bends(const double[::1] knots, const double[:, ::1] lines, double room):
    """Positions of the knots without which lines (k, m) would differ by more than `room`.

    One knot leaves after another, always that without which they differ least, the first of
    several; O(m^2) beside the differences themselves.
    """
    cdef int64_t m = knots.shape[0], i, at, before, after
    if m < 3:
        return list(range(m))
    cdef int64_t[::1] last = np.arange(-1, m - 1), following = np.arange(1, m + 1)
    # By how much lines differ between a knot that stays and the one before it; what they
    # would between its neighbours, without it; and, from either end, the most so far.
    cdef double[::1] here = np.zeros(m), without = np.empty(m)
    cdef double[::1] up_to = np.zeros(m + 1), from_on = np.zeros(m + 2)
    cdef double off, least
    with nogil:
        for i in range(1, m - 1):
            without[i] = _worst(knots, lines, i - 1, i + 1)
        while True:
            i = 0
            while i < m:
                up_to[i] = max(here[i], up_to[last[i]] if i else 0)
                i = following[i]
            i = m - 1
            while i >= 0:
                from_on[i] = max(here[i], from_on[following[i]] if i < m - 1 else 0)
                i = last[i]
            at, least = -1, 0
            i = following[0]
            while i < m - 1:
                off = max(without[i], up_to[last[i]])
                if following[i] < m - 1:
                    off = max(off, from_on[following[following[i]]])
                if at < 0 or off < least:
                    at, least = i, off
                i = following[i]
            if at < 0 or least > room:
                break
            before, after = last[at], following[at]
            here[after] = without[at]
            following[before], last[after] = after, before
            if before > 0:
                without[before] = _worst(knots, lines, last[before], after)
            if after < m - 1:
                without[after] = _worst(knots, lines, before, following[after])
    keep, i = [], 0
    while i < m:
        keep.append(i)
        i = following[i]
    return keep
