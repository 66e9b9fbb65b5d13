// Error-based pruning with subtree raising (C4.5 release 8).
//
// Every node's errors are estimated by an upper confidence limit. Bottom-up, a node becomes
// a leaf if that is within 0.1 errors of its subtree and of its largest branch, else it is
// replaced by that branch if this is within 0.1 of the subtree; the rows of all branches
// then go down the raised one, which is estimated and pruned anew. Rows that a missing value
// divides count in fractions. An explicit stack instead of recursion: trees may be deep. O(rows x
// depth), and again for every raise considered: of these only the rows of the other branches are
// sent down, unless a missing value divides rows on their way, since the shares then depend on all
// of them. Used by pruning/error_based.py.
#pragma once
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "predict/route.hpp"
#include "univariate/general_types.hpp"

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
    const double p = (e + 0.5 + coeff_ / 2 +
                      std::sqrt(coeff_ * ((e + 0.5) * (1 - (e + 0.5) / n) + coeff_ / 4))) /
                     (n + coeff_);
    return n * p - e;
  }

 private:
  double cf_, coeff_;
};

class ErrorBased {
 public:
  ErrorBased(const TreeView& t, const Values& x, const int32_t* y, int K, double cf, bool raising,
             int32_t n_nodes)
      : t_(t), x_(x), y_(y), K_(K), add_(cf), raising_(raising), to_(n_nodes), items_(n_nodes, 0.0),
        errors_(n_nodes, 0.0), divides_(n_nodes, 0), counts_(static_cast<size_t>(n_nodes) * K, 0.0),
        more_(counts_) {
    std::iota(to_.begin(), to_.end(), 0);
  }

  // What takes each node's place: itself, -1 for a leaf, or a descendant.
  std::vector<int32_t> prune(std::vector<Entry> entries) {
    stack_.push_back({0, -1, 0, 0.0, std::move(entries), {}, {}});
    while (!stack_.empty()) step();
    return std::move(to_);
  }

 private:
  struct Frame {
    int32_t node, parent;  // parent: index of the frame that awaits this node's errors
    int32_t next;          // branch to visit next
    double errors;         // of the branches so far
    std::vector<Entry> entries;
    std::vector<int32_t> branch;  // of each entry, -1: of all
    std::vector<std::vector<Entry>> parts;
  };

