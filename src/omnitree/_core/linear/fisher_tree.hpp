// Whole trees of Fisher's discriminants with cuts for equal variances, for rows without missing
// values.
//
// What `omnitree.learners.Linear` does node by node (and is tested to do alike): group the
// classes by exchange, project on Fisher's direction, cut between the groups. The rows of a
// node are a range of ids in the order of their classes, divided stably; second moments of the
// larger child are those of the parent less those of the smaller one. A row's branch follows from
// the scores the search has at hand; only rows closer to the cut than rounding ask the test itself.
// Depth first, the smaller child next, so that few matrices are kept.
#pragma once
#include <limits>
#include <memory>
#include <utility>

#include "common/tick.hpp"
#include "linear/fisher_test.hpp"
#include "predict/route.hpp"

namespace omnitree {

struct FisherTreeTask {
  FisherTask rows;
  const double* mean;  // of the columns in the table's own units
  const double* std;
  Values x;  // the table, for rows close to a cut
  Columns columns;
  int merit;
  double min_rows;
  int max_depth;  // negative: no limit
};

struct FisherTree {  // nodes, parents before children; tests as route.hpp lays them out
  std::vector<int32_t> parent, first_child;
  Doubles merit, value;
  std::vector<int64_t> index_ptr, weight_ptr;      // from 0; one test a node that has children
  std::vector<int32_t> tested, dimensions, index;  // of the tests: node, dimensions kept
  Doubles weight;
};

constexpr int64_t PROJECTED_ROWS = 1024;  // between looks at the clock; a multiple of four

class FisherGrower {
 public:
  FisherGrower(const FisherTreeTask& task, FisherTree& tree, const Tick& tick)
      : t(task), out(tree), clock(tick), test(task.rows, task.merit), fisher(test.fisher),
        ids(task.rows.n), next(task.rows.n),
        scores(new double[static_cast<size_t>(task.rows.n) * task.rows.k]) {
    double least = std::numeric_limits<double>::infinity();
    std::vector<int64_t> at(t.rows.k + 1);
    for (int64_t i = 0; i < t.rows.n; ++i) ++at[t.rows.y[i] + 1];
    for (int c = 0; c < t.rows.k; ++c) at[c + 1] += at[c];
    for (int64_t i = 0; i < t.rows.n; ++i) {
      ids[at[t.rows.y[i]]++] = i;
      const double w = t.rows.weight ? t.rows.weight[i] : 1.0;
      total += w;
      least = std::min(least, w);
    }
    // Squares of a standardised column average one, so no cell can be beyond this.
    reach = std::sqrt(total / least);
  }

  void run() {
    Doubles count(t.rows.k);
    add_counts(0, t.rows.n, count.data());
    add_node(-1, count.data());
    std::vector<Pending> stack;
    if (may_split(0, 0)) stack.push_back({0, 0, 0, t.rows.n, {}, false});
    while (!stack.empty()) {
      Pending node = std::move(stack.back());
      stack.pop_back();
      if (clock(done / total) != 0) return;
      divide(node, stack);
    }
  }

 private:
  struct Pending {
    int32_t node;
    int depth;
    int64_t begin, end;
    Moments moments;
    bool known;  // whether the moments are
    int64_t size() const { return end - begin; }
  };

  void add_counts(int64_t begin, int64_t end, double* count) const {
    for (int64_t i = begin; i < end; ++i)
      count[t.rows.y[ids[i]]] += t.rows.weight ? t.rows.weight[ids[i]] : 1.0;
  }

  void add_node(int32_t above, const double* count) {
    out.parent.push_back(above);
    out.first_child.push_back(-1);
    out.merit.push_back(0.0);
    out.value.insert(out.value.end(), count, count + t.rows.k);
  }

  double weight_at(int32_t node) const {
    double sum = 0;
    for (int c = 0; c < t.rows.k; ++c) sum += out.value[static_cast<size_t>(node) * t.rows.k + c];
    return sum;
  }

