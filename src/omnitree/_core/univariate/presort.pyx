# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# distutils: language = c++
"""Exact univariate trees from presorted columns, for classes or for a numeric target.

A thin wrapper of presort.hpp: it describes the arrays to the kernel, calls Python back while
the kernel runs (progress, time limit, Ctrl-C), and turns the grown tree into arrays. Used by
`learners.univariate` when all columns are numeric and complete.
"""

from libc.stddef cimport ptrdiff_t
from libc.stdint cimport int32_t, uint32_t
from libcpp cimport bool as cbool
from libcpp.vector cimport vector

import numpy as np

from omnitree._core.common.ticks cimport Tick, make_tick
from omnitree._core.common.vectors cimport doubles, integers


cdef extern from "univariate/presort.hpp" namespace "omnitree" nogil:
    cdef cppclass Task:
        const char* x
        ptrdiff_t row_stride, column_stride
        const int32_t* y
        const double* target
        const double* weight
        uint32_t n, d, k
        int merit
        double min_rows, min_branch
        int max_depth
        cbool by_ratio, release8, value_thresholds
        const uint32_t* order
        const int32_t* place
        uint32_t n_all

    cdef cppclass Tree:
        vector[int32_t] first_child, parent, feature
        vector[double] threshold, merit, value

    cdef enum:
        SQUARES, N_STATISTICS

    void grow(const Task&, Tree&, const Tick&) except +
    void order_all(const Task&, uint32_t*) except +


def grow_numeric(
    const double[:, :] X,
    const int32_t[::1] y,
    weight,
    int n_classes,
    int merit,
    double min_rows,
    double min_branch,
    int max_depth,
    tick,
    by_ratio=False,
    release8=False,
    value_thresholds=False,
    sorted_as=None,
):
    """Grow a tree with cuts x <= threshold, every cut of every column tried at every node.

    Parameters
    ----------
    X : float64 [n, d], any strides, finite; read in place
    y : int32 [n], classes 0 to n_classes - 1
    weight : None or float64 [n], positive
    merit : 0 for the Gini decrease, 1 for the information gain in bits
    min_rows : nodes of less weight stay leaves
    min_branch : least weight of a branch
    max_depth : negative for no limit
    tick : None or callable(fraction_done) -> bool, called every 60 ms or so; True ends the
        growth: nodes not yet split stay leaves
    by_ratio : with merit 1: of the columns of at least average gain, the one with the best
        gain ratio is cut, at its cut of greatest gain (C4.5)
    release8 : with merit 1: C4.5 release 8's rules for cuts
    value_thresholds : a cut lies at the largest value of its column in the table that is
        not above the midpoint, instead of there
    sorted_as : None or (order, place); where X is some rows of another table: what
        `sort_columns` gave for that, and for each of its rows (int32) the row of X that it
        is, in ascending order, or -1

    Returns
    -------
    dict of arrays over nodes: first_child (-1 in leaves), parent (-1 at the root), feature
    (-1 in leaves), threshold, merit, and value [n_nodes, n_classes], the weight of each
    class. Parents come before children; the right child is first_child + 1.
    """
    if y.shape[0] != X.shape[0]:
        raise ValueError(f"X has {X.shape[0]} rows, y has {y.shape[0]}")
    if not 1 <= n_classes <= 65535:
        raise ValueError(f"n_classes must be from 1 to 65535, got {n_classes}")
    if merit not in (0, 1):
        raise ValueError(f"merit must be 0 or 1, got {merit}")
    if merit != 1 and (by_ratio or release8):
        raise ValueError("C4.5's rules go with merit 1")
    if len(y) and (np.min(y) < 0 or np.max(y) >= n_classes):
        raise ValueError("y must lie between 0 and n_classes - 1")
    cdef Tree tree
    cdef Task task
    task.by_ratio, task.release8 = by_ratio, release8
    task.value_thresholds = value_thresholds
    task.merit, task.max_depth = merit, max_depth
    task.min_rows, task.min_branch = min_rows, min_branch
    cdef const uint32_t[:, ::1] order
    cdef const int32_t[::1] place
    task.order = NULL
    if sorted_as is not None:
        order, place = sorted_as
        if order.shape[0] != X.shape[1] or order.shape[1] != place.shape[0]:
            raise ValueError("the order is that of another table")
        if np.max(place) + 1 != X.shape[0]:
            raise ValueError(f"X has {X.shape[0]} rows, place {np.max(place) + 1}")
        if X.shape[1]:
            task.order, task.place, task.n_all = &order[0, 0], &place[0], place.shape[0]
    _grow(task, X, y, None, weight, n_classes, tick, tree)
    return _arrays(tree, n_classes)


