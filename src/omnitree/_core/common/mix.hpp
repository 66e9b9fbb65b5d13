// splitmix64: whole numbers that look random, each made from another. Used by the kernels
// that draw something (general.hpp, oblique_climb.hpp).
#pragma once
#include <cstdint>

namespace omnitree {

inline uint64_t mix(uint64_t z) {
  z += 0x9e3779b97f4a7c15ULL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

}  // namespace omnitree
