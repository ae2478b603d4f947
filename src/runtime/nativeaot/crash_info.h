// CrashInfo: what a NativeAOT program notes of its end, in a buffer of its own, before it ends itself: why, on which
// thread, with which exception. It is a text in JSON somewhere among the program's variables, which names the module
// that it is of. Looks through these variables (some 100 KiB). Any thread.
#pragma once
#include "target/target.h"

#include <optional>
#include <string>

namespace dnheap {

struct CrashInfo {
  enum class Reason : u8 { unknown, unhandled_exception, fail_fast, internal_failure };
  Reason reason = Reason::unknown;
  u64 thread = 0; // as the operating system numbers it
  std::string message;
  Address exception = 0, inner = 0; // objects, as they lay then; 0: none
  Address thrown_in = 0;            // where the code of the method begins that threw it; 0: not said
};

// Nullopt: there is none, or several.
std::optional<CrashInfo> find_crash_info(const Target &target, const Module &module);

} // namespace dnheap
