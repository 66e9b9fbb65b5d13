// One step of LogitBoost with regressions on single columns (Friedman, Hastie & Tibshirani
// 2000; Landwehr, Hall & Frank 2005), apart from the products over all columns, which the
// caller leaves to BLAS.
//
// With p the probabilities of the current sums F, class k has the response z = (y - p) / w
// and the weight w = p (1 - p), |z| kept below 3. For two classes the regressions of both are
// the same but for the sign, so only that of the first is made (`regressed`).
#pragma once
#include <cmath>
#include <cstdint>

#include "predict/models.hpp"

namespace omnitree {

constexpr double MAX_RESPONSE = 3.0;
// What is left of a column that is constant in these rows is rounding.
constexpr double LEAST_VARIANCE = 1e-12;
// Of columns that explain the responses alike, up to rounding, the first is taken.
constexpr double CLEARLY_BETTER = 1e-10;

struct Regression {
  int64_t column;
  double slope, intercept;
};

inline int64_t regressed(int64_t k) { return k == 2 ? 1 : k; }

// Weights and weighted responses of all rows, a line of n numbers a class, and their totals.
inline void responses(const double* f, const int32_t* y, const double* row_weight, int64_t n,
                      int64_t k, double* p, double* w, double* u, double* total_w,
                      double* total_u) {
  const int64_t classes = regressed(k);
  for (int64_t c = 0; c < classes; ++c) total_w[c] = total_u[c] = 0;
  for (int64_t i = 0; i < n; ++i) {
    const double* own = f + i * k;
    if (k == 2) {
      p[0] = 1 / (1 + std::exp(own[1] - own[0]));
    } else {
      for (int64_t c = 0; c < k; ++c) p[c] = own[c];
      softmax(p, k, [](double v) { return std::exp(v); });
    }
    for (int64_t c = 0; c < classes; ++c) {
      const bool mine = y[i] == c;
      const double likely = mine ? p[c] : 1 - p[c];
      const double off = (mine ? 1 - p[c] : -p[c]) * row_weight[i];
      // z is 1 / likely in size, or MAX_RESPONSE if that is less; w is (y - p) / z.
      const double size = likely * MAX_RESPONSE > 1 ? likely : 1 / MAX_RESPONSE;
      const double weight = std::fabs(off) * size;
      w[c * n + i] = weight;
      u[c * n + i] = off;
      total_w[c] += weight;
      total_u[c] += off;
    }
  }
}

// Columns of two values low and high have x * x = (low + high) x - low high: their weighted
// squares follow from their weighted sums. Writes low + high and -low * high of each such
// column, and the places of the others, `many`; gives how many these are.
inline int64_t two_valued(const double* x, int64_t n, int64_t p, double* sum, double* product,
                          int64_t* many) {
  int64_t others = 0;
  for (int64_t j = 0; j < p; ++j) {
    const double low = x[j];
    double high = low;
    int64_t i = 1;
    for (; i < n; ++i) {
      const double v = x[i * p + j];
      if (v == low || v == high) continue;
      if (high != low) break;
      high = v;
    }
    if (i < n) {
      many[others++] = j;
    } else {
      sum[j] = low + high;
      product[j] = -low * high;
    }
  }
  return others;
}

// The regression that explains the responses of one class best. If no column can, the class
// gets its mean response, and the answer is false. The slopes of columns, whose deviations are
// about 1, are penalised: `ridge` times their squares.
inline bool best_regression(const double* sum_x, const double* sum_xx, const double* sum_xu,
                            int64_t p, double total_w, double total_u, double ridge,
                            Regression& out) {
  double best = 0;
  bool found = false;
  const double mean_u = total_w > 0 ? total_u / total_w : 0;
  out = {0, 0, mean_u};
  for (int64_t j = 0; j < p; ++j) {
    const double variance = sum_xx[j] - sum_x[j] * sum_x[j] / total_w;
    if (!(variance > LEAST_VARIANCE * sum_xx[j])) continue;
    const double covariance = sum_xu[j] - sum_x[j] * mean_u;
    const double steep = variance + ridge * total_w;
    const double gain = covariance * covariance / steep;
    if (gain > best * (1 + CLEARLY_BETTER)) {
      best = gain;
      found = true;
      const double slope = covariance / steep;
      out = {j, slope, mean_u - slope * sum_x[j] / total_w};
    }
  }
  return found;
}

// What a step multiplies its regressions by: (K - 1) / K, and the rate of learning.
inline double step_scale(int64_t k, double rate) { return rate * (k - 1.0) / k; }

// Add the regressions of all classes to the sums F of some rows: each less the mean of all,
// times the scale.
inline void add_to_sums(const double* x, int64_t n, int64_t p, int64_t k, const Regression* found,
                        double rate, double* f) {
  const double scale = step_scale(k, rate);
  if (k == 2) {
    const Regression r = found[0];
    for (int64_t i = 0; i < n; ++i) {
      const double step = scale * (r.intercept + r.slope * x[i * p + r.column]);
      f[2 * i] += step;
      f[2 * i + 1] -= step;
    }
    return;
  }
  for (int64_t i = 0; i < n; ++i) {
    const double* row = x + i * p;
    double* own = f + i * k;
    double mean = 0;
    for (int64_t c = 0; c < k; ++c) {
      const double step = scale * (found[c].intercept + found[c].slope * row[found[c].column]);
      own[c] += step;
      mean += step;
    }
    mean /= k;
    for (int64_t c = 0; c < k; ++c) own[c] -= mean;
  }
}

// The same in the coefficients: `bias` has one a class, `weights` p a class.
inline void add_to_model(int64_t p, int64_t k, const Regression* found, double rate, double* bias,
                         double* weights) {
  const double scale = step_scale(k, rate);
  for (int64_t c = 0; c < regressed(k); ++c) {
    const double slope = scale * found[c].slope, shift = scale * found[c].intercept;
    for (int64_t other = 0; other < k; ++other) {
      // Of two classes one has the regression, the other its negative.
      const double part = k == 2 ? (other == c ? 1.0 : -1.0) : (other == c) - 1.0 / k;
      weights[other * p + found[c].column] += part * slope;
      bias[other] += part * shift;
    }
  }
}

// Weight of the rows whose largest sum, the first of several, is not that of their class.
inline double wrong_weight(const double* f, const int32_t* y, const double* row_weight, int64_t n,
                           int64_t k) {
  double wrong = 0;
  for (int64_t i = 0; i < n; ++i) {
    const double* own = f + i * k;
    int64_t best = 0;
    for (int64_t c = 1; c < k; ++c)
      if (own[c] > own[best]) best = c;
    if (best != y[i]) wrong += row_weight[i];
  }
  return wrong;
}

}  // namespace omnitree
