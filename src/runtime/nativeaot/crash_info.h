// CrashInfo: what a NativeAOT program notes of its end, in a buffer of its own, before it ends itself: why, on which
// thread, with which exception. It is a text in JSON somewhere among the program's variables, which names the module
// that it is of. Looks through these variables (some 100 KiB). Any thread.
#pragma once
#include "target/target.h"

#include <optional>
#include <string>
#include <vector>

namespace dnheap {

struct CrashInfo {
  enum class Reason : u8 { unknown, unhandled_exception, fail_fast, internal_failure };
  Reason reason = Reason::unknown;
  u64 thread = 0; // as the operating system numbers it
  std::string message;
  Address exception = 0, inner = 0; // objects, as they lay then; 0: none
  std::string exception_type, inner_type;
  std::string exception_message;
  std::optional<u32> hresult;
  struct Frame {
    Address method = 0; // where its code begins; 0: not said
    std::string name;   // as stack traces have it; empty: not said
  };
  std::vector<Frame> stack; // that the exception passed through, innermost first; at most most_frames
  static constexpr u64 most_frames = 256;
};

// Nullopt: there is none, or several.
std::optional<CrashInfo> find_crash_info(const Target &target, const Module &module);

} // namespace dnheap
