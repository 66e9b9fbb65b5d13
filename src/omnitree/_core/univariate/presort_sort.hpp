// Sorting one numeric column: rows by value, with dense ranks.
//
// How: values are mapped linearly onto at most 33 bits, which is monotone also after rounding;
// words key | row | class are radix sorted by 22 bits if they fit in the cache, else distributed by
// the leading 11 bits, then each bucket by as many bits as it has words, and an insertion sort puts
// the last neighbours right. The linear map spreads most columns evenly, which the leading bits of
// the double itself do not. A bucket squeezed together by outliers is mapped again onto its own
// range. Equal keys are told apart by the doubles. Columns are read eight at a time, a cache line
// of a row-major table. Cost: 10-25 ns a value; scratch of 80 bytes a row (16 if the table is
// column-major). Rows of a table that was sorted before, as the folds of a cross-validation, need
// no sort: they are picked out of its order, 2-3 ns a value. Used by: presort.hpp, once per column;
// presort.pyx (sort_columns).
#pragma once
#include <algorithm>
#include <cmath>
#include <memory>

#include "univariate/presort_task.hpp"

namespace omnitree {

class ColumnSorter {
 public:
  explicit ColumnSorter(const Task& task)
      : task_(task), word_(new u64[task.n]), spare_(new u64[task.n]), row_bits_(bits_for(task.n)),
        class_bits_(bits_for(task.k)), wide_(std::max(1u, std::min(8u, task.d / 4))) {
    key_bits_ = std::min(33, 64 - row_bits_ - class_bits_);
    if (task.row_stride != sizeof(double)) block_.reset(new double[std::size_t(task.n) * wide_]);
  }

  // Call emit(i, rank, row, label) for the rows in ascending order, i = 0 .. n-1. Equal values (0.0
  // and -0.0 too) share a rank and keep the order of their rows.
  template <class Emit>
  void sort(u32 column, Emit emit) {
    load(column);
    for (u32 i = 0; i < task_.n; ++i)
      word_[i] = u64{i} << class_bits_ | static_cast<u64>(task_.y[i]);
    remapped_ = false;
    sort_run(0, task_.n, 0);
    const int low = 64 - key_bits_;
    const u64 label = (u64{1} << class_bits_) - 1;
    u64 rank = 0, last = word_[0];
    for (u32 i = 0; i < task_.n; ++i) {
      const u64 now = word_[i];
      // Keys of one mapping differ only if the values do.
      if (remapped_ || now >> low == last >> low)
        rank += value(now) != value(last);
      else
        ++rank;
      last = now;
      emit(i, rank, row(now), static_cast<u32>(now & label));
    }
  }

  // Value of a row in the column sorted last.
  double at(u32 row) const { return value_[row]; }

 private:
  static constexpr u32 SHORT = 32;        // runs and cells up to here are left to insertion
  static constexpr u32 IN_CACHE = 65536;  // words that may be scattered freely
  static constexpr int DIGIT = 11;
  const Task& task_;
  std::unique_ptr<u64[]> word_, spare_;
  std::unique_ptr<double[]> block_;  // wide_ columns, one after the other
  const double* value_ = nullptr;
  u32 block_begin_ = 0, block_end_ = 0;
  int row_bits_, class_bits_, key_bits_;
  u32 wide_;  // a cache line of a row, less in narrow tables to save memory
  bool remapped_ = false;

  u32 row(u64 word) const {
    return static_cast<u32>(word >> class_bits_ & ((u64{1} << row_bits_) - 1));
  }
  double value(u64 word) const { return value_[row(word)]; }

  static u32 digit(u64 word, int which) {
    return word >> (64 - DIGIT * (which + 1)) & ((1 << DIGIT) - 1);
  }

  void load(u32 column) {
    const u32 n = task_.n;
    if (!block_) {
      value_ = reinterpret_cast<const double*>(task_.address(0, column));
      return;
    }
    if (column < block_begin_ || column >= block_end_) {
      block_begin_ = column;
      block_end_ = std::min(task_.d, column + wide_);
      for (u32 i = 0; i < n; ++i) {
        __builtin_prefetch(task_.address(std::min(i + 24, n - 1), column));
        __builtin_prefetch(task_.address(std::min(i + 24, n - 1), block_end_ - 1));
        for (u32 c = block_begin_; c < block_end_; ++c)
          block_[std::size_t(c - block_begin_) * n + i] = task_.at(i, c);
      }
    }
    value_ = &block_[std::size_t(column - block_begin_) * n];
  }

  void compare_sort(u32 begin, u32 end) {
    std::sort(&word_[begin], &word_[begin] + (end - begin), [this](u64 a, u64 b) {
      const double x = value(a), y = value(b);
      return x != y ? x < y : row(a) < row(b);
    });
  }

