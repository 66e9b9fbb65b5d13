// Scanning the sorted list of one column at one node for its best cut.
//
// An entry packs class | rank | row (class in the highest bits), so that the scan reads one stream
// and gathers nothing. Scores differ by scanner, and are only compared within a node:
//   two classes   Gini     D^2 (1/l + 1/r), D = m l1 - l m1: the Gini decrease up to a factor
//                 entropy  H1[l1] + H0[l0] + P[l], all three tabulated once per node
//   many classes  Gini     sum l_c^2 / l + sum r_c^2 / r, exact integer sums
//                 entropy  sum l_c log l_c - l log l + the same for r, from a table of differences
//   weighted      the same two, in doubles, with divisions and logarithms
//   targets       S^2 (1/l + 1/r), S the left sum around the node's mean: squared error
// A later candidate must win by more than `tolerance`, so that rounding never decides between exact
// ties. Without weights, lists are read in blocks where that pays: the counts of a block bound the
// score of every cut inside it (the scores are convex in the counts), and only blocks that may hold
// a better cut are tried entry by entry. Cost, with the partition of presort_lists.hpp, per entry
// (a row of a column at a node): 1.5-1.8 ns for two classes, 3.2-3.8 ns for more, 5-6 ns with
// weights and Gini, 35-40 ns with weights and entropy (logarithms). Used by: presort_lists.hpp.
#pragma once
#include <cstring>

#include "univariate/presort_tree.hpp"

namespace omnitree {

template <class Entry>
struct Layout {
  int row_bits = 0, class_bits = 0;  // no class bits: the class is looked up by row

  static constexpr int BITS = 8 * sizeof(Entry);
  Layout() = default;
  Layout(u64 rows, u32 classes) {
    row_bits = bits_for(rows);
    class_bits = classes ? bits_for(classes) : 0;
    if (2 * row_bits + class_bits > BITS) class_bits = 0;
  }
  bool fits() const { return class_bits > 0; }
  Entry pack(u64 rank, u64 row, u64 label) const {
    const Entry e = static_cast<Entry>(rank << row_bits | row);
    return class_bits ? e | static_cast<Entry>(label) << (BITS - class_bits) : e;
  }
  Entry row_mask() const { return (Entry{1} << row_bits) - 1; }
  u32 row(Entry e) const { return static_cast<u32>(e & row_mask()); }
  u64 rank(Entry e) const { return static_cast<Entry>(e << class_bits) >> class_bits >> row_bits; }
  u32 label(Entry e) const { return static_cast<u32>(e >> (BITS - class_bits)); }
  // Bits in which entries of different value differ.
  Entry rank_mask() const {
    return static_cast<Entry>(static_cast<Entry>(~Entry{0}) << class_bits >> class_bits >>
                              row_bits << row_bits);
  }
};

// 1/i, i log2 i, and the differences of the latter, for counts up to n.
struct Tables {
  std::vector<double> inverse, g, dg;

  Tables(u32 n, int merit) {
    if (merit != ENTROPY) {
      inverse.resize(std::size_t(n) + 1);
      for (u32 i = 1; i <= n; ++i) inverse[i] = 1.0 / i;
    } else {
      g.resize(std::size_t(n) + 2);
      dg.resize(std::size_t(n) + 1);
      for (u32 i = 0; i <= n + 1; ++i) g[i] = xlogx(i);
      for (u32 i = 0; i <= n; ++i) dg[i] = g[i + 1] - g[i];
    }
  }
};

struct Best {
  double limit = -INFINITY;  // score to exceed: that of the best cut plus the tolerance
  u32 column = 0, cut = 0;   // rows before the cut; 0: none found
};

// What scans of rows without weights share.
template <class Entry, int MERIT>
class ScanCounts {
 public:
  static constexpr bool RATES_COLUMNS = MERIT == ENTROPY;
  ScanCounts(const Task& task, const Tables& tables, Layout<Entry> layout)
      : tables_(tables), mask_(layout.rank_mask()) {
    set_least(task.min_branch);
  }

