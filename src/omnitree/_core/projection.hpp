// Rows along several directions at once: a product of a tall matrix with a narrow one, which
// BLAS is slow at. Four rows and up to eight directions are under way in registers; rows that
// lie apart in memory are asked for some steps before. Used by fisher.hpp.
#pragma once
#include "linear_sums.hpp"

namespace omnitree {

constexpr int ROWS_AT_ONCE = 4;

// Directions [q, q + 4 QUADS) of four rows; `basis` has a line of `width` numbers a column.
template <int QUADS>
OMNITREE_INLINE void project_tile(const double* const* row, int64_t p, const double* basis,
                                  int64_t width, const double* origin, int k,
                                  double* const* out) {
  Four sum[ROWS_AT_ONCE][QUADS] = {};
  for (int64_t j = 0; j < p; ++j) {
    for (int c = 0; c < QUADS; ++c) {
      const Four b = load(basis + j * width + 4 * c);
      for (int r = 0; r < ROWS_AT_ONCE; ++r) sum[r][c] += row[r][j] * b;
    }
  }
  for (int r = 0; r < ROWS_AT_ONCE; ++r)
    for (int c = 0; c < 4 * QUADS && c < k; ++c) out[r][c] = sum[r][c / 4][c % 4] - origin[c];
}

// out[i * k + c] = row ids[i] of z (p columns) along direction c, less origin[c]. `basis` is
// (p, width) with `width` the next multiple of four from k.
OMNITREE_CLONES
static void project_rows(const double* z, int64_t p, const int64_t* ids, int64_t n,
                         const double* basis, int64_t width, const double* origin, int k,
                         double* out) {
  constexpr int64_t AHEAD = 8, LINE = 8;
  double spare[8];
  for (int64_t at = 0; at < n; at += ROWS_AT_ONCE) {
    const double* row[ROWS_AT_ONCE];
    double* to[ROWS_AT_ONCE];
    for (int r = 0; r < ROWS_AT_ONCE; ++r) {
      row[r] = z + ids[at + r < n ? at + r : n - 1] * p;
      if (at + r + AHEAD < n)
        for (int64_t j = 0; j < p; j += LINE)
          __builtin_prefetch(z + ids[at + r + AHEAD] * p + j);
    }
    for (int64_t q = 0; q < width; q += 8) {
      for (int r = 0; r < ROWS_AT_ONCE; ++r)
        to[r] = at + r < n ? out + (at + r) * k + q : spare;
      if (q + 4 < width)
        project_tile<2>(row, p, basis + q, width, origin + q, k - static_cast<int>(q), to);
      else
        project_tile<1>(row, p, basis + q, width, origin + q, k - static_cast<int>(q), to);
    }
  }
}

}  // namespace omnitree
