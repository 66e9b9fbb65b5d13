# distutils: language = c++
# cython: boundscheck=False, wraparound=False, initializedcheck=False
"""LogitBoost with regressions on single columns: logitboost.hpp between two BLAS products."""
import numpy as np

from libc.stdint cimport int32_t, int64_t
from libcpp.vector cimport vector
from scipy.linalg.cython_blas cimport dgemm

from omnitree._core.common.ticks cimport Tick, make_tick


cdef extern from "linear/logitboost.hpp" namespace "omnitree" nogil:
    cdef cppclass Regression:
        int64_t column
        double slope
        double intercept

    int64_t regressed(int64_t)
    int64_t two_valued(const double*, int64_t, int64_t, double*, double*, int64_t*)
    void responses(const double*, const int32_t*, const double*, int64_t, int64_t, double*,
                   double*, double*, double*, double*)
    bint best_regression(const double*, const double*, const double*, int64_t, double,
                         double, double, Regression&)
    void add_to_sums(const double*, int64_t, int64_t, int64_t, const Regression*, double,
                     double*)
    void add_to_model(int64_t, int64_t, const Regression*, double, double*, double*)
    double wrong_weight(const double*, const int32_t*, const double*, int64_t, int64_t)


cdef bint _step(const double[:, ::1] x, const double[:, ::1] squares,
                const int64_t[::1] many, const double[:, ::1] two, const int32_t[::1] y,
                const double[::1] weight, double[:, ::1] f, double[:, ::1] lines,
                double[:, ::1] sums, double[:, ::1] totals, double[::1] room,
                double ridge, Regression* found) noexcept nogil:
    """Find the regressions that the sums `f` ask for; false if no class has any.

    `squares` has the columns `many` squared, `two` what `two_valued` says of the others.
    Scratch, with c classes to regress: `lines` (2 c, rows), `sums` (4 c, columns), `totals`
    (2, c), `room` (classes).
    """
    cdef int64_t n = x.shape[0], p = x.shape[1], k = f.shape[1], q = many.shape[0], c, j
    cdef int classes = <int> regressed(k)
    cdef bint any_found = False
    cdef double* second
    responses(&f[0, 0], &y[0], &weight[0], n, k, &room[0], &lines[0, 0], &lines[classes, 0],
              &totals[0, 0], &totals[1, 0])
    _product(x, lines, 2 * classes, &sums[0, 0])
    if q:
        _product(squares, lines, classes, &sums[3 * classes, 0])
    for c in range(classes):
        second = &sums[2 * classes + c, 0]
        if q < p:
            for j in range(p):
                second[j] = two[0, j] * sums[c, j] + two[1, j] * totals[0, c]
        for j in range(q):
            second[many[j]] = (&sums[3 * classes, 0])[c * q + j]
        if best_regression(&sums[c, 0], second, &sums[classes + c, 0], p, totals[0, c],
                           totals[1, c], ridge, found[c]):
            any_found = True
    return any_found


def _squares(const double[:, ::1] x):
    """The columns of three values and more, squared, and what stands for the others'."""
    cdef int64_t n = x.shape[0], p = x.shape[1], q
    cdef double[:, ::1] two = np.zeros((2, p))
    cdef int64_t[::1] many = np.empty(p, dtype=np.int64)
    with nogil:
        q = two_valued(&x[0, 0], n, p, &two[0, 0], &two[1, 0], &many[0])
    places = np.asarray(many)[:q]
    some = np.asarray(x) if q == p else np.take(x, places, axis=1)
    return np.square(some, order="C"), places, np.asarray(two)


cdef void _product(const double[:, ::1] x, const double[:, ::1] lines, int m,
                   double* out) noexcept nogil:
    """The first `m` of the `lines` times `x`."""
    cdef int n = <int> x.shape[0], p = <int> x.shape[1]
    cdef double one = 1, zero = 0
    dgemm("N", "N", &p, &m, &n, &one, <double*> &x[0, 0], &p, <double*> &lines[0, 0], &n,
          &zero, out, &p)


def boost(const double[:, ::1] x, const int32_t[::1] y, const double[::1] weight,
          double[:, ::1] f, int64_t steps, double[::1] bias=None, double[:, ::1] weights=None,
          *, const double[:, ::1] test_x=None, const int32_t[::1] test_y=None,
          const double[::1] test_weight=None, double[:, ::1] test_f=None,
          int64_t patience=0, double[::1] errors=None, double rate=1.0, double ridge=0.0,
          tick=None):
    """Add up to `steps` steps to the sums `f`, and to a model, in place; returns how many.

    `x` has the columns, without missing values; O(rows * columns * classes) a step. A step
    counts `rate` times, and its slopes are penalised by `ridge`. With other rows to test,
    adds their errors after s steps to `errors[s]`, and stops `patience` steps after `errors`
    was least. `tick`, called with the part that is done, ends the work by True.
    """
    cdef int64_t n = x.shape[0], p = x.shape[1], k = f.shape[1], done = 0, since = 0, m = 0
    cdef bint modelled = bias is not None, watched = test_x is not None
    cdef double least = np.inf
    if watched:
        m = test_x.shape[0]
    if n == 0 or p == 0 or (watched and m == 0):
        return 0
    cdef double[:, ::1] squares, two
    cdef int64_t[::1] many
    squares, many, two = _squares(x)
    cdef int64_t c = regressed(k)
    cdef double[:, ::1] lines = np.empty((2 * c, n)), sums = np.empty((4 * c, p))
    cdef double[:, ::1] totals = np.empty((2, c))
    cdef double[::1] room = np.empty(k)
    cdef vector[Regression] found
    found.resize(c)
    cdef list box = [tick]
    cdef Tick clock = make_tick(box)
    with nogil:
        if watched:
            errors[0] += wrong_weight(&test_f[0, 0], &test_y[0], &test_weight[0], m, k)
        while done < steps and _step(x, squares, many, two, y, weight, f, lines, sums,
                                     totals, room, ridge, found.data()):
            add_to_sums(&x[0, 0], n, p, k, found.data(), rate, &f[0, 0])
            done += 1
            if modelled:
                add_to_model(p, k, found.data(), rate, &bias[0], &weights[0, 0])
            if watched:
                add_to_sums(&test_x[0, 0], m, p, k, found.data(), rate, &test_f[0, 0])
                errors[done] += wrong_weight(&test_f[0, 0], &test_y[0], &test_weight[0], m,
                                             k)
                if since > patience:
                    break
                if errors[done] < least:
                    least = errors[done]
                    since = 0
                else:
                    since += 1
            if clock(<double> done / steps):
                break
    if len(box) > 1:
        raise box[1]
    return done
