// Weighted means and deviations of columns over some rows, and the columns in their units.
//
// All columns go together, row by row, so that a table is read in the order in which it lies
// in memory: for ranges, for means, for deviations, and to write. Sums are in units of the
// column's own range: then neither an offset of 1e6 at a scale of 1e-8 nor values near 1e300
// lose digits or overflow. They are taken in short runs, whose errors stay small. Missing values
// (NaN) are left out and become 0; rows of weight 0 get their value but shape nothing. Columns by
// means and deviations that are known keep theirs.
// `omnitree.data.encoding.encoded_columns` says what it is for.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "common/linear_sums.hpp"

namespace omnitree {

// A column whose range is below this counts as constant: a weight in the user's units is
// divided by the deviation and would overflow.
constexpr double TINY_RANGE = 1e-290;

struct WeightedRows {
  const int64_t* id;
  const double* weight;
  int64_t n;
};

// Call add(row, weight, sums) for every row, with sums that are emptied into `totals` after
// short runs.
template <class Add>
OMNITREE_INLINE void sum_in_runs(const Values& x, const WeightedRows& rows,
                                 std::vector<double>& totals, Add add) {
  std::vector<double> run(totals.size());
  for (int64_t at = 0; at < rows.n; at += 128) {
    const int64_t end = at + 128 < rows.n ? at + 128 : rows.n;
    std::fill(run.begin(), run.end(), 0.0);
    for (int64_t i = at; i < end; ++i)
      add(x.base + rows.id[i] * x.row_stride, rows.weight[i], run.data());
    for (size_t k = 0; k < run.size(); ++k) totals[k] += run[k];
  }
}

// STRIDE 1: columns side by side; 0: as x says. MISSING: some cells may be missing. Without z,
// only means and deviations are found.
template <int STRIDE, bool MISSING>
OMNITREE_INLINE void standardise_columns(const Values& x, const WeightedRows& rows, int64_t p,
                                         double* mean, double* std, double* z, int64_t z_row,
                                         int64_t z_column) {
  const int64_t step = STRIDE ? STRIDE : x.col_stride;
  constexpr double INF = std::numeric_limits<double>::infinity();
  std::vector<double> low(p, INF), high(p, -INF), middle(p), unit(p);
  for (int64_t i = 0; i < rows.n; ++i) {
    if (!(rows.weight[i] > 0)) continue;
    const double* row = x.base + rows.id[i] * x.row_stride;
    for (int64_t j = 0; j < p; ++j) {  // NaN is neither below nor above
      const double v = row[j * step];
      low[j] = v < low[j] ? v : low[j];
      high[j] = v > high[j] ? v : high[j];
    }
  }
  for (int64_t j = 0; j < p; ++j) {
    if (!(low[j] <= high[j])) low[j] = high[j] = 0;
    middle[j] = low[j] < high[j] ? low[j] / 2 + high[j] / 2 : low[j];
    const double reach = high[j] / 2 - low[j] / 2;
    unit[j] = reach < TINY_RANGE ? 0.0 : 1 / reach;
  }
  // Weight and sum of the present cells of each column.
  std::vector<double> sums(2 * p);
  sum_in_runs(x, rows, sums, [&](const double* row, double weight, double* run) OMNITREE_INLINED {
    for (int64_t j = 0; j < p; ++j) {
      const double v = row[j * step];
      const bool present = !MISSING || v == v;
      if (MISSING) run[j] += present ? weight : 0.0;
      run[p + j] += present ? weight * ((v - middle[j]) * unit[j]) : 0.0;
    }
  });
  double total = 0;
  for (int64_t i = 0; i < rows.n && !MISSING; ++i) total += rows.weight[i];
  for (int64_t j = 0; j < p; ++j) {
    if (!MISSING) sums[j] = total;
    if (sums[j] == 0) sums[j] = 1;
    // Deviations are taken from the mean as rounded, the one that a folded test subtracts,
    // so z is what the test will see.
    mean[j] = middle[j] + (unit[j] > 0 ? sums[p + j] / sums[j] / unit[j] : 0.0);
  }
  std::vector<double> squares(p), scale(p), half(p);
  for (int64_t j = 0; j < p; ++j) half[j] = mean[j] / 2;
  // A distance from the mean can be twice the largest number: halves, which are exact, cannot.
  sum_in_runs(x, rows, squares,
              [&](const double* row, double weight, double* run) OMNITREE_INLINED {
                for (int64_t j = 0; j < p; ++j) {
                  const double v = (row[j * step] * 0.5 - half[j]) * (2 * unit[j]);
                  run[j] += !MISSING || v == v ? weight * v * v : 0.0;
                }
              });
  for (int64_t j = 0; j < p; ++j) {
    const double spread = std::sqrt(squares[j] / sums[j]);
    std[j] = unit[j] > 0 ? spread / unit[j] : 0.0;
    scale[j] = spread > 0 ? 1 / spread : 0.0;
  }
  if (!z) return;
  for (int64_t i = 0; i < rows.n; ++i) {
    const double* row = x.base + rows.id[i] * x.row_stride;
    double* out = z + i * z_row;
    for (int64_t j = 0; j < p; ++j) {
      const double v = (row[j * step] * 0.5 - half[j]) * (2 * unit[j]) * scale[j];
      out[j * z_column] = !MISSING || v == v ? v : 0.0;
    }
  }
}

// Columns side by side without missing values, as a large table of numbers has them.
OMNITREE_CLONES
static void standardise_plain(const Values& x, const WeightedRows& rows, int64_t p, double* mean,
                              double* std, double* z, int64_t z_row) {
  standardise_columns<1, false>(x, rows, p, mean, std, z, z_row, 1);
}

inline void standardise(const Values& x, const WeightedRows& rows, int64_t p, bool missing,
                        double* mean, double* std, double* z, int64_t z_row, int64_t z_column) {
  if (x.col_stride == 1 && z_column == 1 && !missing)
    standardise_plain(x, rows, p, mean, std, z, z_row);
  else if (x.col_stride == 1)
    standardise_columns<1, true>(x, rows, p, mean, std, z, z_row, z_column);
  else
    standardise_columns<0, true>(x, rows, p, mean, std, z, z_row, z_column);
}

// All n rows of p columns by means and deviations that are known, into rows of z; a column of
// deviation 0 becomes 0. The columns of x may lie apart: some rows at a time, which stay in the
// cache until they are complete, and as many columns as a line of the cache has numbers.
OMNITREE_CLONES
static void in_units(const Values& x, int64_t n, int64_t p, const double* mean, const double* std,
                     double* z) {
  constexpr int64_t kRows = 256, kColumns = 8;
  for (int64_t start = 0; start < n; start += kRows) {
    const int64_t end = std::min(start + kRows, n);
    for (int64_t first = 0; first < p; first += kColumns) {
      const int64_t some = std::min(kColumns, p - first);
      const double* from = x.base + first * x.col_stride;
      const double *centre = mean + first, *unit = std + first;
      for (int64_t i = start; i < end; ++i) {
        const double* cell = from + i * x.row_stride;
        double* out = z + i * p + first;
        for (int64_t j = 0; j < some; ++j) {
          const double v = (cell[j * x.col_stride] - centre[j]) / unit[j];
          out[j] = unit[j] > 0 ? v : 0.0;
        }
      }
    }
  }
}

}  // namespace omnitree
