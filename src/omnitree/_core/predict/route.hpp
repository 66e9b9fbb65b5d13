// The one routing rule: which branch of a node's test a row takes.
//
// A test is a kind, a slice of ints and a slice of doubles (layouts below). `branch_of`
// answers with a branch, or -1 for "cannot tell" (the tested value is missing, a category
// never seen there). A node tries its tests in order (the main one, then its surrogates);
// when none can tell, its `missing` branch decides, and -1 there divides the row among all
// branches. Growing, apply, decision_path and pruning all come here.
//
// Layouts (i = ints, w = doubles; "columns" are the encoded columns of linear tests):
//   AXIS       i: feature, low                 w: threshold    x <= t -> low, else 1 - low
//              (low is 1 only in surrogates that run against their main test)
//   MULTIWAY   i: feature, branch of each code (-1 none)
//   SUBSET     as MULTIWAY, branches 0 and 1
//   LINEAR     i: columns                      w: threshold, weights, fills
//   QUADRATIC  i: m, m columns, (a, b) per term w: threshold, m fills, weight per term
//              a, b are positions among the columns; b = -1 is the linear term x_a
//   MACHINE    i: branches, columns            w: fills, then bias and weights per branch
//   NETWORK    i: hidden, columns              w: fills, then bias and weights per hidden
//              unit, then bias and weights of the output: b + sum v tanh(.) <= 0 -> 0
//   QUADRATIC_MACHINE  i: branches, m, m columns, (a, b) per term
//              w: m fills, then bias and weight per term for each branch
//   ADDITIVE   i: m, number of terms, m columns, (a, b) per term, column and knots per curve
//              w: threshold, then one sum as in sums.hpp
//   ADDITIVE_MACHINE  i: branches, then as ADDITIVE    w: a sum per branch as in sums.hpp
//   CASES      as ADDITIVE_MACHINE, with cases in place of curves
//   any other kind     as program.hpp says
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "common/linear_sums.hpp"
#include "predict/program.hpp"
#include "predict/sums.hpp"

