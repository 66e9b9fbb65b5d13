// Sorts keys (rank << 32 | position) by rank: counting passes where there are many keys,
// std::sort where there are few. Used by general.hpp and general_surrogate.hpp.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

namespace omnitree {

// Ranks lie below `n_ranks`. Positions ascend on input, so a stable sort by rank is a full
// sort. A pass of 11 bits costs about as much as sorting 1,000 keys by comparison.
inline void sort_keys(std::vector<uint64_t>& keys, uint64_t n_ranks, std::vector<uint64_t>& spare) {
  constexpr int BITS = 11;
  constexpr uint64_t BINS = 1 << BITS;
  if (keys.size() < 1500) {
    std::sort(keys.begin(), keys.end());
    return;
  }
  spare.resize(keys.size());
  for (int shift = 32; n_ranks > 1 && (n_ranks - 1) >> (shift - 32); shift += BITS) {
    uint64_t start[BINS + 1] = {0};
    for (uint64_t k : keys) ++start[(k >> shift & (BINS - 1)) + 1];
    for (uint64_t b = 0; b < BINS; ++b) start[b + 1] += start[b];
    for (uint64_t k : keys) spare[start[k >> shift & (BINS - 1)]++] = k;
    keys.swap(spare);
  }
}

}  // namespace omnitree