  void set_least(double weight) {
    least_ = static_cast<u32>(std::max(1.0, std::ceil(weight - SLACK)));
  }
  double tolerance() const { return tolerance_; }
  // Places between the admissible entries where the value changes: cuts that are tried.
  u32 tries(const Entry* list, u32 m) const {
    u32 changes = 0;
    for (u32 i = least_ - 1; i + least_ < m; ++i) changes += ((list[i] ^ list[i + 1]) & mask_) != 0;
    return changes;
  }
  double weight_of(const Entry*, u32 count) const { return count; }

 protected:
  const Tables& tables_;
  Entry mask_;
  u32 least_;
  double tolerance_ = 0;
};

// Two classes, no weights.
template <class Entry, int MERIT>
class ScanTwo : public ScanCounts<Entry, MERIT> {
  using Base = ScanCounts<Entry, MERIT>;
  using Base::least_, Base::mask_, Base::tables_, Base::tolerance_;

 public:
  ScanTwo(const Task& task, const Tables& tables, Layout<Entry> layout, u32 rows)
      : Base(task, tables, layout), position_(rows + 1) {
    if (MERIT == ENTROPY) first_.resize(rows + 1), second_.resize(rows + 1);
  }

  void start_node(u32 m, const double* count, const double*, const double*) {
    m_ = m;
    m1_ = static_cast<i64>(count[1]);
    const double size = m;
    if (MERIT == GINI) {
      tolerance_ = 5e-13 * size * size * size;
      const double* v = tables_.inverse.data();
      for (u32 i = 1; i < m; ++i) position_[i] = v[i] + v[m - i];
      position_[0] = position_[m] = 0;  // D is 0 there
    } else {
      tolerance_ = 1e-11 * size;
      const double* g = tables_.g.data();
      const u32 m1 = static_cast<u32>(m1_), m0 = m - m1;
      for (u32 i = 0; i <= m; ++i) position_[i] = -g[i] - g[m - i];
      for (u32 i = 0; i <= m0; ++i) first_[i] = g[i] + g[m0 - i];
      for (u32 i = 0; i <= m1; ++i) second_[i] = g[i] + g[m1 - i];
    }
  }

  void scan(const Entry* list, u32 m, u32 column, Best& best) const {
    const u32 end = m - least_;  // cuts 1 .. end are admissible
    u32 i = 0, ones = 0;
    for (; i + BLOCK <= end; i += BLOCK) {
      const u32 more = ones_in(list + i);
      // A convex function is greatest at a corner: the ones first, the zeros first, or the whole
      // block.
      if (score(i + more, ones + more) > best.limit || score(i + BLOCK - more, ones) > best.limit ||
          score(i + BLOCK, ones + more) > best.limit)
        scan_each(list, i, i + BLOCK, column, ones, best);
      ones += more;
    }
    scan_each(list, i, end, column, ones, best);
  }

 private:
  static constexpr u32 BLOCK = 16;
  std::vector<double> position_, first_, second_;
  i64 m_ = 0, m1_ = 0;

  static u32 one(Entry e) { return static_cast<u32>(e >> (Layout<Entry>::BITS - 1)); }

  // Entries of class 1 in a block.
  static u32 ones_in(const Entry* block) {
    typedef Entry Vector __attribute__((vector_size(16)));
    constexpr u32 LANES = 16 / sizeof(Entry);
    Vector sum = {}, some;
    for (u32 j = 0; j < BLOCK; j += LANES) {
      std::memcpy(&some, block + j, sizeof some);
      sum += some >> (Layout<Entry>::BITS - 1);
    }
    u32 ones = 0;
    for (u32 j = 0; j < LANES; ++j) ones += static_cast<u32>(sum[j]);
    return ones;
  }

