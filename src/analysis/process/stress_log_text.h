// Messages of the runtime's stress log as text: their formats are those of printf(), and of names of the runtime's,
// which lie in the dump or in the runtime's file. Everything in them is untrusted: a format takes no more arguments
// than the message has, and each becomes a short text, whatever it says.
#pragma once
#include "runtime/coreclr/stress_log.h"
#include "target/memory.h"

#include <functional>

namespace dnheap {

// Names of a type by its MethodTable, and of a method by its MethodDesc; empty: that is none.
struct StressLogNames {
  std::function<std::string(Address)> type, method;
};

// Nullopt: the message's format is not in the dump.
std::optional<std::string> stress_message_text(const Memory &memory, const StressMessage &message,
                                               const StressLogNames &names);
// "GC", "GC EH", "0x80000000".
std::string stress_facility_text(u32 facility);
// "2026-11-26T20:47:47.123456Z", of a number of units of 100 ns since 1601; empty: of no year that a clock shows.
std::string stress_time_text(u64 file_time);

} // namespace dnheap
