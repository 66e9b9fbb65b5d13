// Grows a whole univariate tree on any table: numbers, categories, missing values, fractional rows.
//
// Per node and feature: gather the known entries, sort them by a rank made once per fit,
// scan all cuts (categories: general_category.hpp). O(d n log n) a level. Missing values are filled
// with the node's mean or mode, or spread over the branches in fractions (C4.5), or left to
// surrogate tests (CART). presort.hpp is faster where it applies: plain numbers, none missing,
// Gini or gain. Both break ties alike and give the same trees. Used by learners/univariate.
#pragma once
#include <deque>
#include <limits>
#include <numeric>

#include "common/merit.hpp"
#include "common/mix.hpp"
#include "common/sort_keys.hpp"
#include "common/tick.hpp"
#include "univariate/asked_cuts.hpp"
#include "univariate/general_category.hpp"
#include "univariate/general_surrogate.hpp"
#include "univariate/general_types.hpp"

namespace omnitree {

constexpr double C45_EPSILON = 1e-3;  // C4.5's tolerance on gains and split information
constexpr uint32_t NO_RANK = std::numeric_limits<uint32_t>::max();

class GeneralGrower {
 public:
  // Asks `tick` often: 0 go on, 1 no more splits, -1 give up at once.
  static void grow(const Training& t, const Options& o, const CustomMerit& custom, Tick& tick,
                   Grown& out) {
    for (auto* start : {&out.test_start, &out.index_ptr, &out.weight_ptr}) start->assign(1, 0);
    GeneralGrower(t, o, custom, tick, out).run();
  }

 private:
  struct Work {
    int32_t node, depth;
    uint64_t seed;
    std::vector<Entry> entries;
  };
  struct Item {
    double v, w;
    int32_t cls;
  };

  GeneralGrower(const Training& t, const Options& o, const CustomMerit& custom, Tick& tick,
                Grown& out)
      : t_(t), o_(o), tick_(tick), out_(out),
        merits_{XLog2(std::min<int64_t>(t.n, 1 << 20)), {}, custom}, xl_(merits_.xl),
        category_(o, t.K, merits_), surrogate_(t, o),
        inner_(o.merit == GAIN_RATIO ? GAIN : o.merit) {
    // C4.5: features with very many categories stay out of the average gain, unless all do.
    many_values_ = 0.3 * std::accumulate(t.weight, t.weight + t.n, 0.0);
    bool any_plain = false;
    for (int f = 0; f < t.d; ++f) any_plain |= t.n_cat[f] < many_values_;
    many_valued_count_ = !any_plain;
  }

  void rank_columns() {
    rank_.resize(t_.d);
    sorted_.resize(t_.d);
    distinct_.resize(t_.d);
    std::vector<std::pair<double, int32_t>> column;
    for (int f = 0; f < t_.d && go_on(); ++f) {
      if (t_.n_cat[f]) continue;
      column.clear();
      rank_[f].assign(t_.n, NO_RANK);
      for (int64_t i = 0; i < t_.n; ++i) {
        const double v = t_.x.at(i, f);
        if (!std::isnan(v)) column.emplace_back(v, static_cast<int32_t>(i));
      }
      std::sort(column.begin(), column.end());
      auto& values = distinct_[f];
      for (const auto& [v, row] : column) {
        if (values.empty() || v != values.back()) values.push_back(v);
        rank_[f][row] = static_cast<uint32_t>(values.size() - 1);
      }
      values.shrink_to_fit();
    }
  }

  // Whether to look further: after every feature, since one can take long.
  bool go_on() {
    if (say_ == 0) say_ = merits_.failed ? -1 : tick_(finished_ / static_cast<double>(t_.n));
    return say_ == 0;
  }

