// Data on a thread beyond its stack and its allocation context (thread_data.h), as plain data, for every kind of
// runtime.
#pragma once
#include "base/integers.h"

#include <optional>

namespace dnheap {

struct ThreadDetails {
  // Bits of the runtime's state: dotnet/runtime src/coreclr/vm/threads.h (TS_*).
  enum State : u32 {
    background = 0x200,
    unstarted = 0x400,
    dead = 0x800,
    in_sta = 0x4000,
    in_mta = 0x8000,
    pool_worker = 0x1000000
  };
  std::optional<u32> state;
  // True if a collection has to wait for it: it runs managed code, or touches objects.
  std::optional<bool> is_cooperative;
  Address object = 0;        // the managed Thread; 0: none, or unknown
  bool is_finalizer = false; // it runs the finalizers; false also if unknown
};

} // namespace dnheap
