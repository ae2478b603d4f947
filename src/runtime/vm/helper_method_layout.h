// Where a HelperMethodFrame keeps what: .NET 8 and 9 leave one in runtime functions that managed code calls directly.
// Its registers are those of the runtime function, as it began: who wants the caller's has to leave that function
// first. src/coreclr/vm/frames.h, {unix,amd64,arm64}/…/gmsasm of release/8.0 and 9.0. Plain data.
#pragma once
#include "target/target.h"

#include <span>

namespace dnheap {

struct HelperMethodLayout {
  HelperMethodLayout(Architecture architecture, OperatingSystem os);

  u64 entry = 40; // where the runtime function begins
  u64 ip, sp;     // of the caller, once they are known
  u64 captured;   // registers when the frame was made, in the order of `registers`
  u64 places;     // where the caller's lie, once that is known
  u64 known;      // not zero: they are; as many bytes of it count
  u64 known_size;
  u64 unwound; // the caller's that lie nowhere else; 0: there are none
  u64 captured_sp;
  u64 end;
  std::span<const u8> registers; // the caller's that a function keeps, by number

  // Is the caller known, with this word at `known`?
  bool is_known(u64 word) const { return (known_size == 4 ? static_cast<u32>(word) : word) != 0; }
};

} // namespace dnheap
