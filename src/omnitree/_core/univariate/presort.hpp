// A whole exact univariate tree, for classes or for a numeric target, in one call, from presorted
// columns.
//
// How: every column is sorted once (presort_sort.hpp); nodes are searched by scanning and
// partitioning sorted lists (presort_lists.hpp). Lists start with 64-bit entries; a node small
// enough for 32 bits is repacked with local row numbers and from then on lives in the cache: 2^15
// rows of two classes, fewer of more. Cost: sorting 10-25 ns a cell, then 1.5-4 ns per cell and
// level (weights: presort_scan.hpp). Memory on top of a float64 table of 50 columns: 0.75 times its
// bytes if its rows fit 32-bit entries, 1.3 times else. Used by: presort.pyx (grow_numeric).
#pragma once
#include "univariate/presort_lists.hpp"
#include "univariate/presort_sort.hpp"

namespace omnitree {

template <template <class, int> class Scan, int MERIT>
class Grower {
 public:
  Grower(const Task& task, Tree& tree, Clock& clock)
      : task_(task), tree_(tree), clock_(clock), tables_(task.weight ? 0 : task.n, MERIT) {}

  void run() {
    std::vector<double> count(task_.n_stats());
    if (task_.target) count[LEAST] = INFINITY, count[GREATEST] = -INFINITY;
    for (u32 i = 0; i < task_.n; ++i) {
      const double w = task_.weight ? task_.weight[i] : 1.0;
      if (task_.target)
        add_target(task_.target[i], w, count.data());
      else
        count[task_.y[i]] += w;
    }
    tree_.k = task_.n_stats();
    tree_.add(-1, count.data());
    if (!tree_.may_split(0, 0, task_)) return;
    u32 limit = 1u << 16;
    if (!task_.target)
      while (limit > 1 && !Layout<u32>(limit, task_.k).fits()) limit >>= 1;
    const auto keep = [](u32, u32, u32, int, const u32*, u32) { return false; };
    if (task_.n <= limit) {
      Small small(task_, tables_, tree_, clock_, task_.n);
      if (fill(small)) small.grow(0, task_.n, 0, settled_, keep);
      return;
    }
    Large large(task_, tables_, tree_, clock_, task_.n);
    if (!fill(large)) return;
    Small small(task_, tables_, tree_, clock_, limit);
    small.values = large.values;
    small.entries.reset(new u32[std::size_t(limit) * task_.d]);
    std::vector<u32> local(task_.n);
    large.grow(0, task_.n, 0, settled_,
               [&](u32 node, u32 begin, u32 end, int depth, const u32* active, u32 count) {
                 if (end - begin > limit) return false;
                 repack(large, small, local, begin, end, active, count);
                 small.grow(node, end - begin, depth, settled_, keep);
                 return true;
               });
  }

 private:
  using Small = Lists<u32, Scan<u32, MERIT>>;
  using Large = Lists<u64, Scan<u64, MERIT>>;
  const Task& task_;
  Tree& tree_;
  Clock& clock_;
  Tables tables_;
  u32 settled_ = 0;                          // rows in finished leaves
  std::vector<std::vector<double>> values_;  // distinct values of each column, if cuts lie at them

  // Sort every column into `lists`; false if interrupted.
  template <class L>
  bool fill(L& lists) {
    const u32 n = task_.n;
    std::unique_ptr<ColumnSorter> sorter(task_.order ? nullptr : new ColumnSorter(task_));
    if (task_.value_thresholds) values_.resize(task_.d), lists.values = &values_;
    lists.stride = n;
    lists.entries.reset(new typename L::Word[std::size_t(n) * task_.d]);
    for (u32 c = 0; c < task_.d; ++c) {
      auto* out = &lists.entries[std::size_t(c) * n];
      const auto emit = [&](u32 i, u64 rank, u32 row, u32 label) {
        out[i] = lists.layout.pack(rank, row, label);
        if (task_.value_thresholds && rank == values_[c].size())
          values_[c].push_back(sorter ? sorter->at(row) : task_.at(row, c));
      };
      if (task_.order)
        keep_order(task_, c, emit);
      else
        sorter->sort(c, emit);
      lists.columns.push_back(c);
      if (clock_.work(u64{20} * n, 0.0)) return false;
    }
    return true;
  }

  // Copy entries [begin, end) of the active lists of `large` into `small`, numbering rows and ranks
  // anew.
  void repack(const Large& large, Small& small, std::vector<u32>& local, u32 begin, u32 end,
              const u32* active, u32 count) {
    const u32 m = end - begin;
    small.columns.clear();
    small.rows.resize(m);
    small.stride = m;
    for (u32 j = 0; j < count; ++j) {
      const u64* list = &large.entries[active[j] * large.stride + begin];
      u32* out = &small.entries[std::size_t(j) * m];
      small.columns.push_back(large.columns[active[j]]);
      if (j == 0)
        for (u32 i = 0; i < m; ++i) {
          small.rows[i] = large.layout.row(list[i]);
          local[small.rows[i]] = i;
        }
      u64 last = large.layout.rank(list[0]), rank = 0;
      for (u32 i = 0; i < m; ++i) {
        const u64 now = large.layout.rank(list[i]);
        rank += now != last;
        last = now;
        const u32 row = large.layout.row(list[i]);
        const u32 label = large.layout.fits() ? large.layout.label(list[i]) : task_.y[row];
        out[i] = small.layout.pack(rank, local[row], label);
      }
    }
    if (task_.weight) {
      small.weights.resize(m);
      for (u32 i = 0; i < m; ++i) small.weights[i] = task_.weight[small.rows[i]];
    }
    if (task_.target) {
      small.targets.resize(m);
      for (u32 i = 0; i < m; ++i) small.targets[i] = task_.target[small.rows[i]];
    }
  }
};

template <template <class, int> class Scan>
inline void grow_classes(const Task& task, Tree& tree, Clock& clock) {
  if (task.merit == GINI)
    Grower<Scan, GINI>(task, tree, clock).run();
  else
    Grower<Scan, ENTROPY>(task, tree, clock).run();
}

inline void grow(const Task& task, Tree& tree, const omnitree::Tick& tick) {
  Clock clock(tick);
  if (task.target)
    Grower<ScanTargets, SQUARES>(task, tree, clock).run();
  else if (task.weight)
    grow_classes<ScanWeighted>(task, tree, clock);
  else if (task.k == 2)
    grow_classes<ScanTwo>(task, tree, clock);
  else
    grow_classes<ScanMany>(task, tree, clock);
}

}  // namespace omnitree