  void run() {
    std::deque<Work> queue;
    Work root{out_.add_nodes(-1, 1, t_.K), 0, mix(o_.seed), {}};
    for (int64_t i = 0; i < t_.n; ++i)
      root.entries.push_back({static_cast<int32_t>(i), t_.weight[i]});
    queue.push_back(std::move(root));
    rank_columns();
    while (!queue.empty() && say_ >= 0) {
      Work work = std::move(queue.front());
      queue.pop_front();
      count_classes(work);
      Test best;
      if (say_ == 0 && !stays_leaf(work)) best = best_test(work);
      if (best.found && say_ == 0) {
        split(work, best, queue);
      } else {
        finished_ += static_cast<double>(work.entries.size());
        out_.test_start.push_back(static_cast<int64_t>(out_.test_kind.size()));
      }
    }
  }

  void count_classes(const Work& work) {
    double* value = out_.value.data() + static_cast<size_t>(work.node) * t_.K;
    for (const Entry& e : work.entries) value[t_.y[e.row]] += e.weight;
    total_ = std::accumulate(value, value + t_.K, 0.0);
  }

  bool stays_leaf(const Work& work) const {
    const double* value = out_.value.data() + static_cast<size_t>(work.node) * t_.K;
    const bool pure = *std::max_element(value, value + t_.K) == total_;
    return pure || total_ < o_.min_rows - 1e-9 || (o_.max_depth >= 0 && work.depth >= o_.max_depth);
  }

  Test best_test(const Work& work) {
    for (Sorted& s : sorted_) s.known = false;
    if (o_.random_attribute) return random_test(work);
    if (o_.merit == GAIN_RATIO) return best_ratio(work);
    if (inner_ == CUSTOM) return best_asked(work);
    Test best;
    for (int f = 0; f < t_.d && go_on(); ++f) best.improve(evaluate(work, f));
    return best;
  }

  // The same for a merit in Python: the cuts of many features are scored together.
  Test best_asked(const Work& work) {
    std::vector<Test> tests(t_.d);
    const auto keep = [&](Test&& test) { tests[test.feature] = std::move(test); };
    NumericFeature about;
    for (int f = 0; f < t_.d && go_on(); ++f) {
      if (t_.n_cat[f])
        tests[f] = categorical(work, f);
      else
        scan(work, f, about = {});
      if (asked_.size() >= AskedCuts::A_CALL && !ask(keep)) return {};
    }
    if (!ask(keep)) return {};
    Test best;
    for (Test& test : tests) best.improve(std::move(test));
    return best;
  }

  // Features in random order, the first that can be cut is taken.
  Test random_test(const Work& work) {
    std::vector<int> order(t_.d);
    std::iota(order.begin(), order.end(), 0);
    uint64_t seed = work.seed;
    for (int i = t_.d - 1; i > 0; --i) {
      seed = mix(seed);
      std::swap(order[i], order[seed % (i + 1)]);
    }
    for (int f : order) {
      Test test = evaluate(work, f);
      if (!go_on() || test.found) return test;
    }
    return {};
  }

  // C4.5: of the features with at least average gain, the one with the best ratio.
  Test best_ratio(const Work& work) {
    std::vector<Test> tests;
    double sum = 0;
    int possible = 0;
    for (int f = 0; f < t_.d && go_on(); ++f) {
      Test test = evaluate(work, f);
      if (!test.found || test.gain <= -C45_EPSILON) continue;
      if (many_valued_count_ || t_.n_cat[f] < many_values_) {
        sum += test.gain;
        ++possible;
      }
      tests.push_back(std::move(test));
    }
    const double average = possible ? sum / possible : 1e6;
    Test best;
    for (Test& test : tests) {
      if (test.gain < average - C45_EPSILON || test.info <= C45_EPSILON) continue;
      if (!best.found || better(test.merit, best.merit)) best = std::move(test);
    }
    return best;
  }

  Test evaluate(const Work& work, int f) {
    // In a large node every feature takes long: look at the clock between them.
    return t_.n_cat[f] ? categorical(work, f) : numeric(work, f);
  }

