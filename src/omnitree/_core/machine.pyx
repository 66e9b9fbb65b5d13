# distutils: language = c++
# cython: boundscheck=False, wraparound=False, initializedcheck=False
"""Linear units learned row by row: thin wrapper of machine.hpp."""
import numpy as np

from libc.stdint cimport int64_t


cdef extern from "machine.hpp" namespace "omnitree" nogil:
    void c_rls "omnitree::rls"(const double*, const double*, const double*, int64_t, int64_t,
                               int, double*, double*)


def rls(const double[:, ::1] x, const double[::1] target, const double[::1] weight, int passes,
        double variance):
    """Weights of the columns of x after some passes, from W0 = 0 and P0 = variance * I."""
    cdef int64_t n = x.shape[0], d = x.shape[1]
    cdef double[::1] w = np.zeros(d)
    cdef double[:, ::1] p = variance * np.eye(d)
    if n == 0 or d == 0:
        return np.asarray(w)
    with nogil:
        c_rls(&x[0, 0], &target[0], &weight[0], n, d, passes, &w[0], &p[0, 0])
    return np.asarray(w)
