# distutils: language = c++
# cython: boundscheck=False, wraparound=False, initializedcheck=False
"""Fisher's discriminants, whole trees and single tests: thin wrapper of fisher_tree.hpp.

Used by `learners.fisher_tree` and `learners.fisher_trial` where no cell is missing.
"""
from libc.stdint cimport int32_t, int64_t
from libcpp.vector cimport vector
from scipy.linalg.cython_blas cimport dgemm
from scipy.linalg.cython_lapack cimport dpotrf, dpotrs, dsyevd

from omnitree._core.ticks cimport Tick, make_tick
from omnitree._core.vectors cimport doubles, integers, long_integers
from omnitree._core.views cimport Columns, Values, view_columns, view_values


cdef extern from "fisher_tree.hpp" namespace "omnitree" nogil:
    cdef cppclass Blas:
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
    double c_train "omnitree::train_fisher"(
        const FisherTask&, int, const int64_t*, int64_t, const double*, const double*,
        double*) except +


cdef void set_rows(FisherTask& task, const double[:, ::1] z, const int32_t[::1] y,
                   const double[::1] weight, int n_classes, int pca,
                   double epsilon) except *:
    if z.shape[0] == 0 or z.shape[1] == 0:
        raise ValueError("rows and columns are needed")
    task.z, task.y = &z[0, 0], &y[0]
    task.weight = NULL
    if weight is not None:
        task.weight = &weight[0]
    task.n, task.p, task.k = z.shape[0], <int> z.shape[1], n_classes
    task.pca, task.epsilon = pca, epsilon
    task.blas.gemm = dgemm
    task.blas.potrf, task.blas.potrs = dpotrf, dpotrs
    task.blas.syevd = dsyevd


def train(const double[:, ::1] z, const int32_t[::1] y, const double[::1] weight,
          const int64_t[::1] rows, int n_classes, int pca, double epsilon, int merit,
          const double[:, ::1] sums, const double[:, ::1] second, double[::1] weights):
    """The test for some rows of z, which are in the order of their classes.

    `y` and `weight` (None: every row counts one) are those of all rows of z; the moments, if
    known, those of the rows. Fills the weights of the columns, all 0 where there is no test,
    and gives the cut.
    """
    cdef FisherTask task
    cdef const double* known_sums = NULL
    cdef const double* known_second = NULL
    cdef double cut
    set_rows(task, z, y, weight, n_classes, pca, epsilon)
    if sums is not None:
        known_sums, known_second = &sums[0, 0], &second[0, 0]
    with nogil:
        cut = c_train(task, merit, &rows[0], rows.shape[0], known_sums, known_second,
                      &weights[0])
    return cut


def grow(const double[:, ::1] z, const double[::1] mean, const double[::1] std,
         const double[:, :] values, const int32_t[::1] feature, const int32_t[::1] symbol,
         const int32_t[::1] y, const double[::1] weight, int n_classes, int pca, double epsilon, int merit,
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
    cdef list box = [tick]
    cdef Tick clock = make_tick(box)
    set_rows(task.rows, z, y, weight, n_classes, pca, epsilon)
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
