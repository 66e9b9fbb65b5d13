// Leave-one-out paths of univariate trees under the information gain (Liu & White 1994).
//
// Columns are sorted once for all rows; a node is a mark on the rows it has, so a scan of
// one feature costs O(n) at any depth. Fit for the small tables that leave-one-out is for.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "common/mix.hpp"

namespace omnitree {

struct PathStep {
  int32_t feature;
  int32_t branch;  // 0: at most the threshold
  double threshold;
};

class PathGrower {
 public:
  PathGrower(const double* columns, const int32_t* y, int n, int d, int n_classes)
      : x_(columns), y_(y), n_(n), d_(d), k_(n_classes), order_(size_t(n) * d), nlogn_(n + 1),
        inside_(n), total_(n_classes), low_(n_classes) {
    for (int m = 1; m <= n; ++m) nlogn_[m] = m * std::log(double(m));
    for (int f = 0; f < d; ++f) {
      int32_t* o = &order_[size_t(f) * n];
      std::iota(o, o + n, 0);
      const double* x = column(f);
      std::stable_sort(o, o + n, [x](int32_t a, int32_t b) { return x[a] < x[b]; });
    }
  }

  // Appends the steps of the row's path and, for each, the class counts of both branches.
  // The random numbers, if they choose the features, go on from row to row.
  void grow(int row, bool at_random, SplitMix& random, std::vector<PathStep>& steps,
            std::vector<int32_t>& counts) {
    std::fill(inside_.begin(), inside_.end(), uint8_t(1));
    std::fill(total_.begin(), total_.end(), 0);
    inside_[row] = 0;
    size_ = n_ - 1;
    for (int i = 0; i < n_; ++i) total_[y_[i]] += inside_[i];
    while (!pure()) {
      PathCut cut = at_random ? random_cut(random) : best_cut();
      if (cut.feature < 0) return;
      const double* x = column(cut.feature);
      int branch = x[row] > cut.threshold;
      std::fill(low_.begin(), low_.end(), 0);
      for (int i = 0; i < n_; ++i)
        if (inside_[i] && x[i] <= cut.threshold) ++low_[y_[i]];
      counts.insert(counts.end(), low_.begin(), low_.end());
      for (int c = 0; c < k_; ++c) counts.push_back(total_[c] - low_[c]);
      for (int i = 0; i < n_; ++i)
        if ((x[i] > cut.threshold) != branch) inside_[i] = 0;
      for (int c = 0; c < k_; ++c) total_[c] = branch ? total_[c] - low_[c] : low_[c];
      size_ = std::accumulate(total_.begin(), total_.end(), 0);
      steps.push_back({cut.feature, branch, cut.threshold});
    }
  }

 private:
  struct PathCut {
    int32_t feature = -1;
    double threshold = 0;
    double score = 0;  // minus the entropy that is left, times the rows
  };
  // Scores of equal partitions differ by rounding when the branches are swapped.
  static constexpr double TIE = 1e-9;

  const double* column(int f) const { return x_ + size_t(f) * n_; }

  bool pure() const { return *std::max_element(total_.begin(), total_.end()) == size_; }

  PathCut cut_of(int f) {
    const double* x = column(f);
    const int32_t* o = &order_[size_t(f) * n_];
    std::fill(low_.begin(), low_.end(), 0);
    PathCut best;
    int below = 0, last = -1;
    double left = 0, right = 0;
    for (int c = 0; c < k_; ++c) right += nlogn_[total_[c]];
    for (int at = 0; at < n_; ++at) {
      int i = o[at];
      if (!inside_[i]) continue;
      if (last >= 0 && x[i] > x[last]) {
        double score = left - nlogn_[below] + right - nlogn_[size_ - below];
        if (best.feature < 0 || score > best.score + TIE) best = {f, middle(x[last], x[i]), score};
      }
      int c = y_[i], high = total_[c] - low_[c];
      left += nlogn_[low_[c] + 1] - nlogn_[low_[c]];
      right += nlogn_[high - 1] - nlogn_[high];
      ++low_[c];
      ++below;
      last = i;
    }
    return best;
  }

  PathCut best_cut() {
    PathCut best;
    for (int f = 0; f < d_; ++f) {
      PathCut cut = cut_of(f);
      if (cut.feature >= 0 && (best.feature < 0 || cut.score > best.score + TIE)) best = cut;
    }
    return best;
  }

  // Features in random order; the first that can be cut is taken.
  PathCut random_cut(SplitMix& random) {
    std::vector<int> left(d_);
    std::iota(left.begin(), left.end(), 0);
    while (!left.empty()) {
      size_t at = size_t(random.next() % left.size());
      PathCut cut = cut_of(left[at]);
      if (cut.feature >= 0) return cut;
      left.erase(left.begin() + at);
    }
    return {};
  }

  static double middle(double a, double b) {
    double m = a + (b - a) / 2;
    return m < b ? m : a;
  }

  const double* x_;
  const int32_t* y_;
  int n_, d_, k_, size_ = 0;
  std::vector<int32_t> order_;
  std::vector<double> nlogn_;
  std::vector<uint8_t> inside_;
  std::vector<int32_t> total_, low_;
};

}  // namespace omnitree