  // Merit over known rows, lowered by the share of rows whose value is missing; `unknown` is their
  // weight, which also counts as one more branch of the split information.
  void rate(Test& test, double merit_known, double unknown, const double* size, int B,
            double penalty) const {
    test.gain = merit_known * (total_ - unknown) / total_ - penalty;
    double info = xl_(total_) - xl_(unknown);
    for (int b = 0; b < B; ++b) info -= xl_(size[b]);
    test.info = info / total_;
    test.merit = test.gain;
    if (o_.merit == GAIN_RATIO) test.merit = test.info > C45_EPSILON ? test.gain / test.info : 0;
    test.found = true;
  }

  Test categorical(const Work& work, int f) {
    const int m = t_.n_cat[f];
    counts_.assign(static_cast<size_t>(m) * t_.K, 0);
    missing_counts_.assign(t_.K, 0);
    double unknown = 0;
    for (const Entry& e : work.entries) {
      const double v = t_.x.at(e.row, f);
      if (std::isnan(v)) {
        missing_counts_[t_.y[e.row]] += e.weight;
        unknown += e.weight;
      } else {
        counts_[static_cast<size_t>(v) * t_.K + t_.y[e.row]] += e.weight;
      }
    }
    int mode = 0;
    double mode_size = -1;
    for (int v = 0; v < m; ++v) {
      const double s =
          std::accumulate(counts_.begin() + v * t_.K, counts_.begin() + (v + 1) * t_.K, 0.0);
      if (s > mode_size) mode = v, mode_size = s;
    }
    if (mode_size <= 0) return {};
    if (o_.missing == MEAN) {
      for (int k = 0; k < t_.K; ++k) counts_[mode * t_.K + k] += missing_counts_[k];
      unknown = 0;
    }
    Test test;
    test.branch = category_.find(counts_, m, unknown, inner_);
    if (test.branch.empty()) return {};
    test.feature = f;
    test.n_children = *std::max_element(test.branch.begin(), test.branch.end()) + 1;
    test.kind = o_.categories == AS_SUBSET || o_.categories == AS_ONE_REST ? SUBSET : MULTIWAY;
    category_.tabulate(test.branch, test.n_children, table_);
    const double merit = merits_.of(inner_, table_.data(), test.n_children, t_.K);
    rate(test, merit, unknown, merits_.m.branch.data(), test.n_children, 0);
    set_missing(test, mode, merits_.m.branch.data());
    return test;
  }

  void set_missing(Test& test, int mean_branch_code, const double* size) const {
    if (o_.missing == FRACTIONAL) {
      test.missing = -1;
    } else if (o_.missing == MEAN) {
      test.missing = test.kind == AXIS ? mean_branch_code : test.branch[mean_branch_code];
    } else {
      test.missing = static_cast<int32_t>(std::max_element(size, size + test.n_children) - size);
    }
  }

  // The node's entries in the order of feature f; returns the weight of missing values left out and
  // sets `mean`. With MEAN, missing values take part at the mean.
  double sorted_items(const Work& work, int f, double& mean) {
    const auto& rank = rank_[f];
    const auto& values = distinct_[f];
    std::vector<uint64_t>& keys = sorted_[f].keys;
    keys.clear();
    missing_.clear();
    double unknown = 0, sum = 0, known = 0;
    for (size_t i = 0; i < work.entries.size(); ++i) {
      const Entry& e = work.entries[i];
      const uint32_t r = rank[e.row];
      if (r == NO_RANK) {
        missing_.push_back(static_cast<int32_t>(i));
        unknown += e.weight;
      } else {
        keys.push_back(static_cast<uint64_t>(r) << 32 | i);
        sum += e.weight * values[r];
        known += e.weight;
      }
    }
    sort_keys(keys, values.size(), spare_);
    sorted_[f].known = true;
    sorted_[f].values = values.data();
    // Rounding must not carry the mean of equal values away from them.
    mean = 0;
    if (!keys.empty())
      mean = std::clamp(sum / known, values[keys.front() >> 32], values[keys.back() >> 32]);
    items_.clear();
    const bool fill = o_.missing == MEAN && !missing_.empty();
    bool filled = !fill;
    auto insert_missing = [&] {
      for (int32_t i : missing_) {
        const Entry& e = work.entries[i];
        items_.push_back({mean, e.weight, t_.y[e.row]});
      }
      filled = true;
    };
    for (uint64_t key : keys) {
      const Entry& e = work.entries[key & 0xffffffffULL];
      const double v = values[key >> 32];
      if (!filled && v > mean) insert_missing();
      items_.push_back({v, e.weight, t_.y[e.row]});
    }
    if (!filled && !keys.empty()) insert_missing();
    return fill ? 0 : unknown;
  }

