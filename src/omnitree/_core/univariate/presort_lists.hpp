// Growing a subtree from sorted lists: one list of entries per column, a node is the same range of
// each.
//
// How: scan every list for the best cut, mark the side of each row, then partition each list
// stably, so that the children's lists are sorted again without sorting. Columns found constant
// leave the subtree; a child that is a leaf is not written. Depth first with an explicit stack, the
// left child first. Cost: see presort_scan.hpp, per row, column and level. Used by: presort.hpp,
// with 64-bit entries for any number of rows and with 32-bit entries once a node fits.
#pragma once
#include <cstring>
#include <memory>

#include "univariate/presort_choice.hpp"
#include "univariate/presort_scan.hpp"

namespace omnitree {

template <class Entry, class Scan>
class Lists {
 public:
  using Word = Entry;
  Layout<Entry> layout;
  Scan scan;
  std::unique_ptr<Entry[]> entries;  // column after column, `stride` apart
  std::size_t stride = 0;
  std::vector<u32> columns;     // column of the table, by list
  std::vector<u32> rows;        // row of the table, by local row; empty if the same
  std::vector<double> weights;  // by local row; empty if unweighted, or if rows is
  std::vector<double> targets;  // by local row; empty for classes, or if rows is
  const std::vector<std::vector<double>>* values = nullptr;  // of each column of the table, sorted

  Lists(const Task& task, const Tables& tables, Tree& tree, Clock& clock, u32 capacity)
      : layout(capacity, task.n_labels()), scan(task, tables, layout, capacity), task_(task),
        tree_(tree), clock_(clock), side_(capacity), buffer_(capacity + 1), left_(task.n_stats()),
        right_(task.n_stats()) {}

  // Grow `node`, which owns entries [0, m) of each list. Before a node is searched, hand_over(node,
  // begin, end, depth, active columns) may take it away by returning true.
  template <class HandOver>
  void grow(u32 node, u32 m, int depth, u32& settled, HandOver hand_over) {
    active_.clear();
    for (u32 c = 0; c < columns.size(); ++c) active_.push_back(c);
    stack_.assign(1, {node, 0, m, depth, 0, static_cast<u32>(columns.size())});
    while (!stack_.empty() && !clock_.stopped()) {
      const Open open = stack_.back();
      stack_.pop_back();
      active_.resize(open.active + open.count);
      const u32 size = open.end - open.begin;
      if (hand_over(open.node, open.begin, open.end, open.depth, active_.data() + open.active,
                    open.count))
        continue;
      settled += size - step(open, settled);
    }
  }

 private:
  struct Open {
    u32 node, begin, end;
    int depth;
    u32 active, count;  // range of active_
  };
  const Task& task_;
  Tree& tree_;
  Clock& clock_;
  std::vector<u8> side_;
  std::vector<Entry> buffer_;
  std::vector<double> left_, right_;
  ColumnChoice choice_;
  std::vector<Open> stack_;
  std::vector<u32>
      active_;  // lists not constant, a stack of ranges: children share the range of their parent

  u32 table_row(Entry e) const { return rows.empty() ? layout.row(e) : rows[layout.row(e)]; }

  const double* target_by_row() const { return rows.empty() ? task_.target : targets.data(); }

  void add_counts(const Entry* list, u32 m, std::vector<double>& count) const {
    std::fill(count.begin(), count.end(), 0.0);
    if (task_.target) return add_targets(list, m, count);
    for (u32 i = 0; i < m; ++i) {
      const u32 row = layout.row(list[i]);
      const u32 c = layout.fits() ? layout.label(list[i]) : static_cast<u32>(task_.y[row]);
      count[c] += weight_of(row);
    }
  }

  void add_targets(const Entry* list, u32 m, std::vector<double>& stats) const {
    const double* target = target_by_row();
    stats[LEAST] = INFINITY, stats[GREATEST] = -INFINITY;
    for (u32 i = 0; i < m; ++i) {
      const u32 row = layout.row(list[i]);
      add_target(target[row], weight_of(row), stats.data());
    }
  }

  double weight_of(u32 row) const {
    if (task_.weight == nullptr) return 1.0;
    return rows.empty() ? task_.weight[row] : weights[row];
  }

  // Search one list, for the node or, where each column is searched by itself, for its own best
  // cut.
  void search(const Entry* list, u32 m, u32 column, Best& best) {
    if constexpr (Scan::RATES_COLUMNS)
      if (task_.by_column()) return choice_.offer(scan, task_, list, m, column);
    scan.scan(list, m, column, best);
  }

