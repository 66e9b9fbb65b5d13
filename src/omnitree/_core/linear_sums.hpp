// Weighted sums over the columns of several rows at once, the inner loop of linear tests.
//
// A row's sum is added up column by column, as a loop over one row would do it, so that the
// result is the same to the last bit however many rows are under way; the lanes of a vector
// are rows. Where the columns lie side by side, four of them are read from each row at a time
// and transposed in registers. Wider registers are used where the machine has them.
#pragma once
#include <cmath>
#include <cstdint>

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__linux__)
#define OMNITREE_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define OMNITREE_CLONES
#endif

namespace omnitree {

struct Values {  // a float64 matrix with strides counted in elements
  const double* base;
  int64_t row_stride, col_stride;
  double at(int64_t row, int64_t col) const {
    return base[row * row_stride + col * col_stride];
  }
};

struct Columns {  // encoded columns: a feature, and the symbol it indicates (-1: a number)
  const int32_t* feature;
  const int32_t* symbol;
};

// The value of an encoded column, or `fill` where the feature is missing.
inline double column_value(const Values& x, const Columns& c, int64_t row, int32_t j,
                           double fill) {
  const double v = x.at(row, c.feature[j]);
  if (std::isnan(v)) return fill;
  if (c.symbol[j] < 0) return v;
  return static_cast<int32_t>(v) == c.symbol[j] ? 1.0 : -1.0;
}

constexpr int LANES = 8;  // rows whose sums are added up together

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

OMNITREE_INLINE Four add_column(Four total, Four column, double weight, double fill) {
  const Four absent = {fill, fill, fill, fill};
  return total + weight * (column == column ? column : absent);  // a gap is NaN
}

// Four columns of four rows, added to the sums of the rows in the order of the columns.
OMNITREE_INLINE Four add_four(Four total, const double* const* row, int64_t j,
                              const double* weight, const double* fill) {
  const Four a = load(row[0] + j), b = load(row[1] + j);
  const Four c = load(row[2] + j), d = load(row[3] + j);
  const FourInts evens = {0, 4, 2, 6}, odds = {1, 5, 3, 7};
  const FourInts firsts = {0, 1, 4, 5}, lasts = {2, 3, 6, 7};
  const Four even0 = pick(a, b, evens), odd0 = pick(a, b, odds);
  const Four even1 = pick(c, d, evens), odd1 = pick(c, d, odds);
  total = add_column(total, pick(even0, even1, firsts), weight[j], fill[j]);
  total = add_column(total, pick(odd0, odd1, firsts), weight[j + 1], fill[j + 1]);
  total = add_column(total, pick(even0, even1, lasts), weight[j + 2], fill[j + 2]);
  return add_column(total, pick(odd0, odd1, lasts), weight[j + 3], fill[j + 3]);
}

// Add weight[j] * row[r][j] to the sums of eight rows for m columns side by side; a gap
// counts as fill[j].
OMNITREE_CLONES
static void add_side_by_side(const double* const* row, int64_t m, const double* weight,
                             const double* fill, double* sum) {
  Four first = load(sum), second = load(sum + 4);
  int64_t j = 0;
  for (; j + 4 <= m; j += 4) {
    first = add_four(first, row, j, weight, fill);
    second = add_four(second, row + 4, j, weight, fill);
  }
  for (int r = 0; r < 4; ++r) sum[r] = first[r], sum[4 + r] = second[r];
  for (; j < m; ++j)
    for (int r = 0; r < LANES; ++r)
      sum[r] += weight[j] * (std::isnan(row[r][j]) ? fill[j] : row[r][j]);
}

// Add the weighted encoded columns `index` to the sums of n <= LANES rows.
inline void add_columns(const int32_t* index, int64_t m, const double* weight,
                        const double* fill, const Values& x, const Columns& c,
                        const int64_t* rows, int n, double* sum) {
  for (int64_t j = 0; j < m; ++j) {
    const int32_t column = index[j];
    if (c.symbol[column] >= 0 || n < LANES || x.col_stride != 1) {
      for (int r = 0; r < n; ++r)
        sum[r] += weight[j] * column_value(x, c, rows[r], column, fill[j]);
      continue;
    }
    int64_t end = j + 1;  // of a run of numbers side by side
    while (end < m && index[end] == index[end - 1] + 1 && c.symbol[index[end]] < 0 &&
           c.feature[index[end]] == c.feature[index[end - 1]] + 1)
      ++end;
    const double* row[LANES];
    for (int r = 0; r < LANES; ++r)
      row[r] = x.base + rows[r] * x.row_stride + c.feature[column];
    add_side_by_side(row, end - j, weight + j, fill + j, sum);
    j = end - 1;
  }
}

}  // namespace omnitree
