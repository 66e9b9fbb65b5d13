// Class counts on both sides of many cuts of many columns, in one pass over each column.
//
// The cuts of a column are sorted; a row falls into one of the m + 1 bins between them, and
// sums over bins give every side. So that an empty side is exactly 0, both sides are summed
// from the bins. O(n log m) a column, m cuts.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "predict/route.hpp"

namespace omnitree {

// Below this many cuts, comparing with all is faster than a search.
constexpr int64_t FEW_CUTS = 16;

inline int64_t cuts_below(const double* cuts, int64_t m, double v) {
  if (m > FEW_CUTS) return std::lower_bound(cuts, cuts + m, v) - cuts;
  int64_t below = 0;
  for (int64_t i = 0; i < m; ++i) below += cuts[i] < v;
  return below;
}

// Column j has the sorted cuts [start[j], start[j + 1]); `counts` is (cuts, 2, classes): rows
// at most the cut, rows above it.
inline void count_sides(const Values& x, int64_t n, const int64_t* column, int64_t n_columns,
                        const int64_t* start, const double* cuts, const int32_t* y,
                        const double* weight, int32_t n_classes, double* counts) {
  std::vector<double> bins;
  for (int64_t j = 0; j < n_columns; ++j) {
    const double* own = cuts + start[j];
    const int64_t m = start[j + 1] - start[j];
    bins.assign((m + 1) * n_classes, 0.0);
    for (int64_t i = 0; i < n; ++i)
      bins[cuts_below(own, m, x.at(i, column[j])) * n_classes + y[i]] += weight[i];
    double* out = counts + start[j] * 2 * n_classes;
    for (int32_t k = 0; k < n_classes; ++k) {
      double sum = 0;
      for (int64_t c = 0; c < m; ++c) out[2 * c * n_classes + k] = sum += bins[c * n_classes + k];
      sum = 0;
      for (int64_t c = m - 1; c >= 0; --c)
        out[(2 * c + 1) * n_classes + k] = sum += bins[(c + 1) * n_classes + k];
    }
  }
}

}  // namespace omnitree
