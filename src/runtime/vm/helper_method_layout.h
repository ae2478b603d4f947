// Where a HelperMethodFrame keeps what: .NET 8 and 9 leave one in runtime functions that managed code calls directly.
// Its registers are those of the runtime function, as it began: who wants the caller's has to leave that function
// first. src/coreclr/vm/frames.h, {unix,amd64}/…/gmsasm of release/8.0 and 9.0. Plain data.
#pragma once
#include "base/integers.h"

#include <span>

namespace dnheap {

struct HelperMethodLayout {
  explicit HelperMethodLayout(bool is_windows);

  u64 entry = 40; // where the runtime function begins
  u64 ip, sp;     // of the caller, once they are known
  u64 captured;   // registers when the frame was made, in the order of `registers`
  u64 places;     // where the caller's lie, once that is known
  u64 return_place;
  u64 unwound; // the caller's that lie nowhere else; 0: there are none
  u64 captured_sp;
  u64 end;
  std::span<const u8> registers;
};

} // namespace dnheap
