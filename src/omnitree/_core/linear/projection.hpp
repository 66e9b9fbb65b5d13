// Rows along several directions at once: a product of a tall matrix with a narrow one, which
// BLAS is slow at. Four rows and up to eight directions are under way in registers; rows that
// lie apart in memory are asked for some steps before. Used by fisher.hpp and discriminant.pyx.
#pragma once
#include <algorithm>
#include <vector>

#include "common/linear_sums.hpp"

namespace omnitree {

constexpr int ROWS_AT_ONCE = 4;

// Directions [0, 4 QUADS), at most k, of four rows, of which `n` count; `basis` has a line of
// `width` numbers a column, `out` one of `stride` numbers a direction.
template <int QUADS>
OMNITREE_INLINE void project_tile(const double* const* row, int n, int64_t p, const double* basis,
                                  int64_t width, const double* origin, int64_t k, double* out,
                                  int64_t stride) {
  Four sum[ROWS_AT_ONCE][QUADS] = {};
  for (int64_t j = 0; j < p; ++j) {
    for (int c = 0; c < QUADS; ++c) {
      const Four b = load(basis + j * width + 4 * c);
      for (int r = 0; r < ROWS_AT_ONCE; ++r) sum[r][c] += row[r][j] * b;
    }
  }
  for (int q = 0; q < QUADS; ++q) {
    Four line[4] = {sum[0][q], sum[1][q], sum[2][q], sum[3][q]};
    transpose(line);
    for (int c = 0; c < 4 && 4 * q + c < k; ++c) {
      const Four found = line[c] - origin[4 * q + c];
      double* to = out + (4 * q + c) * stride;
      if (n == ROWS_AT_ONCE)
        *reinterpret_cast<FourUnaligned*>(to) = found;
      else
        for (int r = 0; r < n; ++r) to[r] = found[r];
    }
  }
}

// Directions as `project_rows` reads them, and the origin along them.
struct PackedBasis {
  int64_t p = 0, k = 0, width = 0;
  std::vector<double> lines, origin;  // (p, width) with `width` a multiple of four, (k,)

  PackedBasis() = default;
  // Of k directions with p numbers each; the origin is a point in their space.
  PackedBasis(const double* directions, const double* point, int64_t p_, int64_t k_)
      : p(p_), k(k_), width((k_ + 3) / 4 * 4), lines(static_cast<size_t>(p * width)), origin(k) {
    for (int64_t c = 0; c < k; ++c)
      for (int64_t j = 0; j < p; ++j) {
        lines[j * width + c] = directions[c * p + j];
        origin[c] += point[j] * directions[c * p + j];
      }
  }
  bool empty() const { return lines.empty(); }
};

// out[c * stride + i] = row ids[i] of z along direction c, less the origin.
OMNITREE_CLONES
static void project_rows(const double* z, const PackedBasis& basis, const int64_t* ids, int64_t n,
                         double* out, int64_t stride) {
  constexpr int64_t AHEAD = 8, LINE = 8;
  const int64_t p = basis.p, k = basis.k;
  for (int64_t at = 0; at < n; at += ROWS_AT_ONCE) {
    const double* row[ROWS_AT_ONCE];
    for (int r = 0; r < ROWS_AT_ONCE; ++r) {
      row[r] = z + ids[at + r < n ? at + r : n - 1] * p;
      if (at + r + AHEAD < n)
        for (int64_t j = 0; j < p; j += LINE) __builtin_prefetch(z + ids[at + r + AHEAD] * p + j);
    }
    const int here = static_cast<int>(std::min<int64_t>(ROWS_AT_ONCE, n - at));
    for (int64_t q = 0; q < k; q += 8) {
      const double* lines = basis.lines.data() + q;
      const double* origin = basis.origin.data() + q;
      double* to = out + q * stride + at;
      if (q + 4 < k)
        project_tile<2>(row, here, p, lines, basis.width, origin, k - q, to, stride);
      else
        project_tile<1>(row, here, p, lines, basis.width, origin, k - q, to, stride);
    }
  }
}

}  // namespace omnitree
