// The loss of scores that are added up, each times its part, with both derivatives by the
// parts.
//
// Newton's steps ask for it often, on a few numbers a row. So the lanes of a vector are rows:
// every number of a row is found in the same order, whatever the machine's registers, and
// exponentials are taken side by side. Called by softmax.pyx.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "common/linear_sums.hpp"

namespace omnitree {

constexpr int64_t RUN = 64;  // rows that are looked at together

// The least number whose exponential is asked for.
constexpr double LOWEST = -708;

// exp(x) from LOWEST to 0, nearly to the last bit, without a branch: with x = k ln 2 + r, the
// series of exp(r), and k among the bits of the exponent.
OMNITREE_INLINE double exp_side_by_side(double x) {
  constexpr double whole = 6755399441055744.0;  // what is added to it loses its fraction
  const double shifted = x * 1.4426950408889634 + whole, k = shifted - whole;
  const double r = (x - k * 0.6931471803691238) - k * 1.9082149292705877e-10;
  double series = 1.0 / 479001600;  // 1 / 12!
  series = series * r + 1.0 / 39916800;
  series = series * r + 1.0 / 3628800;
  series = series * r + 1.0 / 362880;
  series = series * r + 1.0 / 40320;
  series = series * r + 1.0 / 5040;
  series = series * r + 1.0 / 720;
  series = series * r + 1.0 / 120;
  series = series * r + 1.0 / 24;
  series = series * r + 1.0 / 6;
  series = series * r + 0.5;
  series = series * r + 1.0;
  series = series * r + 1.0;
  uint64_t bits, power;
  std::memcpy(&bits, &series, sizeof bits);
  std::memcpy(&power, &shifted, sizeof power);
  bits += power << 52;
  std::memcpy(&series, &bits, sizeof bits);
  return series;
}

// Mean loss of n rows with k scores for each of m parts, (m, k, n), added up; `share` is each
// row's part in the mean. Writes the slope (m) and the bend (m, m), the first and second
// derivatives by the parts.
OMNITREE_CLONES
inline double mixed_loss(const double* scores, int64_t m, int64_t k, int64_t n, const int32_t* y,
                         const double* share, const double* parts, double* slope, double* bend) {
  double loss = 0;
  // Of each row of a run: odds of the classes, means by them, and totals of the derivatives.
  std::vector<double> odds(k * RUN), mean(m * RUN), slopes(m * RUN), bends(m * m * RUN);
  double top[RUN], all[RUN];
  for (int64_t first = 0; first < n; first += RUN) {
    const int64_t size = std::min(RUN, n - first);
    const double *from = scores + first, *part = share + first;
    const int32_t* own = y + first;
    for (int64_t c = 0; c < k; ++c) {
      double* f = odds.data() + c * RUN;
      for (int64_t i = 0; i < size; ++i) f[i] = parts[0] * from[c * n + i];
      for (int64_t j = 1; j < m; ++j) {
        const double* a = from + (j * k + c) * n;
        for (int64_t i = 0; i < size; ++i) f[i] += parts[j] * a[i];
      }
      for (int64_t i = 0; i < size; ++i) top[i] = c == 0 || f[i] > top[i] ? f[i] : top[i];
    }
    for (int64_t i = 0; i < size; ++i) {
      loss += part[i] * (top[i] - odds[own[i] * RUN + i]);
      all[i] = 0;
    }
    for (int64_t c = 0; c < k; ++c) {
      double* f = odds.data() + c * RUN;
      for (int64_t i = 0; i < size; ++i) {
        const double off = f[i] - top[i];
        f[i] = off > LOWEST ? off : LOWEST;
      }
      for (int64_t i = 0; i < size; ++i) all[i] += f[i] = exp_side_by_side(f[i]);
    }
    for (int64_t i = 0; i < size; ++i) loss += part[i] * std::log(all[i]);
    for (int64_t c = 0; c < k; ++c)
      for (int64_t i = 0; i < size; ++i) odds[c * RUN + i] /= all[i];
    for (int64_t j = 0; j < m; ++j) {
      const double* a = from + j * k * n;
      double *own_mean = mean.data() + j * RUN, *total = slopes.data() + j * RUN;
      std::fill(own_mean, own_mean + size, 0.0);
      for (int64_t c = 0; c < k; ++c)
        for (int64_t i = 0; i < size; ++i) own_mean[i] += odds[c * RUN + i] * a[c * n + i];
      for (int64_t i = 0; i < size; ++i) total[i] += part[i] * (own_mean[i] - a[own[i] * n + i]);
      for (int64_t l = 0; l <= j; ++l) {
        const double *b = from + l * k * n, *other = mean.data() + l * RUN;
        total = bends.data() + (j * m + l) * RUN;
        std::fill(all, all + size, 0.0);
        for (int64_t c = 0; c < k; ++c)
          for (int64_t i = 0; i < size; ++i)
            all[i] += odds[c * RUN + i] * a[c * n + i] * b[c * n + i];
        for (int64_t i = 0; i < size; ++i) total[i] += part[i] * (all[i] - own_mean[i] * other[i]);
      }
    }
  }
  const auto sum = [](const std::vector<double>& of, int64_t at) {
    double total = 0;
    for (int64_t i = 0; i < RUN; ++i) total += of[at * RUN + i];
    return total;
  };
  for (int64_t j = 0; j < m; ++j) {
    slope[j] = sum(slopes, j);
    for (int64_t l = 0; l <= j; ++l) bend[j * m + l] = bend[l * m + j] = sum(bends, j * m + l);
  }
  return loss;
}

}  // namespace omnitree
