// Weighted mean and deviation of a column over some rows, and the column in their units.
//
// Works in units of the column's own range: then neither an offset of 1e6 at a scale of 1e-8
// nor values near 1e300 lose digits or overflow. Sums are taken in short runs, whose errors
// stay small. Gaps (NaN) are left out and become 0; rows of weight 0 get their value but
// shape nothing. `omnitree.encoding.linear_view` says what it is for.
#pragma once
#include <cmath>
#include <cstdint>
#include <limits>

namespace omnitree {

// A column whose range is below this counts as constant: a weight in the user's units is
// divided by the deviation and would overflow.
constexpr double TINY_RANGE = 1e-290;

template <class Term>
double sum_in_runs(int64_t n, Term term) {
  double total = 0;
  for (int64_t at = 0; at < n; at += 128) {
    const int64_t end = at + 128 < n ? at + 128 : n;
    double run = 0;
    for (int64_t i = at; i < end; ++i) run += term(i);
    total += run;
  }
  return total;
}

inline void standardise_column(const double* x, const int64_t* rows, const double* weight,
                               int64_t n, double* mean_out, double* std_out, double* z,
                               int64_t z_stride) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (int64_t i = 0; i < n; ++i) {
    const double v = x[rows[i]];
    if (weight[i] > 0) {  // a gap is neither below nor above
      if (v < low) low = v;
      if (v > high) high = v;
    }
  }
  if (!(low <= high)) low = high = 0;
  const double middle = low < high ? low / 2 + high / 2 : low;
  const double reach = high / 2 - low / 2;
  const bool constant = reach < TINY_RANGE;
  const double unit = constant ? 1.0 : reach;
  double total = sum_in_runs(n, [&](int64_t i) {
    return std::isnan(x[rows[i]]) ? 0.0 : weight[i];
  });
  if (total == 0) total = 1;
  const double shift = sum_in_runs(n, [&](int64_t i) {
    const double v = x[rows[i]];
    return std::isnan(v) ? 0.0 : weight[i] * ((v - middle) / unit);
  });
  // Deviations are taken from the mean as rounded, the one that a folded test subtracts,
  // so z is what the test will see.
  const double mean = middle + unit * (shift / total);
  const double square = sum_in_runs(n, [&](int64_t i) {
    const double v = (x[rows[i]] - mean) / unit;
    return std::isnan(v) ? 0.0 : weight[i] * v * v;
  });
  const double std = constant ? 0.0 : unit * std::sqrt(square / total);
  *mean_out = mean;
  *std_out = std;
  for (int64_t i = 0; i < n; ++i) {
    const double v = x[rows[i]];
    z[i * z_stride] = std::isnan(v) || std == 0 ? 0.0 : (v - mean) / std;
  }
}

}  // namespace omnitree
