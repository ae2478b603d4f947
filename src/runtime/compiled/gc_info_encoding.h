// How the fields of GC info are encoded, by processor: the widths of its numbers, and what its offsets count. One
// table; everything else of the format is the same everywhere. Numbers of the groups: dotnet/runtime
// src/coreclr/inc/gcinfotypes.h. Nothing here costs anything; any thread.
#pragma once
#include "target/target.h"

namespace dnheap {

struct GcInfoEncoding {
  Architecture architecture;
  // Bits of a number's group, by what the number is.
  u8 code_length, prolog_size, epilog_size, stack_slot_of_header, stack_base_register, stack_area, preserved_area;
  u8 safe_points, ranges, range_delta, registers, stack_slots, untracked_slots;
  u8 register_number, register_delta, stack_slot, stack_slot_delta, pointer_size, run, skip;
  bool has_fixed_frame; // a number more for what Edit and Continue preserves
  u8 frame_pointer;     // its number, which the stack base register is told against
  u8 stack_pointer;     // never holds a reference
  u8 register_count;    // numbers of registers are below
  u8 instruction_size;  // what code lengths, and from version 4 on code offsets, count
  u8 stack_unit;        // what offsets on the stack count
  u8 chunk_bits;        // log2 of the code offsets that one chunk of lifetimes is about
};

// Null: none is known.
const GcInfoEncoding *gc_info_encoding(Architecture architecture);

} // namespace dnheap
