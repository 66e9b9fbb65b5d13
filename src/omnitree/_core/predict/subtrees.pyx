# distutils: language = c++
# cython: boundscheck=False, wraparound=False, initializedcheck=False
"""Loops over the nodes of a tree: thin wrappers of subtrees.hpp.

`shape` is always (first_child, n_children, parent) of a Tree.
"""
import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t
from libcpp.vector cimport vector

from omnitree._core.common.vectors cimport integers
from omnitree._core.common.views cimport pointer_to


cdef extern from "predict/subtrees.hpp" namespace "omnitree" nogil:
    cdef struct Shape:
        const int32_t* first_child
        const int32_t* n_children
        const int32_t* parent
        int64_t n

    cdef cppclass Kept:
        vector[int32_t] node, parent, first_child
        Kept(const Shape&, const int64_t*) except +

    void c_sums "omnitree::subtree_sums" (const Shape&, const double*, double*)
    void c_add_up "omnitree::add_up" (const Shape&, int64_t, double*)
    void c_links "omnitree::weakest_links" (
        const Shape&, const double*, const double*, double*) except +
    void c_sums_at "omnitree::sums_at" (
        const Shape&, const double*, const double*, const double*, int64_t,
        double*) except +
    void c_shrunken "omnitree::shrunken_shares" (
        const Shape&, const double*, const double*, int64_t, double, double*)
    void c_shrunken_at "omnitree::shrunken_at" (
        const int64_t*, const double*, const double*, int64_t, int64_t, double, double*)
    void c_depths "omnitree::depths" (const Shape&, int32_t*)
    void c_stops "omnitree::stops" (const Shape&, const uint8_t*, int32_t*)
    void count_passing(const Shape&, const int32_t*, int64_t, int64_t*)
    void list_passing(const Shape&, const int32_t*, int64_t, const int64_t*,
                      int64_t*) except +


cdef Shape view_shape(tuple shape):
    """The view of a tree's shape; the caller keeps the arrays alive."""
    cdef Shape t
    t.first_child = pointer_to[int32_t](shape[0])
    t.n_children = pointer_to[int32_t](shape[1])
    t.parent = pointer_to[int32_t](shape[2])
    t.n = len(shape[2])
    return t


def subtree_sums(tuple shape, const double[::1] leaf_value):
    """For every node the sum of `leaf_value` over the leaves below it."""
    cdef Shape t = view_shape(shape)
    cdef double[::1] out = np.empty(t.n)
    with nogil:
        c_sums(t, &leaf_value[0], &out[0])
    return np.asarray(out)


def add_up(tuple shape, double[:, ::1] value):
    """Add the lines of all nodes to those of the nodes above them, in place."""
    cdef Shape t = view_shape(shape)
    with nogil:
        c_add_up(t, value.shape[1], &value[0, 0])


def weakest_links(tuple shape, const double[::1] cost, const double[::1] size):
    """Alpha at which each node becomes a leaf; infinite in leaves."""
    cdef Shape t = view_shape(shape)
    cdef double[::1] out = np.empty(t.n)
    with nogil:
        c_links(t, &cost[0], &size[0], &out[0])
    return np.asarray(out)


def sums_at(tuple shape, const double[::1] links, const double[::1] as_leaf,
            const double[::1] alphas):
    """Sum over the leaves of the tree pruned at each of the ascending `alphas`."""
    cdef Shape t = view_shape(shape)
    cdef double[::1] out = np.empty(alphas.shape[0])
    with nogil:
        c_sums_at(t, &links[0], &as_leaf[0], &alphas[0], alphas.shape[0], &out[0])
    return np.asarray(out)


def shrunken_shares(tuple shape, const double[:, ::1] value, const double[::1] total,
                    double m, double[:, ::1] out):
    """Fill in class shares of which the root's are given; see `Tree.shrunken_shares`."""
    cdef Shape t = view_shape(shape)
    with nogil:
        c_shrunken(t, &value[0, 0], &total[0], value.shape[1], m, &out[0, 0])


def shrunken_at(const int64_t[::1] above, const double[::1] own,
                const double[::1] total, int64_t n_given, const double[::1] m,
                double[:, ::1] out):
    """Fill in class shares at some nodes, for each m a line; see `NodeCounts`.

    Those of the root, which come first, are given.
    """
    cdef int64_t n = out.shape[1], i
    if not n:
        return
    with nogil:
        for i in range(m.shape[0]):
            c_shrunken_at(&above[0], &own[0], &total[0], n_given, n, m[i], &out[i, 0])


def depths(tuple shape):
    """Depth of every node; 0 at the root."""
    cdef Shape t = view_shape(shape)
    cdef int32_t[::1] out = np.empty(t.n, dtype=np.int32)
    with nogil:
        c_depths(t, &out[0])
    return np.asarray(out)


def stops(tuple shape, const uint8_t[::1] is_leaf):
    """For every node the first on the way to it, itself included, that is a leaf.

    The node itself if there is none.
    """
    cdef Shape t = view_shape(shape)
    cdef int32_t[::1] out = np.empty(t.n, dtype=np.int32)
    with nogil:
        c_stops(t, &is_leaf[0], &out[0])
    return np.asarray(out)


def kept(tuple shape, const int64_t[::1] to):
    """The nodes that are left, breadth first: (old number, parent, first child).

    `to` says what takes each node's place: itself, a descendant, or -1 (a leaf).
    """
    cdef Shape t = view_shape(shape)
    cdef Kept* found = new Kept(t, &to[0])
    try:
        return integers(found.node), integers(found.parent), integers(found.first_child)
    finally:
        del found


def passing(tuple shape, const int32_t[::1] leaf):
    """The rows that pass through each node, from the leaf of each: (start, row)."""
    cdef Shape t = view_shape(shape)
    cdef int64_t[::1] start = np.zeros(t.n + 1, dtype=np.int64)
    cdef int64_t n = leaf.shape[0]
    with nogil:
        count_passing(t, &leaf[0], n, &start[0])
    cdef int64_t[::1] row = np.empty(start[t.n], dtype=np.int64)
    with nogil:
        list_passing(t, &leaf[0], n, &start[0], &row[0])
    return np.asarray(start), np.asarray(row)