namespace omnitree {

enum Kind : uint8_t {
  LEAF,
  AXIS,
  MULTIWAY,
  SUBSET,
  LINEAR,
  QUADRATIC,
  MACHINE,
  NETWORK,
  QUADRATIC_MACHINE,
  ADDITIVE,
  ADDITIVE_MACHINE,
  CASES
};

inline int axis_branch(double v, double threshold) { return v > threshold; }

// Doubles on the stack for the sums of a row; machines of more branches take them elsewhere.
constexpr int FEW_BRANCHES = 32;
// Columns of a quadratic test whose values are on the stack, looked up once for all terms.
constexpr int FEW_COLUMNS = 256;

// A test of sums with curves: the sums, and where the position of the largest, or the side of
// the threshold, is read from.
struct AdditiveTest {
  SumsView sums;
  int64_t branches;  // 1: one sum against a threshold
  const double* threshold;
};

inline AdditiveTest additive_test(uint8_t kind, const int32_t* index, int64_t n_index,
                                  const double* weight) {
  const bool one = kind == ADDITIVE;
  const int64_t branches = one ? 1 : *index++;
  const int64_t m = index[0], n_terms = index[1], n_curves = (n_index - !one - 2 - m) / 2 - n_terms;
  const int32_t* columns = index + 2;
  const int32_t* terms = columns + m;
  return {
      {columns, m, terms, n_terms, terms + 2 * n_terms, n_curves, weight + one}, branches, weight};
}

inline int additive_branch(const AdditiveTest& test, const Values& x, const Columns& c, int64_t row,
                           double* sum) {
  add_sums(test.sums, test.branches, x, c, row, sum);
  if (test.branches == 1) return sum[0] > *test.threshold;
  return static_cast<int>(std::max_element(sum, sum + test.branches) - sum);
}

// A start and n weighted values, added up in order.
template <class Value>
inline double weighted_sum(double start, int64_t n, const double* w, Value value) {
  for (int64_t j = 0; j < n; ++j) start += w[j] * value(j);
  return start;
}

// Which of some sums is largest, the first of several; `w` has a bias and n weights for each.
template <class Value>
inline int largest_sum(int32_t branches, int64_t n, const double* w, Value value) {
  int best = 0;
  double best_sum = 0;
  for (int32_t k = 0; k < branches; ++k, w += n + 1) {
    const double sum = weighted_sum(w[0], n, w + 1, value);
    if (k == 0 || sum > best_sum) best = k, best_sum = sum;
  }
  return best;
}

inline int branch_of(uint8_t kind, const int32_t* index, int64_t n_index, const double* weight,
                     const Values& x, const Columns& c, int64_t row) {
  // Values of the columns from index[first] on, and of products of m such columns.
  const auto columns = [&](int first, const double* fill) {
    return
        [&, first, fill](int64_t j) { return column_value(x, c, row, index[first + j], fill[j]); };
  };
  const auto terms = [&](int first, int32_t m, const double* fill) {
    return [&, first, m, fill](int64_t t) {
      return term_value(index + first + m + 2 * t, index + first, fill, x, c, row);
    };
  };
  switch (kind) {
    case AXIS: {
      const double v = x.at(row, index[0]);
      return std::isnan(v) ? -1 : axis_branch(v, weight[0]) ^ index[1];
    }
    case MULTIWAY:
    case SUBSET:
      return lookup_branch(x.at(row, index[0]), index + 1, n_index - 1);
    case LINEAR:
      return weighted_sum(0, n_index, weight + 1, columns(0, weight + 1 + n_index)) > weight[0];
    case QUADRATIC: {
      const int32_t m = index[0];
      const double* fill = weight + 1;
      const int64_t n_terms = (n_index - 1 - m) / 2;
      if (m > FEW_COLUMNS) return weighted_sum(0, n_terms, fill + m, terms(1, m, fill)) > weight[0];
      const auto column = columns(1, fill);
      double v[FEW_COLUMNS];
      for (int32_t j = 0; j < m; ++j) v[j] = column(j);
      const auto term = [&v, pair = index + 1 + m](int64_t t) {
        const int32_t a = pair[2 * t], b = pair[2 * t + 1];
        return b < 0 ? v[a] : v[a] * v[b];
      };
      return weighted_sum(0, n_terms, fill + m, term) > weight[0];
    }
    case MACHINE: {
      const int64_t m = n_index - 1;
      return largest_sum(index[0], m, weight + m, columns(1, weight));
    }
    case NETWORK: {
      const int32_t hidden = index[0];
      const int64_t m = n_index - 1;
      const double* w = weight + m;
      const double* out = w + hidden * (m + 1);
      const auto unit = [&](int64_t h) {
        const double* own = w + h * (m + 1);
        return std::tanh(weighted_sum(own[0], m, own + 1, columns(1, weight)));
      };
      return weighted_sum(out[0], hidden, out + 1, unit) > 0;
    }
    case QUADRATIC_MACHINE: {
      const int32_t m = index[1];
      return largest_sum(index[0], (n_index - 2 - m) / 2, weight + m, terms(2, m, weight));
    }
    case ADDITIVE:
    case ADDITIVE_MACHINE:
    case CASES: {
      const AdditiveTest test = additive_test(kind, index, n_index, weight);
      double few[FEW_BRANCHES];
      if (test.branches <= FEW_BRANCHES) return additive_branch(test, x, c, row, few);
      std::vector<double> sum(test.branches);
      return additive_branch(test, x, c, row, sum.data());
    }
    default:
      return foreign_branch(index, n_index, weight, x, c, row);
  }
}

struct TreeView {  // the arrays of omnitree.tree.tree.Tree
  const uint8_t* kind;
  const int32_t* first_child;
  const int32_t* n_children;
  const int32_t* missing;
  const double* share;  // of the parent's weight; read only where a row is divided
  const int64_t* test_start;
  const uint8_t* test_kind;
  const int64_t* index_ptr;
  const int64_t* weight_ptr;
  const int32_t* index;
  const double* weight;
  Columns columns;
};

// Branch of `row` at `node`, -1: divide it among all branches.
inline int branch_at(const TreeView& t, const Values& x, int32_t node, int64_t row) {
  for (int64_t s = t.test_start[node]; s < t.test_start[node + 1]; ++s) {
    const int64_t i = t.index_ptr[s];
    const int b = branch_of(t.test_kind[s], t.index + i, t.index_ptr[s + 1] - i,
                            t.weight + t.weight_ptr[s], x, t.columns, row);
    if (b >= 0) return b;
  }
  return t.missing[node];
}

// Leaf of one row, or -1 if the row is divided on its way.
inline int32_t leaf_of(const TreeView& t, const Values& x, int64_t row) {
  int32_t node = 0;
  while (t.kind[node] != LEAF) {
    const int b = branch_at(t, x, node, row);
    if (b < 0) return -1;
    node = t.first_child[node] + b;
  }
  return node;
}

// Branch of each row under one test, -1 where it cannot tell.
inline void branches_of(uint8_t kind, const int32_t* index, int64_t n_index, const double* weight,
                        const Values& x, const Columns& c, const int64_t* rows, int64_t n,
                        int32_t* out) {
  if (kind == QUADRATIC_MACHINE) {
    // The terms of a row serve all branches.
    const int32_t m = index[1];
    std::vector<double> value((n_index - 2 - m) / 2);
    const int64_t n_terms = static_cast<int64_t>(value.size());
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t t = 0; t < n_terms; ++t)
        value[t] = term_value(index + 2 + m + 2 * t, index + 2, weight, x, c, rows[i]);
      out[i] = largest_sum(index[0], n_terms, weight + m, [&](int64_t t) { return value[t]; });
    }
    return;
  }
  if (kind == QUADRATIC && n >= LANES) {
    // Several rows at a time, each added up in the order of its terms as alone.
    const int32_t m = index[0];
    const int64_t n_terms = (n_index - 1 - m) / 2;
    const double *fill = weight + 1, *w = fill + m;
    const int32_t* pair = index + 1 + m;
    std::vector<double> value(static_cast<size_t>(m) * LANES);
    for (int64_t at = 0; at < n; at += LANES) {
      for (int r = 0; r < LANES; ++r)  // lanes without a row repeat the last one
        for (int32_t j = 0; j < m; ++j)
          value[j * LANES + r] =
              column_value(x, c, rows[at + r < n ? at + r : n - 1], index[1 + j], fill[j]);
      double sum[LANES] = {};
      for (int64_t t = 0; t < n_terms; ++t) {
        const double* a = &value[pair[2 * t] * LANES];
        if (pair[2 * t + 1] < 0) {
          for (int r = 0; r < LANES; ++r) sum[r] += w[t] * a[r];
        } else {
          const double* b = &value[pair[2 * t + 1] * LANES];
          for (int r = 0; r < LANES; ++r) sum[r] += w[t] * (a[r] * b[r]);
        }
      }
      for (int r = 0; r < LANES && at + r < n; ++r) out[at + r] = sum[r] > weight[0];
    }
    return;
  }
  if (kind == ADDITIVE || kind == ADDITIVE_MACHINE || kind == CASES) {
    const AdditiveTest test = additive_test(kind, index, n_index, weight);
    std::vector<double> sum(test.branches);
    for (int64_t i = 0; i < n; ++i) out[i] = additive_branch(test, x, c, rows[i], sum.data());
    return;
  }
  if (kind != LINEAR && kind != MACHINE) {
    for (int64_t i = 0; i < n; ++i) out[i] = branch_of(kind, index, n_index, weight, x, c, rows[i]);
    return;
  }
  double sum[GROUP], best[GROUP];
  for (int64_t at = 0; at < n; at += GROUP) {
    const int size = n - at < GROUP ? static_cast<int>(n - at) : GROUP;
    const int padded = (size + LANES - 1) / LANES * LANES;
    if (kind == LINEAR) {
      for (int r = 0; r < padded; ++r) sum[r] = 0;
      add_columns(index, n_index, weight + 1, weight + 1 + n_index, x, c, rows + at, size, sum);
      for (int r = 0; r < size; ++r) out[at + r] = sum[r] > weight[0];
      continue;
    }
    const int64_t m = n_index - 1;
    const double* w = weight + m;
    for (int32_t k = 0; k < index[0]; ++k, w += m + 1) {
      for (int r = 0; r < padded; ++r) sum[r] = w[0];
      add_columns(index + 1, m, w + 1, weight, x, c, rows + at, size, sum);
      for (int r = 0; r < size; ++r)
        if (k == 0 || sum[r] > best[r]) best[r] = sum[r], out[at + r] = k;
    }
  }
}