  // Score of a left side of l entries, of which `ones` are of class 1.
  double score(u32 l, u32 ones) const {
    if (MERIT == ENTROPY) return first_[l - ones] + second_[ones] + position_[l];
    const double D = static_cast<double>(ones * m_ - l * m1_);
    return D * D * position_[l];
  }

  // Try the cuts after entries [begin, end).
  void scan_each(const Entry* list, u32 begin, u32 end, u32 column, u32 ones, Best& best) const {
    for (u32 i = begin; i < end; ++i) {
      ones += one(list[i]);
      const double now = score(i + 1, ones);
      if (now > best.limit && ((list[i] ^ list[i + 1]) & mask_) && i + 1 >= least_)
        best.limit = now + tolerance_, best.column = column, best.cut = i + 1;
    }
  }
};

// Any number of classes, no weights.
template <class Entry, int MERIT>
class ScanMany : public ScanCounts<Entry, MERIT> {
  using Base = ScanCounts<Entry, MERIT>;
  using Base::least_, Base::mask_, Base::tables_, Base::tolerance_;

 public:
  ScanMany(const Task& task, const Tables& tables, Layout<Entry> layout, u32)
      : Base(task, tables, layout), layout_(layout), y_(task.y), k_(task.k), left_(task.k),
        total_(task.k) {}

  void start_node(u32 m, const double* count, const double*, const double*) {
    tolerance_ = (MERIT == GINI ? 1e-12 : 1e-11) * m;
    squares_ = 0, parent_ = 0;
    for (u32 c = 0; c < k_; ++c) {
      total_[c] = static_cast<u32>(count[c]);
      squares_ += static_cast<i64>(total_[c]) * total_[c];
      if (MERIT == ENTROPY) parent_ += tables_.g[total_[c]];
    }
  }

  void scan(const Entry* list, u32 m, u32 column, Best& best) {
    const u32 end = m - least_;  // cuts 1 .. end are admissible
    m_ = m;
    before_ = 0, after_ = squares_, sum_ = parent_;
    u32 i = 0;
    // Measured: blocks save 5-15 % with Gini; a bound for the entropy costs what it saves.
    if (MERIT == GINI && k_ <= PACKED && layout_.fits())
      for (; i + BLOCK <= end; i += BLOCK) {
        const u64 more = count_block(list + i);
        if (bound(i, more) > best.limit)
          scan_each(list, i, i + BLOCK, column, best);
        else
          skip(more);
      }
    scan_each(list, i, end, column, best);
    if (k_ <= end)
      std::fill(left_.begin(), left_.end(), 0u);
    else
      for (u32 j = 0; j < end; ++j) left_[label(list[j])] = 0;
  }

 private:
  static constexpr u32 BLOCK = 32, PACKED = 8;  // a block's counts are the bytes of a word
  Layout<Entry> layout_;
  const i32* y_;
  u32 k_, m_ = 0;
  std::vector<u32> left_, total_;
  i64 squares_ = 0;
  double parent_ = 0;
  i64 before_ = 0, after_ = 0;  // sums of squares of the two sides
  double sum_ = 0;              // sum of n log n over the classes of both sides

  u32 label(Entry e) const {
    return layout_.fits() ? layout_.label(e) : static_cast<u32>(y_[layout_.row(e)]);
  }

  u64 count_block(const Entry* block) const {
    u64 count = 0;
    for (u32 j = 0; j < BLOCK; ++j) count += u64{1} << 8 * layout_.label(block[j]);
    return count;
  }

