// C4.5's choice among the best cuts of all columns of a node (Quinlan 1993, 1996), from sorted
// lists.
//
// How: each column is scanned by itself for the cut of greatest gain. Release 8 asks for a tenth of
// the rows per class (at most 25) on either side, lowers the gain by log2(cuts) / rows and wants it
// positive. By ratio, only columns of at least average gain compete. general.hpp has the same rules
// for tables with missing values. Cost: one more pass over a list, which counts its cuts, under
// release 8's rules. Used by: presort_lists.hpp.
#pragma once
#include "univariate/presort_scan.hpp"

namespace omnitree {

class ColumnChoice {
 public:
  template <class Scan>
  void start_node(Scan& scan, const Task& task, const double* count) {
    found_.clear();
    total_ = 0;
    for (u32 c = 0; c < task.k; ++c) total_ += count[c];
    before_ = purity(count, task.k, ENTROPY);
    if (task.release8)
      scan.set_least(std::max(task.min_branch, std::min(0.1 * total_ / task.k, 25.0)));
  }

  // Search a list for its best cut.
  template <class Scan, class Entry>
  void offer(Scan& scan, const Task& task, const Entry* list, u32 m, u32 column) {
    Best own;
    scan.scan(list, m, column, own);
    if (own.cut == 0) return;
    Found found{own, (own.limit - scan.tolerance() - before_) / total_, 0, 0};
    if (task.release8) {
      found.gain -= std::log2(static_cast<double>(scan.tries(list, m))) / total_;
      if (!(found.gain > TIE)) return;
    }
    if (found.gain <= -EPSILON && task.by_ratio) return;
    const double low = scan.weight_of(list, own.cut);
    found.info = (xlogx(total_) - xlogx(low) - xlogx(total_ - low)) / total_;
    found.merit = !task.by_ratio ? found.gain : found.info > EPSILON ? found.gain / found.info : 0;
    found_.push_back(found);
  }

  // The best of those offered, the first of equals, and what it is worth; without a cut if there is
  // none.
  Best choose(const Task& task, double& merit) const {
    double average = 0;
    for (const Found& f : found_) average += f.gain;
    average /= static_cast<double>(std::max<std::size_t>(found_.size(), 1));
    const Found* best = nullptr;
    for (const Found& f : found_) {
      if (task.by_ratio && (f.gain < average - EPSILON || f.info <= EPSILON)) continue;
      if (best == nullptr || f.merit > best->merit + TIE * (1 + std::fabs(best->merit))) best = &f;
    }
    if (best == nullptr) return {};
    merit = best->merit;
    return best->best;
  }

 private:
  static constexpr double EPSILON = 1e-3;  // C4.5's tolerance on gains and split information
  static constexpr double TIE = 1e-11;     // as `better` in merit.hpp
  struct Found {
    Best best;
    double gain, info, merit;
  };
  std::vector<Found> found_;
  double total_ = 0, before_ = 0;
};

}  // namespace omnitree
