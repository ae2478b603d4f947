// StressLog: the runtime's own log of what it did last, in memory, by thread: of processes that were started with
// DOTNET_StressLog=1. Some bytes per message; each thread keeps its newest ones. It is read where the target publishes
// how (.NET 11). What is damaged ends a thread's messages, and is said. Any thread.
// Spec: dotnet/runtime docs/design/datacontracts/StressLog.md, version 2.
#pragma once
#include "contract/descriptor.h"

#include <optional>
#include <string>
#include <vector>

namespace dnheap {

struct StressMessage {
  u64 thread = 0;     // as the operating system numbers it
  u64 ticks = 0;      // StressLog::frequency of them in a second
  u32 facility = 0;   // bits: which part of the runtime
  Address format = 0; // of the text, as printf() takes it; 0: in no module that the log knows
  std::vector<u64> arguments;
};

struct StressLog {
  u32 facilities = 0, level = 0; // what is logged
  u64 frequency = 0, start_ticks = 0;
  u64 start_time = 0; // in units of 100 ns since 1601
  u64 threads = 0;
  std::vector<StressMessage> messages; // oldest first
  std::vector<std::string> problems;
};

// Nullopt: the target publishes no such log, or the process keeps none. Throws Error where the dump lacks its
// beginning.
std::optional<StressLog> read_stress_log(const Memory &memory, const ContractDescriptor &descriptor);

} // namespace dnheap
