# distutils: language = c++
# cython: boundscheck=False, wraparound=False, initializedcheck=False
"""Neighbours of a least-squares test: thin wrapper of gram.hpp."""
import numpy as np

from libc.stdint cimport int32_t, int64_t


cdef extern from "linear/gram.hpp" namespace "omnitree" nogil:
    void c_count "omnitree::count_above"(const double*, const double*, const double*,
                                         const double*, const int32_t*, const double*,
                                         int64_t, int64_t, double*)
    void c_move "omnitree::move_to"(double*, double*, const double*, double, int64_t, int64_t,
                                    int64_t)


def count_above(const double[:, ::1] matrix, const double[::1] score, const double[::1] step,
                const double[::1] shift, const int32_t[::1] y, const double[::1] weight,
                int n_classes):
    """Weight by class and neighbour of the rows with score + matrix * step + shift > 0."""
    cdef int64_t n = matrix.shape[0], d = matrix.shape[1]
    cdef double[:, ::1] out = np.zeros((n_classes, d))
    if n and d:
        with nogil:
            c_count(&matrix[0, 0], &score[0], &step[0], &shift[0], &y[0], &weight[0], n, d,
                    &out[0, 0])
    return np.asarray(out)


def move_to(double[:, ::1] matrix, double[::1] score, const double[::1] share, double step,
            int64_t at):
    """Add matrix[:, at] * step to the scores and take its shares off the matrix, in place."""
    cdef int64_t n = matrix.shape[0], d = matrix.shape[1]
    if n and d:
        with nogil:
            c_move(&matrix[0, 0], &score[0], &share[0], step, at, n, d)
