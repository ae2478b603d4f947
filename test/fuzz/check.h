// What a fuzz target says of its findings: false ends the program, and libFuzzer keeps the input.
#pragma once

namespace dnheap::test {

inline void check(bool holds) {
  if (!holds)
    __builtin_trap();
}

} // namespace dnheap::test
