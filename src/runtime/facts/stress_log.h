// StressLog: the runtime's own log of its last actions, in memory, by thread: only in processes that were started with
// DOTNET_StressLog=1. Plain data.
#pragma once
#include "base/integers.h"
#include "base/notes.h"

#include <string>
#include <vector>

namespace dnheap {

struct StressMessage {
  u64 thread = 0;     // OS id
  u64 ticks = 0;      // StressLog::frequency of them make a second
  u32 facility = 0;   // bits: which part of the runtime
  Address format = 0; // address of the text in printf() format; 0: in no module that the log lists
  std::vector<u64> arguments;
};

struct StressLog {
  u32 facilities = 0, level = 0; // mask of logged facilities; logged level
  u64 frequency = 0, start_ticks = 0;
  u64 start_time = 0; // in units of 100 ns since 1601
  u64 threads = 0;
  std::vector<StressMessage> messages; // oldest first
  Notes notes;
};

} // namespace dnheap
