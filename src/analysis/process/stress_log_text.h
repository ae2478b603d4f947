// Turns messages of the runtime's stress log into text. Their formats are those of printf() with extensions for the
// runtime's names, and lie in the dump or in the runtime's file. Everything in them is untrusted: a format takes no
// more arguments than the message has, and each argument becomes a short text, whatever it contains.
#pragma once
#include "runtime/facts/stress_log.h"
#include "target/memory.h"

#include <functional>

namespace dnheap {

// Returns the name of a type by its MethodTable, and of a method by its MethodDesc; empty if there is none.
struct StressLogNames {
  std::function<std::string(Address)> type, method;
};

// Returns the message's text; nullopt if its format is not in the dump.
std::optional<std::string> stress_message_text(const Memory &memory, const StressMessage &message,
                                               const StressLogNames &names);
// Returns "GC", "GC EH", "0x80000000".
std::string stress_facility_text(u32 facility);
// Returns "2026-11-26T20:47:47.123456Z" for a number of units of 100 ns since 1601; empty for an impossible year.
std::string stress_time_text(u64 file_time);

} // namespace dnheap
