// What a runtime says of a thread beyond where its stack and its allocation context lie (thread_data.h), as plain data,
// whatever the kind of runtime.
#pragma once
#include "base/integers.h"

#include <optional>

namespace dnheap {

struct ThreadDetails {
  // Bits of the runtime's: dotnet/runtime src/coreclr/vm/threads.h (TS_*).
  enum State : u32 {
    background = 0x200,
    unstarted = 0x400,
    dead = 0x800,
    in_sta = 0x4000,
    in_mta = 0x8000,
    pool_worker = 0x1000000
  };
  std::optional<u32> state;
  // A collection has to wait for it: it runs managed code, or touches objects.
  std::optional<bool> is_cooperative;
  Address object = 0;        // the managed Thread; 0: it has none, or that cannot be told
  bool is_finalizer = false; // it runs the finalizers; false also where that cannot be told
};

} // namespace dnheap
