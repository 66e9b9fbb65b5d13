# distutils: language = c++
# cython: boundscheck=False, wraparound=False, initializedcheck=False
"""Leave-one-out paths: thin wrapper of paths.hpp."""
import numpy as np

from libc.stdint cimport int32_t, int64_t, uint64_t
from libcpp cimport bool as cbool
from libcpp.vector cimport vector


cdef extern from "univariate/paths.hpp" namespace "omnitree" nogil:
    cdef struct PathStep:
        int32_t feature
        int32_t branch
        double threshold

    cdef cppclass PathGrower:
        PathGrower(const double*, const int32_t*, int, int, int) except +
        void grow(int, cbool, uint64_t&, vector[PathStep]&, vector[int32_t]&) except +


def grow_paths(const double[::1, :] x, const int32_t[::1] y, int n_classes,
               uint64_t seed, bint random):
    """The path of every row through the tree of all others; only numbers, none missing.

    Random choices come from one sequence, which goes on from row to row. Returns the steps of row i at `start[i]:start[i + 1]` of `feature`, `branch` (0: at most
    the threshold), `threshold` and `counts` (steps x branches x classes).
    """
    cdef int n = x.shape[0]
    cdef int d = x.shape[1]
    cdef vector[PathStep] steps
    cdef vector[int32_t] counts
    cdef int64_t[::1] start = np.zeros(n + 1, dtype=np.int64)
    cdef int64_t i
    cdef PathGrower* grower = new PathGrower(&x[0, 0], &y[0], n, d, n_classes)
    try:
        with nogil:
            for i in range(n):
                grower.grow(<int> i, random, seed, steps, counts)
                start[i + 1] = <int64_t> steps.size()
    finally:
        del grower
    cdef int64_t m = <int64_t> steps.size()
    cdef int32_t[::1] feature = np.empty(m, dtype=np.int32)
    cdef int32_t[::1] branch = np.empty(m, dtype=np.int32)
    cdef double[::1] threshold = np.empty(m)
    cdef int32_t[::1] flat = np.empty(m * 2 * n_classes, dtype=np.int32)
    for i in range(m):
        feature[i] = steps[i].feature
        branch[i] = steps[i].branch
        threshold[i] = steps[i].threshold
    for i in range(m * 2 * n_classes):
        flat[i] = counts[i]
    return {
        "start": np.asarray(start),
        "feature": np.asarray(feature),
        "branch": np.asarray(branch),
        "threshold": np.asarray(threshold),
        "counts": np.asarray(flat).reshape(m, 2, n_classes).astype(np.float64),
    }
