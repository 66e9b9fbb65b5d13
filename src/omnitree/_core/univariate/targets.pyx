# distutils: language = c++
# cython: boundscheck=False, wraparound=False, initializedcheck=False
"""Best cuts of projections under a numeric target: thin wrapper of targets.hpp.

Used by the learners for regression. All arrays are of the rows of one node; `order` sorts
them by the projection `z`.
"""
from libc.stdint cimport int64_t


cdef extern from "univariate/targets.hpp" namespace "omnitree" nogil:
    cdef cppclass TargetCut:
        double gain
        int64_t after

    cdef cppclass ProjectedRows:
        const int64_t* order
        const double* z
        const double* target
        const double* weight
        int64_t n
        double min_branch

    TargetCut cut_squared(const ProjectedRows&) except +
    TargetCut cut_absolute(const ProjectedRows&, const int64_t*, const double*,
                           int64_t) except +
    cdef cppclass RidgeSearch:
        RidgeSearch(const double*, int64_t, const double*, const double*, int64_t, double,
                    double) except +
        double whole
        TargetCut best(const int64_t*, const double*, int64_t) except +


cdef ProjectedRows _rows(const int64_t[::1] order, const double[::1] z,
                         const double[::1] target, const double[::1] weight,
                         double min_branch):
    cdef ProjectedRows r
    r.order, r.z = &order[0], &z[0]
    r.target, r.weight = &target[0], &weight[0]
    r.n, r.min_branch = order.shape[0], min_branch
    return r


def squared(const int64_t[::1] order, const double[::1] z, const double[::1] target,
            const double[::1] weight, double min_branch):
    """Decrease of the squared error at the best cut, and the position it follows (-1: none).

    The target has mean 0 under the weights.
    """
    cdef ProjectedRows r = _rows(order, z, target, weight, min_branch)
    cdef TargetCut best
    with nogil:
        best = cut_squared(r)
    return best.gain, best.after


def absolute(const int64_t[::1] order, const double[::1] z, const double[::1] target,
             const double[::1] weight, double min_branch, const int64_t[::1] rank,
             const double[::1] target_of_rank):
    """As `squared`, for the absolute error around medians.

    `rank` is that of each row's target among the distinct ones, `target_of_rank`.
    """
    cdef ProjectedRows r = _rows(order, z, target, weight, min_branch)
    cdef TargetCut best
    with nogil:
        best = cut_absolute(r, &rank[0], &target_of_rank[0], target_of_rank.shape[0])
    return best.gain, best.after


def ridge(const double[:, ::1] x, const double[::1] target, const double[::1] weight,
          double penalty, double min_branch, int64_t most, const int64_t[:, ::1] order,
          const double[:, ::1] z, double[::1] gain, int64_t[::1] after):
    """Best cuts of projections with a linear model on either side.

    Line i of `x` has the columns of row i, best around their means; line j of `z` is a
    projection and line j of `order` sorts it. Of each, write by how much the penalised
    squared error falls (minus infinity: no cut) and the position that the cut follows.
    Returns the loss without a cut.
    """
    cdef int64_t p = x.shape[1], j
    cdef const double* cells = &x[0, 0] if p else NULL
    cdef RidgeSearch* search = new RidgeSearch(
        cells, p, &target[0], &weight[0], x.shape[0], penalty, min_branch)
    cdef TargetCut best
    try:
        with nogil:
            for j in range(z.shape[0]):
                best = search.best(&order[j, 0], &z[j, 0], most)
                gain[j], after[j] = best.gain, best.after
        return search.whole
    finally:
        del search
