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

// Sums to probabilities, around the largest so that nothing overflows.
inline void softmax(double* p, int64_t k) {
  double top = p[0], total = 0;
  for (int64_t i = 1; i < k; ++i)
    if (p[i] > top) top = p[i];
  for (int64_t i = 0; i < k; ++i) total += p[i] = std::exp(p[i] - top);
  for (int64_t i = 0; i < k; ++i) p[i] /= total;
}

}  // namespace omnitree
