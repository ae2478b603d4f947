// The encoding of GC info's fields, by processor: the widths of its numbers, and the units of its offsets. One table;
// the rest of the format is the same everywhere. Widths of the groups: dotnet/runtime src/coreclr/inc/gcinfotypes.h.
// Nothing here costs anything; any thread.
#pragma once
#include "target/target.h"

namespace dnheap {

struct GcInfoEncoding {
  Architecture architecture;
  // Bits per group, for each kind of number.
  u8 code_length, prolog_size, epilog_size, stack_slot_of_header, stack_base_register, stack_area, preserved_area;
  u8 safe_points, ranges, range_delta, registers, stack_slots, untracked_slots;
  u8 register_number, register_delta, stack_slot, stack_slot_delta, pointer_size, run, skip;
  bool has_fixed_frame; // headers may have one more number: the size of the data that Edit and Continue preserves
  u8 frame_pointer;     // number of the frame pointer's register; that of the stack base is stored relative to it
  u8 stack_pointer;     // never holds a reference
  u8 register_count;    // register numbers are below this
  u8 instruction_size;  // unit of code lengths, and from version 4 on of code offsets
  u8 stack_unit;        // unit of offsets on the stack
  u8 chunk_bits;        // log2 of the code offsets per chunk of lifetimes
};

// Null: unknown processor.
const GcInfoEncoding *gc_info_encoding(Architecture architecture);

} // namespace dnheap
