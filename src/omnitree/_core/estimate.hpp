// Error-based pruning with subtree raising (C4.5 release 8).
//
// Every node's errors are estimated by an upper confidence limit. Bottom-up, a node becomes
// a leaf if that is within 0.1 errors of its subtree and of its largest branch, else it is
// replaced by that branch if this is within 0.1 of the subtree; the rows of all branches
// then go down the raised one, which is estimated and pruned anew. Rows that a gap divides
// count in fractions. An explicit stack instead of recursion: trees may be deep.
// O(rows x depth), and again for every raise considered. Used by pruning/error_based.py.
#pragma once
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "general_types.hpp"
#include "route.hpp"

namespace omnitree {

// Errors to add to `e` of `n` rows: Quinlan's stats.c, with his table of the normal
// deviate interpolated for the confidence factor.
class AddErrors {
 public:
  explicit AddErrors(double cf) : cf_(cf) {
    static const double val[] = {0, 0.001, 0.005, 0.01, 0.05, 0.10, 0.20, 0.40, 1.00};
    static const double dev[] = {4.0, 3.09, 2.58, 2.33, 1.65, 1.28, 0.84, 0.25, 0.00};
    int i = 1;
    while (i < 8 && cf > val[i]) ++i;
    const double z = dev[i - 1] + (dev[i] - dev[i - 1]) * (cf - val[i - 1]) / (val[i] - val[i - 1]);
    coeff_ = z * z;
  }
  double operator()(double n, double e) const {
    if (n <= 0) return 0;
    if (e < 1e-6) return n * (1 - std::exp(std::log(cf_) / n));
    if (e < 0.9999) {
      const double none = n * (1 - std::exp(std::log(cf_) / n));
      return none + e * ((*this)(n, 1.0) - none);
    }
    if (e + 0.5 >= n) return 0.67 * (n - e);
    const double p =
        (e + 0.5 + coeff_ / 2 +
         std::sqrt(coeff_ * ((e + 0.5) * (1 - (e + 0.5) / n) + coeff_ / 4))) /
        (n + coeff_);
    return n * p - e;
  }

 private:
  double cf_, coeff_;
};

class ErrorBased {
 public:
  ErrorBased(const TreeView& t, const Values& x, const int32_t* y, int K, double cf,
             bool raising, int32_t n_nodes)
      : t_(t), x_(x), y_(y), K_(K), add_(cf), raising_(raising), to_(n_nodes),
        items_(n_nodes, 0.0) {
    std::iota(to_.begin(), to_.end(), 0);
  }

  // What takes each node's place: itself, -1 for a leaf, or a descendant.
  std::vector<int32_t> prune(std::vector<Entry> entries) {
    stack_.push_back({0, -1, 0, 0.0, std::move(entries), {}});
    while (!stack_.empty()) step();
    return std::move(to_);
  }

 private:
  struct Frame {
    int32_t node, parent;  // parent: index of the frame that awaits this node's errors
    int32_t next;          // branch to visit next
    double errors;         // of the branches so far
    std::vector<Entry> entries;
    std::vector<std::vector<Entry>> parts;
  };

  void step() {
    const int32_t at = static_cast<int32_t>(stack_.size()) - 1;
    Frame& f = stack_[at];
    if (t_.kind[f.node] == LEAF || to_[f.node] == -1) {
      to_[f.node] = -1;
      items_[f.node] = total(f.entries);
      finish(leaf_errors(f.entries));
      return;
    }
    if (f.next == 0) {
      items_[f.node] = total(f.entries);
      f.parts = parts(f.node, f.entries);
    }
    while (f.next < t_.n_children[f.node]) {
      const int32_t b = f.next++;
      const int32_t child = t_.first_child[f.node] + b;
      items_[standing(child)] = 0;
      if (f.parts[b].empty()) continue;
      Frame down{standing(child), at, 0, 0.0, std::move(f.parts[b]), {}};
      stack_.push_back(std::move(down));
      return;
    }
    decide(f);
  }

  // The node that now stands where `node` stood (a raise below may have moved one up).
  int32_t standing(int32_t node) const {
    while (to_[node] >= 0 && to_[node] != node) node = to_[node];
    return node;
  }

  void decide(Frame& f) {
    const double leaf = leaf_errors(f.entries);
    const int32_t first = t_.first_child[f.node];
    int32_t largest = first;
    for (int32_t b = 1; b < t_.n_children[f.node]; ++b)
      if (weight_at(first + b) > weight_at(largest)) largest = first + b;
    const double branch =
        raising_ ? estimate(largest, f.entries) : std::numeric_limits<double>::infinity();
    if (leaf <= branch + 0.1 && leaf <= f.errors + 0.1) {
      to_[f.node] = -1;
      finish(leaf);
    } else if (branch <= f.errors + 0.1) {
      const int32_t up = standing(largest);
      to_[f.node] = up;
      const int32_t parent = f.parent;
      Frame again{up, parent, 0, 0.0, std::move(f.entries), {}};
      stack_.pop_back();
      stack_.push_back(std::move(again));
    } else {
      finish(f.errors);
    }
  }

  double weight_at(int32_t node) const { return items_[standing(node)]; }

  void finish(double errors) {
    const int32_t parent = stack_.back().parent;
    stack_.pop_back();
    if (parent >= 0) stack_[parent].errors += errors;
  }

  double total(const std::vector<Entry>& entries) const {
    double s = 0;
    for (const Entry& e : entries) s += e.weight;
    return s;
  }

  double leaf_errors(const std::vector<Entry>& entries) const {
    std::vector<double> n(K_, 0);
    for (const Entry& e : entries) n[y_[e.row]] += e.weight;
    const double all = std::accumulate(n.begin(), n.end(), 0.0);
    const double wrong = all - *std::max_element(n.begin(), n.end());
    return wrong + add_(all, wrong);
  }

  std::vector<std::vector<Entry>> parts(int32_t node, const std::vector<Entry>& entries) const {
    const int32_t B = t_.n_children[node];
    std::vector<std::vector<Entry>> out(B);
    std::vector<double> size(B, 0);
    std::vector<Entry> gaps;
    double known = 0;
    for (const Entry& e : entries) {
      const int b = branch_at(t_, x_, node, e.row);
      if (b < 0) {
        gaps.push_back(e);
        continue;
      }
      out[b].push_back(e);
      size[b] += e.weight;
      known += e.weight;
    }
    for (const Entry& e : gaps)
      for (int32_t b = 0; b < B; ++b)
        if (size[b] > 0) out[b].push_back({e.row, e.weight * size[b] / known});
    return out;
  }

  // Errors of the subtree as it stands now, for other rows than its own.
  double estimate(int32_t node, const std::vector<Entry>& entries) const {
    std::vector<std::pair<int32_t, std::vector<Entry>>> open{{standing(node), entries}};
    double sum = 0;
    while (!open.empty()) {
      auto [at, rows] = std::move(open.back());
      open.pop_back();
      if (t_.kind[at] == LEAF || to_[at] == -1) {
        sum += leaf_errors(rows);
        continue;
      }
      auto below = parts(at, rows);
      for (int32_t b = 0; b < t_.n_children[at]; ++b)
        if (!below[b].empty())
          open.emplace_back(standing(t_.first_child[at] + b), std::move(below[b]));
    }
    return sum;
  }

  const TreeView& t_;
  const Values& x_;
  const int32_t* y_;
  const int K_;
  const AddErrors add_;
  const bool raising_;
  std::vector<int32_t> to_;
  std::vector<double> items_;
  std::vector<Frame> stack_;
};

}  // namespace omnitree
