// What the kernel is given: the table, its labels or targets and the stopping rules.
//
// Used by: every presort_*.hpp; presort.pyx fills it.
#pragma once
#include <cstddef>
#include <cstdint>

namespace omnitree {

using u8 = std::uint8_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i32 = std::int32_t;
using i64 = std::int64_t;

enum Merit { GINI = 0, ENTROPY = 1, SQUARES = 2 };

// Of the targets of a node.
enum Statistic { WEIGHT = 0, SUM, SUM_OF_SQUARES, LEAST, GREATEST, N_STATISTICS };

struct Task {
  const char* x;  // cell: x + row * row_stride + column * column_stride, in bytes
  std::ptrdiff_t row_stride, column_stride;
  const i32* y;
  const double* target;  // null: a tree for classes
  const double* weight;  // null: every row counts one
  u32 n, d, k;
  int merit;
  double min_rows, min_branch;
  int max_depth;  // negative: no limit
  // How a column is chosen (ENTROPY only): by gain ratio among those of at least average gain;
  // after C4.5 release 8's rules for cuts. Then each column is searched by itself.
  bool by_ratio, release8;
  bool value_thresholds;  // cuts lie at the largest value of the table below the midpoint

  // Where these are rows of a larger table: its rows in the order of each column (`order_all`), and
  // the row that each of them is here, -1 if it is not. Null: the columns are sorted.
  const u32* order;
  const i32* place;
  u32 n_all;

  bool by_column() const { return by_ratio || release8; }

  // Numbers kept of a node: the weight of each class, or what Statistic names.
  u32 n_stats() const { return target ? N_STATISTICS : k; }
  // Classes that entries tell apart.
  u32 n_labels() const { return target ? 0 : k; }

  const char* address(u32 row, u32 column) const {
    return x + static_cast<std::ptrdiff_t>(row) * row_stride +
           static_cast<std::ptrdiff_t>(column) * column_stride;
  }
  double at(u32 row, u32 column) const {
    return *reinterpret_cast<const double*>(address(row, column));
  }
};

constexpr u32 CHANGE = 1u << 31;  // in an order: the value is not that of the entry before

// Least number of bits, at least one, that tells `values` values apart.
inline int bits_for(u64 values) {
  int bits = 1;
  while (bits < 63 && (u64{1} << bits) < values) ++bits;
  return bits;
}

}  // namespace omnitree
