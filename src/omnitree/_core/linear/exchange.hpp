// The exchange method for Fisher's discriminant with equal variances, whole search.
//
// Along Fisher's direction of a grouping L | R a row's score is, up to a positive factor,
// u = sum over k in L of n_k P_k, with P the row along the direction of class k; so a move of
// class j adds or subtracts n_j P_j. Means and variance of the groups follow from K x K
// numbers, and those after a move from K numbers each. One pass over the rows counts the classes
// above the cuts of all K moves: rows are in the order of their classes, so that what is counted
// together lies side by side. `omnitree.parts.grouping.Exchange` is the same search in Python, for
// any direction and threshold.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "common/linear_sums.hpp"
#include "common/merit.hpp"
#include "common/tick.hpp"

namespace omnitree {

struct ExchangeTask {
  const double* scores;  // (k, n), the rows in the order of their classes
  const int64_t* first;  // (k + 1,) where the rows of each class begin
  const double* weight;  // (n,), null: every row counts one
  int64_t n;
  int k;
  const double* size;     // (k,) weight of each class
  const double* centres;  // (k, k) mean of the scores in each class
  const double* spread;   // (k, k) total scatter of the scores
  int merit;
};

constexpr double TIED = 1e-12;          // a move must gain more
constexpr int64_t COUNTED_ROWS = 1024;  // whose sums stay in the cache for all moves

// Weight of the rows with u + step * p above the cut.
template <bool WEIGHTED>
OMNITREE_INLINE double weight_above(const double* u, const double* p, double step, double cut,
                                    const double* weight, int64_t n) {
  const Four limit = {cut, cut, cut, cut};
  Four sum = {};
  FourInts hits[2] = {};
  int64_t i = 0;
  for (; WEIGHTED && i + 4 <= n; i += 4) {
    const FourInts above = load(u + i) + step * load(p + i) > limit;
    sum += reinterpret_cast<Four>(above & reinterpret_cast<FourInts>(load(weight + i)));
  }
  for (; i + 8 <= n; i += 8)
    for (int h = 0; h < 2; ++h) hits[h] -= load(u + i + 4 * h) + step * load(p + i + 4 * h) > limit;
  double total = (sum[0] + sum[1]) + (sum[2] + sum[3]);
  hits[0] += hits[1];
  total += static_cast<double>(hits[0][0] + hits[0][1] + hits[0][2] + hits[0][3]);
  for (; i < n; ++i) total += u[i] + step * p[i] > cut ? (WEIGHTED ? weight[i] : 1.0) : 0.0;
  return total;
}

// Weight above[class * (k + 1) + move] of the rows of each class above the cut of each move,
// the last of which is none and only counted if asked for.
template <bool WEIGHTED>
OMNITREE_INLINE void count_all(const ExchangeTask& t, const double* u, const double* step,
                               const double* cut, bool with_none, double* above) {
  for (int y = 0; y < t.k; ++y)
    for (int64_t at = t.first[y]; at < t.first[y + 1]; at += COUNTED_ROWS) {
      const int64_t n = std::min(COUNTED_ROWS, t.first[y + 1] - at);
      const double* weight = WEIGHTED ? t.weight + at : nullptr;
      double* to = above + static_cast<int64_t>(y) * (t.k + 1);
      for (int c = 0; c < t.k; ++c)
        if (cut[c] < std::numeric_limits<double>::infinity())
          to[c] +=
              weight_above<WEIGHTED>(u + at, t.scores + c * t.n + at, step[c], cut[c], weight, n);
      if (with_none) to[t.k] += weight_above<WEIGHTED>(u + at, u + at, 0.0, cut[t.k], weight, n);
    }
}

OMNITREE_CLONES
static void count_moves(const ExchangeTask& t, const double* u, const double* step,
                        const double* cut, bool with_none, double* above) {
  if (t.weight)
    count_all<true>(t, u, step, cut, with_none, above);
  else
    count_all<false>(t, u, step, cut, with_none, above);
}

OMNITREE_CLONES
static void add_line(const double* line, double step, int64_t n, double* u) {
  for (int64_t i = 0; i < n; ++i) u[i] += step * line[i];
}

class ExchangeSearch {
 public:
  explicit ExchangeSearch(const ExchangeTask& task)
      : t(task), merits{XLog2(0), {}, {nullptr, nullptr}}, cut(task.k + 1), step(task.k + 1),
        above(static_cast<size_t>(task.k) * (task.k + 1)), table(2 * static_cast<size_t>(task.k)),
        mean(task.k), scatter(task.k) {
    total = 0;
    for (int c = 0; c < t.k; ++c) total += t.size[c];
  }

  // What `run` ends with: scores of the rows around their mean up to a positive factor, the
  // cut, and the merit of the test, minus infinity if it separates nothing.
  double score(int64_t row) const { return u[row]; }
  double best_cut() const { return cut[t.k]; }
  double best_merit() const { return best; }