  Test numeric(const Work& work, int f) {
    NumericFeature about;
    const BestCut best = scan(work, f, about);
    Test test;
    if (inner_ == CUSTOM)
      ask([&](Test&& found) { test = std::move(found); });
    else if (best.found)
      test = cut_test(about, best);
    return test;
  }

  // The best cut of a feature; one whose merit Python knows is left to `asked_`.
  BestCut scan(const Work& work, int f, NumericFeature& about) {
    about.feature = f;
    about.unknown = sorted_items(work, f, about.mean);
    BestCut best;
    if (items_.size() < 2 || items_.front().v == items_.back().v) return best;
    const int K = t_.K;
    table_.assign(2 * static_cast<size_t>(K), 0);
    double* left = table_.data();
    double* right = left + K;
    for (const Item& it : items_) right[it.cls] += it.w;
    const double known = std::accumulate(right, right + K, 0.0);
    about.known = known;
    double at_least = o_.min_branch;
    if (o_.release8) at_least = std::max(at_least, std::min(0.1 * known / K, 25.0));
    // Sums kept along the scan: squares for Gini, n log n for the entropy family.
    const bool gini = inner_ == GINI;
    const bool entropy = inner_ == GAIN || inner_ == ENTROPY || inner_ == G_STATISTIC;
    const double scale = inner_ == GAIN ? 1 / known : inner_ == ENTROPY ? M_LN2 / known : 2 * M_LN2;
    double left_sum = 0, right_sum = 0;
    for (int k = 0; k < K; ++k)
      right_sum += gini ? right[k] * right[k] : entropy ? xl_(right[k]) : 0;
    const double base = gini ? right_sum / known : right_sum - xl_(known);
    double low = 0;
    for (size_t i = 0; i + 1 < items_.size(); ++i) {
      const Item& it = items_[i];
      double& l = left[it.cls];
      double& r = right[it.cls];
      if (gini) {
        left_sum += it.w * (2 * l + it.w);
        right_sum -= it.w * (2 * r - it.w);
      } else if (entropy) {
        left_sum += xl_(l + it.w) - xl_(l);
        right_sum += xl_(r - it.w) - xl_(r);
      }
      l += it.w;
      r -= it.w;
      low += it.w;
      const double next = items_[i + 1].v;
      if (!(it.v < next)) continue;
      const double high = known - low;
      if (low < at_least - 1e-9 || high < at_least - 1e-9) continue;
      ++about.tries;
      if (inner_ == CUSTOM)
        asked_.add(table_, low, it.v, next);
      else if (gini)
        best.offer((left_sum / low + right_sum / high - base) / known, low, it.v, next);
      else if (entropy)
        best.offer((left_sum - xl_(low) + right_sum - xl_(high) - base) * scale, low, it.v, next);
      else
        best.offer(merits_.of(inner_, table_.data(), 2, K), low, it.v, next);
    }
    if (inner_ == CUSTOM) asked_.finish(about);
    return best;
  }

  // Has the collected cuts scored; `take` gets the best test on each feature that has one.
  template <class Take>
  bool ask(Take take) {
    return asked_.score(merits_, t_.K, [&](const NumericFeature& about, const BestCut& best) {
      Test test = cut_test(about, best);
      if (test.found) take(std::move(test));
    });
  }

