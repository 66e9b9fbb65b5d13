# distutils: language = c++
# cython: boundscheck=False, wraparound=False, initializedcheck=False
"""Boosting of single cuts of binned columns: the loops of steps.hpp.

Used by `parts/discriminants/steps.py`.
"""
import numpy as np

from libc.math cimport exp
from libc.stdint cimport int32_t, int64_t, uint8_t
from libcpp.vector cimport vector

from omnitree._core.common.ticks cimport Tick, make_tick


cdef extern from "linear/steps.hpp" namespace "omnitree" nogil:
    cdef cppclass Bins:
        const uint8_t* codes
        const int64_t* first
        const uint8_t* missing
        const double* between
        int64_t n
        int64_t p

    cdef cppclass Cut:
        double gain
        int64_t column

    int64_t regressed(int64_t)
    int64_t padded(int64_t)
    void odds_of(const double*, int64_t, int64_t, double*)
    void slopes_and_bends(const double*, const int32_t*, const double*, int64_t, int64_t,
                          double*)
    void add_to_bins(const uint8_t*, const double*, int64_t, int64_t, double*)
    void best_cuts(const Bins&, int64_t, const double*, const int64_t*, int64_t, int64_t,
                   double, double*, Cut*)
    void values_of(const Bins&, const Cut&, double, double*)
    void multiply_odds(const uint8_t*, int64_t, const double*, int64_t, int64_t, double*)
    void add_to_class(const uint8_t*, int64_t, const double*, int64_t, int64_t, double*)


cdef Bins _bins(const uint8_t[:, ::1] codes, const int64_t[::1] first,
                const uint8_t[::1] missing, const double[::1] between) noexcept nogil:
    cdef Bins x
    x.codes = &codes[0, 0]
    x.first = &first[0]
    x.missing = &missing[0]
    x.between = &between[0]
    x.n = codes.shape[1]
    x.p = codes.shape[0]
    return x


def boost(const uint8_t[:, ::1] codes, const int64_t[::1] first, const uint8_t[::1] missing,
          const double[::1] between, const int32_t[::1] y, const double[::1] weight,
          double[:, ::1] f, int64_t steps, double rate, double ridge,
          double[:, ::1] curves, tick=None):
    """Add up to `steps` steps to the sums `f` (n, k) and to `curves`; returns how many.

    `codes` (p, n) has the bin of each row in each column, `first` (p + 1,) where the bins of
    a column begin among those of all, `missing` whether its last bin has the rows without a
    value. These have a value of their own where `between` is NaN; else theirs is so far on
    the way from the low to the high side of a cut. `curves` (bins, functions) has a function
    for each class; of two classes there is one, half of which counts for the second and half
    against the first. A step counts `rate` times; `ridge` is added to the bends of each side.
    O(rows * columns * classes) a step. `tick`, called with the part that is done, ends the
    work by True.
    """
    cdef int64_t n = codes.shape[1], p = codes.shape[0], k = f.shape[1], done = 0, j, c, b
    if n == 0 or p == 0:
        return 0
    cdef int64_t m = regressed(k), most = 0, begin, width = padded(m)
    for j in range(p):
        most = max(most, first[j + 1] - first[j])
    cdef double[:, ::1] rows = np.empty((n, width)), odds = np.empty((n, m))
    cdef double[:, ::1] bins = np.empty((most, width))
    cdef double[::1] room = np.empty(max(5 * m, most))
    cdef int64_t[::1] counts = np.zeros(first[p], dtype=np.int64)
    cdef Bins x = _bins(codes, first, missing, between)
    cdef vector[Cut] best
    best.resize(m)
    cdef bint found
    cdef list box = [tick]
    cdef Tick clock = make_tick(box)
    with nogil:
        for j in range(p):
            for b in range(n):
                counts[first[j] + codes[j, b]] += 1
        odds_of(&f[0, 0], n, k, &odds[0, 0])
        while done < steps:
            slopes_and_bends(&odds[0, 0], &y[0], &weight[0], n, k, &rows[0, 0])
            for c in range(m):
                best[c].gain = 0
                best[c].column = -1
            for j in range(p):
                bins[: first[j + 1] - first[j]] = 0
                add_to_bins(&codes[j, 0], &rows[0, 0], n, width, &bins[0, 0])
                best_cuts(x, j, &bins[0, 0], &counts[first[j]], m, width, ridge, &room[0],
                          best.data())
            found = False
            for c in range(m):
                if best[c].column < 0:
                    continue
                found = True
                values_of(x, best[c], rate, &room[0])
                add_to_class(&codes[best[c].column, 0], n, &room[0], k, c, &f[0, 0])
                begin = first[best[c].column]
                for b in range(first[best[c].column + 1] - begin):
                    curves[begin + b, c] += room[b]
                    room[b] = exp(room[b])
                multiply_odds(&codes[best[c].column, 0], n, &room[0], k, c, &odds[0, 0])
            if not found:
                break
            done += 1
            if clock(<double> done / steps):
                break
    if len(box) > 1:
        raise box[1]
    return done


def add(const uint8_t[:, ::1] codes, const int64_t[::1] first, const double[:, ::1] curves,
        double[:, ::1] f):
    """Add functions of all columns to the sums `f` (n, k) of rows; as for `boost`."""
    cdef int64_t k = f.shape[1], m = curves.shape[1], p = codes.shape[0], j, c, b, n_bins
    if codes.shape[1] == 0 or p == 0:
        return
    cdef double[::1] values = np.empty(256)
    cdef bint flat
    with nogil:
        for j in range(p):
            n_bins = first[j + 1] - first[j]
            for c in range(m):
                flat = True
                for b in range(n_bins):
                    values[b] = curves[first[j] + b, c]
                    flat = flat and values[b] == 0
                if not flat:
                    add_to_class(&codes[j, 0], codes.shape[1], &values[0], k, c, &f[0, 0])
