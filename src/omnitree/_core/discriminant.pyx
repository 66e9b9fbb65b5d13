# distutils: language = c++
# cython: boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""Loops over the rows of a linear node, used by linear_view, linear_rows and fisher.

Free functions; they release the GIL and add to or fill the arrays of the caller.
"""
from libc.stdint cimport int32_t, int64_t, uint8_t

from omnitree._core.views cimport Values, view_values


cdef extern from "standardise.hpp" namespace "omnitree" nogil:
    cdef struct Rows:
        const int64_t* id
        const double* weight
        int64_t n

    void standardise_side_by_side(
        const Values&, const Rows&, int64_t, double*, double*, double*, int64_t, int64_t)
    void standardise_strided(
        const Values&, const Rows&, int64_t, double*, double*, double*, int64_t, int64_t)


cdef extern from "exchange.hpp" namespace "omnitree" nogil:
    cdef struct ExchangeTask:
        const double* scores
        const int32_t* y
        const double* weight
        int64_t n
        int k
        const double* size
        const double* centres
        const double* spread
        int merit

    cdef cppclass ExchangeSearch:
        ExchangeSearch(const ExchangeTask&) except +
        void run(uint8_t*)


def standardise(const double[:, :] x, const int64_t[::1] rows, const double[::1] weight,
                double[::1] mean, double[::1] std, double[:, :] z):
    """Mean and deviation of each column over some rows, and the columns in their units."""
    cdef Values v
    cdef Rows r
    cdef int64_t p = x.shape[1], size = <int64_t> sizeof(double)
    if rows.shape[0] == 0 or p == 0:
        return
    v = view_values(x)
    r.id, r.weight, r.n = &rows[0], &weight[0], rows.shape[0]
    with nogil:
        if v.col_stride == 1:
            standardise_side_by_side(v, r, p, &mean[0], &std[0], &z[0, 0],
                                     z.strides[0] // size, z.strides[1] // size)
        else:
            standardise_strided(v, r, p, &mean[0], &std[0], &z[0, 0],
                                z.strides[0] // size, z.strides[1] // size)


def add_class_sums(const double[:, ::1] x, const int32_t[::1] y, const double[::1] weight,
                   double[:, ::1] sums):
    """Add each row, times its weight, to the sum of its class."""
    cdef int64_t i, j, n = x.shape[0], p = x.shape[1]
    cdef const double* row
    cdef double* to
    cdef double w
    if p == 0:
        return
    with nogil:
        for i in range(n):
            row = &x[i, 0]
            to = &sums[y[i], 0]
            w = weight[i]
            for j in range(p):
                to[j] += w * row[j]


def count_above(const double[:, ::1] scores, const double[:, ::1] mix, const double[::1] cuts,
                const int32_t[::1] y, const double[::1] weight, double[:, ::1] counts):
    """Class counts (C, K) of the rows whose score, a mix of several, is above the cut."""
    cdef int64_t i, c, k, n = scores.shape[0], n_mix = mix.shape[0], m = mix.shape[1]
    cdef const double* row
    cdef double sum
    if m == 0:
        return
    with nogil:
        for i in range(n):
            row = &scores[i, 0]
            for c in range(n_mix):
                sum = 0
                for k in range(m):
                    sum += row[k] * mix[c, k]
                if sum > cuts[c]:
                    counts[c, y[i]] += weight[i]


def count_parts(const uint8_t[:, ::1] above, const int32_t[::1] y,
                const double[:, ::1] kept, const double[:, ::1] held,
                double[:, :, :, ::1] counts):
    """Class counts (D, 2, 2, K) of training and test rows below and above each of D cuts.

    `above` is (n, D), the weights of the rows in either part are (D, n).
    """
    cdef int64_t i, d, n = above.shape[0], n_parts = above.shape[1]
    with nogil:
        for d in range(n_parts):
            for i in range(n):
                counts[d, 0, above[i, d], y[i]] += kept[d, i]
                counts[d, 1, above[i, d], y[i]] += held[d, i]


def exchange(const double[:, ::1] scores, const int32_t[::1] y, const double[::1] weight,
             const double[::1] size, const double[:, ::1] centres,
             const double[:, ::1] spread, int merit, uint8_t[::1] left):
    """Improve the grouping `left` of the k classes present, move by move, in place."""
    cdef ExchangeTask task
    cdef ExchangeSearch* search
    task.scores, task.y, task.weight = &scores[0, 0], &y[0], &weight[0]
    task.n, task.k = scores.shape[0], <int> scores.shape[1]
    task.size, task.centres, task.spread = &size[0], &centres[0, 0], &spread[0, 0]
    task.merit = merit
    search = new ExchangeSearch(task)
    try:
        with nogil:
            search.run(&left[0])
    finally:
        del search
