# distutils: language = c++
# cython: boundscheck=False, wraparound=False, initializedcheck=False
"""Fisher's discriminants: thin wrapper of fisher_tree.hpp and fisher_trials.hpp.

Used by `learners.fisher_tree` and `learners.fisher_trial` where no cell is missing.
"""
from libc.stdint cimport int32_t, int64_t, uint8_t
from libcpp.vector cimport vector
from scipy.linalg.cython_blas cimport dgemm
from scipy.linalg.cython_lapack cimport dpotrf, dpotrs, dsyevd

from omnitree._core.common.ticks cimport Tick, make_tick
from omnitree._core.common.vectors cimport doubles, integers, long_integers
from omnitree._core.common.views cimport Columns, Values, view_columns, view_values


cdef extern from "linear/fisher_tree.hpp" namespace "omnitree" nogil:
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
        vector[int32_t] tested, dimensions, index
        vector[double] weight

    void c_grow "omnitree::grow_fisher"(const FisherTreeTask&, FisherTree&,
                                        const Tick&) except +


cdef extern from "linear/fisher_trials.hpp" namespace "omnitree" nogil:
    cdef cppclass TrialTask:
        FisherTask rows
        const int64_t* line
        const int32_t* cell
        const uint8_t* member
        const double* weight
        const double* sums
        const double* second
        int64_t n
        int cells, parts, merit
        double* room

    void c_train "omnitree::train_parts"(const TrialTask&, double*, double*, Tick&) except +


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


def train_parts(const double[:, ::1] z, const int32_t[::1] y, const int64_t[::1] line,
                const int32_t[::1] cell, const uint8_t[:, ::1] member,
                const double[::1] weight, int n_classes, int pca, double epsilon, int merit,
                const double[:, :, ::1] sums, const double[:, :, ::1] second,
                double[::1] room, double[:, ::1] weights, double[::1] cuts, tick=None):
    """Fisher's tests for parts of some rows; arguments as fisher_trials.hpp says.

    Parameters
    ----------
    z, y : float64 [m, p] and int32 [m], standardised columns without missing values, and classes
    line : int64 [n], the rows
    cell, member : int32 [n] and uint8 [cells, parts], what parts train on a row
    weight : None (every row counts one) or float64 [n]
    sums, second : None or float64 [parts, classes, p], [parts, p, p], moments of the parts
    room : float64, as many as rows in all parts times classes, for the scores
    weights, cuts : float64 [parts, p] and [parts], filled
    tick : None or callable(fraction_done) -> bool; True ends the work
    """
    cdef TrialTask task
    cdef list box = [tick]
    cdef Tick clock = make_tick(box)
    set_rows(task.rows, z, y, None, n_classes, pca, epsilon)
    task.line, task.cell, task.member = &line[0], &cell[0], &member[0, 0]
    task.weight = task.sums = task.second = NULL
    if weight is not None:
        task.weight = &weight[0]
    if sums is not None:
        task.sums, task.second = &sums[0, 0, 0], &second[0, 0, 0]
    task.n, task.cells, task.parts = line.shape[0], <int> member.shape[0], <int> member.shape[1]
    task.merit, task.room = merit, &room[0]
    with nogil:
        c_train(task, &weights[0, 0], &cuts[0], clock)
    if len(box) > 1:
        raise box[1]


def grow(const double[:, ::1] z, const double[::1] mean, const double[::1] std,
         const double[:, :] values, const int32_t[::1] feature, const int32_t[::1] category,
         const int32_t[::1] y, const double[::1] weight, int n_classes, int pca, double epsilon, int merit,
         double min_rows, int max_depth, tick):
    """Grow a tree; arguments as the fields of fisher_tree.hpp say.

    Parameters
    ----------
    z : float64 [n, p], the standardised columns, without missing values
    mean, std : float64 [p], of the columns in the units of `values`
    values, feature, category : the table and its encoded columns
    weight : None (every row counts one) or float64 [n], positive
    pca : 0 where the scatter is singular, 1 always, 2 never
    max_depth : negative for no limit
    tick : None or callable(fraction_done) -> bool; True ends the growth

    Returns
    -------
    dict of arrays over nodes (parent, first_child, merit, value), with `tested`, the nodes
    that have a test, in the order of the tests, of which `dimensions` says in how many
    components each was found and which `index_ptr`, `weight_ptr`, `index` and
    `weight` hold as a `Tree` does. Parents come before children, depth first.
    """
    cdef FisherTreeTask task
    cdef FisherTree tree
    cdef list box = [tick]
    cdef Tick clock = make_tick(box)
    set_rows(task.rows, z, y, weight, n_classes, pca, epsilon)
    task.mean, task.std = &mean[0], &std[0]
    task.x, task.columns = view_values(values), view_columns(feature, category)
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
        "dimensions": integers(tree.dimensions),
        "index_ptr": long_integers(tree.index_ptr),
        "weight_ptr": long_integers(tree.weight_ptr),
        "index": integers(tree.index),
        "weight": doubles(tree.weight),
    }