  // Sort words [begin, end), whose rows ascend on entry.
  void sort_run(u32 begin, u32 end, int round) {
    const u32 n = end - begin;
    remapped_ |= round > 0;
    if (n <= SHORT || round == 5) return compare_sort(begin, end);
    double low = value(word_[begin]), high = low;
    for (u32 i = begin; i < end; ++i) {
      const double v = value(word_[i]);
      low = v < low ? v : low;
      high = v > high ? v : high;
    }
    if (low == high) return;
    const bool fits = n <= IN_CACHE;
    const int bits = fits ? std::min(2 * DIGIT, key_bits_) : key_bits_;
    const double top = static_cast<double>((u64{1} << bits) - 1), scale = top / (high - low);
    if (!(high - low < INFINITY) || !(scale < INFINITY)) return compare_sort(begin, end);

    const u64 rest = (u64{1} << (row_bits_ + class_bits_)) - 1;
    u32 first[(1 << DIGIT) + 1] = {},
                             second[(1 << DIGIT) + 1] = {};  // begin of each bucket, by digit
    for (u32 i = begin; i < end; ++i) {
      const double q = (value(word_[i]) - low) * scale;
      const u64 key = static_cast<u64>(static_cast<i64>(q < top ? q : top));
      word_[i] = key << (64 - bits) | (word_[i] & rest);
      ++first[digit(word_[i], 0) + 1];
      if (fits) ++second[digit(word_[i], 1) + 1];
    }
    for (u32 b = 0; b < 1 << DIGIT; ++b) first[b + 1] += first[b], second[b + 1] += second[b];
    if (fits) {
      for (u32 i = begin; i < end; ++i) spare_[begin + second[digit(word_[i], 1)]++] = word_[i];
      for (u32 i = begin; i < end; ++i) word_[begin + first[digit(spare_[i], 0)]++] = spare_[i];
      return sort_equal(begin, end, round);
    }
    u32 place[1 << DIGIT];
    std::copy(first, first + (1 << DIGIT), place);
    for (u32 i = begin; i < end; ++i) spare_[begin + place[digit(word_[i], 0)]++] = word_[i];
    for (u32 b = 0; b < 1 << DIGIT; ++b) sort_bucket(begin + first[b], begin + first[b + 1], round);
  }

  // Sort spare_[begin, end), equal in the leading digit, by the whole word into word_.
  void sort_bucket(u32 begin, u32 end, int round) {
    const u32 n = end - begin;
    u64 *from = &spare_[begin], *to = &word_[begin];
    const int size = std::min({DIGIT, bits_for(n), key_bits_ - DIGIT});
    const u32 cells = 1u << size, mask = cells - 1;
    const int shift = 64 - DIGIT - size;
    u32 place[1 << DIGIT];
    std::fill(place, place + cells, 0);
    for (u32 i = 0; i < n; ++i) ++place[from[i] >> shift & mask];
    u32 sum = 0, most = 0;
    for (u32 c = 0; c < cells; ++c) {
      const u32 count = place[c];
      most = std::max(most, count);
      place[c] = sum;
      sum += count;
    }
    if (most > SHORT) {
      std::copy(from, from + n, to);
      return sort_run(begin, end, round + 1);
    }
    for (u32 i = 0; i < n; ++i) to[place[from[i] >> shift & mask]++] = from[i];
    for (u32 i = 1; i < n; ++i) {
      const u64 now = to[i];
      u32 j = i;
      for (; j > 0 && to[j - 1] > now; --j) to[j] = to[j - 1];
      to[j] = now;
    }
    sort_equal(begin, end, round);
  }

  // Words [begin, end) are sorted by key: sort each run of equal keys by value.
  void sort_equal(u32 begin, u32 end, int round) {
    const int low = 64 - key_bits_;
    for (u32 i = begin; i < end;) {
      const u64 key = word_[i] >> low;
      u32 j = i + 1;
      while (j < end && word_[j] >> low == key) ++j;
      if (j - i > SHORT)
        sort_run(i, j, round + 1);
      else if (j - i > 1)
        compare_sort(i, j);
      i = j;
    }
  }
};

// The rows of a table in the order of each column, column after column; CHANGE marks the first of
// each value.
inline void order_all(const Task& task, u32* order) {
  ColumnSorter sorter(task);
  for (u32 c = 0; c < task.d; ++c, order += task.n) {
    u64 last = ~u64{0};
    sorter.sort(c, [&](u32 i, u64 rank, u32 row, u32) {
      order[i] = row | (rank != last ? CHANGE : 0);
      last = rank;
    });
  }
}

// The same rows as ColumnSorter::sort gives, from the order of the larger table that they are part
// of.
template <class Emit>
void keep_order(const Task& task, u32 column, Emit emit) {
  const u32* order = task.order + std::size_t(column) * task.n_all;
  u64 rank = ~u64{0};  // the first entry kept makes it 0
  u32 changed = 0, i = 0;
  for (u32 j = 0; j < task.n_all; ++j) {
    const u32 entry = order[j];
    changed |= entry >> 31;
    const i32 row = task.place[entry & ~CHANGE];
    if (row < 0) continue;
    rank += changed;
    changed = 0;
    emit(i++, rank, static_cast<u32>(row), static_cast<u32>(task.y[row]));
  }
}

}  // namespace omnitree
