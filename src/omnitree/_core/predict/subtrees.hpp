// What prunings ask of every node of a tree: sums over subtrees, weakest links.
//
// All loops run over nodes, whose parents come before them: one pass from the last node
// to the first sees children before parents. The weakest links (Breiman et al. 1984) come
// from a heap that holds a node again whenever its link has changed; what is out of date
// is passed over. O(nodes x depth) at worst, O(nodes) for sums.
// Used by subtrees.pyx (tree.py, pruning/base.py, pruning/cost_complexity.py).
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <queue>
#include <utility>
#include <vector>

namespace omnitree {

struct Shape {  // of a tree, as in omnitree.tree.tree.Tree
  const int32_t* first_child;
  const int32_t* n_children;  // 0 in leaves
  const int32_t* parent;
  int64_t n;

  bool leaf(int64_t node) const { return n_children[node] == 0; }
};

// For every node the sum of `leaf_value` over the leaves below it.
inline void subtree_sums(const Shape& t, const double* leaf_value, double* out) {
  for (int64_t node = t.n - 1; node >= 0; --node) {
    if (t.leaf(node)) {
      out[node] = leaf_value[node];
      continue;
    }
    const double* child = out + t.first_child[node];
    out[node] = std::accumulate(child, child + t.n_children[node], 0.0);
  }
}

// Add the lines (n x k) of all nodes to those of their parents, from the leaves up.
inline void add_up(const Shape& t, int64_t k, double* value) {
  for (int64_t node = t.n - 1; node > 0; --node) {
    double* above = value + static_cast<int64_t>(t.parent[node]) * k;
    for (int64_t c = 0; c < k; ++c) above[c] += value[node * k + c];
  }
}

// Alpha at which each node becomes a leaf; infinite in leaves. `cost` has the errors of
// each node as a leaf, `size` its price as one.
inline void weakest_links(const Shape& t, const double* cost, const double* size, double* alpha) {
  std::vector<double> below(t.n), leaves(t.n);
  subtree_sums(t, cost, below.data());
  subtree_sums(t, size, leaves.data());
  std::fill(alpha, alpha + t.n, std::numeric_limits<double>::infinity());
  const auto link = [&](int64_t node) {
    // Below 0 where models err more often than their parent's: these go first.
    return (cost[node] - below[node]) / std::max(leaves[node] - size[node], 1.0);
  };
  using Item = std::pair<double, int64_t>;
  std::vector<Item> first;
  for (int64_t node = 0; node < t.n; ++node)
    if (!t.leaf(node)) first.emplace_back(link(node), node);
  std::priority_queue<Item, std::vector<Item>, std::greater<Item>> heap(std::greater<Item>(),
                                                                        std::move(first));
  std::vector<char> gone(t.n, 0);
  std::vector<int64_t> stack;
  double now = 0;
  while (!heap.empty()) {
    const auto [value, node] = heap.top();
    heap.pop();
    // Cut with an ancestor, or out of date.
    if (gone[node] || std::fabs(value - link(node)) > 1e-12 * (1 + std::fabs(value))) continue;
    now = std::max(now, value);
    stack.assign(1, node);
    while (!stack.empty()) {
      const int64_t at = stack.back();
      stack.pop_back();
      if (t.leaf(at) || gone[at]) continue;
      gone[at] = 1;
      alpha[at] = now;
      for (int32_t b = 0; b < t.n_children[at]; ++b) stack.push_back(t.first_child[at] + b);
    }
    const double lost = leaves[node] - size[node], saved = cost[node] - below[node];
    for (int64_t above = t.parent[node]; above >= 0; above = t.parent[above]) {
      leaves[above] -= lost;
      below[above] += saved;
      heap.emplace(link(above), above);
    }
  }
}

// Sum over the leaves of the tree pruned at each of the ascending `alphas` of what every
// node adds if it is a leaf.
inline void sums_at(const Shape& t, const double* links, const double* as_leaf,
                    const double* alphas, int64_t n_alphas, double* out) {
  std::vector<double> now(t.n);
  subtree_sums(t, as_leaf, now.data());
  std::vector<int64_t> order;
  for (int64_t node = 0; node < t.n; ++node)
    if (!t.leaf(node)) order.push_back(node);
  // Parents last among equal links: a parent's cut then overrides its children's.
  std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return links[a] != links[b] ? links[a] < links[b] : a > b;
  });
  size_t at = 0;
  for (int64_t i = 0; i < n_alphas; ++i) {
    for (; at < order.size() && links[order[at]] <= alphas[i] * (1 + 1e-12); ++at) {
      int64_t node = order[at];
      const double change = as_leaf[node] - now[node];
      for (; node >= 0 && change != 0; node = t.parent[node]) now[node] += change;
    }
    out[i] = now[0];
  }
}

