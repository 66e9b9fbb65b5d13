# distutils: language = c++
# cython: boundscheck=False, wraparound=False, initializedcheck=False
"""Error-based pruning: thin wrapper of estimate.hpp."""
import numpy as np

from libc.stdint cimport int32_t, int64_t
from libcpp cimport bool as cbool
from libcpp.vector cimport vector

from omnitree._core.common.views cimport TreeView, Values, view_tree, view_values


cdef extern from "univariate/estimate.hpp" namespace "omnitree" nogil:
    cdef struct Entry:
        int32_t row
        double weight

    cdef cppclass AddErrors:
        AddErrors(double) except +
        double operator()(double, double)

    cdef cppclass ErrorBased:
        ErrorBased(
            const TreeView&, const Values&, const int32_t*, int, double, cbool, int32_t) except +
        vector[int32_t] prune(vector[Entry]) except +


def add_errors(double n, double errors, double confidence):
    """Errors that C4.5 adds to `errors` among `n` rows."""
    cdef AddErrors* add = new AddErrors(confidence)
    try:
        return add[0](n, errors)
    finally:
        del add


def prune_error_based(tuple arrays, const double[:, :] x, const int32_t[::1] y,
                      const double[::1] weight, int n_classes, double confidence,
                      bint raising):
    """For every node what takes its place: itself, -1 (a leaf) or a descendant."""
    cdef TreeView t = view_tree(arrays)
    cdef Values v = view_values(x)
    cdef vector[Entry] entries
    cdef Entry e
    cdef int64_t i
    cdef int32_t n_nodes = len(arrays[0])
    cdef vector[int32_t] to
    cdef ErrorBased* run = new ErrorBased(t, v, &y[0], n_classes, confidence, raising, n_nodes)
    try:
        with nogil:
            entries.reserve(y.shape[0])
            for i in range(y.shape[0]):
                e.row = <int32_t> i
                e.weight = weight[i]
                entries.push_back(e)
            to = run.prune(entries)
    finally:
        del run
    return np.array(to, dtype=np.int64)
