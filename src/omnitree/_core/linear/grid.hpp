// Encoded columns of some rows as whole numbers of steps, and their sums by class.
//
// The columns lie one after the other, as products of them by BLAS want them. Whole numbers up
// to 2^19 (2^16 times weights of 20 bits) add up exactly in doubles over some thousand rows.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "common/linear_sums.hpp"
#include "predict/route.hpp"

namespace omnitree {

struct Grid {
  const double* centre;  // of each column
  const double* step;
  double half;  // steps from the centre to either end
};

struct GridRows {
  const int64_t* at;  // numbers of the rows
  int64_t n;
  const int32_t* y;       // of all rows
  const int64_t* weight;  // of all rows, or null: all 1
};

// Columns of the rows in steps into `whole`, (columns, rows), 0 where missing, and whether the
// cells are there into `seen`, if that is not null. Weighted sums by class and column are added
// to `sums`, the weights of the cells that are there to `present`.
OMNITREE_CLONES
static void on_grid(const Values& cells, const Columns& columns, const Grid& grid,
                    const GridRows& rows, int64_t n_classes, double* whole, double* seen,
                    int64_t* sums, int64_t* present) {
  constexpr int64_t kTile = 1 << 13;
  constexpr double kRound = 6755399441055744.0;  // 1.5 * 2^52: to the nearest, ties to even
  std::vector<int32_t> label(kTile);
  std::vector<double> weight(kTile), every(n_classes), total(n_classes), there(n_classes);
  for (int64_t start = 0; start < rows.n; start += kTile) {
    const int64_t n = std::min(kTile, rows.n - start);
    const int64_t* at = rows.at + start;
    std::fill(every.begin(), every.end(), 0.0);
    for (int64_t i = 0; i < n; ++i) {
      label[i] = rows.y[at[i]];
      weight[i] = rows.weight ? static_cast<double>(rows.weight[at[i]]) : 1.0;
      every[label[i]] += weight[i];
    }
    for (int64_t j = 0; j < columns.n; ++j) {
      const double* column = cells.base + columns.feature[j] * cells.col_stride;
      const int32_t category = columns.category[j];
      const double centre = grid.centre[j], step = grid.step[j], half = grid.half;
      double* out = whole + j * rows.n + start;
      for (int64_t i = 0; i < n; ++i) out[i] = column[at[i] * cells.row_stride];
      if (category >= 0)
        for (int64_t i = 0; i < n; ++i)
          out[i] = out[i] != out[i] ? out[i] : out[i] == category ? 1.0 : -1.0;
      if (seen) {
        double* is_there = seen + j * rows.n + start;
        for (int64_t i = 0; i < n; ++i) is_there[i] = out[i] == out[i] ? 1.0 : 0.0;
        std::fill(there.begin(), there.end(), 0.0);
        for (int64_t i = 0; i < n; ++i) there[label[i]] += weight[i] * is_there[i];
      }
      for (int64_t i = 0; i < n; ++i) {
        const double steps = std::min(std::max((out[i] - centre) / step, -half), half);
        out[i] = out[i] == out[i] ? (steps + kRound) - kRound : 0.0;
      }
      std::fill(total.begin(), total.end(), 0.0);
      for (int64_t i = 0; i < n; ++i) total[label[i]] += weight[i] * out[i];
      for (int64_t k = 0; k < n_classes; ++k) {
        sums[k * columns.n + j] += static_cast<int64_t>(total[k]);
        present[k * columns.n + j] += static_cast<int64_t>(seen ? there[k] : every[k]);
      }
    }
  }
}

}  // namespace omnitree
