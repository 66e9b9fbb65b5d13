// Tests on one categorical feature from its table codes x classes.
//
// multiway: a branch per code (C4.5). subset: two sets of codes; with two classes the codes
// are ordered by their share of the second class and only the cuts of that order are tried
// (exact: Breiman et al. 1984); with more classes all subsets are tried up to
// EXHAUSTIVE codes, above that the cuts of the order along the first principal component of
// the class shares (Coppersmith, Hong & Hosking 1999). one-rest: one code against the
// others. groups: C4.5's -s, codes of the same pure class merged, then pair by pair as long
// as the gain ratio rises.
#pragma once
#include <cmath>
#include <numeric>

#include "common/merit.hpp"
#include "univariate/general_types.hpp"

namespace omnitree {

constexpr int EXHAUSTIVE = 10;

class CategorySearch {
 public:
  CategorySearch(const Options& o, int K, Merits& merits) : o_(o), K_(K), merits_(merits) {}

  // `n` holds the counts of m codes, `unknown` the weight of missing values left out of them;
  // `inner` is the merit that chooses between partitions of this feature. Returns the branch of
  // every code (-1: absent from a test on sets), empty if no partition is admissible.
  std::vector<int32_t> find(const std::vector<double>& n, int m, double unknown, int inner) {
    n_ = n.data();
    m_ = m;
    unknown_ = unknown;
    inner_ = inner;
    present_.clear();
    size_.assign(m, 0);
    for (int v = 0; v < m; ++v) {
      for (int k = 0; k < K_; ++k) size_[v] += n_[v * K_ + k];
      if (size_[v] > 0) present_.push_back(v);
    }
    if (present_.size() < 2) return {};
    switch (o_.categories) {
      case AS_MULTIWAY:
        return multiway();
      case AS_GROUPS:
        return m > 2 ? groups() : multiway();
      case AS_ONE_REST:
        return one_rest();
      default:
        return subset();
    }
  }

  // Counts branches x classes of a partition of the codes.
  void tabulate(const std::vector<int32_t>& branch, int B, std::vector<double>& out) const {
    out.assign(static_cast<size_t>(B) * K_, 0);
    for (int v : present_)
      for (int k = 0; k < K_; ++k) out[branch[v] * K_ + k] += n_[v * K_ + k];
  }

 private:
  bool enough(const std::vector<double>& size) const {
    int reasonable = 0;
    for (double s : size) reasonable += s >= o_.min_branch - 1e-9;
    return reasonable >= 2;
  }

  std::vector<int32_t> multiway() const {
    if (!enough(size_)) return {};
    std::vector<int32_t> branch(m_);
    std::iota(branch.begin(), branch.end(), 0);
    return branch;
  }

  // Keep `left` (a set of present codes) if it is admissible and better than the best.
  void offer(const std::vector<char>& left) {
    table_.assign(2 * static_cast<size_t>(K_), 0);
    for (size_t i = 0; i < present_.size(); ++i)
      for (int k = 0; k < K_; ++k) table_[(left[i] ? 0 : K_) + k] += n_[present_[i] * K_ + k];
    const double l = std::accumulate(table_.begin(), table_.begin() + K_, 0.0);
    const double r = std::accumulate(table_.begin() + K_, table_.end(), 0.0);
    if (std::min(l, r) < o_.min_branch - 1e-9) return;
    if (inner_ == CUSTOM) {  // Python is asked for all of them in one call
      asked_.push_back(left);
      tables_.insert(tables_.end(), table_.begin(), table_.end());
    } else {
      keep_better(left, merits_.of(inner_, table_.data(), 2, K_));
    }
  }

  void keep_better(const std::vector<char>& left, double merit) {
    if (!best_.empty() && !better(merit, best_merit_)) return;
    best_merit_ = merit;
    best_ = left;
  }

  void ask() {
    std::vector<double> scores(asked_.size());
    merits_.failed |=
        !merits_.custom.call(merits_.custom.state, tables_.data(),
                             static_cast<int64_t>(scores.size()), 2, K_, scores.data());
    for (size_t c = 0; c < scores.size(); ++c) keep_better(asked_[c], scores[c]);
    asked_.clear();
    tables_.clear();
  }

  std::vector<int32_t> result() {
    if (!asked_.empty()) ask();
    if (best_.empty()) return {};
    // The side of the lowest code is branch 0, whichever way it was found.
    std::vector<int32_t> branch(m_, -1);
    for (size_t i = 0; i < present_.size(); ++i) branch[present_[i]] = best_[i] == best_[0] ? 0 : 1;
    return branch;
  }

  std::vector<int32_t> one_rest() {
    best_.clear();
    for (size_t i = 0; i < present_.size(); ++i) {
      std::vector<char> left(present_.size(), 0);
      left[i] = 1;
      offer(left);
    }
    return result();
  }

