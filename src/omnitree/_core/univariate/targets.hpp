// The best cut of a projection of a node's rows under a numeric target.
//
// Squared error: with S the sum of weight times target left of the cut, around the mean, the
// decrease is S^2 (1/left + 1/right). Absolute error: the loss of a side around its median, kept in
// a Fenwick tree over the ranks of the targets, O(log n) a row. Ridge: the loss of a linear model
// on each side, from sums of products that move from right to left; O(p^2) a row and O(p^3) at each
// of some cuts. Rows come in the order of the projection; ties are told by its values. A later cut
// must win by more than a tolerance. Used by targets.pyx.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace omnitree {

constexpr double WEIGHT_SLACK = 1e-9;  // of min_branch: weights are sums of doubles

struct TargetCut {
  double gain = -std::numeric_limits<double>::infinity();
  int64_t after = -1;  // position of the last row on the left; -1: none
};

struct ProjectedRows {
  const int64_t* order;               // by the projection
  const double *z, *target, *weight;  // by row
  int64_t n;
  double min_branch;

  bool parts(int64_t i, double left, double right) const {
    return z[order[i]] < z[order[i + 1]] && left >= min_branch - WEIGHT_SLACK &&
           right >= min_branch - WEIGHT_SLACK;
  }
};

// The target has mean 0 under the weights.
inline TargetCut cut_squared(const ProjectedRows& r) {
  double total = 0, loss = 0;
  for (int64_t i = 0; i < r.n; ++i) {
    total += r.weight[i];
    loss += r.weight[i] * r.target[i] * r.target[i];
  }
  const double tolerance = 1e-11 * loss;
  TargetCut best;
  double left = 0, sum = 0;
  for (int64_t i = 0; i + 1 < r.n; ++i) {
    const int64_t row = r.order[i];
    left += r.weight[row];
    sum += r.weight[row] * r.target[row];
    const double right = total - left;
    if (!r.parts(i, left, right)) continue;
    const double gain = sum * sum * (1 / left + 1 / right);
    if (gain > best.gain + tolerance) best.gain = gain, best.after = i;
  }
  return best;
}

// Weights and sums of targets by rank, with the loss around the weighted median.
class Median {
 public:
  explicit Median(int64_t ranks) : weight_(ranks + 1), sum_(ranks + 1) {
    while (top_ * 2 <= ranks) top_ *= 2;
  }

  void add(int64_t rank, double w, double target) {
    total_ += w;
    all_ += w * target;
    for (int64_t i = rank + 1; i < static_cast<int64_t>(weight_.size()); i += i & -i) {
      weight_[i] += w;
      sum_[i] += w * target;
    }
  }

  double total() const { return total_; }

  // Sum of |target - m| for the median m: the first target up to which half the weight lies.
  double loss(const double* target_of_rank) const {
    int64_t at = 0;
    double below = 0, sum = 0;
    for (int64_t step = top_; step; step /= 2) {
      const int64_t next = at + step;
      if (next < static_cast<int64_t>(weight_.size()) &&
          below + weight_[next] < total_ / 2 - WEIGHT_SLACK * total_) {
        at = next;
        below += weight_[next];
        sum += sum_[next];
      }
    }
    if (at >= static_cast<int64_t>(weight_.size()) - 1) return 0;
    const double m = target_of_rank[at];
    return m * below - sum + (all_ - sum) - m * (total_ - below);
  }

 private:
  std::vector<double> weight_, sum_;
  int64_t top_ = 1;
  double total_ = 0, all_ = 0;
};

// `rank` of each row's target among the distinct targets, which ascend in `target_of_rank`.
inline TargetCut cut_absolute(const ProjectedRows& r, const int64_t* rank,
                              const double* target_of_rank, int64_t ranks) {
  Median left(ranks), right(ranks);
  for (int64_t i = 0; i < r.n; ++i) right.add(rank[i], r.weight[i], r.target[i]);
  const double loss = right.loss(target_of_rank), tolerance = 1e-10 * loss;
  TargetCut best;
  for (int64_t i = 0; i + 1 < r.n; ++i) {
    const int64_t row = r.order[i];
    left.add(rank[row], r.weight[row], r.target[row]);
    right.add(rank[row], -r.weight[row], r.target[row]);
    if (!r.parts(i, left.total(), right.total())) continue;
    const double gain = loss - left.loss(target_of_rank) - right.loss(target_of_rank);
    if (gain > best.gain + tolerance) best.gain = gain, best.after = i;
  }
  return best;
}

// Sums of products of (1, columns, target) of some rows, lower triangle by rows.
class Products {
 public:
  explicit Products(int64_t p) : p_(p), sums_((p + 2) * (p + 3) / 2), line_(p + 2) {}

  void add(const double* x, double target, double w) {
    line_[0] = 1;
    std::copy(x, x + p_, line_.begin() + 1);
    line_[p_ + 1] = target;
    double* out = sums_.data();
    for (int64_t i = 0; i < p_ + 2; ++i) {
      const double a = w * line_[i];
      for (int64_t j = 0; j <= i; ++j) *out++ += a * line_[j];
    }
  }

  void subtract(const Products& other) {
    for (std::size_t i = 0; i < sums_.size(); ++i) sums_[i] -= other.sums_[i];
  }

  void clear() { std::fill(sums_.begin(), sums_.end(), 0.0); }

  double weight() const { return sums_[0]; }

