# distutils: language = c++
# cython: boundscheck=False, wraparound=False, initializedcheck=False
"""Steps and climbs of linear tests: thin wrapper of oblique.hpp and oblique_climb.hpp."""
from libc.stdint cimport int32_t, int64_t, uint64_t
from libcpp cimport bool as cbool


cdef extern from "linear/oblique_climb.hpp" namespace "omnitree" nogil:
    const double NO_MERIT

    cdef struct Step:
        double t
        double merit

    cdef cppclass StepSearch:
        StepSearch(const int32_t*, const double*, int64_t, int, int) except +
        double reach(const double*) except +
        Step best(const double*, double, const double*, double) except +

    cdef struct ClimbOptions:
        int order
        int picks
        int jumps
        int stagnation
        double tolerance
        double epsilon
        uint64_t seed

    cdef cppclass Climb:
        Climb(const double*, const int32_t*, const double*, int64_t, int, int, int,
              const double*, int, const ClimbOptions&, double*) except +
        double run() except +
        cbool pure()


cdef check(int merit, const int32_t[::1] y, int n_classes):
    cdef int64_t i
    if not 0 <= merit <= 10:
        raise ValueError(f"no compiled merit has the code {merit}")
    if y.shape[0] == 0:
        raise ValueError("no rows")
    for i in range(y.shape[0]):
        if not 0 <= y[i] < n_classes:
            raise ValueError("a class is out of range")


def best_step(const double[::1] v, const double[::1] d, const int32_t[::1] y,
              const double[::1] weight, int n_classes, int merit):
    """The step t for which the sign of v + t d divides the rows best, and its merit.

    NaN and minus infinity if no step divides them.
    """
    check(merit, y, n_classes)
    if not y.shape[0] == v.shape[0] == d.shape[0] == weight.shape[0]:
        raise ValueError("v, d, y and weight must be of one length")
    cdef Step step
    cdef StepSearch* search = new StepSearch(&y[0], &weight[0], y.shape[0], n_classes, merit)
    try:
        with nogil:
            step = search.best(&v[0], search.reach(&v[0]), &d[0], search.reach(&d[0]))
    finally:
        del search
    return step.t, (step.merit if step.merit > NO_MERIT else float("-inf"))


def climb(const double[:, ::1] columns, const int32_t[::1] y, const double[::1] weight,
          int n_classes, int merit, const double[::1] gammas, options, double[::1] w):
    """Climb from the test `w` (weights, then the bias) and change it in place.

    `options` has the fields of ClimbOptions in oblique_climb.hpp. Returns the merit and
    whether both branches are pure.
    """
    check(merit, y, n_classes)
    cdef int p = columns.shape[0]
    cdef int64_t n = y.shape[0]
    if not (p > 0 and n == columns.shape[1] == weight.shape[0] and w.shape[0] == p + 1):
        raise ValueError("columns, y, weight and w do not fit together")
    if gammas.shape[0] == 0:
        raise ValueError("no gamma")
    cdef ClimbOptions o = options
    cdef double found
    cdef cbool pure
    cdef Climb* run = new Climb(&columns[0, 0], &y[0], &weight[0], n, p, n_classes, merit,
                                &gammas[0], gammas.shape[0], o, &w[0])
    try:
        with nogil:
            found = run.run()
            pure = run.pure()
    finally:
        del run
    return (found if found > NO_MERIT else float("-inf")), pure
