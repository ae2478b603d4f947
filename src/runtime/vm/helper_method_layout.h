// Layout of a HelperMethodFrame: .NET 8 and 9 leave one in runtime functions that managed code calls directly. It has
// the registers at the start of the runtime function: that function has to be unwound first to get the caller's.
// src/coreclr/vm/frames.h, {unix,amd64,arm64}/…/gmsasm of release/8.0 and 9.0. Plain data.
#pragma once
#include "target/target.h"

#include <span>

namespace dnheap {

struct HelperMethodLayout {
  HelperMethodLayout(Architecture architecture, OperatingSystem os);

  u64 entry = 40; // start of the runtime function
  u64 ip, sp;     // of the caller, once they are known
  u64 captured;   // registers at the time when the frame was made, in the order of `registers`
  u64 places;     // addresses of the caller's registers, once these are known
  u64 known;      // not zero: the caller is known; only `known_size` bytes count
  u64 known_size;
  u64 unwound; // the caller's registers that lie nowhere else; 0: there are none
  u64 captured_sp;
  u64 end;
  std::span<const u8> registers; // numbers of the registers that a function preserves

  // True if the caller is known, with this word at `known`.
  bool is_known(u64 word) const { return (known_size == 4 ? static_cast<u32>(word) : word) != 0; }
};

} // namespace dnheap
