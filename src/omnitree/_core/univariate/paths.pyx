# distutils: language = c++
# cython: boundscheck=False, wraparound=False, initializedcheck=False
"""Leave-one-out paths: thin wrapper of paths.hpp."""
import numpy as np

from libc.stdint cimport int32_t, int64_t, uint64_t
from libcpp cimport bool as cbool
from libcpp.vector cimport vector

from omnitree._core.common.vectors cimport integers


cdef extern from "univariate/paths.hpp" namespace "omnitree" nogil:
    cdef struct PathStep:
        int32_t feature
        int32_t branch
        double threshold

    cdef cppclass PathGrower:
        PathGrower(const double*, const int32_t*, int, int, int) except +
        void grow(int, cbool, SplitMix&, vector[PathStep]&, vector[int32_t]&) except +

    cdef struct SplitMix:
        uint64_t state


def grow_paths(const double[::1, :] x, const int32_t[::1] y, int n_classes,
               uint64_t seed, bint random):
    """The path of every row through the tree of all others; only numbers, none missing.

    Random choices come from one sequence, which goes on from row to row. Returns the steps
    of row i at `start[i]:start[i + 1]` of `feature`, `branch` (0: at most the threshold),
    `threshold` and `counts` (steps x branches x classes).
    """
    cdef int n = x.shape[0], d = x.shape[1]
    cdef vector[PathStep] steps
    cdef vector[int32_t] counts
    cdef int64_t[::1] start = np.zeros(n + 1, dtype=np.int64)
    cdef int64_t i
    cdef SplitMix numbers
    numbers.state = seed
    cdef PathGrower* grower = new PathGrower(&x[0, 0], &y[0], n, d, n_classes)
    try:
        with nogil:
            for i in range(n):
                grower.grow(<int> i, random, numbers, steps, counts)
                start[i + 1] = <int64_t> steps.size()
    finally:
        del grower
    found = [(s.feature, s.branch, s.threshold) for s in steps]
    kinds = [("feature", "i4"), ("branch", "i4"), ("threshold", "f8")]
    made = np.array(found, dtype=kinds)
    return {
        "start": np.asarray(start),
        **{name: made[name] for name, _ in kinds},
        "counts": integers(counts).reshape(-1, 2, n_classes).astype(np.float64),
    }
