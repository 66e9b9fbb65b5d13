// Sums over columns, products of two, curves and cases: what additive tests and models add up.
//
// K sums over the same terms run abreast. Of m columns they are a slice of ints, the columns;
// one of the terms, pairs of positions among the columns (the second -1: one column alone);
// one of the curves, column and number of knots of each; and one of doubles: m fills, K
// biases, K weights a term, then the curves. A curve of n knots is its knots, then K values and
// K slopes at the beginning of each piece: from one knot to the next, beyond the last knot,
// and a missing cell; the last two have the slope 0 (`omnitree.tree.curves` writes it). In place
// of a curve, the column -1 stands for as many cases as it has knots: m precisions, then of each
// case its m columns and K weights (`omnitree.tree.cases`). Every sum is added up from left to
// right, in the order of the exporters.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "common/linear_sums.hpp"

namespace omnitree {

// A term of a quadratic form: the product of two columns, or one alone.
inline double term_value(const int32_t* term, const int32_t* columns, const double* fill,
                         const Values& x, const Columns& c, int64_t row) {
  const int32_t a = term[0], b = term[1];
  const double v = column_value(x, c, row, columns[a], fill[a]);
  return b < 0 ? v : v * column_value(x, c, row, columns[b], fill[b]);
}

// Doubles of a curve of n knots in K sums.
inline int64_t curve_size(int64_t n, int64_t k) { return n + 2 * (n + 1) * k; }

constexpr int64_t FEW_KNOTS = 24;  // counting is faster than halving

// Adds a curve at x to K sums. The piece of x is found once for all of them, without branches
// that depend on x where there are few knots.
inline void add_curve(const double* knot, int64_t n, int64_t k, double x, double* sum) {
  const double last = knot[n - 1];
  int64_t piece = 0;
  if (n <= FEW_KNOTS) {
    for (int64_t i = 1; i < n - 1; ++i) piece += knot[i] < x;
  } else {
    piece = std::lower_bound(knot + 1, knot + n - 1, x) - (knot + 1);
  }
  piece = x >= last ? n - 1 : piece;
  // Before the first knot and beyond the last one, nothing is past a knot.
  double past = std::min(std::max(x, knot[0]), last) - knot[piece];
  if (std::isnan(x)) piece = n, past = 0;
  const double* value = knot + n + 2 * k * piece;
  const double* slope = value + k;
  for (int64_t i = 0; i < k; ++i) sum[i] += value[i] + past * slope[i];
}

struct SumsView {
  const int32_t* columns;
  int64_t n_columns;
  const int32_t* terms;  // null: the columns themselves
  int64_t n_terms;
  const int32_t* curves;
  int64_t n_curves;
  const double* weight;
};

// exp(x) for x <= 0 by plain arithmetic, so that every export that does the same steps gives
// the same bits: with x = k ln 2 + r, the series of exp(r) times two to the k.
inline double exp_down(double x) {
  if (!(x >= -708)) return x < 0 ? 0 : x;  // below the smallest normal number, or NaN
  const double k = std::floor(x * 1.4426950408889634 + 0.5);
  const double r = (x - k * 0.6931471803691238) - k * 1.9082149292705877e-10;
  double series = 1;
  for (int n = 13; n >= 1; --n) series = 1 + series * r / n;
  return std::ldexp(series, static_cast<int>(k));
}

constexpr int FEW_CELLS = 128;  // of a row, on the stack
constexpr int ABREAST = 4;      // cases whose distances are added up together

// Adds the likeness of a row to n cases to K sums; where the doubles of the cases end.
inline const double* add_cases(const SumsView& s, int64_t n, const double* w, int64_t k,
                               const Values& x, const Columns& c, int64_t row, double* sum) {
  const int64_t m = s.n_columns;
  double few[FEW_CELLS];
  std::vector<double> many(m > FEW_CELLS ? m : 0);
  double* cell = m > FEW_CELLS ? many.data() : few;
  for (int64_t j = 0; j < m; ++j) cell[j] = column_value(x, c, row, s.columns[j], s.weight[j]);
  const double* precision = w;
  w += m;
  for (int64_t i = 0; i < n; i += ABREAST) {
    const int64_t some = std::min<int64_t>(ABREAST, n - i);
    const double* at[ABREAST];  // of the last few, one may be there several times
    for (int64_t q = 0; q < ABREAST; ++q) at[q] = w + std::min(q, some - 1) * (m + k);
    double apart[ABREAST] = {};
    for (int64_t j = 0; j < m; ++j) {
      for (int q = 0; q < ABREAST; ++q) {
        const double d = cell[j] - at[q][j];
        apart[q] += -precision[j] * d * d;
      }
    }
    for (int64_t q = 0; q < some; ++q) {
      const double alike = exp_down(apart[q]);
      for (int64_t b = 0; b < k; ++b) sum[b] += at[q][m + b] * alike;
    }
    w += some * (m + k);
  }
  return w;
}

// The K sums of one row.
inline void add_sums(const SumsView& s, int64_t k, const Values& x, const Columns& c, int64_t row,
                     double* out) {
  const double* fill = s.weight;
  const double* w = fill + s.n_columns;
  for (int64_t i = 0; i < k; ++i) out[i] = w[i];
  const int64_t n = s.terms ? s.n_terms : s.n_columns;
  for (int64_t t = 0; t < n; ++t) {
    w += k;
    const double v = s.terms ? term_value(s.terms + 2 * t, s.columns, fill, x, c, row)
                             : column_value(x, c, row, s.columns[t], fill[t]);
    for (int64_t i = 0; i < k; ++i) out[i] += w[i] * v;
  }
  w += k;
  for (int64_t j = 0; j < s.n_curves; ++j) {
    const int32_t n_knots = s.curves[2 * j + 1];
    if (s.curves[2 * j] < 0) {
      w = add_cases(s, n_knots, w, k, x, c, row, out);
      continue;
    }
    add_curve(w, n_knots, k, x.at(row, c.feature[s.curves[2 * j]]), out);
    w += curve_size(n_knots, k);
  }
}

}  // namespace omnitree
