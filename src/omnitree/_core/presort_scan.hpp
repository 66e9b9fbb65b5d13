// Scanning the sorted list of one column at one node for its best cut.
//
// An entry packs class | rank | row (class in the highest bits), so that the scan reads one stream and gathers
// nothing. Scores differ by scanner, and are only compared within a node:
//   two classes   Gini     D^2 (1/l + 1/r), D = m l1 - l m1: the Gini decrease up to a factor; one running integer
//                 entropy  H1[l1] + H0[l0] + P[l], all three tabulated once per node for every column
//   many classes  Gini     sum l_c^2 / l + sum r_c^2 / r, exact integer sums
//                 entropy  sum l_c log l_c - l log l + the same for r, from a table of differences
//   weighted      the same two, in doubles, with divisions and logarithms
// A later candidate must win by more than `tolerance`, so that rounding never decides between exact ties.
// Cost: 1 ns an entry for two classes, 2-3 ns for more, 10 ns and up with weights.
// Used by: presort_lists.hpp.
#pragma once
#include "presort_tree.hpp"

namespace presort {

template <class Entry>
struct Layout {
    int row_bits = 0, class_bits = 0;  // no class bits: the class is looked up by row

    static constexpr int BITS = 8 * sizeof(Entry);
    Layout() = default;
    Layout(u64 rows, u32 classes) {
        row_bits = bits_for(rows);
        class_bits = bits_for(classes);
        if (2 * row_bits + class_bits > BITS) class_bits = 0;
    }
    bool fits() const { return class_bits > 0; }
    Entry pack(u64 rank, u64 row, u64 label) const {
        const Entry e = static_cast<Entry>(rank << row_bits | row);
        return class_bits ? e | static_cast<Entry>(label) << (BITS - class_bits) : e;
    }
    u32 row(Entry e) const { return static_cast<u32>(e & ((Entry{1} << row_bits) - 1)); }
    u64 rank(Entry e) const { return static_cast<Entry>(e << class_bits) >> class_bits >> row_bits; }
    u32 label(Entry e) const { return static_cast<u32>(e >> (BITS - class_bits)); }
    // Bits in which entries of different value differ.
    Entry rank_mask() const {
        return static_cast<Entry>(static_cast<Entry>(~Entry{0}) << class_bits >> class_bits >> row_bits << row_bits);
    }
};

// 1/i, i log2 i, and the differences of the latter, for counts up to n.
struct Tables {
    std::vector<double> inverse, g, dg;