  Test cut_test(const NumericFeature& about, const BestCut& best) const {
    Test test;
    test.feature = about.feature;
    const double size[2] = {best.low, about.known - best.low};
    const double penalty = o_.release8 ? std::log2(static_cast<double>(about.tries)) / total_ : 0;
    rate(test, best.merit, about.unknown, size, 2, penalty);
    if (o_.release8 && !better(test.gain, 0)) return {};
    double mid = best.below + (best.above - best.below) / 2;
    if (!(mid < best.above)) mid = best.below;
    if (o_.threshold_is_value) {
      const auto& values = distinct_[about.feature];
      mid = *(std::upper_bound(values.begin(), values.end(), mid) - 1);
    }
    test.threshold = mid;
    set_missing(test, axis_branch(about.mean, mid), size);
    return test;
  }

  void split(Work& work, Test& test, std::deque<Work>& queue) {
    test.finish();
    std::vector<int32_t> branch(work.entries.size());
    std::vector<double> size(test.n_children, 0.0);
    double known = 0;
    for (size_t i = 0; i < work.entries.size(); ++i) {
      branch[i] = test.branch_of_row(t_.x, work.entries[i].row);
      if (branch[i] >= 0) {
        size[branch[i]] += work.entries[i].weight;
        known += work.entries[i].weight;
      }
    }
    std::vector<Test> tests;
    if (o_.missing == SURROGATE && test.n_children == 2)
      tests = surrogate_.find(work.entries, branch, test.feature, sorted_);
    tests.insert(tests.begin(), test);
    const int32_t first = store(work.node, tests);
    std::vector<Work> child(test.n_children);
    for (int b = 0; b < test.n_children; ++b)
      child[b] = {first + b, work.depth + 1, mix(work.seed + b + 1), {}};
    for (size_t i = 0; i < work.entries.size(); ++i) {
      const Entry& e = work.entries[i];
      int b = branch[i];
      for (size_t s = 1; b < 0 && s < tests.size(); ++s) b = tests[s].branch_of_row(t_.x, e.row);
      if (b < 0) b = test.missing;
      if (b >= 0) {
        child[b].entries.push_back(e);
      } else {  // a fractional instance in every branch that has known rows
        for (int c = 0; c < test.n_children; ++c)
          if (size[c] > 0) child[c].entries.push_back({e.row, e.weight * size[c] / known});
      }
    }
    for (Work& c : child) queue.push_back(std::move(c));
  }

  int32_t store(int32_t node, const std::vector<Test>& tests) {
    const Test& main = tests.front();
    for (const Test& s : tests) {
      out_.test_kind.push_back(s.kind);
      out_.index.insert(out_.index.end(), s.layout.begin(), s.layout.end());
      if (s.kind == AXIS) out_.weight.push_back(s.threshold);
      out_.index_ptr.push_back(static_cast<int64_t>(out_.index.size()));
      out_.weight_ptr.push_back(static_cast<int64_t>(out_.weight.size()));
    }
    out_.test_start.push_back(static_cast<int64_t>(out_.test_kind.size()));
    const int32_t first = out_.add_nodes(node, main.n_children, t_.K);
    out_.kind[node] = main.kind;
    out_.first_child[node] = first;
    out_.n_children[node] = main.n_children;
    out_.missing[node] = main.missing;
    out_.merit[node] = main.merit;
    return first;
  }

  const Training& t_;
  const Options& o_;
  Tick& tick_;
  int say_ = 0;          // its last word
  double finished_ = 0;  // entries in leaves
  Grown& out_;
  Merits merits_;
  const XLog2& xl_;
  CategorySearch category_;
  SurrogateSearch surrogate_;
  const int inner_;  // the merit that chooses between the cuts of one feature
  double many_values_ = 0;
  bool many_valued_count_ = false;
  double total_ = 0;
  std::vector<std::vector<uint32_t>> rank_;
  std::vector<std::vector<double>> distinct_;
  std::vector<Sorted> sorted_;  // the entries of the node by each numeric feature
  std::vector<uint64_t> spare_;
  std::vector<int32_t> missing_;
  std::vector<Item> items_;
  std::vector<double> counts_, missing_counts_, table_;
  AskedCuts asked_;
};

}  // namespace omnitree
