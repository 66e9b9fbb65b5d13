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
#include <numeric>
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

// Rows whose numbers lie side by side: scores (m, k, stride), of which `size` are looked at.
struct MixedRun {
  const double* scores;
  int64_t m, k, stride, size;
  const int32_t* y;
  const double* share;

  const double* at(int64_t part, int64_t c) const { return scores + (part * k + c) * stride; }
};

// The loss of a run of rows. Writes the probabilities (k, RUN) of their classes.
OMNITREE_INLINE double mixed_odds(const MixedRun& run, const double* parts, double* odds) {
  double top[RUN], total[RUN] = {}, loss = 0;
  for (int64_t c = 0; c < run.k; ++c) {
    double* sum = odds + c * RUN;
    for (int64_t i = 0; i < run.size; ++i) sum[i] = parts[0] * run.at(0, c)[i];
    for (int64_t j = 1; j < run.m; ++j) {
      const double* a = run.at(j, c);
      for (int64_t i = 0; i < run.size; ++i) sum[i] += parts[j] * a[i];
    }
    for (int64_t i = 0; i < run.size; ++i) top[i] = c == 0 || sum[i] > top[i] ? sum[i] : top[i];
  }
  for (int64_t i = 0; i < run.size; ++i) loss += run.share[i] * (top[i] - odds[run.y[i] * RUN + i]);
  for (int64_t c = 0; c < run.k; ++c) {
    double* own = odds + c * RUN;
    for (int64_t i = 0; i < run.size; ++i) {
      const double off = own[i] - top[i];
      own[i] = off > LOWEST ? off : LOWEST;
    }
    for (int64_t i = 0; i < run.size; ++i) total[i] += own[i] = exp_side_by_side(own[i]);
  }
  for (int64_t i = 0; i < run.size; ++i) loss += run.share[i] * std::log(total[i]);
  for (int64_t c = 0; c < run.k; ++c)
    for (int64_t i = 0; i < run.size; ++i) odds[c * RUN + i] /= total[i];
  return loss;
}

// Add the derivatives of each row's loss to `slopes` (m, RUN) and, below the diagonal, `bends`
// (m, m, RUN). Writes the means (m, RUN) of the scores by the probabilities.
OMNITREE_INLINE void add_mixed_slopes(const MixedRun& run, const double* odds, double* mean,
                                      double* slopes, double* bends) {
  double both[RUN];
  for (int64_t j = 0; j < run.m; ++j) {
    double *own = mean + j * RUN, *slope = slopes + j * RUN;
    std::fill(own, own + run.size, 0.0);
    for (int64_t c = 0; c < run.k; ++c) {
      const double *p = odds + c * RUN, *a = run.at(j, c);
      for (int64_t i = 0; i < run.size; ++i) own[i] += p[i] * a[i];
    }
    for (int64_t i = 0; i < run.size; ++i)
      slope[i] += run.share[i] * (own[i] - run.at(j, run.y[i])[i]);
    for (int64_t l = 0; l <= j; ++l) {
      const double* other = mean + l * RUN;
      double* bend = bends + (j * run.m + l) * RUN;
      std::fill(both, both + run.size, 0.0);
      for (int64_t c = 0; c < run.k; ++c) {
        const double *p = odds + c * RUN, *a = run.at(j, c), *b = run.at(l, c);
        for (int64_t i = 0; i < run.size; ++i) both[i] += p[i] * a[i] * b[i];
      }
      for (int64_t i = 0; i < run.size; ++i)
        bend[i] += run.share[i] * (both[i] - own[i] * other[i]);
    }
  }
}

// Mean loss of n rows with k scores for each of m parts, (m, k, n), added up; `share` is each
// row's part in the mean. Writes the slope (m) and the bend (m, m), the first and second
// derivatives by the parts.
OMNITREE_CLONES
inline double mixed_loss(const double* scores, int64_t m, int64_t k, int64_t n, const int32_t* y,
                         const double* share, const double* parts, double* slope, double* bend) {
  double loss = 0;
  std::vector<double> odds(k * RUN), mean(m * RUN), slopes(m * RUN), bends(m * m * RUN);
  for (int64_t i = 0; i < n; i += RUN) {
    const MixedRun run = {scores + i, m, k, n, std::min(RUN, n - i), y + i, share + i};
    loss += mixed_odds(run, parts, odds.data());
    add_mixed_slopes(run, odds.data(), mean.data(), slopes.data(), bends.data());
  }
  const auto sum = [](const double* of) { return std::accumulate(of, of + RUN, 0.0); };
  for (int64_t j = 0; j < m; ++j) {
    slope[j] = sum(&slopes[j * RUN]);
    for (int64_t l = 0; l <= j; ++l)
      bend[j * m + l] = bend[l * m + j] = sum(&bends[(j * m + l) * RUN]);
  }
  return loss;
}

}  // namespace omnitree