  // Gini: not less than the score of any cut inside or at the end of the block that begins after l
  // entries.
  double bound(u32 l, u64 more) const {
    // score = sum_c total_c^2 / m + sum_c D_c^2 (1/l + 1/r) / m^2 with D_c = m l_c - l total_c;
    // inside the block D_c is highest if its entries come first, lowest if they come last.
    double squares = 0;
    const i64 m = m_;
    for (u32 c = 0; c < k_; ++c, more >>= 8) {
      const i64 b = more & 255, all = total_[c], D = m * left_[c] - all * l;
      const double high = static_cast<double>(D + b * (m - all));
      const double low = static_cast<double>(D - (BLOCK - b) * all);
      squares += std::max(high * high, low * low);
    }
    // 1/l + 1/r is convex: greatest at an end of the block.
    const double* v = tables_.inverse.data();
    const double w = std::max(v[l + 1] + v[m - l - 1], v[l + BLOCK] + v[m - l - BLOCK]);
    return static_cast<double>(squares_) * v[m] + squares * w * v[m] * v[m];
  }

  // Gini: move a block to the left side without trying its cuts.
  void skip(u64 more) {
    for (u32 c = 0; c < k_; ++c, more >>= 8) {
      const i64 b = more & 255, l = left_[c], r = total_[c] - l;
      left_[c] += static_cast<u32>(b);
      before_ += b * (2 * l + b);
      after_ -= b * (2 * r - b);
    }
  }

  // Try the cuts after entries [begin, end).
  void scan_each(const Entry* list, u32 begin, u32 end, u32 column, Best& best) {
    i64 before = before_, after = after_;
    double sum = sum_;
    for (u32 i = begin; i < end; ++i) {
      const Entry e = list[i];
      const u32 c = label(e), l = left_[c]++, r = total_[c] - l;
      double score;
      if (MERIT == GINI) {
        before += 2 * static_cast<i64>(l) + 1;
        after -= 2 * static_cast<i64>(r) - 1;
        const double* v = tables_.inverse.data();
        score = static_cast<double>(before) * v[i + 1] + static_cast<double>(after) * v[m_ - i - 1];
      } else {
        sum += tables_.dg[l] - tables_.dg[r - 1];
        score = sum - tables_.g[i + 1] - tables_.g[m_ - i - 1];
      }
      if (score > best.limit && ((e ^ list[i + 1]) & mask_) && i + 1 >= least_)
        best.limit = score + tolerance_, best.column = column, best.cut = i + 1;
    }
    before_ = before, after_ = after, sum_ = sum;
  }
};

// Weighted rows. The weight of a row is looked up: weight[row of the entry].
template <class Entry, int MERIT>
class ScanWeighted {
 public:
  static constexpr bool RATES_COLUMNS = MERIT == ENTROPY;
  ScanWeighted(const Task& task, const Tables&, Layout<Entry> layout, u32)
      : layout_(layout), mask_(layout.rank_mask()), y_(task.y), k_(task.k),
        least_(task.min_branch - SLACK), left_(task.k), right_(task.k) {}

  void set_least(double weight) { least_ = weight - SLACK; }
  double tolerance() const { return tolerance_; }

  u32 tries(const Entry* list, u32 m) const {
    double low = 0;
    u32 tries = 0;
    for (u32 i = 0; i + 1 < m; ++i) {
      low += by_row_[layout_.row(list[i])];
      tries += ((list[i] ^ list[i + 1]) & mask_) && low >= least_ && weight_ - low >= least_;
    }
    return tries;
  }

  // Of the first entries of a list.
  double weight_of(const Entry* list, u32 count) const {
    double sum = 0;
    for (u32 i = 0; i < count; ++i) sum += by_row_[layout_.row(list[i])];
    return sum;
  }

  void start_node(u32, const double* count, const double* weight, const double*) {
    total_ = count;
    by_row_ = weight;
    weight_ = squares_ = 0;
    for (u32 c = 0; c < k_; ++c) {
      weight_ += count[c];
      squares_ += MERIT == GINI ? count[c] * count[c] : xlogx(count[c]);
    }
    tolerance_ = (MERIT == GINI ? 1e-12 : 1e-11) * weight_;
  }