// For linear tests on features side by side sums in any order are near enough: how far off
// they are at every node at most, for a row of length one; -1 at nodes without such a test.
// Empty where the table does not lie so.
inline std::vector<double> sum_slacks(const TreeView& t, int64_t n_nodes, const Values& x) {
  constexpr double EPSILON = 2.3e-16;
  std::vector<double> slack;
  if (t.kind[0] != LINEAR || !all_side_by_side(x, t.columns)) return slack;
  slack.assign(n_nodes, -1.0);
  for (int64_t node = 0; node < n_nodes; ++node) {
    if (t.kind[node] != LINEAR) continue;
    const int64_t s = t.test_start[node], i = t.index_ptr[s], m = t.index_ptr[s + 1] - i;
    bool run = m > 0;
    for (int64_t j = 1; j < m; ++j) run &= t.index[i + j] == t.index[i] + j;
    if (run) slack[node] = 4 * (m + 1) * EPSILON * length_of(t.weight + t.weight_ptr[s] + 1, m);
  }
  return slack;
}

// Branches under such a test. Rows closer to the threshold than sums are known are added up
// in the order of the columns. `length` is that of the rows from `first` on.
inline void sides_of(const int32_t* index, int64_t m, const double* weight, double slack,
                     const Values& x, const Columns& c, const int64_t* rows, int64_t n,
                     const double* length, int64_t first, int32_t* out) {
  const double threshold = weight[0], least = 1e-15 * std::fabs(threshold);
  double sum[GROUP];
  for (int64_t at = 0; at < n; at += GROUP) {
    const int64_t size = n - at < GROUP ? n - at : GROUP;
    quick_sums(x.base + index[0], x.row_stride, rows + at, size, m, weight + 1, sum);
    for (int64_t r = 0; r < size; ++r) {
      const double apart = sum[r] - threshold;
      const bool sure = std::fabs(apart) > slack * length[rows[at + r] - first] + least;
      out[at + r] = sure ? apart > 0 : branch_of(LINEAR, index, m, weight, x, c, rows[at + r]);
    }
  }
}

