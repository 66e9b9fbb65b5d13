// What the kernel makes (Tree), and how it stays interruptible (Clock).
//
// Used by: presort_scan.hpp, presort_lists.hpp, presort.hpp; presort.pyx copies a Tree out.
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "common/tick.hpp"
#include "univariate/presort_task.hpp"

namespace omnitree {

constexpr double SLACK = 1e-9;  // tolerance of min_rows and min_branch: weights are sums of doubles

inline double xlogx(double v) { return v > 0 ? v * std::log2(v) : 0.0; }

// Minus the impurity times the weight, of one node: what a split adds up over its branches.
inline double purity(const double* count, u32 k, int merit) {
  double total = 0, sum = 0;
  for (u32 c = 0; c < k; ++c) {
    total += count[c];
    sum += merit == GINI ? count[c] * count[c] : xlogx(count[c]);
  }
  return merit == GINI ? sum / total - total : sum - xlogx(total);
}

inline void add_target(double t, double w, double* stats) {
  stats[WEIGHT] += w;
  stats[SUM] += w * t;
  stats[SUM_OF_SQUARES] += w * t * t;
  stats[LEAST] = std::min(stats[LEAST], t);
  stats[GREATEST] = std::max(stats[GREATEST], t);
}

struct Tree {
  std::vector<i32> first_child, parent, feature;
  std::vector<double> threshold, merit, value;
  u32 k = 0;

  u32 size() const { return static_cast<u32>(parent.size()); }

  u32 add(i32 from, const double* count) {
    first_child.push_back(-1);
    parent.push_back(from);
    feature.push_back(-1);
    threshold.push_back(0.0);
    merit.push_back(0.0);
    value.insert(value.end(), count, count + k);
    return size() - 1;
  }

  // Turn a leaf into a split between the values of two rows; returns the left child, the right one
  // follows it.
  u32 split(u32 node, const Task& task, u32 column, u32 row_below, u32 row_above,
            const double* left, const double* right) {
    const double a = task.at(row_below, column), b = task.at(row_above, column);
    const double middle = a + (b - a) / 2;
    feature[node] = static_cast<i32>(column);
    threshold[node] = middle < b ? middle : a;  // false too if b - a overflows
    const double* own = &value[std::size_t(node) * k];
    if (task.merit == SQUARES) {  // a form that loses no digits
      const double apart = left[SUM] / left[WEIGHT] - right[SUM] / right[WEIGHT];
      merit[node] = left[WEIGHT] / own[WEIGHT] * (right[WEIGHT] / own[WEIGHT]) * apart * apart;
    } else {
      double total = 0;
      for (u32 c = 0; c < k; ++c) total += own[c];
      const double gain =
          purity(left, k, task.merit) + purity(right, k, task.merit) - purity(own, k, task.merit);
      merit[node] = std::max(0.0, gain / total);
    }
    first_child[node] = static_cast<i32>(size());
    add(static_cast<i32>(node), left);
    add(static_cast<i32>(node), right);
    return size() - 2;
  }

  // Move a cut down to the largest of the ascending values that is not above it.
  void lower_threshold(u32 node, const std::vector<double>& values) {
    threshold[node] = *(std::upper_bound(values.begin(), values.end(), threshold[node]) - 1);
  }

  bool may_split(u32 node, int depth, const Task& task) const {
    if (task.max_depth >= 0 && depth >= task.max_depth) return false;
    const double* count = &value[std::size_t(node) * k];
    double total = 0;
    int present = 0;
    if (task.target) {
      total = count[WEIGHT];
      present = count[LEAST] < count[GREATEST] ? 2 : 1;
    } else {
      for (u32 c = 0; c < k; ++c) {
        total += count[c];
        present += count[c] > 0;
      }
    }
    return present > 1 && total >= task.min_rows - SLACK && total >= 2 * (task.min_branch - SLACK);
  }
};

// Asks the tick now and then. `work` counts elementary steps of about a nanosecond.
class Clock {
 public:
  explicit Clock(const omnitree::Tick& tick) : tick_(tick) {}

  bool stopped() const { return stopped_; }

  // Report some steps; the time itself is looked at every two million of them.
  bool work(u64 steps, double fraction_done) {
    done_ += steps;
    if (done_ < 2000000 || stopped_) return stopped_;
    done_ = 0;
    stopped_ = tick_(fraction_done) != 0;
    return stopped_;
  }

 private:
  omnitree::Tick tick_;
  u64 done_ = 0;
  bool stopped_ = false;
};

}  // namespace omnitree