  bool may_split(int32_t node, int depth) const {
    int present = 0;
    for (int c = 0; c < t.rows.k; ++c)
      present += out.value[static_cast<size_t>(node) * t.rows.k + c] > 0;
    return present > 1 && weight_at(node) >= t.min_rows - 1e-9 &&
           (t.max_depth < 0 || depth < t.max_depth);
  }

  // Second moments are needed where there are more rows than columns.
  bool needs_second(int64_t n) const { return n > t.rows.p; }

  void divide(Pending& node, std::vector<Pending>& stack) {
    const int64_t n = node.size();
    const int64_t* own = &ids[node.begin];
    const Doubles count(&out.value[static_cast<size_t>(node.node) * t.rows.k],
                        &out.value[static_cast<size_t>(node.node) * t.rows.k] + t.rows.k);
    if (!node.known) node.moments = fisher.moments(own, n, needs_second(n));
    test.prepare(own, n, node.moments, count.data(), clock);
    // With thousands of classes every step takes seconds.
    for (int64_t at = 0; at < n && clock(done / total) == 0; at += PROJECTED_ROWS)
      fisher.project(own + at, std::min(PROJECTED_ROWS, n - at), test.n_present(),
                     scores.get() + at, n);
    if (clock(done / total) != 0) return;
    std::vector<int64_t> first{0};
    for (int c : test.present) {
      const auto earlier = [&](int64_t id) { return t.rows.y[id] <= c; };
      first.push_back(std::partition_point(own, own + n, earlier) - own);
    }
    if (t.rows.weight) {
      weights.resize(n);
      for (int64_t i = 0; i < n; ++i) weights[i] = t.rows.weight[own[i]];
    }
    const double* weight = t.rows.weight ? weights.data() : nullptr;
    const ExchangeSearch search = test.search(scores.get(), first.data(), weight, n, clock);
    if (!std::isfinite(search.best_merit()) || !add_test(search)) {
      done += weight_at(node.node);
      return;
    }
    const int64_t low = partition(node, search);
    Pending child[2] = {{0, node.depth + 1, node.begin, node.begin + low, {}, false},
                        {0, node.depth + 1, node.begin + low, node.end, {}, false}};
    if (low == 0 || low == n) {  // rounding put the cut beyond the last row
      drop_test();
      done += weight_at(node.node);
      return;
    }
    out.tested.push_back(node.node);
    out.dimensions.push_back(fisher.dimensions());
    out.merit[node.node] = search.best_merit();
    out.first_child[node.node] = static_cast<int32_t>(out.parent.size());
    bool goes_on[2];
    for (int b = 0; b < 2; ++b) {
      child[b].node = static_cast<int32_t>(out.parent.size());
      Doubles counts(t.rows.k);
      add_counts(child[b].begin, child[b].end, counts.data());
      add_node(node.node, counts.data());
      goes_on[b] = may_split(child[b].node, child[b].depth);
      if (!goes_on[b]) done += weight_at(child[b].node);
    }
    const int large = child[1].size() > child[0].size();
    if (goes_on[large]) subtract(node, child[large], child[!large], goes_on[!large]);
    if (goes_on[large]) stack.push_back(std::move(child[large]));
    if (goes_on[!large]) stack.push_back(std::move(child[!large]));
  }

  // Moments of the larger child as a difference, where that keeps enough digits.
  void subtract(Pending& parent, Pending& large, Pending& small, bool keep_small) {
    if (!needs_second(large.size())) return;
    small.moments = fisher.moments(&ids[small.begin], small.size(), true);
    small.known = keep_small;
    const int p = t.rows.p;
    for (int j = 0; j < p; ++j) {
      const size_t at = static_cast<size_t>(j) * p + j;
      const double whole = parent.moments.second[at];
      if (!(whole - small.moments.second[at] >= 1e-6 * whole)) return;
    }
    large.moments = std::move(parent.moments);
    large.known = true;
    if (large.moments.summed.empty())
      for (int j = 0; j < p; ++j)
        large.moments.summed.push_back(large.moments.second[static_cast<size_t>(j) * p + j]);
    for (size_t i = 0; i < large.moments.second.size(); ++i)
      large.moments.second[i] -= small.moments.second[i];
    for (int c = 0; c < t.rows.k; ++c) {
      const bool here = out.value[static_cast<size_t>(large.node) * t.rows.k + c] > 0;
      for (int j = 0; j < p; ++j) {
        double& sum = large.moments.sums[static_cast<size_t>(c) * p + j];
        sum = here ? sum - small.moments.sums[static_cast<size_t>(c) * p + j] : 0.0;
      }
    }
  }

