// What the general grower reads, and what it returns (general.hpp has the search).
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "common/merit.hpp"
#include "predict/route.hpp"

namespace omnitree {

enum Missing : int { MEAN, FRACTIONAL, SURROGATE };
enum Categories : int { AS_MULTIWAY, AS_SUBSET, AS_ONE_REST, AS_GROUPS };

struct Options {
  int merit, missing, categories;
  bool random_attribute;    // Liu & White: draw the feature, then cut it at its best
  bool release8;            // C4.5 R8: MinSplit rule and log2(cuts)/rows off the gain
  bool threshold_is_value;  // C4.5: the largest training value not above the midpoint
  double min_rows, min_branch;
  int max_depth, max_surrogates;
  uint64_t seed;
};

struct Training {  // the rows; a feature with n_cat > 0 holds codes
  Values x;
  const int32_t* y;
  const double* weight;
  const int32_t* n_cat;
  int64_t n;
  int d, K;
};

struct Grown {  // arrays in the layout of omnitree.tree.tree.Tree, nodes breadth first
  std::vector<uint8_t> kind, test_kind;
  std::vector<int32_t> first_child, n_children, parent, missing, index;
  std::vector<double> merit, value, weight;
  std::vector<int64_t> test_start, index_ptr, weight_ptr;  // begin with 0

  int32_t add_nodes(int32_t above, int count, int K) {
    const int32_t first = static_cast<int32_t>(kind.size());
    const size_t size = kind.size() + count;
    kind.resize(size, LEAF);
    first_child.resize(size, -1);
    n_children.resize(size, 0);
    parent.resize(size, above);
    missing.resize(size, 0);
    merit.resize(size, 0.0);
    value.resize(size * K, 0.0);
    return first;
  }
};

// Part of a row at a node: fractional instances have weights below the row's own.
struct Entry {
  int32_t row;
  double weight;
};

struct Test {  // a univariate test with what it is worth
  bool found = false;
  double merit = 0;  // compared between features
  double gain = 0;   // for the average-gain rule of the gain ratio
  double info = 0;   // split information
  uint8_t kind = AXIS;
  int32_t feature = -1, missing = 0, n_children = 2, low = 0;
  double threshold = 0;
  std::vector<int32_t> branch;  // of each code, for categorical features

  // Becomes another test if that is better.
  void improve(Test&& other) {
    if (other.found && (!found || better(other.merit, merit))) *this = std::move(other);
  }

  int branch_of_row(const Values& x, int64_t row) const {
    static const Columns none{nullptr, nullptr, 0};
    if (kind == AXIS) {
      const int32_t index[2] = {feature, low};
      return branch_of(AXIS, index, 2, &threshold, x, none, row);
    }
    return branch_of(kind, layout.data(), static_cast<int64_t>(layout.size()), nullptr, x, none,
                     row);
  }
  std::vector<int32_t> layout;  // feature and branches, as the routing rule wants them
  void finish() {
    layout.assign(1, feature);
    if (kind == AXIS) layout.push_back(low);
    layout.insert(layout.end(), branch.begin(), branch.end());
  }
};

}  // namespace omnitree