    Tables(u32 n, int merit) {
        if (merit == GINI) {
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

// Two classes, no weights.
template <class Entry, int MERIT>
class ScanTwo {
  public:
    ScanTwo(const Task& task, const Tables& tables, Layout<Entry> layout, u32 rows)
        : tables_(tables), mask_(layout.rank_mask()), position_(rows + 1) {
        least_ = static_cast<u32>(std::max(1.0, std::ceil(task.min_branch - SLACK)));
        if (MERIT == ENTROPY) first_.resize(rows + 1), second_.resize(rows + 1);
    }

    void start_node(u32 m, const double* count, const double*) {
        m1_ = static_cast<i64>(count[1]);
        const double size = m;
        if (MERIT == GINI) {
            tolerance_ = 5e-13 * size * size * size;
            const double* v = tables_.inverse.data();
            for (u32 i = 1; i < m; ++i) position_[i] = v[i] + v[m - i];
        } else {
            tolerance_ = 1e-11 * size;
            const double* g = tables_.g.data();
            const u32 m1 = static_cast<u32>(m1_), m0 = m - m1;
            for (u32 i = 1; i < m; ++i) position_[i] = -g[i] - g[m - i];
            for (u32 i = 0; i <= m0; ++i) first_[i] = g[i] + g[m0 - i];
            for (u32 i = 0; i <= m1; ++i) second_[i] = g[i] + g[m1 - i];
        }
    }

    __attribute__((noinline)) void scan(const Entry* list, u32 m, u32 column, Best& best) const {
        constexpr int TOP = Layout<Entry>::BITS - 1;
        const u32 end = m - least_;
        double limit = best.limit;
        if (MERIT == GINI) {
            i64 D = 0;
            const i64 all = m, down = m1_;
            for (u32 i = 0; i < end; ++i) {
                const Entry e = list[i];
                D += (all & -static_cast<i64>(e >> TOP)) - down;
                const double v = static_cast<double>(D), score = v * v * position_[i + 1];
                if (score > limit && ((e ^ list[i + 1]) & mask_) && i + 1 >= least_)
                    limit = score + tolerance_, best.column = column, best.cut = i + 1;
            }
        } else {
            u32 ones = 0;
            for (u32 i = 0; i < end; ++i) {
                const Entry e = list[i];
                ones += static_cast<u32>(e >> TOP);
                const double score = first_[i + 1 - ones] + second_[ones] + position_[i + 1];
                if (score > limit && ((e ^ list[i + 1]) & mask_) && i + 1 >= least_)
                    limit = score + tolerance_, best.column = column, best.cut = i + 1;
            }
        }
        best.limit = limit;
    }

  private:
    const Tables& tables_;
    Entry mask_;
    std::vector<double> position_, first_, second_;
    u32 least_;
    i64 m1_ = 0;
    double tolerance_ = 0;
};

// Any number of classes, no weights.
template <class Entry, int MERIT>
class ScanMany {
  public:
    ScanMany(const Task& task, const Tables& tables, Layout<Entry> layout, u32)
        : tables_(tables), layout_(layout), mask_(layout.rank_mask()), y_(task.y), k_(task.k), left_(task.k),
          total_(task.k) {
        least_ = static_cast<u32>(std::max(1.0, std::ceil(task.min_branch - SLACK)));
    }

    void start_node(u32 m, const double* count, const double*) {
        tolerance_ = (MERIT == GINI ? 1e-12 : 1e-11) * m;
        squares_ = 0, parent_ = 0;
        for (u32 c = 0; c < k_; ++c) {
            total_[c] = static_cast<u32>(count[c]);
            squares_ += static_cast<i64>(total_[c]) * total_[c];
            if (MERIT == ENTROPY) parent_ += tables_.g[total_[c]];
        }
    }

    __attribute__((noinline)) void scan(const Entry* list, u32 m, u32 column, Best& best) {
        const u32 end = m - least_;
        double limit = best.limit;
        i64 before = 0, after = squares_;
        double sum = parent_;
        for (u32 i = 0; i < end; ++i) {
            const Entry e = list[i];
            const u32 c = layout_.fits() ? layout_.label(e) : static_cast<u32>(y_[layout_.row(e)]);
            const u32 l = left_[c]++, r = total_[c] - l;
            double score;
            if (MERIT == GINI) {
                before += 2 * static_cast<i64>(l) + 1;
                after -= 2 * static_cast<i64>(r) - 1;
                const double* v = tables_.inverse.data();
                score = static_cast<double>(before) * v[i + 1] + static_cast<double>(after) * v[m - i - 1];
            } else {
                sum += tables_.dg[l] - tables_.dg[r - 1];
                score = sum - tables_.g[i + 1] - tables_.g[m - i - 1];
            }
            if (score > limit && ((e ^ list[i + 1]) & mask_) && i + 1 >= least_)
                limit = score + tolerance_, best.column = column, best.cut = i + 1;
        }
        best.limit = limit;
        if (k_ <= end)
            std::fill(left_.begin(), left_.end(), 0u);
        else
            for (u32 i = 0; i < end; ++i)
                left_[layout_.fits() ? layout_.label(list[i]) : static_cast<u32>(y_[layout_.row(list[i])])] = 0;
    }

  private:
    const Tables& tables_;
    Layout<Entry> layout_;
    Entry mask_;
    const i32* y_;
    u32 k_, least_;
    std::vector<u32> left_, total_;
    i64 squares_ = 0;
    double parent_ = 0, tolerance_ = 0;
};

// Weighted rows. The weight of a row is looked up: weight[row of the entry].
template <class Entry, int MERIT>
class ScanWeighted {
  public:
    ScanWeighted(const Task& task, const Tables&, Layout<Entry> layout, u32)
        : layout_(layout), mask_(layout.rank_mask()), y_(task.y), k_(task.k),
          least_(task.min_branch - SLACK), left_(task.k), right_(task.k) {}

    void start_node(u32, const double* count, const double* weight) {
        total_ = count;
        by_row_ = weight;
        weight_ = squares_ = 0;
        for (u32 c = 0; c < k_; ++c) {
            weight_ += count[c];
            squares_ += MERIT == GINI ? count[c] * count[c] : xlogx(count[c]);
        }
        tolerance_ = (MERIT == GINI ? 1e-12 : 1e-11) * weight_;
    }

    __attribute__((noinline)) void scan(const Entry* list, u32 m, u32 column, Best& best) {
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
            if (score > best.limit) best.limit = score + tolerance_, best.column = column, best.cut = i + 1;
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

}  // namespace presort
