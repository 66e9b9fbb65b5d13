// Weighted sums over the columns of several rows at once, the inner loop of linear tests.
//
// A row's sum is added up column by column, as a loop over one row would do it, so that the
// result is the same to the last bit however many rows are under way; the lanes of a vector
// are rows. Where the columns lie side by side, four of them are read from each row at a time
// and transposed in registers. Wider registers are used where the machine has them.
#pragma once
#include <cmath>
#include <cstdint>

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__linux__) && \
    !defined(OMNITREE_NO_CLONES)
#define OMNITREE_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define OMNITREE_CLONES
#endif

namespace omnitree {

struct Values {  // a float64 matrix with strides counted in elements
  const double* base;
  int64_t row_stride, col_stride;
  double at(int64_t row, int64_t col) const { return base[row * row_stride + col * col_stride]; }
};

struct Columns {  // encoded columns: a feature, and the category it indicates (-1: a number)
  const int32_t* feature;
  const int32_t* category;
  int64_t n;
};

// The value of an encoded column, or `fill` where the feature is missing.
inline double column_value(const Values& x, const Columns& c, int64_t row, int32_t j, double fill) {
  const double v = x.at(row, c.feature[j]);
  if (std::isnan(v)) return fill;
  if (c.category[j] < 0) return v;
  return static_cast<int32_t>(v) == c.category[j] ? 1.0 : -1.0;
}

constexpr int LANES = 8;   // rows whose sums are added up together
constexpr int GROUP = 64;  // rows that are sent to it at once

typedef double Four __attribute__((vector_size(32)));
typedef double FourUnaligned __attribute__((vector_size(32), aligned(8)));
typedef int64_t FourInts __attribute__((vector_size(32)));

#define OMNITREE_INLINED __attribute__((always_inline))
#define OMNITREE_INLINE static inline OMNITREE_INLINED

OMNITREE_INLINE Four pick(Four a, Four b, FourInts which) {
#if defined(__clang__)
  Four out;
  for (int i = 0; i < 4; ++i) out[i] = which[i] < 4 ? a[which[i]] : b[which[i] - 4];
  return out;
#else
  return __builtin_shuffle(a, b, which);
#endif
}

OMNITREE_INLINE Four load(const double* from) {
  return *reinterpret_cast<const FourUnaligned*>(from);
}

// Four lines of four numbers become those of the transposed square.
OMNITREE_INLINE void transpose(Four* line) {
  const FourInts evens = {0, 4, 2, 6}, odds = {1, 5, 3, 7};
  const FourInts firsts = {0, 1, 4, 5}, lasts = {2, 3, 6, 7};
  const Four even0 = pick(line[0], line[1], evens), odd0 = pick(line[0], line[1], odds);
  const Four even1 = pick(line[2], line[3], evens), odd1 = pick(line[2], line[3], odds);
  line[0] = pick(even0, even1, firsts);
  line[1] = pick(odd0, odd1, firsts);
  line[2] = pick(even0, even1, lasts);
  line[3] = pick(odd0, odd1, lasts);
}

template <bool MISSING>
OMNITREE_INLINE Four add_column(Four total, Four column, double weight, double fill) {
  if (!MISSING) return total + weight * column;
  const Four absent = {fill, fill, fill, fill};
  return total + weight * (column == column ? column : absent);  // a missing value is NaN
}

// Four columns of four rows, added to the sums of the rows in the order of the columns.
template <bool MISSING>
OMNITREE_INLINE Four add_four(Four total, const double* const* row, int64_t j, const double* weight,
                              const double* fill) {
  Four column[4] = {load(row[0] + j), load(row[1] + j), load(row[2] + j), load(row[3] + j)};
  transpose(column);
  for (int i = 0; i < 4; ++i)
    total = add_column<MISSING>(total, column[i], weight[j + i], fill[j + i]);
  return total;
}

// Add weight[j] * row[r][j] to the sums of 4 QUADS rows for m columns side by side; with
// MISSING, NaN counts as fill[j]. True if some sum is NaN.
template <int QUADS, bool MISSING>
OMNITREE_INLINE bool add_run(const double* const* row, int64_t m, const double* weight,
                             const double* fill, double* sum) {
  Four total[QUADS];
  for (int q = 0; q < QUADS; ++q) total[q] = load(sum + 4 * q);
  int64_t j = 0;
  for (; j + 4 <= m; j += 4)
    for (int q = 0; q < QUADS; ++q)
      total[q] = add_four<MISSING>(total[q], row + 4 * q, j, weight, fill);
  for (; j < m; ++j)
    for (int q = 0; q < QUADS; ++q) {
      const double* const* at = row + 4 * q;
      const Four column = {at[0][j], at[1][j], at[2][j], at[3][j]};
      total[q] = add_column<MISSING>(total[q], column, weight[j], fill[j]);
    }
  FourInts unknown = {};
  for (int q = 0; q < QUADS; ++q) unknown |= total[q] != total[q];
  if (!MISSING && (unknown[0] | unknown[1] | unknown[2] | unknown[3])) return true;
  for (int q = 0; q < QUADS; ++q) *reinterpret_cast<FourUnaligned*>(sum + 4 * q) = total[q];
  return false;
}

// The same for the rows at base + rows[i] * stride; missing values show in the sums as NaN.
OMNITREE_CLONES
static void add_side_by_side(const double* base, int64_t stride, const int64_t* rows, int n,
                             int64_t m, const double* weight, const double* fill, double* sum) {
  for (int at = 0; at < n; at += LANES) {
    const double* row[LANES];
    for (int r = 0; r < LANES; ++r)  // lanes without a row repeat the last one
      row[r] = base + rows[at + r < n ? at + r : n - 1] * stride;
    const bool missing = n - at <= 4 ? add_run<1, false>(row, m, weight, fill, sum + at)
                                     : add_run<2, false>(row, m, weight, fill, sum + at);
    if (missing) add_run<2, true>(row, m, weight, fill, sum + at);
  }
}

// Add the weighted encoded columns `index` to the sums of n <= GROUP rows; there is room for
// GROUP of them.
inline void add_columns(const int32_t* index, int64_t m, const double* weight, const double* fill,
                        const Values& x, const Columns& c, const int64_t* rows, int n,
                        double* sum) {
  for (int64_t j = 0, end; j < m; j = end) {
    const int32_t feature = c.feature[index[j]];
    end = j + 1;
    if (c.category[index[j]] >= 0 || x.col_stride != 1) {
      for (int r = 0; r < n; ++r)
        sum[r] += weight[j] * column_value(x, c, rows[r], index[j], fill[j]);
      continue;
    }
    // A run of numbers side by side.
    while (end < m && c.category[index[end]] < 0 && c.feature[index[end]] == feature + (end - j))
      ++end;
    add_side_by_side(x.base + feature, x.row_stride, rows, n, end - j, weight + j, fill + j, sum);
  }
}

// Whether the encoded columns are the features themselves, side by side in every row.
inline bool all_side_by_side(const Values& x, const Columns& c) {
  bool plain = x.col_stride == 1;
  for (int64_t j = 0; j < c.n; ++j) plain &= c.feature[j] == j && c.category[j] < 0;
  return plain;
}

inline double length_of(const double* v, int64_t m) {
  double squares = 0;
  for (int64_t j = 0; j < m; ++j) squares += v[j] * v[j];
  return std::sqrt(squares);
}

// The length of each row as a vector; NaN where a value is missing.
OMNITREE_CLONES
[[maybe_unused]] static void row_lengths(const double* base, int64_t stride, int64_t n, int64_t m,
                                         double* out) {
  for (int64_t i = 0; i < n; ++i) {
    const double* row = base + i * stride;
    Four squares = {};
    int64_t j = 0;
    for (; j + 4 <= m; j += 4) squares += load(row + j) * load(row + j);
    double rest = 0;
    for (; j < m; ++j) rest += row[j] * row[j];
    out[i] = std::sqrt(squares[0] + squares[1] + squares[2] + squares[3] + rest);
  }
}

// Sums of weight[j] * row[j] of n rows, in whatever order is fast.
OMNITREE_CLONES
[[maybe_unused]] static void quick_sums(const double* base, int64_t stride, const int64_t* rows,
                                        int64_t n, int64_t m, const double* weight, double* sum) {
  for (int64_t at = 0; at < n; at += LANES) {
    const double* row[LANES];
    for (int r = 0; r < LANES; ++r) row[r] = base + rows[at + r < n ? at + r : n - 1] * stride;
    Four total[LANES] = {};
    int64_t j = 0;
    for (; j + 4 <= m; j += 4) {
      const Four w = load(weight + j);
      for (int r = 0; r < LANES; ++r) total[r] += w * load(row[r] + j);
    }
    for (int r = 0; r < LANES && at + r < n; ++r) {
      double rest = 0;
      for (int64_t i = j; i < m; ++i) rest += weight[i] * row[r][i];
      sum[at + r] = (total[r][0] + total[r][1]) + (total[r][2] + total[r][3]) + rest;
    }
  }
}

}  // namespace omnitree