def sort_columns(const double[:, :] X):
    """The rows of X, finite, in the order of each column: uint32 [d, n].

    The highest bit is set where a value is not that of the entry before. Equal values keep
    the order of their rows.
    """
    cdef Py_ssize_t n = X.shape[0], d = X.shape[1]
    if n == 0 or n >= 1 << 28:
        raise ValueError(f"between 1 and 2**28 - 1 rows are needed, got {n}")
    out = np.empty((d, n), dtype=np.uint32)
    cdef uint32_t[:, ::1] order = out
    cdef const int32_t[::1] y = np.zeros(n, dtype=np.int32)
    cdef Task task
    if not d:
        return out
    task.x = <const char*>&X[0, 0]
    task.row_stride, task.column_stride = X.strides[0], X.strides[1]
    task.y = &y[0]
    task.n, task.d, task.k = n, d, 1
    with nogil:
        order_all(task, &order[0, 0])
    return out


def grow_targets(
    const double[:, :] X,
    const double[::1] target,
    weight,
    double min_rows,
    double min_branch,
    int max_depth,
    tick,
):
    """Grow a tree for a numeric target by the squared error, as `grow_numeric` for classes.

    Of each node `value` holds the weight, the sums of target and squared target, and the
    least and greatest target. A node with one target is a leaf. For the sake of digits the
    target should have mean 0. The merit is the decrease of the mean squared error.
    """
    if target.shape[0] != X.shape[0]:
        raise ValueError(f"X has {X.shape[0]} rows, target has {target.shape[0]}")
    cdef Tree tree
    cdef Task task
    task.by_ratio = task.release8 = task.value_thresholds = False
    task.order = NULL
    task.merit, task.max_depth = SQUARES, max_depth
    task.min_rows, task.min_branch = min_rows, min_branch
    y = np.zeros(target.shape[0], dtype=np.int32)
    _grow(task, X, y, target, weight, 1, tick, tree)
    return _arrays(tree, N_STATISTICS)


cdef _grow(Task& task, const double[:, :] X, const int32_t[::1] y, const double[::1] target,
           weight, int n_classes, tick, Tree& tree):
    cdef Py_ssize_t n = X.shape[0], d = X.shape[1]
    cdef const double[::1] w
    if n == 0 or n >= 1 << 28:
        raise ValueError(f"between 1 and 2**28 - 1 rows are needed, got {n}")
    task.x = <const char*>&X[0, 0] if d else NULL
    task.row_stride, task.column_stride = X.strides[0], X.strides[1]
    task.y = &y[0]
    task.target = task.weight = NULL
    if target is not None:
        task.target = &target[0]
    if weight is not None:
        w = weight
        if w.shape[0] != n:
            raise ValueError(f"X has {n} rows, weight has {w.shape[0]}")
        task.weight = &w[0]
    task.n, task.d, task.k = n, d, n_classes
    cdef list box = [tick]
    cdef Tick clock = make_tick(box)
    with nogil:
        grow(task, tree, clock)
    if len(box) > 1:
        raise box[1]


cdef _arrays(const Tree& tree, int n_stats):
    return {
        "first_child": integers(tree.first_child),
        "parent": integers(tree.parent),
        "feature": integers(tree.feature),
        "threshold": doubles(tree.threshold),
        "merit": doubles(tree.merit),
        "value": doubles(tree.value).reshape(-1, n_stats),
    }
