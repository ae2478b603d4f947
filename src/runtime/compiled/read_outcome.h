// ReadOutcome: the result of reading formatted data of the target: done; a byte is not in the dump; or the data breaks
// the format's rules, and then none of the data counts. Plain data.
#pragma once
#include "base/integers.h"

#include <string>

namespace dnheap {

struct ReadOutcome {
  enum class Kind : u8 { done, missing, malformed };
  Kind kind = Kind::done;
  Address at = 0;        // of the missing byte; else 0
  const char *what = ""; // malformed: the broken rule

  explicit operator bool() const { return kind == Kind::done; }
  std::string text() const; // "memory at 7f…10 is not in this dump"

  static ReadOutcome missing(Address at) { return {Kind::missing, at, ""}; }
  static ReadOutcome malformed(const char *what) { return {Kind::malformed, 0, what}; }
};

} // namespace dnheap
