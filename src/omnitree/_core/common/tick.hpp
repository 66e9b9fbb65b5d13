// A clock between long loops and Python: now and then, with the GIL, signals are looked at
// and the caller's `tick` is asked whether to go on. Used by every kernel that can run long.
#pragma once
#include <chrono>

namespace omnitree {

struct Tick {
  // 0 go on, 1 no more splits, -1 an exception is waiting.
  int (*call)(void* state, double fraction);
  void* state;
  std::chrono::steady_clock::time_point last = std::chrono::steady_clock::now();
  int said = 0;  // stays once it is not 0, so that loops inside loops all end

  int operator()(double fraction) {
    if (said != 0) return said;
    const auto now = std::chrono::steady_clock::now();
    if (now - last < std::chrono::milliseconds(10)) return 0;
    last = now;
    return said = call(state, fraction);
  }
};

}  // namespace omnitree
