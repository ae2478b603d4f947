// ReadOutcome: how reading something of the target that has a format went: done; the dump lacks a byte of it; or it
// breaks the format's rules, and then nothing of it counts. Plain data.
#pragma once
#include "base/integers.h"

#include <string>

namespace dnheap {

struct ReadOutcome {
  enum class Kind : u8 { done, missing, malformed };
  Kind kind = Kind::done;
  Address at = 0;        // missing: the byte that is
  const char *what = ""; // malformed: the rule that is broken

  explicit operator bool() const { return kind == Kind::done; }
  std::string text() const; // "memory at 7f…10 is not in this dump"

  static ReadOutcome missing(Address at) { return {Kind::missing, at, ""}; }
  static ReadOutcome malformed(const char *what) { return {Kind::malformed, 0, what}; }
};

} // namespace dnheap
