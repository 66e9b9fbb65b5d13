# distutils: language = c++
# cython: boundscheck=False, wraparound=False, initializedcheck=False
"""Whole trees of Fisher's discriminants: thin wrapper of fisher_tree.hpp.

Used by `learners.linear` where no cell is missing.
"""
from libc.stdint cimport int32_t, int64_t
from libcpp.vector cimport vector
from scipy.linalg.cython_blas cimport dgemm, dsyrk
from scipy.linalg.cython_lapack cimport dpotrf, dpotrs, dsyevd

from omnitree._core.ticks cimport Tick, make_tick
from omnitree._core.vectors cimport doubles, integers, long_integers
from omnitree._core.views cimport Columns, Values, view_columns, view_values


cdef extern from "fisher_tree.hpp" namespace "omnitree" nogil:
    cdef cppclass Blas:
        void (*syrk)(char*, char*, int*, int*, double*, double*, int*, double*, double*,
                     int*) noexcept
        void (*gemm)(char*, char*, int*, int*, int*, double*, double*, int*, double*, int*,
                     double*, double*, int*) noexcept
        void (*potrf)(char*, int*, double*, int*, int*) noexcept
        void (*potrs)(char*, int*, int*, double*, int*, double*, int*, int*) noexcept
        void (*syevd)(char*, char*, int*, double*, int*, double*, double*, int*, int*, int*,
                      int*) noexcept

    cdef cppclass FisherTask:
        const double* z
        const int32_t* y
        const double* weight
        int64_t n
        int p, k
        int pca
        double epsilon
        Blas blas

    cdef cppclass FisherTreeTask:
        FisherTask rows
        const double* mean
        const double* std
        Values x
        Columns columns
        int merit
        double min_rows
        int max_depth

    cdef cppclass FisherTree:
        vector[int32_t] parent, first_child
        vector[double] merit, value
        vector[int64_t] index_ptr, weight_ptr
        vector[int32_t] tested, index
        vector[double] weight

    void c_grow "omnitree::grow_fisher"(const FisherTreeTask&, FisherTree&,
                                        const Tick&) except +


def grow(const double[:, ::1] z, const double[::1] mean, const double[::1] std,
         const double[:, :] values, const int32_t[::1] feature, const int32_t[::1] symbol,
         const int32_t[::1] y, weight, int n_classes, int pca, double epsilon, int merit,
         double min_rows, int max_depth, tick):
    """Grow a tree; arguments as the fields of fisher_tree.hpp say.

    Parameters
    ----------
    z : float64 [n, p], the standardised columns, without gaps
    mean, std : float64 [p], of the columns in the units of `values`
    values, feature, symbol : the table and its encoded columns
    weight : None (every row counts one) or float64 [n], positive
    pca : 0 where the scatter is singular, 1 always, 2 never
    max_depth : negative for no limit
    tick : None or callable(fraction_done) -> bool; True ends the growth

    Returns
    -------
    dict of arrays over nodes (parent, first_child, merit, value), with `tested`, the nodes
    that have a test, in the order of the tests, which `index_ptr`, `weight_ptr`, `index` and
    `weight` hold as a `Tree` does. Parents come before children, depth first.
    """
    cdef FisherTreeTask task
    cdef FisherTree tree
    cdef const double[::1] w
    cdef list box = [tick]
    cdef Tick clock = make_tick(box)
    if z.shape[0] == 0 or z.shape[1] == 0:
        raise ValueError("rows and columns are needed")
    task.rows.z, task.rows.y = &z[0, 0], &y[0]
    task.rows.weight = NULL
    if weight is not None:
        w = weight
        task.rows.weight = &w[0]
    task.rows.n, task.rows.p, task.rows.k = z.shape[0], <int> z.shape[1], n_classes
    task.rows.pca, task.rows.epsilon = pca, epsilon
    task.rows.blas.syrk, task.rows.blas.gemm = dsyrk, dgemm
    task.rows.blas.potrf, task.rows.blas.potrs = dpotrf, dpotrs
    task.rows.blas.syevd = dsyevd
    task.mean, task.std = &mean[0], &std[0]
    task.x, task.columns = view_values(values), view_columns(feature, symbol)
    task.merit, task.min_rows, task.max_depth = merit, min_rows, max_depth
    with nogil:
        c_grow(task, tree, clock)
    if len(box) > 1:
        raise box[1]
    return {
        "parent": integers(tree.parent),
        "first_child": integers(tree.first_child),
        "merit": doubles(tree.merit),
        "value": doubles(tree.value).reshape(-1, n_classes),
        "tested": integers(tree.tested),
        "index_ptr": long_integers(tree.index_ptr),
        "weight_ptr": long_integers(tree.weight_ptr),
        "index": integers(tree.index),
        "weight": doubles(tree.weight),
    }