  // Packs the test in the table's own units, its direction of length one in standardised
  // ones; false if it has no weights. `band` becomes how far rounding can carry a score.
  bool add_test(const ExchangeSearch& search) {
    const int p = t.rows.p, k = test.n_present();
    const Doubles w = test.weights();
    double squares = 0;
    for (int j = 0; j < p; ++j)
      if (t.std[j] > 0) squares += w[j] * w[j];
    const double length = std::sqrt(squares);
    if (!(length > 0) || !std::isfinite(length)) return false;
    const double at_mean = fisher.dot(fisher.mean.data(), w.data());
    double threshold = (search.best_cut() + at_mean) / length, in_own = 0;
    const size_t first = out.weight.size();
    out.weight.push_back(0.0);
    Doubles fill;
    for (int j = 0; j < p; ++j) {
      if (w[j] == 0 || !(t.std[j] > 0)) continue;
      const double own = w[j] / length / t.std[j];
      out.index.push_back(j);
      out.weight.push_back(own);
      fill.push_back(fisher.mean[j] * t.std[j] + t.mean[j]);
      threshold += own * t.mean[j];
      in_own += std::fabs(own) * (std::fabs(t.mean[j]) + reach * t.std[j]);
    }
    out.weight[first] = threshold;
    out.weight.insert(out.weight.end(), fill.begin(), fill.end());
    out.index_ptr.push_back(static_cast<int64_t>(out.index.size()));
    out.weight_ptr.push_back(static_cast<int64_t>(out.weight.size()));
    band = 8 * (p + k) * std::numeric_limits<double>::epsilon() *
           (reach * test.sum_of_weights() + length * in_own);
    return true;
  }

  void drop_test() {
    out.index_ptr.pop_back();
    out.weight_ptr.pop_back();
    out.index.resize(out.index_ptr.back());
    out.weight.resize(out.weight_ptr.back());
  }

  // Divides the ids of a node by the last test; how many go to branch 0.
  int64_t partition(const Pending& node, const ExchangeSearch& search) {
    const int64_t n = node.size(), from = out.index_ptr[out.index_ptr.size() - 2];
    const int32_t* index = out.index.data() + from;
    const int64_t m = out.index_ptr.back() - from;
    const double* weight = out.weight.data() + out.weight_ptr[out.weight_ptr.size() - 2];
    int64_t* own = &ids[node.begin];
    int64_t low = 0, high = 0;
    const double cut = search.best_cut();
    for (int64_t i = 0; i < n; ++i) {
      const double s = search.score(i) - cut;
      const bool above = std::fabs(s) > band
                             ? s > 0
                             : branch_of(LINEAR, index, m, weight, t.x, t.columns, own[i]) > 0;
      next[high] = own[i];
      own[low] = own[i];
      high += above;
      low += !above;
    }
    std::copy_n(next.data(), high, own + low);
    return low;
  }

  const FisherTreeTask t;
  FisherTree& out;
  Tick clock;
  FisherTest test;
  Fisher& fisher;
  std::vector<int64_t> ids, next;
  std::unique_ptr<double[]> scores;  // not set to 0 first
  Doubles weights;
  double total = 0, done = 0, reach = 0, band = 0;
};

inline void grow_fisher(const FisherTreeTask& task, FisherTree& tree, const Tick& tick) {
  tree.index_ptr.assign(1, 0);
  tree.weight_ptr.assign(1, 0);
  FisherGrower(task, tree, tick).run();
}

}  // namespace omnitree
