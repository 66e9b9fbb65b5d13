// Rows of a block into bins of every feature, by node and class, in whole numbers.
//
// A number is in the first bin whose upper edge is not below it; a category is its own bin;
// the last bin of a feature holds missing values. A table of equal cells over the range of
// the edges leaves one or two edges to compare with (3 ns a value, where a binary search
// takes 15). Sums of whole numbers do not depend on their order.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "common/mix.hpp"
#include "predict/route.hpp"

namespace omnitree {

// Columns of a block where they lie.
struct BlockColumns {
  std::vector<const double*> base;
  std::vector<int64_t> stride;
  int64_t n_rows = 0;

  int64_t size() const { return static_cast<int64_t>(base.size()); }
};

// Add a hash of each cell of each column to that of its row; all missing values are alike, and
// so are both zeros.
inline void add_hashes(const BlockColumns& columns, const uint64_t* keys, uint64_t* out) {
  const double missing = std::nan("");
  for (int64_t j = 0; j < columns.size(); ++j)
    for (int64_t i = 0; i < columns.n_rows; ++i) {
      double value = columns.base[j][i * columns.stride[j]] + 0.0;
      if (value != value) value = missing;
      uint64_t bits;
      std::memcpy(&bits, &value, sizeof bits);
      out[i] += mix(bits ^ keys[j]);
    }
}

// The least and the greatest value of each column, NaN if there is none, and whether some are
// missing.
inline void find_ranges(const BlockColumns& columns, double* low, double* high, uint8_t* missing) {
  for (int64_t j = 0; j < columns.size(); ++j) {
    double least = INFINITY, most = -INFINITY;
    int64_t n = 0;
    for (int64_t i = 0; i < columns.n_rows; ++i) {
      const double value = columns.base[j][i * columns.stride[j]];
      least = value < least ? value : least;
      most = value > most ? value : most;
      n += value == value;
    }
    low[j] = n ? least : std::nan("");
    high[j] = n ? most : std::nan("");
    missing[j] = n < columns.n_rows;
  }
}

// Some rows of columns (all, if `at` is null), one column of `n` rows after the other.
inline void put_rows(const BlockColumns& columns, const int64_t* at, int64_t n, double* out) {
  for (int64_t j = 0; j < columns.size(); ++j, out += n) {
    const double* column = columns.base[j];
    const int64_t stride = columns.stride[j];
    for (int64_t i = 0; i < n; ++i) out[i] = column[(at ? at[i] : i) * stride];
  }
}

// All rows of columns as rows `to` of columns of `n` rows.
inline void scatter_rows(const BlockColumns& columns, const int64_t* to, int64_t n, double* out) {
  for (int64_t j = 0; j < columns.size(); ++j, out += n) {
    const double* column = columns.base[j];
    const int64_t stride = columns.stride[j];
    for (int64_t i = 0; i < columns.n_rows; ++i) out[to[i]] = column[i * stride];
  }
}

class Binning {
 public:
  Binning(const double* edges, int64_t n) : edges_(edges), n_(n), guide_(kCells + 2, 0) {
    if (n_ > 1 && edges_[n_ - 1] > edges_[0]) scale_ = kCells / (edges_[n_ - 1] - edges_[0]);
    if (!std::isfinite(scale_)) scale_ = 0.0;
    for (int64_t e = 0; e < n_; ++e) ++guide_[cell(edges_[e]) + 1];
    for (int64_t c = 0; c <= kCells; ++c) guide_[c + 1] += guide_[c];
  }

  int32_t operator()(double value) const {
    if (n_ == 0) return 0;
    const int64_t c = cell(value);
    int32_t low = guide_[c];
    const int32_t high = guide_[c + 1];
    if (high - low > 8)
      return static_cast<int32_t>(std::lower_bound(edges_ + low, edges_ + high, value) - edges_);
    while (low < high && edges_[low] < value) ++low;
    return low;
  }

 private:
  static constexpr int64_t kCells = 2048;

  // Never falls as the value rises, so edges in lower cells are below the value.
  int64_t cell(double value) const {
    const double at = (value - edges_[0]) * scale_;
    if (!(at > 0.0)) return 0;
    return at < kCells ? static_cast<int64_t>(at) : kCells;
  }

  const double* edges_;
  int64_t n_;
  double scale_ = 0.0;
  std::vector<int32_t> guide_;
};

struct BlockRows {
  Values cells;
  int64_t n;
  const int32_t* slot;  // (trees, n): where each row is counted; below 0: nowhere
  int64_t n_trees;
  const int64_t* weight;  // or null: all 1
  const int32_t* y;       // classes, or null
  const int64_t* number;  // w * y where numbers are predicted, else null
  int64_t n_statistics;
};

struct BinLayout {
  const double* edges;
  const int64_t* edge_start;  // of each feature and the end; categories have no edges
  const int32_t* width;       // bins of each feature, that of missing values included
  const uint8_t* is_category;
  const int64_t* start;  // of each feature in the sums
  int64_t n_features;
};

inline void count_bins(const BlockRows& rows, const BinLayout& layout, int64_t* sums) {
  std::vector<int64_t> active;
  active.reserve(rows.n);
  for (int64_t i = 0; i < rows.n; ++i)
    for (int64_t t = 0; t < rows.n_trees; ++t)
      if (rows.slot[t * rows.n + i] >= 0) {
        active.push_back(i);
        break;
      }
  std::vector<int32_t> bin(active.size());
  for (int64_t j = 0; j < layout.n_features; ++j) {
    const double* column = rows.cells.base + j * rows.cells.col_stride;
    const int32_t width = layout.width[j];
    const Binning binning(layout.edges + layout.edge_start[j],
                          layout.edge_start[j + 1] - layout.edge_start[j]);
    const bool category = layout.is_category[j] != 0;
    for (size_t a = 0; a < active.size(); ++a) {
      const double value = column[active[a] * rows.cells.row_stride];
      bin[a] = value != value ? width - 1 : category ? static_cast<int32_t>(value) : binning(value);
    }
    for (int64_t t = 0; t < rows.n_trees; ++t) {
      const int32_t* slot = rows.slot + t * rows.n;
      int64_t* own = sums + layout.start[j];
      for (size_t a = 0; a < active.size(); ++a) {
        const int64_t i = active[a];
        if (slot[i] < 0) continue;
        int64_t* at = own + (static_cast<int64_t>(slot[i]) * width + bin[a]) * rows.n_statistics;
        const int64_t weight = rows.weight ? rows.weight[i] : 1;
        if (rows.y) {
          at[rows.y[i]] += weight;
        } else {
          at[0] += weight;
          at[1] += rows.number[i];
        }
      }
    }
  }
}

}  // namespace omnitree