  void scan(const Entry* list, u32 m, u32 column, Best& best) {
    std::fill(left_.begin(), left_.end(), 0.0);
    std::copy(total_, total_ + k_, right_.begin());
    double nl = 0, before = 0, after = squares_;
    for (u32 i = 0; i + 1 < m; ++i) {
      const Entry e = list[i];
      const u32 row = layout_.row(e);
      const u32 c = layout_.fits() ? layout_.label(e) : static_cast<u32>(y_[row]);
      const double w = by_row_[row], l = left_[c], r = right_[c];
      nl += w;
      left_[c] = l + w;
      right_[c] = r - w;
      if (MERIT == GINI) {
        before += w * (2 * l + w);
        after -= w * (2 * r - w);
      } else {
        before += xlogx(l + w) - xlogx(l);
        after += xlogx(r - w) - xlogx(r);
      }
      const double nr = weight_ - nl;
      if (!((e ^ list[i + 1]) & mask_) || nl < least_ || nr < least_) continue;
      const double score =
          MERIT == GINI ? before / nl + after / nr : before - xlogx(nl) + after - xlogx(nr);
      if (score > best.limit)
        best.limit = score + tolerance_, best.column = column, best.cut = i + 1;
    }
  }

 private:
  Layout<Entry> layout_;
  Entry mask_;
  const i32* y_;
  u32 k_;
  double least_;
  std::vector<double> left_, right_;
  const double *total_ = nullptr, *by_row_ = nullptr;
  double weight_ = 0, squares_ = 0, tolerance_ = 0;
};

// Numeric targets, weighted or not; both are looked up by the row of the entry.
template <class Entry, int MERIT>
class ScanTargets {
 public:
  static constexpr bool RATES_COLUMNS = MERIT == ENTROPY;
  ScanTargets(const Task& task, const Tables& tables, Layout<Entry> layout, u32 rows)
      : tables_(tables), layout_(layout), mask_(layout.rank_mask()),
        position_(task.weight ? 0 : rows + 1), least_(task.min_branch - SLACK) {}

  void start_node(u32 m, const double* stats, const double* weight, const double* target) {
    by_row_ = weight;
    target_ = target;
    total_ = stats[WEIGHT];
    mean_ = stats[SUM] / total_;
    tolerance_ = 1e-11 * std::max(0.0, stats[SUM_OF_SQUARES] - stats[SUM] * mean_);
    if (weight) return;
    const double* v = tables_.inverse.data();
    for (u32 i = 1; i < m; ++i) position_[i] = v[i] + v[m - i];
  }

  void scan(const Entry* list, u32 m, u32 column, Best& best) const {
    if (by_row_) return scan_weighted(list, m, column, best);
    const u32 least = static_cast<u32>(std::max(1.0, std::ceil(least_)));
    const Entry rows = layout_.row_mask();
    double sum = 0;
    for (u32 i = 0; i + least < m; ++i) {
      const Entry e = list[i];
      sum += target_[e & rows] - mean_;
      const double score = sum * sum * position_[i + 1];
      if (score > best.limit && ((e ^ list[i + 1]) & mask_) && i + 1 >= least)
        best.limit = score + tolerance_, best.column = column, best.cut = i + 1;
    }
  }

 private:
  const Tables& tables_;
  Layout<Entry> layout_;
  Entry mask_;
  std::vector<double> position_;
  double least_;
  const double *by_row_ = nullptr, *target_ = nullptr;
  double total_ = 0, mean_ = 0, tolerance_ = 0;

  void scan_weighted(const Entry* list, u32 m, u32 column, Best& best) const {
    double sum = 0, left = 0;
    for (u32 i = 0; i + 1 < m; ++i) {
      const Entry e = list[i];
      const u32 row = layout_.row(e);
      sum += by_row_[row] * (target_[row] - mean_);
      left += by_row_[row];
      const double right = total_ - left;
      if (!((e ^ list[i + 1]) & mask_) || left < least_ || right < least_) continue;
      const double score = sum * sum * (1 / left + 1 / right);
      if (score > best.limit)
        best.limit = score + tolerance_, best.column = column, best.cut = i + 1;
    }
  }
};

}  // namespace omnitree
