// Cuts of numeric features whose merit is written in Python: those of a node in few calls.
//
// A call costs as much as some hundred tables, so the general grower collects the tables of all
// features of a node and asks for their merits together. Used by general.hpp.
#pragma once
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "common/merit.hpp"

namespace omnitree {

// A numeric feature at a node: weights of its missing and known values, their mean, and how many
// cuts were tried.
struct NumericFeature {
  int feature = -1;
  double unknown = 0, known = 0, mean = 0;
  int64_t tries = 0;
};

struct BestCut {
  bool found = false;
  double merit = 0;
  double low = 0;               // weight below the cut
  double below = 0, above = 0;  // values next to it
  void offer(double score, double weight, double a, double b) {
    if (found && !better(score, merit)) return;
    found = true, merit = score, low = weight, below = a, above = b;
  }
};

class AskedCuts {
 public:
  // So many tables are scored in one call: the arrays of a merit then stay in the cache.
  static constexpr int64_t A_CALL = 4096;

  int64_t size() const { return static_cast<int64_t>(cuts_.size()); }

  void add(const std::vector<double>& table, double low, double below, double above) {
    tables_.insert(tables_.end(), table.begin(), table.end());
    cuts_.push_back({low, below, above});
  }

  // The tables since the last call of this are those of a feature.
  void finish(const NumericFeature& about) { features_.push_back(about); }

  // Scores all tables, hands the best cut of each feature to `take` and forgets them.
  template <class Take>
  bool score(Merits& merits, int K, Take take) {
    scores_.resize(cuts_.size());
    for (int64_t at = 0; at < size(); at += A_CALL)
      if (!merits.custom.call(merits.custom.state, tables_.data() + at * 2 * K,
                              std::min(A_CALL, size() - at), 2, K, scores_.data() + at)) {
        merits.failed = true;
        return false;
      }
    size_t at = 0;
    for (const NumericFeature& about : features_) {
      BestCut best;
      for (const size_t end = at + static_cast<size_t>(about.tries); at < end; ++at)
        best.offer(scores_[at], cuts_[at].low, cuts_[at].below, cuts_[at].above);
      if (best.found) take(about, best);
    }
    tables_.clear();
    cuts_.clear();
    features_.clear();
    return true;
  }

 private:
  struct AskedCut {
    double low, below, above;
  };
  std::vector<double> tables_, scores_;
  std::vector<AskedCut> cuts_;
  std::vector<NumericFeature> features_;
};

}  // namespace omnitree
