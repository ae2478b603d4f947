// GcInfoX86: the JIT's data on a method for x86: the layout of its frame (there are no unwind codes), and where it
// keeps references: at which code offsets, in which registers and stack slots. Versions 4 and 5, of .NET 10 and 11, in
// which handlers are functions of their own. The constructor reads the header (some ten bytes), the functions read the
// rest: O(size) per question, 1 MiB at most. Nothing is kept. Any thread. Format: dotnet/runtime
// src/coreclr/inc/gcdecoder.cpp, gcinfotypes.h, vm/gc_unwind_x86.inl; see doc/contracts.md, GCInfo.
#pragma once
#include "runtime/compiled/gc_info.h"
#include "runtime/compiled/x86/gc_header_x86.h"

namespace dnheap {

class GcInfoX86 {
public:
  GcInfoX86(const Memory &memory, Address address, u32 version);

  // The outcome of reading the header. If it is not done, no other function may be called.
  const ReadOutcome &outcome() const { return outcome_; }

  u32 code_length() const { return header_.code_length; }
  // Bytes of stack arguments, which the method removes when it returns.
  u32 argument_bytes() const { return header_.is_vararg ? 0 : 4 * header_.arguments; }
  u32 local_bytes() const { return 4 * header_.locals; }
  // The registers that it saves for its caller, in the order of pushing.
  std::vector<X86Register> saved() const;
  bool has_frame_pointer() const { return header_.has_frame_pointer; }
  bool has_handlers() const { return header_.has_handlers; }
  bool is_in_prolog(u64 offset) const { return offset < header_.prolog_size; }
  bool is_in_epilog(u64 offset) const;

  // Counts the bytes of arguments on the stack at that offset, for calls that are still to come.
  ReadOutcome pushed_bytes(u64 offset, u64 &out) const;
  // Lists the slots that hold references at that point. `is_funclet`: the point is in a handler.
  ReadOutcome live_slots(const CodePoint &point, bool is_funclet, std::vector<GcSlot> &out) const;

private:
  void add_untracked(GcBytesX86 &bytes, bool are_wanted, GcSlot::Base base, u32 pushed, std::vector<GcSlot> &out) const;
  void add_tracked(GcBytesX86 &bytes, u64 offset, GcSlot::Base base, u32 pushed, std::vector<GcSlot> &out) const;

  const Memory *memory_;
  ReadOutcome outcome_;
  GcHeaderX86 header_;
};

} // namespace dnheap
