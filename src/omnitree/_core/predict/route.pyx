# distutils: language = c++
# cython: boundscheck=False, wraparound=False, initializedcheck=False
"""Placing rows in a tree: thin wrappers of route.hpp, used by splits.py and tree.py.

All functions release the GIL; callers cut the rows into ranges for threads.
"""
import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t
from libcpp.pair cimport pair
from libcpp.vector cimport vector

from omnitree._core.common.views cimport (
    Columns, TreeView, Values, pointer_to, view_columns, view_tree, view_values
)


cdef extern from "predict/route.hpp" namespace "omnitree" nogil:
    cdef struct AxisNode:
        double threshold
        int32_t feature
        int32_t first_child

    void branches_of(uint8_t, const int32_t*, int64_t, const double*, const Values&,
                     const Columns&, const int64_t*, int64_t, int32_t*) except +
    int32_t leaf_of(const TreeView&, const Values&, int64_t) except +
    vector[double] sum_slacks(const TreeView&, int64_t, const Values&) except +
    void apply_together(const TreeView&, const Values&, const vector[double]&, int64_t,
                        int64_t, int32_t*) except +
    void leaves_of(const TreeView&, const Values&, int64_t,
                   vector[pair[int32_t, double]]&) except +
    void apply_axis_range "omnitree::apply_axis" (
        const AxisNode*, const Values&, int64_t, int64_t, int32_t*)
    void add_axis_sums(const AxisNode*, const Values&, const double*, int64_t, double*)


cdef int64_t FEW = 16  # rows that are not worth a stack
cdef int64_t TOGETHER = 1024  # rows whose cells stay in the cache


def route_test(int kind, const int32_t[::1] index, const double[::1] weight,
               const double[:, :] x, const int64_t[::1] rows,
               const int32_t[::1] column_feature, const int32_t[::1] column_category,
               int32_t[::1] out):
    """Branch of each of `rows` under one test, -1 where it cannot tell."""
    cdef Values v
    cdef Columns c = view_columns(column_feature, column_category)
    if rows.shape[0] == 0:
        return
    v = view_values(x)
    with nogil:
        branches_of(<uint8_t>kind, &index[0], index.shape[0], pointer_to(weight), v, c,
                    &rows[0], rows.shape[0], &out[0])


def apply_tree(tuple arrays, const double[:, :] x, int64_t begin, int64_t end, int32_t[::1] leaf):
    """Leaf of each row in [begin, end), -1 for rows divided on their way."""
    cdef TreeView t = view_tree(arrays)
    cdef Values v
    cdef int64_t row, stop, n_nodes = len(arrays[0])
    cdef vector[double] slack
    if begin >= end:
        return
    v = view_values(x)
    with nogil:
        if end - begin < FEW:
            for row in range(begin, end):
                leaf[row] = leaf_of(t, v, row)
        else:
            slack = sum_slacks(t, n_nodes, v)
            while begin < end:
                stop = begin + TOGETHER if begin + TOGETHER < end else end
                apply_together(t, v, slack, begin, stop, &leaf[0])
                begin = stop


def apply_axis(const uint8_t[::1] nodes, const double[:, :] x, int64_t begin, int64_t end,
               int32_t[::1] leaf):
    """Leaf of each row in [begin, end) of a table without missing values.

    `nodes` is packed by Tree.
    """
    cdef Values v
    if begin >= end:
        return
    v = view_values(x)
    with nogil:
        apply_axis_range(<const AxisNode*> &nodes[0], v, begin, end, &leaf[0])


def axis_sums(const uint8_t[::1] nodes, const double[:, :] x, const double[::1] weight,
              double[::1] out):
    """Add to `out` each node's weighted sum of its tested feature."""
    cdef Values v = view_values(x)
    with nogil:
        add_axis_sums(<const AxisNode*> &nodes[0], v, &weight[0], x.shape[0], &out[0])


def divide_rows(tuple arrays, const double[:, :] x, const int64_t[::1] rows):
    """Leaves and shares of rows that a missing value divides, as (indptr, leaf, share)."""
    cdef TreeView t = view_tree(arrays)
    cdef Values v = view_values(x)
    cdef vector[pair[int32_t, double]] found
    cdef int64_t i, n = rows.shape[0]
    indptr = np.zeros(n + 1, dtype=np.int64)
    cdef int64_t[::1] ptr = indptr
    with nogil:
        for i in range(n):
            leaves_of(t, v, rows[i], found)
            ptr[i + 1] = <int64_t> found.size()
    leaf = np.empty(found.size(), dtype=np.int32)
    share = np.empty(found.size(), dtype=np.float64)
    cdef int32_t[::1] leaf_view = leaf
    cdef double[::1] share_view = share
    for i in range(<int64_t> found.size()):
        leaf_view[i] = found[i].first
        share_view[i] = found[i].second
    return indptr, leaf, share