// Leaves of the rows [begin, end), -1 for rows divided on their way. The rows walk together:
// a stack of (node, range of row ids), each range divided stably among the node's branches.
// `slack` is from `sum_slacks`.
inline void apply_together(const TreeView& t, const Values& x, const std::vector<double>& slack,
                           int64_t begin, int64_t end, int32_t* leaf) {
  struct Range {
    int32_t node;
    int64_t begin, end;
  };
  const int64_t n = end - begin;
  std::vector<int64_t> ids(n), next(n);
  std::vector<int32_t> branch(n);
  std::vector<int64_t> start;
  for (int64_t i = 0; i < n; ++i) ids[i] = begin + i;
  std::vector<double> length;
  if (!slack.empty()) {
    length.resize(n);
    row_lengths(x.base + begin * x.row_stride, x.row_stride, n, t.columns.n, length.data());
  }
  std::vector<Range> stack{{0, 0, n}};
  while (!stack.empty()) {
    const Range r = stack.back();
    stack.pop_back();
    if (t.kind[r.node] == LEAF) {
      for (int64_t i = r.begin; i < r.end; ++i) leaf[ids[i]] = r.node;
      continue;
    }
    const int64_t s = t.test_start[r.node], size = r.end - r.begin;
    const int64_t i = t.index_ptr[s], n_index = t.index_ptr[s + 1] - i;
    if (!slack.empty() && slack[r.node] >= 0) {
      sides_of(t.index + i, n_index, t.weight + t.weight_ptr[s], slack[r.node], x, t.columns,
               ids.data() + r.begin, size, length.data(), begin, branch.data());
      // No row is left over: a division in two, without counting first.
      int64_t* own = ids.data() + r.begin;
      int64_t low = 0, high = 0;
      for (int64_t k = 0; k < size; ++k) {
        next[high] = own[k];
        own[low] = own[k];
        high += branch[k];
        low += 1 - branch[k];
      }
      for (int64_t k = 0; k < high; ++k) own[low + k] = next[k];
      const int32_t child = t.first_child[r.node];
      if (low > 0) stack.push_back({child, r.begin, r.begin + low});
      if (high > 0) stack.push_back({child + 1, r.begin + low, r.end});
      continue;
    }
    if (t.test_start[r.node + 1] == s + 1) {
      branches_of(t.test_kind[s], t.index + i, n_index, t.weight + t.weight_ptr[s], x, t.columns,
                  ids.data() + r.begin, size, branch.data());
    } else {
      for (int64_t i = 0; i < size; ++i) branch[i] = branch_at(t, x, r.node, ids[r.begin + i]);
    }
    const int32_t n_children = t.n_children[r.node];
    start.assign(n_children + 1, 0);
    for (int64_t i = 0; i < size; ++i) {
      if (branch[i] < 0) branch[i] = t.missing[r.node];
      if (branch[i] < 0) {
        leaf[ids[r.begin + i]] = -1;
      } else {
        ++start[branch[i] + 1];
      }
    }
    for (int32_t b = 0; b < n_children; ++b) start[b + 1] += start[b];
    for (int32_t b = 0; b < n_children; ++b)
      if (start[b] < start[b + 1])
        stack.push_back({t.first_child[r.node] + b, r.begin + start[b], r.begin + start[b + 1]});
    for (int64_t i = 0; i < size; ++i)
      if (branch[i] >= 0) next[start[branch[i]]++] = ids[r.begin + i];
    const int64_t kept = start[n_children - 1];
    for (int64_t i = 0; i < kept; ++i) ids[r.begin + i] = next[i];
  }
}

