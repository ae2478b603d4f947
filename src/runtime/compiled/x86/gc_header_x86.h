// GcHeaderX86: the begin of a method's GC info for x86: how its frame is laid out, and how long the tables are that
// follow. Some ten bytes; most methods name one of 128 frequent headers and what differs from it. Unwinding needs this
// part only, the tables need it to know what they list. Plain data.
#pragma once
#include "runtime/compiled/x86/gc_bytes_x86.h"

#include <vector>

namespace dnheap {

// Register numbers of machine code.
enum class X86Register : u8 { eax, ecx, edx, ebx, esp, ebp, esi, edi };

// The registers that a method may save for its caller, by their bits in GC info.
inline constexpr X86Register x86_register_of_bit[] = {X86Register::edi, X86Register::esi, X86Register::ebx,
                                                      X86Register::ebp};

struct GcHeaderX86 {
  u32 code_length = 0, prolog_size = 0, epilog_size = 0, arguments = 0, locals = 0; // the last two in words
  u32 untracked = 0, tracked = 0, no_gc_regions = 0;                                // entries of the tables
  u8 saved = 0;                                                                     // bits: edi, esi, ebx, ebp
  bool has_frame_pointer = false, is_interruptible = false, is_double_aligned = false, has_handlers = false,
       has_localloc = false, is_vararg = false;
  std::vector<u32> epilogs; // start offsets
  Address tables = 0;       // after the header
  u32 arguments_at = 0;     // offset of the argument table from `tables`; 0: it follows the other tables
};

// Reads the header, and leaves `bytes` at the tables behind it. The result is valid only if `bytes` has not failed.
GcHeaderX86 read_gc_header_x86(GcBytesX86 &bytes, u32 version);

} // namespace dnheap
