// LDT05's start of a search for two groups of classes: the two whose means are furthest apart,
// then, one after another, the class nearest to the mean of either group. Of ties the first.
// When the time is up, classes that are not yet placed stay in the second group. Used by
// fisher_tree.hpp and, through discriminant.pyx, by the groupings.
#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "common/tick.hpp"

namespace omnitree {

inline double distance_between(const double* a, const double* b, int64_t p) {
  double sum = 0;
  for (int64_t j = 0; j < p; ++j) sum += (a[j] - b[j]) * (a[j] - b[j]);
  return sum;
}

// Groups of k >= 2 classes by their means (k, p) and weights; left[c] is 1 in the first group.
inline void nearest_start(const double* means, const double* size, int k, int64_t p, uint8_t* left,
                          Tick& tick) {
  const auto mean = [&](int c) { return means + c * p; };
  int first[2] = {0, 1};
  double furthest = 0;
  for (int a = 0; a < k && k > 2 && tick(0) == 0; ++a)
    for (int b = a + 1; b < k; ++b) {
      const double d = distance_between(mean(a), mean(b), p);
      if (d > furthest) furthest = d, first[0] = a, first[1] = b;
    }
  std::vector<uint8_t> placed(k, 0);
  std::vector<double> centre[2];
  double held[2];
  for (int g = 0; g < 2; ++g) {
    placed[first[g]] = 1;
    centre[g].assign(mean(first[g]), mean(first[g]) + p);
    held[g] = size[first[g]];
  }
  std::fill_n(left, k, 0);
  left[first[0]] = 1;
  for (int step = 2; step < k && tick(0) == 0; ++step) {
    int best = -1, group = 0;
    double nearest = std::numeric_limits<double>::infinity();
    for (int c = 0; c < k; ++c)
      for (int g = 0; g < 2 && !placed[c]; ++g) {
        const double d = distance_between(mean(c), centre[g].data(), p);
        if (best < 0 || d < nearest) nearest = d, best = c, group = g;
      }
    placed[best] = 1;
    left[best] = group == 0;
    held[group] += size[best];
    const double share = size[best] / held[group];
    for (int64_t j = 0; j < p; ++j) centre[group][j] += share * (mean(best)[j] - centre[group][j]);
  }
}

}  // namespace omnitree
