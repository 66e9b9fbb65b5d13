// splitmix64: whole numbers that look random, each made from another. Used by the kernels
// that draw something (general.hpp, oblique_climb.hpp, machine.hpp, paths.hpp).
#pragma once
#include <cstdint>

namespace omnitree {

constexpr uint64_t GOLDEN = 0x9e3779b97f4a7c15ULL;

inline uint64_t mix(uint64_t z) {
  z += GOLDEN;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

// The numbers of one sequence, one after another.
struct SplitMix {
  uint64_t state;
  uint64_t next() {
    const uint64_t number = mix(state);
    state += GOLDEN;
    return number;
  }
  int64_t below(int64_t n) {
    return static_cast<int64_t>((next() >> 32) * static_cast<uint64_t>(n) >> 32);
  }
};

}  // namespace omnitree
