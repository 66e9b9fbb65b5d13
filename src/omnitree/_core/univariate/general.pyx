# distutils: language = c++
# cython: boundscheck=False, wraparound=False, initializedcheck=False
"""Whole univariate trees on any table: thin wrapper of general.hpp."""
import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libcpp cimport bool as cbool
from libcpp.vector cimport vector

from omnitree._core.common.ticks cimport Tick, make_tick
from omnitree._core.common.vectors cimport bytes_of, doubles, integers, long_integers
from omnitree._core.common.views cimport Values, view_values

ctypedef cbool (*merit_call)(void*, const double*, int64_t, int, int, double*) noexcept nogil


cdef extern from "univariate/general.hpp" namespace "omnitree" nogil:
    cdef struct Options:
        int merit
        int missing
        int categories
        cbool random_attribute
        cbool release8
        cbool threshold_is_value
        double min_rows
        double min_branch
        int max_depth
        int max_surrogates
        uint64_t seed

    cdef struct Training:
        Values x
        const int32_t* y
        const double* weight
        const int32_t* n_cat
        int64_t n
        int d
        int K

    cdef cppclass Grown:
        vector[uint8_t] kind
        vector[uint8_t] test_kind
        vector[int32_t] first_child
        vector[int32_t] n_children
        vector[int32_t] parent
        vector[int32_t] missing
        vector[int32_t] index
        vector[double] merit
        vector[double] value
        vector[double] weight
        vector[int64_t] test_start
        vector[int64_t] index_ptr
        vector[int64_t] weight_ptr

    cdef struct CustomMerit:
        merit_call call
        void* state

    cdef cppclass GeneralGrower:
        @staticmethod
        void grow(const Training&, const Options&, const CustomMerit&, Tick&, Grown&) except +

    void score_tables(int, const double*, int64_t, int, int, double*) except +

    cdef struct Entry:
        int32_t row
        double weight

    cdef cppclass Test:
        uint8_t kind
        int32_t feature
        int32_t low
        double threshold
        vector[int32_t] branch

    cdef cppclass SurrogateSearch:
        SurrogateSearch(const Training&, const Options&) except +
        vector[Test] find(const vector[Entry]&, const vector[int32_t]&, int) except +


cdef cbool score(void* state, const double* tables, int64_t count, int B, int K,
                 double* out) noexcept with gil:
    """Score tables by a merit written in Python; an exception is kept for later."""
    cdef list box = <list> state
    cdef double[::1] result
    cdef int64_t i
    try:
        # The tables lie side by side, so that NumPy's loops run along them.
        counts = np.array(<const double[:count, :B, :K]> tables, order="F")
        result = np.ascontiguousarray(box[0](counts), dtype=np.float64)
        if result.shape[0] != count:
            raise ValueError("a merit must return one number per table of counts")
        for i in range(count):
            out[i] = result[i]
        return True
    except BaseException as error:
        box.append(error)
        return False


def grow_general(const double[:, :] x, const int32_t[::1] y, const double[::1] weight,
                 const int32_t[::1] n_cat, int n_classes, options, merit=None, tick=None):
    """Grow a univariate tree.

    `options` has the fields of Options in general_types.hpp; `merit(counts)` is asked for
    the code CUSTOM; `tick(fraction)` is asked about every 50 ms and stops the growth by
    returning true. Returns the arrays of a Tree.
    """
    cdef Training t
    t.x = view_values(x)
    t.y = &y[0]
    t.weight = &weight[0]
    t.n_cat = &n_cat[0]
    t.n = x.shape[0]
    t.d = x.shape[1]
    t.K = n_classes
    cdef Options o = options
    cdef list box = [tick]
    cdef Tick clock = make_tick(box)
    cdef list merit_box = [merit]
    cdef CustomMerit custom
    custom.call = score
    custom.state = <void*> merit_box
    cdef Grown out
    with np.errstate(divide="ignore", invalid="ignore"):  # once, for all calls of the merit
        with nogil:
            GeneralGrower.grow(t, o, custom, clock, out)
    for errors in (box, merit_box):
        if len(errors) > 1:
            raise errors[1]
    return {
        "kind": bytes_of(out.kind),
        "first_child": integers(out.first_child),
        "n_children": integers(out.n_children),
        "parent": integers(out.parent),
        "missing": integers(out.missing),
        "merit": doubles(out.merit),
        "value": doubles(out.value).reshape(-1, n_classes),
        "test_start": long_integers(out.test_start),
        "test_kind": bytes_of(out.test_kind),
        "index_ptr": long_integers(out.index_ptr),
        "weight_ptr": long_integers(out.weight_ptr),
        "index": integers(out.index),
        "weight": doubles(out.weight),
    }


def surrogates(const double[:, :] x, const double[::1] weight, const int32_t[::1] n_cat,
               const int32_t[::1] branch, int feature, int max_surrogates):
    """Tests that repeat a test of `feature` which sends the rows to `branch` (-1: unknown).

    Returns a list of (feature, low, threshold, branch of each category or None), best first.
    """
    cdef Training t
    cdef Options o
    cdef vector[Entry] entries
    cdef vector[int32_t] sides
    cdef Entry entry
    cdef int64_t i
    cdef vector[Test] found
    t.x = view_values(x)
    t.y = NULL
    t.weight = &weight[0]
    t.n_cat = &n_cat[0]
    t.n, t.d, t.K = x.shape[0], <int> x.shape[1], 1
    o.max_surrogates = max_surrogates
    for i in range(x.shape[0]):
        entry.row, entry.weight = <int32_t> i, weight[i]
        entries.push_back(entry)
        sides.push_back(branch[i])
    cdef SurrogateSearch* search = new SurrogateSearch(t, o)
    try:
        found = search.find(entries, sides, feature)
    finally:
        del search
    out = []
    for i in range(<int64_t> found.size()):
        codes = [found[i].branch[k] for k in range(found[i].branch.size())]
        out.append((found[i].feature, found[i].low, found[i].threshold, codes or None))
    return out


def merits_of(int merit, const double[:, :, ::1] counts):
    """Merits of tables (tests, branches, classes) by their compiled code."""
    cdef double[::1] out = np.zeros(counts.shape[0])
    if not 0 <= merit <= 10:
        raise ValueError(f"no compiled merit has the code {merit}")
    if counts.shape[0]:
        with nogil:
            score_tables(merit, &counts[0, 0, 0], counts.shape[0], counts.shape[1],
                         counts.shape[2], &out[0])
    return np.asarray(out)