  void step() {
    const int32_t at = static_cast<int32_t>(stack_.size()) - 1;
    Frame& f = stack_[at];
    if (t_.kind[f.node] == LEAF || to_[f.node] == -1) {
      to_[f.node] = -1;
      items_[f.node] = total(f.entries);
      finish(count_leaf(f));
      return;
    }
    if (f.next == 0) {
      items_[f.node] = total(f.entries);
      f.branch = branches(f.node, f.entries);
      f.parts = parts(f.node, f.entries, f.branch);
      divides_[f.node] = std::count(f.branch.begin(), f.branch.end(), -1) > 0;
    }
    while (f.next < t_.n_children[f.node]) {
      const int32_t b = f.next++;
      const int32_t child = t_.first_child[f.node] + b;
      items_[standing(child)] = 0;
      if (f.parts[b].empty()) continue;
      Frame down{standing(child), at, 0, 0.0, std::move(f.parts[b]), {}, {}};
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
    const double leaf = count_leaf(f);
    const int32_t first = t_.first_child[f.node];
    int32_t largest = first;
    for (int32_t b = 1; b < t_.n_children[f.node]; ++b)
      if (weight_at(first + b) > weight_at(largest)) largest = first + b;
    const double branch =
        raising_ ? raised_errors(f, largest) : std::numeric_limits<double>::infinity();
    if (leaf <= branch + 0.1 && leaf <= f.errors + 0.1) {
      to_[f.node] = -1;
      finish(leaf);
    } else if (branch <= f.errors + 0.1) {
      const int32_t up = standing(largest);
      to_[f.node] = up;
      const int32_t parent = f.parent;
      Frame again{up, parent, 0, 0.0, std::move(f.entries), {}, {}};
      stack_.pop_back();
      stack_.push_back(std::move(again));
    } else {
      finish(f.errors);
    }
  }

  double weight_at(int32_t node) const { return items_[standing(node)]; }

  void finish(double errors) {
    const int32_t parent = stack_.back().parent;
    errors_[stack_.back().node] = errors;
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
    return errors_of(n.data());
  }

  // Errors of a leaf with some class counts.
  double errors_of(const double* n) const {
    const double all = std::accumulate(n, n + K_, 0.0);
    const double wrong = all - *std::max_element(n, n + K_);
    return wrong + add_(all, wrong);
  }

  // Errors of a frame's node as a leaf; keeps its counts.
  double count_leaf(const Frame& f) {
    double* n = &counts_[static_cast<size_t>(f.node) * K_];
    std::fill(n, n + K_, 0.0);
    for (const Entry& e : f.entries) n[y_[e.row]] += e.weight;
    return errors_of(n);
  }

  // Errors of a node's largest branch as it stands, for all rows of the node.
  double raised_errors(const Frame& f, int32_t largest) {
    touched_.clear();
    bool divided = divides_[f.node];
    for (size_t i = 0; i < f.entries.size() && !divided; ++i) {
      const Entry& e = f.entries[i];
      if (t_.first_child[f.node] + f.branch[i] == largest) continue;
      int32_t at = standing(largest);
      while (!divided && t_.kind[at] != LEAF && to_[at] != -1) {
        const int b = branch_at(t_, x_, at, e.row);
        divided = b < 0 || divides_[at];
        if (!divided) at = standing(t_.first_child[at] + b);
      }
      double* more = &more_[static_cast<size_t>(at) * K_];
      if (std::all_of(more, more + K_, [](double v) { return v == 0; })) touched_.push_back(at);
      more[y_[e.row]] += e.weight;
    }
    double sum = errors_[standing(largest)];
    for (int32_t at : touched_) {
      const double* own = &counts_[static_cast<size_t>(at) * K_];
      double* more = &more_[static_cast<size_t>(at) * K_];
      sum -= errors_of(own);
      for (int k = 0; k < K_; ++k) more[k] += own[k];
      sum += errors_of(more);
      std::fill(more, more + K_, 0.0);
    }
    return divided ? estimate(largest, f.entries) : sum;
  }

  // Branch of each entry, -1 where it is divided: the first test takes all rows together.
  std::vector<int32_t> branches(int32_t node, const std::vector<Entry>& entries) const {
    const int64_t n = static_cast<int64_t>(entries.size());
    std::vector<int64_t> rows(n);
    for (int64_t i = 0; i < n; ++i) rows[i] = entries[i].row;
    std::vector<int32_t> out(n);
    const int64_t s = t_.test_start[node], at = t_.index_ptr[s];
    branches_of(t_.test_kind[s], t_.index + at, t_.index_ptr[s + 1] - at,
                t_.weight + t_.weight_ptr[s], x_, t_.columns, rows.data(), n, out.data());
    for (int64_t i = 0; i < n; ++i)
      if (out[i] < 0) out[i] = branch_at(t_, x_, node, rows[i]);
    return out;
  }

  std::vector<std::vector<Entry>> parts(int32_t node, const std::vector<Entry>& entries,
                                        const std::vector<int32_t>& branch) const {
    const int32_t B = t_.n_children[node];
    std::vector<std::vector<Entry>> out(B);
    std::vector<double> size(B, 0);
    std::vector<Entry> undecided;
    double known = 0;
    for (size_t i = 0; i < entries.size(); ++i) {
      const Entry& e = entries[i];
      const int32_t b = branch[i];
      if (b < 0) {
        undecided.push_back(e);
        continue;
      }
      out[b].push_back(e);
      size[b] += e.weight;
      known += e.weight;
    }
    for (const Entry& e : undecided)
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
      auto below = parts(at, rows, branches(at, rows));
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
  std::vector<double> errors_;    // of each node as it stands, on its own rows
  std::vector<char> divides_;     // whether a missing value divides rows at the node
  std::vector<double> counts_;    // classes of each leaf as it stands
  std::vector<double> more_;      // what a raise would add to them; zeros between calls
  std::vector<int32_t> touched_;  // leaves with more
  std::vector<Frame> stack_;
};

}  // namespace omnitree