  std::vector<int32_t> subset() {
    best_.clear();
    const size_t p = present_.size();
    if (K_ > 2 && p <= EXHAUSTIVE) {
      for (uint32_t mask = 1; mask < (1u << (p - 1)); ++mask) {
        std::vector<char> left(p, 0);
        for (size_t i = 1; i < p; ++i) left[i] = mask >> (i - 1) & 1;
        offer(left);
      }
      return result();
    }
    std::vector<double> score = K_ == 2 ? second_class_share() : principal_scores();
    std::vector<size_t> order(p);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return score[a] < score[b]; });
    std::vector<char> left(p, 0);
    for (size_t i = 0; i + 1 < p; ++i) {
      left[order[i]] = 1;
      offer(left);
    }
    return result();
  }

  std::vector<double> second_class_share() const {
    std::vector<double> s;
    for (int v : present_) s.push_back(n_[v * K_ + 1] / size_[v]);
    return s;
  }

  std::vector<double> principal_scores() const {
    const size_t p = present_.size();
    std::vector<double> share(p * K_), mean(K_, 0), cov(static_cast<size_t>(K_) * K_, 0);
    double total = 0;
    for (size_t i = 0; i < p; ++i) {
      total += size_[present_[i]];
      for (int k = 0; k < K_; ++k) {
        share[i * K_ + k] = n_[present_[i] * K_ + k] / size_[present_[i]];
        mean[k] += n_[present_[i] * K_ + k];
      }
    }
    for (double& v : mean) v /= total;
    for (size_t i = 0; i < p; ++i)
      for (int a = 0; a < K_; ++a)
        for (int b = 0; b < K_; ++b)
          cov[a * K_ + b] += size_[present_[i]] / total * (share[i * K_ + a] - mean[a]) *
                             (share[i * K_ + b] - mean[b]);
    // Power iteration from the class whose share varies most; 100 steps are plenty to
    // order the codes.
    std::vector<double> u(K_, 0), next(K_);
    int start = 0;
    for (int k = 1; k < K_; ++k)
      if (cov[k * K_ + k] > cov[start * K_ + start]) start = k;
    u[start] = 1;
    for (int step = 0; step < 100; ++step) {
      double norm = 0;
      for (int a = 0; a < K_; ++a) {
        next[a] = 0;
        for (int b = 0; b < K_; ++b) next[a] += cov[a * K_ + b] * u[b];
        norm += next[a] * next[a];
      }
      if (norm <= 0) break;
      for (int a = 0; a < K_; ++a) u[a] = next[a] / std::sqrt(norm);
    }
    std::vector<double> score(p, 0);
    for (size_t i = 0; i < p; ++i)
      for (int k = 0; k < K_; ++k) score[i] += u[k] * share[i * K_ + k];
    return score;
  }

  // C4.5's worth of a grouping; -1 if it has fewer than two sets of enough rows.
  double group_worth(const std::vector<int32_t>& branch, int B, std::vector<double>& t) {
    tabulate(branch, B, t);
    Margins& m = merits_.m;
    m.of(t.data(), B, K_);
    const double all = m.total + unknown_;
    double info = merits_.xl(all) - merits_.xl(unknown_);
    for (int b = 0; b < B; ++b) info -= merits_.xl(m.branch[b]);
    info /= all;
    if (!enough(m.branch) || info <= 1e-3) return -1;
    const double gain = info_gain(t.data(), B, K_, m, merits_.xl) * m.total / all;
    return o_.merit == GAIN_RATIO ? gain / info : gain;
  }

  // The class that has all rows of a code, or -1.
  int pure_class(int v) const {
    for (int k = 0; k < K_; ++k)
      if (n_[v * K_ + k] >= size_[v] - 0.1) return k;
    return -1;
  }

  std::vector<int32_t> groups() {
    std::vector<int32_t> branch(m_, -1);
    std::vector<int32_t> set_of_class(K_, -1);
    int B = 0;
    for (int v : present_) {
      const int pure = pure_class(v);
      if (pure >= 0 && set_of_class[pure] >= 0) {
        branch[v] = set_of_class[pure];
        continue;
      }
      if (pure >= 0) set_of_class[pure] = B;
      branch[v] = B++;
    }
    std::vector<double> t;
    double best = group_worth(branch, B, t);
    while (B > 2) {
      std::vector<int32_t> merged;
      for (int a = 0; a < B - 1; ++a)
        for (int b = a + 1; b < B; ++b) {
          std::vector<int32_t> trial = branch;
          for (int v : present_) {
            if (trial[v] == b)
              trial[v] = a;
            else if (trial[v] > b)
              --trial[v];
          }
          const double worth = group_worth(trial, B - 1, t);
          if (better(worth, best)) best = worth, merged = trial;
        }
      if (merged.empty()) break;
      branch = merged, --B;
    }
    return best <= -1 ? std::vector<int32_t>{} : branch;  // a gain of 0 may round below 0
  }

  const Options& o_;
  const int K_;
  Merits& merits_;
  const double* n_ = nullptr;
  int m_ = 0, inner_ = GINI;
  double unknown_ = 0;
  std::vector<int> present_;
  std::vector<double> size_, table_, tables_;
  std::vector<char> best_;
  std::vector<std::vector<char>> asked_;
  double best_merit_ = 0;
};

}  // namespace omnitree
