# distutils: language = c++
# cython: boundscheck=False, wraparound=False, initializedcheck=False
"""Class counts beside cuts: thin wrapper of cuts.hpp, used by the analytic learner."""
from libc.stdint cimport int32_t, int64_t

from omnitree._core.common.views cimport Values, view_values


cdef extern from "univariate/cuts.hpp" namespace "omnitree" nogil:
    void count_sides_of "omnitree::count_sides" (
        const Values&, int64_t, const int64_t*, int64_t, const int64_t*, const double*,
        const int32_t*, const double*, int32_t, double*) except +


def count_sides(const double[:, :] x, const int64_t[::1] column, const int64_t[::1] start,
                const double[::1] cuts, const int32_t[::1] y, const double[::1] weight,
                double[:, :, ::1] counts):
    """Fill `counts` (cuts, 2, classes): weights at most a cut, and above it.

    Column `column[j]` has the ascending cuts `cuts[start[j]:start[j + 1]]`.
    """
    cdef Values v
    if x.shape[0] == 0 or cuts.shape[0] == 0:
        return
    v = view_values(x)
    with nogil:
        count_sides_of(v, x.shape[0], &column[0], column.shape[0], &start[0], &cuts[0],
                       &y[0], &weight[0], <int32_t> counts.shape[2], &counts[0, 0, 0])
