// CrashInfo: the record that a program writes before it ends itself: the reason, the thread, the exception. Plain data.
#pragma once
#include "base/integers.h"

#include <optional>
#include <string>
#include <vector>

namespace dnheap {

struct CrashInfo {
  enum class Reason : u8 { unknown, unhandled_exception, fail_fast, internal_failure };
  Reason reason = Reason::unknown;
  u64 thread = 0; // OS id
  std::string message;
  Address exception = 0, inner = 0; // objects, at their addresses of that time; 0: none
  std::string exception_type, inner_type;
  std::string exception_message;
  std::optional<u32> hresult;
  struct Frame {
    Address method = 0; // start of its code; 0: not recorded
    std::string name;   // as stack traces spell it; empty: not recorded
  };
  std::vector<Frame> stack; // frames that the exception passed through, innermost first; at most most_frames
  static constexpr u64 most_frames = 256;
};

} // namespace dnheap