// All leaves of one row with the share of the row that each gets.
inline void leaves_of(const TreeView& t, const Values& x, int64_t row,
                      std::vector<std::pair<int32_t, double>>& out) {
  std::vector<std::pair<int32_t, double>> stack{{0, 1.0}};
  while (!stack.empty()) {
    const auto [node, share] = stack.back();
    stack.pop_back();
    if (t.kind[node] == LEAF) {
      out.emplace_back(node, share);
      continue;
    }
    const int b = branch_at(t, x, node, row);
    const int32_t first = t.first_child[node];
    if (b >= 0) {
      stack.emplace_back(first + b, share);
      continue;
    }
    for (int32_t k = t.n_children[node] - 1; k >= 0; --k)
      if (t.share[first + k] > 0) stack.emplace_back(first + k, share * t.share[first + k]);
  }
}

// A tree of axis tests only, packed for the two loops below. A leaf points to itself under
// an infinite threshold, so a step needs no test for leaves.
struct AxisNode {
  double threshold;
  int32_t feature, first_child;
};

// Leaves of rows [begin, end) of a table without missing values. Eight rows walk at once, so that
// eight loads are under way instead of one; a row that has arrived makes room for the next.
inline void apply_axis(const AxisNode* nodes, const Values& x, int64_t begin, int64_t end,
                       int32_t* leaf) {
  constexpr int W = 8;
  struct Walk {
    const double* row;
    int64_t id;
    int32_t at;
  } walk[W];
  int64_t next_row = begin;
  int active = 0;
  for (; active < W && next_row < end; ++active, ++next_row)
    walk[active] = {x.base + next_row * x.row_stride, next_row, 0};
  while (active > 0) {
    for (int i = 0; i < active; ++i) {
      Walk& w = walk[i];
      const AxisNode& n = nodes[w.at];
      const int32_t next =
          n.first_child + axis_branch(w.row[n.feature * x.col_stride], n.threshold);
      if (next != w.at) {
        w.at = next;
      } else {
        leaf[w.id] = next;
        if (next_row < end) {
          w = {x.base + next_row * x.row_stride, next_row, 0};
          ++next_row;
        } else {
          w = walk[--active];
        }
      }
    }
  }
}

// Weighted sum of the tested feature over the rows of every node, for its mean.
inline void add_axis_sums(const AxisNode* nodes, const Values& x, const double* weight, int64_t n,
                          double* sum) {
  for (int64_t row = 0; row < n; ++row) {
    for (int32_t node = 0;;) {
      const AxisNode& at = nodes[node];
      const double v = x.at(row, at.feature);
      const int32_t next = at.first_child + axis_branch(v, at.threshold);
      if (next == node) break;
      sum[node] += weight[row] * v;
      node = next;
    }
  }
}

}  // namespace omnitree
