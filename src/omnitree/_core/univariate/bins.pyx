# distutils: language = c++
# cython: boundscheck=False, wraparound=False, initializedcheck=False
"""Hashes, ranges and histograms of blocks of rows: thin wrapper of bins.hpp.

Used by the growth from sums over blocks. Each function takes all columns of a block at once
and lets other threads run meanwhile: to ask for the lock once a column costs more than the
work on it.
"""
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libcpp.vector cimport vector

from omnitree._core.common.views cimport Values, view_values


cdef extern from "univariate/bins.hpp" namespace "omnitree" nogil:
    cdef cppclass BlockRows:
        Values cells
        int64_t n
        const int32_t* slot
        int64_t n_trees
        const int64_t* weight
        const int32_t* y
        const int64_t* number
        int64_t n_statistics

    cdef cppclass BinLayout:
        const double* edges
        const int64_t* edge_start
        const int32_t* width
        const uint8_t* is_category
        const int64_t* start
        int64_t n_features

    cdef cppclass BlockColumns:
        vector[const double*] base
        vector[int64_t] stride
        int64_t n_rows

    void hash_all "omnitree::add_hashes" (const BlockColumns&, const uint64_t*, uint64_t*)
    void range_all "omnitree::find_ranges" (const BlockColumns&, double*, double*, uint8_t*)
    void put_all "omnitree::put_rows" (const BlockColumns&, const int64_t*, int64_t, double*)
    void scatter_all "omnitree::scatter_rows" (
        const BlockColumns&, const int64_t*, int64_t, double*)
    void count_all "omnitree::count_bins" (
        const BlockRows&, const BinLayout&, int64_t*) except +


cdef BlockColumns _block_columns(list columns):
    """Where columns lie, which the caller holds."""
    cdef BlockColumns found
    cdef const double[:] column
    for column in columns:
        if column.shape[0] == 0:
            continue
        found.base.push_back(&column[0])
        found.stride.push_back(column.strides[0] // <int64_t> sizeof(double))
        found.n_rows = column.shape[0]
    return found


def add_hashes(list columns, const uint64_t[::1] keys, uint64_t[::1] out):
    """Add a hash of each cell to that of its row; every column has a key of its own."""
    cdef BlockColumns block = _block_columns(columns)
    if block.n_rows == 0:
        return
    with nogil:
        hash_all(block, &keys[0], &out[0])


def find_ranges(list columns, double[::1] low, double[::1] high, uint8_t[::1] missing):
    """The range of each column, NaN if it has no value, and whether values are missing."""
    cdef BlockColumns block = _block_columns(columns)
    if block.n_rows == 0:
        return
    with nogil:
        range_all(block, &low[0], &high[0], &missing[0])


def put_rows(list columns, const int64_t[::1] rows, double[::1, :] out):
    """Put some rows (None: all) of columns of numbers into those of `out`."""
    cdef BlockColumns block = _block_columns(columns)
    cdef const int64_t* at = NULL
    if block.n_rows == 0 or out.shape[0] == 0:
        return
    if rows is not None:
        at = &rows[0]
    with nogil:
        put_all(block, at, out.shape[0], &out[0, 0])


def scatter_rows(list columns, const int64_t[::1] to, double[::1, :] out):
    """Put all rows of columns of numbers into the rows `to` of those of `out`."""
    cdef BlockColumns block = _block_columns(columns)
    if block.n_rows == 0:
        return
    with nogil:
        scatter_all(block, &to[0], out.shape[0], &out[0, 0])


def count_bins(const double[:, :] cells, const int32_t[:, ::1] slot,
               const int64_t[::1] weight, const int32_t[::1] y,
               const int64_t[::1] number, int64_t n_statistics,
               const double[::1] edges, const int64_t[::1] edge_start,
               const int32_t[::1] width, const uint8_t[::1] is_category,
               const int64_t[::1] start, int64_t[::1] sums):
    """Add the rows of a block to histograms.

    `slot` says where each row is counted for each tree (below 0: nowhere). Rows add their
    `weight` (None: 1) to that of their class `y` or, where `y` is None, their weight and
    their `number`. The sums of feature j begin at `start[j]`, in the order slot, bin,
    statistic; its cuts are `edges[edge_start[j]:edge_start[j + 1]]`.
    """
    cdef BlockRows rows
    cdef BinLayout layout
    if cells.shape[0] == 0 or cells.shape[1] == 0 or slot.shape[0] == 0:
        return
    rows.cells, rows.n = view_values(cells), cells.shape[0]
    rows.slot, rows.n_trees = &slot[0, 0], slot.shape[0]
    rows.weight = &weight[0] if weight is not None else NULL
    rows.y = &y[0] if y is not None else NULL
    rows.number = &number[0] if number is not None else NULL
    rows.n_statistics = n_statistics
    layout.edges = &edges[0] if edges.shape[0] else NULL
    layout.edge_start, layout.width = &edge_start[0], &width[0]
    layout.is_category, layout.start = &is_category[0], &start[0]
    layout.n_features = cells.shape[1]
    with nogil:
        count_all(rows, layout, &sums[0])
