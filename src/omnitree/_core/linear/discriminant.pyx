# distutils: language = c++
# cython: boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""Loops over the rows of a linear node, used by encoded_columns, node_columns and fisher.

Free functions; they release the GIL and add to or fill the arrays of the caller.
"""
from libc.math cimport isnan
from libc.stdint cimport int32_t, int64_t, uint8_t
from libcpp.vector cimport vector

from omnitree._core.common.ticks cimport Tick, make_tick
from omnitree._core.common.views cimport Values, view_values


cdef extern from "linear/standardise.hpp" namespace "omnitree" nogil:
    cdef struct WeightedRows:
        const int64_t* id
        const double* weight
        int64_t n

    void c_standardise "omnitree::standardise" (
        const Values&, const WeightedRows&, int64_t, bint, double*, double*, double*, int64_t,
        int64_t) except +
    void c_in_units "omnitree::in_units" (
        const Values&, int64_t, int64_t, const double*, const double*, double*)


cdef extern from "linear/exchange.hpp" namespace "omnitree" nogil:
    cdef struct ExchangeTask:
        const double* scores
        const int64_t* first
        const double* weight
        int64_t n
        int k
        const double* size
        const double* centres
        const double* spread
        int merit

    cdef cppclass ExchangeSearch:
        ExchangeSearch(const ExchangeTask&) except +
        void run(uint8_t*, Tick&) except +


cdef extern from "linear/nearest_start.hpp" namespace "omnitree" nogil:
    void c_nearest_start "omnitree::nearest_start" (
        const double*, const double*, int, int64_t, uint8_t*, Tick&) except +


cdef extern from "linear/projection.hpp" namespace "omnitree" nogil:
    cdef cppclass PackedBasis:
        PackedBasis()
        PackedBasis(const double*, const double*, int64_t, int64_t) except +

    void c_project "omnitree::project_rows" (
        const double*, const PackedBasis&, const int64_t*, int64_t, double*, int64_t) except +


def standardise(const double[:, :] x, const int64_t[::1] rows, const double[::1] weight,
                bint missing, double[::1] mean, double[::1] std, double[:, :] z):
    """Mean and deviation of each column over some rows, and the columns in their units.

    `missing` says whether some values may be missing. Where `z` is None, the columns are not
    made.
    """
    cdef Values v
    cdef WeightedRows r
    cdef int64_t p = x.shape[1], size = <int64_t> sizeof(double), z_row = 0, z_column = 0
    cdef double* to = NULL
    if rows.shape[0] == 0 or p == 0:
        return
    v = view_values(x)
    r.id, r.weight, r.n = &rows[0], &weight[0], rows.shape[0]
    if z is not None:
        to, z_row, z_column = &z[0, 0], z.strides[0] // size, z.strides[1] // size
    with nogil:
        c_standardise(v, r, p, missing, &mean[0], &std[0], to, z_row, z_column)


def in_units(const double[:, :] x, const double[::1] mean, const double[::1] std,
             double[:, ::1] z):
    """All rows in units of known deviations, about known means; where those are 0, 0."""
    cdef int64_t n = x.shape[0], p = x.shape[1]
    if n == 0 or p == 0:
        return
    with nogil:
        c_in_units(view_values(x), n, p, &mean[0], &std[0], &z[0, 0])


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


def present_means(const double[:, ::1] x, const int64_t[::1] rows, const double[::1] weight,
                  const int64_t[::1] columns, double[::1] means):
    """Means of some columns over the values present in some rows; 0 where none is."""
    cdef int64_t i, c, n = rows.shape[0], m = columns.shape[0]
    cdef const double* row
    cdef double value
    cdef vector[double] total
    if n == 0 or m == 0:
        return
    total.resize(m)
    with nogil:
        for c in range(m):
            means[c] = 0
        for i in range(n):
            row = &x[rows[i], 0]
            for c in range(m):
                value = row[columns[c]]
                if not isnan(value):
                    means[c] += value * weight[i]
                    total[c] += weight[i]
        for c in range(m):
            means[c] = means[c] / total[c] if total[c] > 0 else 0


def fill_missing(double[:, ::1] x, const int64_t[::1] columns, const double[::1] means):
    """Put the means of some columns where their values are missing."""
    cdef int64_t i, c, n = x.shape[0], m = columns.shape[0]
    cdef double* row
    if n == 0 or m == 0:
        return
    with nogil:
        for i in range(n):
            row = &x[i, 0]
            for c in range(m):
                if isnan(row[columns[c]]):
                    row[columns[c]] = means[c]


def multiply_pairs(const double[:, ::1] x, const int64_t[::1] a, const int64_t[::1] b,
                   double[:, :] out):
    """The product of columns a[t] and b[t] of each row, as column t of `out`."""
    cdef int64_t i, t, n = x.shape[0], m = a.shape[0]
    cdef const double* row
    cdef double* to
    if n == 0 or m == 0:
        return
    with nogil:
        for i in range(n):
            row = &x[i, 0]
            to = &out[i, 0]
            for t in range(m):
                to[t] = row[a[t]] * row[b[t]]


def project(const double[:, ::1] x, const int64_t[::1] rows, const double[:, ::1] basis,
            const double[::1] origin, double[:, :] out):
    """Some rows less a point, along each line of `basis`, (k, p), as lines of `out`, (k, n)."""
    cdef int64_t n = rows.shape[0], p = x.shape[1], k = basis.shape[0]
    cdef PackedBasis packed
    if n == 0 or k == 0:
        return
    if p == 0:
        out[:, :] = 0
        return
    packed = PackedBasis(&basis[0, 0], &origin[0], p, k)
    with nogil:
        c_project(&x[0, 0], packed, &rows[0], n, &out[0, 0],
                  out.strides[0] // <int64_t> sizeof(double))


def count_parts(const uint8_t[:, ::1] tested, const uint8_t[:, ::1] above,
                const int32_t[::1] y, const double[::1] weight,
                double[:, :, :, ::1] counts):
    """Class counts (D, 2, B, K) of training and test rows below and above each of D cuts.

    `tested` and `above` are (D, n).
    """
    cdef int64_t i, d, n = above.shape[1], n_parts = above.shape[0]
    cdef int64_t n_sides = counts.shape[2], n_classes = counts.shape[3]
    cdef double* to
    with nogil:
        for d in range(n_parts):
            to = &counts[d, 0, 0, 0]
            for i in range(n):
                to[(tested[d, i] * n_sides + above[d, i]) * n_classes + y[i]] += weight[i]


def exchange(const double[:, ::1] scores, const int64_t[::1] first, const double[::1] weight,
             const double[::1] size, const double[:, ::1] centres,
             const double[:, ::1] spread, int merit, uint8_t[::1] left, tick=None):
    """Improve the grouping `left` of the k classes present, move by move, in place.

    `scores` are (k, n), the rows in the order of their classes; `first` says where those of
    each class begin. Without weights every row counts one. `tick` ends the work by True.
    """
    cdef list box = [tick]
    cdef Tick clock = make_tick(box)
    cdef ExchangeTask task
    cdef ExchangeSearch* search
    task.scores, task.first = &scores[0, 0], &first[0]
    task.weight = NULL
    if weight is not None:
        task.weight = &weight[0]
    task.n, task.k = scores.shape[1], <int> scores.shape[0]
    task.size, task.centres, task.spread = &size[0], &centres[0, 0], &spread[0, 0]
    task.merit = merit
    search = new ExchangeSearch(task)
    try:
        with nogil:
            search.run(&left[0], clock)
    finally:
        del search
    if len(box) > 1:
        raise box[1]


def nearest_starts(const double[:, :, ::1] means, const double[::1] size,
                   uint8_t[:, ::1] left, tick=None):
    """Where exchanges begin, (B, k), for each problem with class means (B, k, p).

    `tick` ends the work by True.
    """
    cdef list box = [tick]
    cdef Tick clock = make_tick(box)
    cdef int64_t b, n = means.shape[0], p = means.shape[2]
    cdef int k = <int> means.shape[1]
    with nogil:
        for b in range(n):
            c_nearest_start(
                &means[b, 0, 0] if p else NULL, &size[0], k, p, &left[b, 0], clock
            )
    if len(box) > 1:
        raise box[1]
