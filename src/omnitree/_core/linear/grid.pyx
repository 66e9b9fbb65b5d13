# distutils: language = c++
# cython: boundscheck=False, wraparound=False, initializedcheck=False
"""Columns of rows in whole steps: thin wrapper of grid.hpp, for moments of blocks of rows."""
from libc.stdint cimport int32_t, int64_t

from omnitree._core.common.views cimport Columns, Values, view_columns, view_values


cdef extern from "linear/grid.hpp" namespace "omnitree" nogil:
    cdef struct Grid:
        const double* centre
        const double* step
        double half

    cdef struct GridRows:
        const int64_t* at
        int64_t n
        const int32_t* y
        const int64_t* weight

    void c_on_grid "omnitree::on_grid"(const Values&, const Columns&, const Grid&,
                                       const GridRows&, int64_t, double*, double*, int64_t*,
                                       int64_t*) except +


def on_grid(const double[:, :] cells, const int32_t[::1] feature, const int32_t[::1] category,
            const double[::1] centre, const double[::1] step, double half,
            const int64_t[::1] rows, const int32_t[::1] y, const int64_t[::1] weight,
            double[::1, :] whole, double[::1, :] seen, int64_t[:, ::1] sums,
            int64_t[:, ::1] present):
    """Put the encoded columns of `rows`, in steps from their centres, into `whole`.

    A missing value is 0, and 0 in `seen`, if that is not None. Weights (None: all 1) times
    columns are added to `sums`, (classes, columns), and weights of the cells that are there
    to `present`.
    """
    cdef Grid grid
    cdef GridRows some
    if rows.shape[0] == 0 or feature.shape[0] == 0:
        return
    grid.centre, grid.step, grid.half = &centre[0], &step[0], half
    some.at, some.n, some.y = &rows[0], rows.shape[0], &y[0]
    some.weight = &weight[0] if weight is not None else NULL
    cdef double* there = &seen[0, 0] if seen is not None else NULL
    with nogil:
        c_on_grid(view_values(cells), view_columns(feature, category), grid, some,
                  sums.shape[0], &whole[0, 0], there, &sums[0, 0], &present[0, 0])
