// Surrogate tests (CART): which other feature best repeats what the main test does.
//
// Of every other feature the cut (or the assignment of categories) that agrees with the main
// test on the greatest weight of rows known in both; it is kept if it agrees on more than
// always going with the majority would, and puts a weight of two rows on each side, as in
// rpart. The best `max_surrogates` are tried in turn where the main test cannot tell.
// Entries that the search for the main test has sorted already are not sorted again.
#pragma once
#include <algorithm>
#include <cmath>

#include "univariate/general_types.hpp"

namespace omnitree {

// The known entries of a node in the order of a numeric feature: rank << 32 | entry.
struct Sorted {
  bool known = false;
  std::vector<uint64_t> keys;
  const double* values = nullptr;  // by rank
};

class SurrogateSearch {
 public:
  SurrogateSearch(const Training& t, const Options& o) : t_(t), o_(o) {}

  // `branch` is where the main test sends each entry (0, 1; -1 unknown). `sorted` has the
  // entries by feature, as far as they are sorted, or nothing.
  std::vector<Test> find(const std::vector<Entry>& entries, const std::vector<int32_t>& branch,
                         int main_feature, const std::vector<Sorted>& sorted = {}) {
    std::vector<Test> found;
    for (int f = 0; f < t_.d; ++f) {
      if (f == main_feature) continue;
      if (!sorted.empty() && sorted[f].known)
        order(entries, branch, sorted[f]);
      else
        collect(entries, branch, f);
      if (!(side_[0] > 0 && side_[1] > 0)) continue;
      Test s = t_.n_cat[f] ? categories(f) : cut();
      if (!s.found) continue;
      s.feature = f;
      s.finish();
      found.push_back(std::move(s));
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const Test& a, const Test& b) { return a.merit > b.merit; });
    if (found.size() > static_cast<size_t>(o_.max_surrogates)) found.resize(o_.max_surrogates);
    return found;
  }

 private:
  struct Seen {
    double v, w;
    int32_t side;
  };

  // The main test's entries known in f too, sorted if f is numeric.
  void collect(const std::vector<Entry>& entries, const std::vector<int32_t>& branch, int f) {
    start();
    for (size_t i = 0; i < entries.size(); ++i) {
      const double v = t_.x.at(entries[i].row, f);
      if (branch[i] >= 0 && !std::isnan(v)) add(v, entries[i].weight, branch[i]);
    }
    if (t_.n_cat[f]) return;
    std::sort(seen_.begin(), seen_.end(), [](const Seen& a, const Seen& b) { return a.v < b.v; });
  }

  // The same from sorted entries.
  void order(const std::vector<Entry>& entries, const std::vector<int32_t>& branch,
             const Sorted& sorted) {
    start();
    for (uint64_t key : sorted.keys) {
      const size_t i = key & 0xffffffffULL;
      if (branch[i] >= 0) add(sorted.values[key >> 32], entries[i].weight, branch[i]);
    }
  }

  void start() {
    seen_.clear();
    side_[0] = side_[1] = 0;
  }

  void add(double v, double w, int32_t side) {
    seen_.push_back({v, w, side});
    side_[side] += w;
  }

  bool useful(double agree) const { return agree > std::max(side_[0], side_[1]) + 1e-9; }

  Test cut() const {
    Test s;
    double below[2] = {0, 0};
    for (size_t i = 0; i + 1 < seen_.size(); ++i) {
      below[seen_[i].side] += seen_[i].w;
      if (!(seen_[i].v < seen_[i + 1].v)) continue;
      const double low = below[0] + below[1], high = side_[0] + side_[1] - low;
      if (std::min(low, high) < 2 - 1e-9) continue;
      const double same = below[0] + side_[1] - below[1];
      const double turned = side_[0] + side_[1] - same;
      const double agree = std::max(same, turned);
      if (agree <= s.merit + 1e-9) continue;
      s.merit = agree;
      s.low = turned > same;
      s.threshold = seen_[i].v + (seen_[i + 1].v - seen_[i].v) / 2;
      if (!(s.threshold < seen_[i + 1].v)) s.threshold = seen_[i].v;
    }
    s.found = useful(s.merit);
    return s;
  }

  Test categories(int f) const {
    Test s;
    s.kind = SUBSET;
    std::vector<double> n(2 * static_cast<size_t>(t_.n_cat[f]), 0);
    for (const Seen& e : seen_) n[2 * static_cast<size_t>(e.v) + e.side] += e.w;
    s.branch.assign(t_.n_cat[f], -1);
    bool used[2] = {false, false};
    for (int v = 0; v < t_.n_cat[f]; ++v) {
      if (n[2 * v] + n[2 * v + 1] <= 0) continue;
      s.branch[v] = n[2 * v + 1] > n[2 * v];
      used[s.branch[v]] = true;
      s.merit += std::max(n[2 * v], n[2 * v + 1]);
    }
    s.found = used[0] && used[1] && useful(s.merit);
    return s;
  }

  const Training& t_;
  const Options& o_;
  std::vector<Seen> seen_;
  double side_[2] = {0, 0};
};

}  // namespace omnitree
