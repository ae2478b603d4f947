// GcInfoX86: the JIT's data on a method for x86: the layout of its frame (there are no unwind codes), and where it
// keeps references: at which code offsets, in which registers and stack slots. Versions 4 and 5, of .NET 10 and 11, in
// which handlers are functions of their own. The constructor reads the header (some ten bytes), the functions read the
// rest: O(size) per question, 1 MiB at most. Nothing is kept. Any thread. Format: dotnet/runtime
// src/coreclr/inc/gcdecoder.cpp, gcinfotypes.h, vm/gc_unwind_x86.inl; see doc/contracts.md, GCInfo.
#pragma once
#include "runtime/compiled/gc_info.h"
#include "target/memory.h"

namespace dnheap {

// Register numbers of machine code.
enum class X86Register : u8 { eax, ecx, edx, ebx, esp, ebp, esi, edi };

class GcInfoX86 {
public:
  GcInfoX86(const Memory &memory, Address address, u32 version);

  // The outcome of reading the header. If it is not done, no other function may be called.
  const ReadOutcome &outcome() const { return outcome_; }

  u32 code_length() const { return code_length_; }
  // Bytes of stack arguments, which the method removes when it returns.
  u32 argument_bytes() const { return is_vararg_ ? 0 : 4 * arguments_; }
  u32 local_bytes() const { return 4 * locals_; }
  // The registers that it saves for its caller, in the order of pushing.
  std::vector<X86Register> saved() const;
  bool has_frame_pointer() const { return has_frame_pointer_; }
  bool has_handlers() const { return has_handlers_; }
  bool is_in_prolog(u64 offset) const { return offset < prolog_size_; }
  bool is_in_epilog(u64 offset) const;

  // Counts the bytes of arguments on the stack at that offset, for calls that are still to come.
  ReadOutcome pushed_bytes(u64 offset, u64 &out) const;
  // Lists the slots that hold references at that point. `is_funclet`: the point is in a handler.
  ReadOutcome live_slots(const CodePoint &point, bool is_funclet, std::vector<GcSlot> &out) const;

private:
  class Reader;
  // State at a point in the code: masks by register number, and the pushed references, in the order of pushing.
  struct Place {
    u32 registers = 0, interior = 0, pushed = 0; // pushed: words
    std::vector<GcSlot> arguments;
  };

  void read_header(Reader &reader);
  Place place_at(Reader &reader, const CodePoint &point, bool is_funclet) const;
  Place in_interruptible_code(Reader &reader, const CodePoint &point, bool is_funclet) const;
  Place at_call_with_frame(Reader &reader, u64 offset) const;
  Place at_call_without_frame(Reader &reader, u64 offset) const;
  void add_untracked(Reader &reader, bool are_wanted, GcSlot::Base base, u32 pushed, std::vector<GcSlot> &out) const;
  void add_tracked(Reader &reader, u64 offset, GcSlot::Base base, u32 pushed, std::vector<GcSlot> &out) const;

  const Memory *memory_;
  u32 version_;
  ReadOutcome outcome_;
  u32 code_length_ = 0, prolog_size_ = 0, epilog_size_ = 0, arguments_ = 0, locals_ = 0; // the last two in words
  u32 untracked_ = 0, tracked_ = 0, no_gc_regions_ = 0;
  u8 saved_ = 0; // bits: edi, esi, ebx, ebp
  bool has_frame_pointer_ = false, is_interruptible_ = false, is_double_aligned_ = false, has_handlers_ = false,
       has_localloc_ = false, is_vararg_ = false;
  std::vector<u32> epilogs_; // start offsets
  Address tables_ = 0;       // after the header
  u32 arguments_at_ = 0;     // offset of the argument table from tables_; 0: it follows the other tables
};

} // namespace dnheap
