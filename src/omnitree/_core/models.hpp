// What the linear model of a node answers for a row.
//
// A model over m columns with K sums is a slice of ints, the columns, and one of doubles:
// m fills, K biases, then K weights a column. The sums are added up column by column, so
// that every sum has the order of the exporters and the K of them can run abreast.
#pragma once
#include "route.hpp"

namespace omnitree {

// The K sums of one row.
inline void model_sums(const int32_t* index, int64_t m, const double* weight, int64_t k,
                       const Values& x, const Columns& c, int64_t row, double* out) {
  const double* w = weight + m;
  for (int64_t i = 0; i < k; ++i) out[i] = w[i];
  for (int64_t j = 0; j < m; ++j) {
    w += k;
    const double v = column_value(x, c, row, index[j], weight[j]);
    for (int64_t i = 0; i < k; ++i) out[i] += w[i] * v;
  }
}

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

// Sums to probabilities, around the largest so that nothing overflows.
template <class Exp>
inline void softmax(double* p, int64_t k, Exp exp) {
  double top = p[0], total = 0;
  for (int64_t i = 1; i < k; ++i)
    if (p[i] > top) top = p[i];
  for (int64_t i = 0; i < k; ++i) total += p[i] = exp(p[i] - top);
  for (int64_t i = 0; i < k; ++i) p[i] /= total;
}

inline void probabilities(double* p, int64_t k) { softmax(p, k, exp_down); }

}  // namespace omnitree