  // Least of squared error plus ridge times squared weights, the bias free.
  double loss(double ridge, std::vector<double>& scratch) const {
    const int64_t p = p_, m = p + 1;
    scratch.assign(m * m, 0.0);
    const double n = sums_[0];
    // Scatter of columns and target around their means, then Cholesky's factor of it.
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j <= i; ++j)
        scratch[i * m + j] = at(i + 1, j + 1) - at(i + 1, 0) * at(j + 1, 0) / n;
    double* a = scratch.data();
    for (int64_t j = 0; j < p; ++j) {
      double d = a[j * m + j] + ridge;
      for (int64_t k = 0; k < j; ++k) d -= a[j * m + k] * a[j * m + k];
      // A column without scatter of its own is left out.
      if (!(d > 1e-10 * (std::fabs(at(j + 1, j + 1)) + ridge))) {
        for (int64_t i = j; i < m; ++i) a[i * m + j] = 0;
        continue;
      }
      const double root = std::sqrt(d);
      a[j * m + j] = root;
      for (int64_t i = j + 1; i < m; ++i) {
        double v = a[i * m + j];
        for (int64_t k = 0; k < j; ++k) v -= a[i * m + k] * a[j * m + k];
        a[i * m + j] = v / root;
      }
    }
    double rest = a[p * m + p];
    for (int64_t k = 0; k < p; ++k) rest -= a[p * m + k] * a[p * m + k];
    return std::max(rest, 0.0);
  }

 private:
  int64_t p_;
  std::vector<double> sums_, line_;

  double at(int64_t i, int64_t j) const { return sums_[i * (i + 1) / 2 + j]; }
};

// Cuts with a ridge model on either side, for one projection after another of the same rows.
class RidgeSearch {
 public:
  // `x` has a line of p columns for each row, best around their means.
  RidgeSearch(const double* x, int64_t p, const double* target, const double* weight, int64_t n,
              double penalty, double min_branch)
      : x_(x), p_(p), target_(target), weight_(weight), n_(n), penalty_(penalty),
        min_branch_(min_branch), all_(p), left_(p), right_(p) {
    for (int64_t i = 0; i < n; ++i) all_.add(x + i * p, target[i], weight[i]);
    whole = all_.loss(penalty, scratch_);
  }

  double whole = 0;  // loss without a cut

  // The best of about `most` cuts at quantiles of z, then of about as many next to it; of all, if
  // there are not more than twice as many. Gain of the cut, and the position that it follows in the
  // order.
  TargetCut best(const int64_t* order, const double* z, int64_t most) {
    ends_.clear(), below_.clear();
    double left = 0;
    const double total = all_.weight();
    for (int64_t i = 0; i + 1 < n_; ++i) {
      left += weight_[order[i]];
      if (!(z[order[i]] < z[order[i + 1]])) continue;
      if (left < min_branch_ - WEIGHT_SLACK || total - left < min_branch_ - WEIGHT_SLACK) continue;
      ends_.push_back(i);
      below_.push_back(left);
    }
    TargetCut best;
    const int64_t many = static_cast<int64_t>(ends_.size());
    if (!many) return best;
    some_.clear();
    if (many <= 2 * most) {
      for (int64_t e = 0; e < many; ++e) some_.push_back(e);
      least(order, best);
      return best;
    }
    for (int64_t k = 0; k < most; ++k) {
      const double share = most > 1 ? static_cast<double>(k) / (most - 1) : 0.5;
      const double level = below_[0] + (below_[many - 1] - below_[0]) * share;
      add(std::lower_bound(below_.begin(), below_.end(), level - WEIGHT_SLACK) - below_.begin());
    }
    const int64_t at = least(order, best);
    const int64_t low = some_[std::max<int64_t>(at - 1, 0)];
    const int64_t high = some_[std::min<int64_t>(at + 1, static_cast<int64_t>(some_.size()) - 1)];
    const int64_t step = std::max<int64_t>(1, (high - low + 1) / most);
    some_.clear();
    for (int64_t e = low; e <= high; e += step) add(e);
    least(order, best);
    return best;
  }

 private:
  const double* x_;
  int64_t p_;
  const double *target_, *weight_;
  int64_t n_;
  double penalty_, min_branch_;
  Products all_, left_, right_;
  std::vector<int64_t> ends_, some_;  // positions of cuts, and those that are tried
  std::vector<double> below_, scratch_;

  void add(int64_t e) {
    if (e < static_cast<int64_t>(ends_.size()) && (some_.empty() || some_.back() < e))
      some_.push_back(e);
  }

  // Try the cuts of `some_`, keep what is better than `best`; returns which of them was the best.
  int64_t least(const int64_t* order, TargetCut& best) {
    left_.clear();
    int64_t i = 0, at = 0;
    double top = -std::numeric_limits<double>::infinity();
    const double tolerance = 1e-9 * whole;
    for (std::size_t c = 0; c < some_.size(); ++c) {
      for (; i <= ends_[some_[c]]; ++i) {
        const int64_t row = order[i];
        left_.add(x_ + row * p_, target_[row], weight_[row]);
      }
      right_ = all_;
      right_.subtract(left_);
      const double gain = whole - left_.loss(penalty_, scratch_) - right_.loss(penalty_, scratch_);
      if (gain > top + tolerance) top = gain, at = static_cast<int64_t>(c);
      if (gain > best.gain + tolerance) best.gain = gain, best.after = ends_[some_[c]];
    }
    return at;
  }
};

}  // namespace omnitree