// Where rows of each node stop, if some nodes are leaves: at the first of these on their way.
inline void stops(const Shape& t, const uint8_t* is_leaf, int32_t* out) {
  for (int64_t i = 0; i < t.n; ++i) {
    const int32_t above = i == 0 ? -1 : out[t.parent[i]];
    out[i] = above >= 0 && is_leaf[above] ? above : static_cast<int32_t>(i);
  }
}

inline void depths(const Shape& t, int32_t* out) {
  out[0] = 0;
  for (int64_t node = 1; node < t.n; ++node) out[node] = out[t.parent[node]] + 1;
}

// Class shares (n x k) of every node, with those of its parent counting as m rows; the line
// of the root is given.
inline void shrunken_shares(const Shape& t, const double* value, const double* total, int64_t k,
                            double m, double* out) {
  for (int64_t node = 1; node < t.n; ++node) {
    const double* above = out + static_cast<int64_t>(t.parent[node]) * k;
    for (int64_t c = 0; c < k; ++c)
      out[node * k + c] = (value[node * k + c] + above[c] * m) / (total[node] + m);
  }
}

// The same at n of the cells (node, class) alone, parents first. Cell i has the count own[i], its
// node the weight total[i], and above[i] is the cell of its parent and class. The first n_given
// cells, those of the root, are given.
inline void shrunken_at(const int64_t* above, const double* own, const double* total,
                        int64_t n_given, int64_t n, double m, double* out) {
  for (int64_t i = n_given; i < n; ++i) out[i] = (own[i] + out[above[i]] * m) / (total[i] + m);
}

// The nodes that are left, breadth first, where `to` says what takes a node's place:
// itself, a descendant, or -1: it becomes a leaf.
struct Kept {
  std::vector<int32_t> node, parent, first_child;

  Kept(const Shape& t, const int64_t* to) {
    node.push_back(0);
    parent.push_back(-1);
    for (size_t at = 0; at < node.size(); ++at) {  // grows while it is read
      int32_t old = node[at];
      while (to[old] >= 0 && to[old] != old) old = static_cast<int32_t>(to[old]);
      node[at] = old;
      const bool is_leaf = to[old] < 0 || t.leaf(old);
      first_child.push_back(is_leaf ? -1 : static_cast<int32_t>(node.size()));
      if (is_leaf) continue;
      for (int32_t b = 0; b < t.n_children[old]; ++b) {
        node.push_back(t.first_child[old] + b);
        parent.push_back(static_cast<int32_t>(at));
      }
    }
  }
};

// Where the rows of each node begin in a list of all that pass through it; `start` holds
// n + 1 zeros on entry, and the last one then is the length of that list.
inline void count_passing(const Shape& t, const int32_t* leaf, int64_t n_rows, int64_t* start) {
  for (int64_t i = 0; i < n_rows; ++i) ++start[leaf[i] + 1];
  for (int64_t node = t.n - 1; node > 0; --node) start[t.parent[node] + 1] += start[node + 1];
  for (int64_t node = 0; node < t.n; ++node) start[node + 1] += start[node];
}

// That list: the rows of node i, ascending, are row[start[i]] up to row[start[i + 1] - 1].
inline void list_passing(const Shape& t, const int32_t* leaf, int64_t n_rows, const int64_t* start,
                         int64_t* row) {
  std::vector<int64_t> next(start, start + t.n);
  for (int64_t i = 0; i < n_rows; ++i)
    for (int64_t node = leaf[i]; node >= 0; node = t.parent[node]) row[next[node]++] = i;
}

}  // namespace omnitree
