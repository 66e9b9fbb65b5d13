// Sums of products of all pairs of columns, for tables with some dozen columns: for these BLAS
// packs more than it multiplies. Few rows at a time stay in the first cache; four by eight
// sums are under way in registers. Used by fisher.hpp.
#pragma once
#include "common/linear_sums.hpp"

namespace omnitree {

constexpr int PRODUCT_ROWS = 32;  // rows that stay in the cache

// A row has this many numbers here, those behind its columns 0.
inline int64_t product_width(int64_t p) { return (p + 7) / 8 * 8; }

// Columns [a, a + 4) times [c, c + 8), summed over n rows and added to g.
OMNITREE_INLINE void product_tile(const double* rows, int n, int64_t width, int64_t a, int64_t c,
                                  double* g) {
  Four sum[4][2] = {};
  for (int i = 0; i < n; ++i) {
    const double* row = rows + i * width;
    const Four low = load(row + c), high = load(row + c + 4);
    for (int r = 0; r < 4; ++r) {
      sum[r][0] += row[a + r] * low;
      sum[r][1] += row[a + r] * high;
    }
  }
  for (int r = 0; r < 4; ++r)
    for (int h = 0; h < 2; ++h) {
      double* to = g + (a + r) * width + c + 4 * h;
      *reinterpret_cast<FourUnaligned*>(to) = load(to) + sum[r][h];
    }
}

// Adds the products of n <= PRODUCT_ROWS rows of p columns to g, (width, width); only what is
// on or below its diagonal counts.
OMNITREE_CLONES
static void add_products(const double* rows, int n, int64_t p, double* g) {
  const int64_t width = product_width(p);
  for (int64_t a = 0; a < p; a += 4)
    for (int64_t c = 0; c <= a + 3; c += 8) product_tile(rows, n, width, a, c, g);
}

}  // namespace omnitree