  // Search and split one node; returns how many of its rows are still in open nodes.
  u32 step(const Open& open, u32 settled) {
    const u32 m = open.end - open.begin;
    const Entry mask = layout.rank_mask();
    scan.start_node(m, &tree_.value[std::size_t(open.node) * tree_.k],
                    rows.empty() || !task_.weight ? task_.weight : weights.data(), target_by_row());
    Best best;
    if constexpr (Scan::RATES_COLUMNS)
      if (task_.by_column())
        choice_.start_node(scan, task_, &tree_.value[std::size_t(open.node) * tree_.k]);
    u32 varying = 0;
    for (u32 j = 0; j < open.count; ++j) {
      const u32 c = active_[open.active + j];
      const Entry* list = &entries[c * stride + open.begin];
      if (!((list[0] ^ list[m - 1]) & mask)) continue;
      search(list, m, c, best);
      // The survivors go on top of the stack of ranges, where they stay only if some column dropped
      // out.
      active_.push_back(c);
      ++varying;
      if (clock_.work(m, static_cast<double>(settled) / task_.n)) return 0;
    }
    double merit = 0;
    if (task_.by_column()) best = choice_.choose(task_, merit);
    if (best.cut == 0) return 0;
    u32 active = open.active + open.count;
    if (varying == open.count) {
      active_.resize(active);
      active = open.active;
    }
    Entry* own = &entries[best.column * stride + open.begin];
    add_counts(own, best.cut, left_);
    add_counts(own + best.cut, m - best.cut, right_);
    const u32 child =
        tree_.split(open.node, task_, columns[best.column], table_row(own[best.cut - 1]),
                    table_row(own[best.cut]), left_.data(), right_.data());
    if (task_.by_column()) tree_.merit[open.node] = merit;
    if (values) tree_.lower_threshold(open.node, (*values)[columns[best.column]]);
    const bool go_left = tree_.may_split(child, open.depth + 1, task_);
    const bool go_right = tree_.may_split(child + 1, open.depth + 1, task_);
    if (!go_left && !go_right) return 0;
    for (u32 i = 0; i < m; ++i) side_[layout.row(own[i])] = i >= best.cut;
    for (u32 j = 0; j < varying; ++j) {
      const u32 c = active_[active + j];
      Entry* list = &entries[c * stride + open.begin];
      if (c == best.column) {
        if (!go_left) std::memmove(own, own + best.cut, (m - best.cut) * sizeof(Entry));
      } else if (go_left && go_right) {
        partition(list, m);
      } else {
        keep(list, m, go_left ? 0 : 1);
      }
      // Stopped half-way: the children stay leaves, their lists are not needed.
      if (clock_.work(m, static_cast<double>(settled) / task_.n)) return 0;
    }
    const u32 middle = open.begin + best.cut;
    const int depth = open.depth + 1;
    if (go_left && go_right) {
      stack_.push_back({child + 1, middle, open.end, depth, active, varying});
      stack_.push_back({child, open.begin, middle, depth, active, varying});
      return m;
    }
    if (go_left) stack_.push_back({child, open.begin, middle, depth, active, varying});
    // A right child alone was moved to the front of the range.
    else
      stack_.push_back({child + 1, open.begin, open.begin + m - best.cut, depth, active, varying});
    return go_left ? best.cut : m - best.cut;
  }

  // Left rows to the front, right rows behind them, both in order. Every entry is written to both
  // places and the one that counts is kept: no branch to mispredict.
  void partition(Entry* list, u32 m) {
    const u8* side = side_.data();
    const Entry mask = layout.row_mask();
    Entry *left = list, *right = buffer_.data();
    for (const Entry *at = list, *end = list + m; at != end; ++at) {
      const Entry e = *at;
      const std::size_t s = side[e & mask];
      *left = e;
      *right = e;
      left += 1 - s;
      right += s;
    }
    std::memcpy(left, buffer_.data(), (right - buffer_.data()) * sizeof(Entry));
  }

  // The rows of one side to the front.
  void keep(Entry* list, u32 m, u32 wanted) {
    const u8* side = side_.data();
    const Entry mask = layout.row_mask();
    Entry* out = list;
    for (const Entry *at = list, *end = list + m; at != end; ++at) {
      const Entry e = *at;
      *out = e;
      out += side[e & mask] == wanted;
    }
  }
};

}  // namespace omnitree
