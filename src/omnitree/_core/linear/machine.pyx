# distutils: language = c++
# cython: boundscheck=False, wraparound=False, initializedcheck=False
"""Linear units and machines learned row by row: thin wrapper of machine.hpp.

Rows come as x [n, d] with their constant 1, classes as y [n]. Weights w [D, d] are the start
and are changed in place; D = 1 stands for two classes.
"""
import numpy as np

from libc.stdint cimport int32_t, int64_t, uint64_t
from libcpp cimport bool as cbool

from omnitree._core.common.ticks cimport Tick, make_tick


cdef extern from "linear/machine.hpp" namespace "omnitree" nogil:
    cdef cppclass LabelledRows:
        LabelledRows(const double*, const int32_t*, int64_t, int64_t) except +

    cdef struct SplitMix:
        uint64_t state

    cdef struct Schedule:
        double beta, a, b, epsilon, alpha, least, certainty

    cdef cppclass Thermal:
        Thermal(const LabelledRows&, double*, int, const Schedule&) except +
        int64_t passes(Tick&) except +
        int64_t draws(SplitMix, Tick&) except +

    int64_t c_pocket "omnitree::pocket"(const LabelledRows&, double*, int, double, cbool, int64_t,
                                        SplitMix) except +
    void c_descent "omnitree::descent"(const LabelledRows&, double*, const int64_t*, int64_t,
                                       double, double, double, cbool) except +
    void c_rls "omnitree::rls"(const double*, const double*, const double*, int64_t, int64_t,
                               int, double*, double*) except +


cdef LabelledRows* _rows(const double[:, ::1] x, const int32_t[::1] y, double[:, ::1] w) except NULL:
    """A view of the rows, checked against the weights; the caller deletes it."""
    cdef int n_classes = max(2, w.shape[0])
    if x.shape[0] == 0 or x.shape[1] == 0 or x.shape[0] >= 1 << 32:
        raise ValueError("there must be rows, fewer than 2**32, and columns")
    if y.shape[0] != x.shape[0] or w.shape[1] != x.shape[1] or w.shape[0] == 0:
        raise ValueError("x, y and w do not fit together")
    if np.min(y) < 0 or np.max(y) >= n_classes:
        raise ValueError(f"classes must lie between 0 and {n_classes - 1}")
    return new LabelledRows(&x[0, 0], &y[0], x.shape[0], x.shape[1])


def thermal(const double[:, ::1] x, const int32_t[::1] y, double[:, ::1] w, double beta,
            double a, double b, double epsilon, double alpha, double least,
            double certainty, seed=None, tick=None):
    """Train thermally; in passes over the rows, or with a seed on rows drawn at random.

    Returns the number of rows presented. `tick` ends the work by True.
    """
    cdef list box = [tick]
    cdef Tick clock = make_tick(box)
    cdef Schedule schedule = Schedule(beta, a, b, epsilon, alpha, least, certainty)
    cdef LabelledRows* rows = _rows(x, y, w)
    cdef Thermal* run = new Thermal(rows[0], &w[0, 0], w.shape[0], schedule)
    cdef SplitMix random
    cdef bint drawn = seed is not None
    cdef int64_t presented
    random.state = seed if drawn else 0
    with nogil:
        presented = run.draws(random, clock) if drawn else run.passes(clock)
        del run
        del rows
    if len(box) > 1:
        raise box[1]
    return presented


def pocket(const double[:, ::1] x, const int32_t[::1] y, double[:, ::1] w, double epsilon,
           bint ratchet, int64_t most, uint64_t seed):
    """Leave in w the weights with the longest run of right answers.

    Returns the number of rows drawn.
    """
    cdef LabelledRows* rows = _rows(x, y, w)
    cdef SplitMix random
    cdef int64_t drawn
    random.state = seed
    with nogil:
        drawn = c_pocket(rows[0], &w[0, 0], w.shape[0], epsilon, ratchet, most, random)
        del rows
    return drawn


def descent(const double[:, ::1] x, const int32_t[::1] y, double[:, ::1] w,
            const int64_t[:, ::1] orders, double rate, double cooling, double momentum,
            bint squared):
    """Leave in w, of one unit, the weights after the epoch with fewest errors.

    `orders` has the rows of each epoch, [epochs, n].
    """
    if orders.shape[0] == 0 or orders.shape[1] != x.shape[0] or w.shape[0] != 1:
        raise ValueError("orders of all rows and the weights of one unit are needed")
    if np.min(orders) < 0 or np.max(orders) >= x.shape[0]:
        raise ValueError("orders must name rows")
    cdef LabelledRows* rows = _rows(x, y, w)
    with nogil:
        c_descent(rows[0], &w[0, 0], &orders[0, 0], orders.shape[0], rate, cooling, momentum,
                  squared)
        del rows


def rls(const double[:, ::1] x, const double[::1] target, const double[::1] weight, int passes,
        double variance):
    """Weights of the columns of x after some passes, from W0 = 0 and P0 = variance * I."""
    cdef int64_t n = x.shape[0], d = x.shape[1]
    cdef double[::1] w = np.zeros(d)
    cdef double[:, ::1] p = variance * np.eye(d)
    if target.shape[0] != n or weight.shape[0] != n:
        raise ValueError("x, target and weight do not fit together")
    if n == 0 or d == 0:
        return np.asarray(w)
    with nogil:
        c_rls(&x[0, 0], &target[0], &weight[0], n, d, passes, &w[0], &p[0, 0])
    return np.asarray(w)