  // Moves classes as long as a move helps; `left` is the start and the result. When the time
  // is up it is what was reached by then; without a merit before the start has one.
  void run(uint8_t* left, Tick& tick) {
    best = -std::numeric_limits<double>::infinity();
    u.assign(t.n, 0.0);
    for (int c = 0; c < t.k && tick(0) == 0; ++c)
      if (left[c]) add_line(t.scores + c * t.n, t.size[c], t.n, u.data());
    if (tick(0) != 0) return;
    int last = -1;  // class that was moved last; to move it back is worse
    for (bool first = true;; first = false) {
      int members = 0;
      for (int c = 0; c < t.k; ++c) members += left[c];
      step[t.k] = 0;
      cut[t.k] = threshold(left);
      for (int c = 0; c < t.k; ++c) {
        left[c] ^= 1;
        const bool allowed = c != last && (left[c] ? members < t.k - 1 : members > 1);
        step[c] = left[c] ? t.size[c] : -t.size[c];
        cut[c] = allowed && tick(0) == 0 ? moved(left, c) : std::numeric_limits<double>::infinity();
        left[c] ^= 1;
      }
      count(first);
      if (first) best = value(t.k);
      if (tick(0) != 0) return;
      int top = -1;
      double top_value = -std::numeric_limits<double>::infinity();
      for (int c = 0; c < t.k; ++c) {
        const double v = std::isinf(cut[c]) ? top_value : value(c);
        // Groupings that divide the rows alike differ by rounding: the first one is taken.
        if (top < 0 ? v > top_value : v > top_value + TIED) top = c, top_value = v;
      }
      if (top < 0 || !(top_value > best + TIED)) return;
      left[top] ^= 1;
      best = top_value;
      last = top;
      add_line(t.scores + top * t.n, step[top], t.n, u.data());
    }
  }

  // Bayes' cut of u for two Gaussians with a common variance.
  double threshold(const uint8_t* left) {
    for (int c = 0; c < t.k; ++c) {
      mean[c] = scatter[c] = 0;
      for (int j = 0; j < t.k; ++j)
        if (left[j]) {
          mean[c] += t.size[j] * t.centres[static_cast<int64_t>(c) * t.k + j];
          scatter[c] += t.size[j] * t.spread[static_cast<int64_t>(c) * t.k + j];
        }
    }
    return cut_between(left, [&](int c) { return mean[c]; }, [&](int c) { return scatter[c]; });
  }

  // The same after one more class, `m`, has changed its side.
  double moved(const uint8_t* left, int m) const {
    const double by = step[m];
    const auto at = [&](const double* of, int c) { return of[static_cast<int64_t>(c) * t.k + m]; };
    return cut_between(
        left, [&](int c) { return mean[c] + by * at(t.centres, c); },
        [&](int c) { return scatter[c] + by * at(t.spread, c); });
  }

 private:
  template <class Mean, class Scatter>
  double cut_between(const uint8_t* left, Mean mean_of, Scatter scatter_of) const {
    double n_left = 0, sum_left = 0, sum_right = 0, sum = 0;
    for (int c = 0; c < t.k; ++c)
      if (left[c]) {
        n_left += t.size[c];
        sum_left += t.size[c] * mean_of(c);
        sum += t.size[c] * scatter_of(c);
      } else {
        sum_right += t.size[c] * mean_of(c);
      }
    const double n_right = total - n_left;
    const double m_left = sum_left / n_left, m_right = sum_right / n_right;
    const double apart = m_left - m_right;
    const double within = std::max(sum - n_left * n_right / total * apart * apart, 0.0);
    const double variance = within / std::max(total - 2, 1.0);
    // Means apart by rounding coincide: without this their prior would decide by noise.
    if (!(std::fabs(apart) > 1e-12 * std::sqrt(variance))) return (m_left + m_right) / 2;
    const double shift = variance / apart * std::log(n_left / n_right);
    return (m_left + m_right) / 2 - (std::isfinite(shift) ? shift : 0.0);
  }

  void count(bool with_none) {
    std::fill(above.begin(), above.end(), 0.0);
    count_moves(t, u.data(), step.data(), cut.data(), with_none, above.data());
  }

  // Merit of a move; minus infinity where a side stays empty.
  double value(int c) {
    double high = 0, low = 0;
    for (int y = 0; y < t.k; ++y) {
      const double a = above[static_cast<size_t>(y) * (t.k + 1) + c];
      table[t.k + y] = a;
      // Weights were added up in another order: what is rounding only is nothing.
      const double rest = t.size[y] - a;
      table[y] = rest > 1e-12 * t.size[y] ? rest : 0.0;
      high += a;
      low += table[y];
    }
    if (!(high > 0 && low > 0)) return -std::numeric_limits<double>::infinity();
    return merits.of(t.merit, table.data(), 2, t.k);
  }

  const ExchangeTask t;
  Merits merits;
  std::vector<double> u, cut, step, above, table;
  std::vector<double> mean, scatter;  // (k,) of u in each class, as the groups are
  double total, best = 0;
};

}  // namespace omnitree
