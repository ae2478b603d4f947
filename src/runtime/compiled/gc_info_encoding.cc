#include "runtime/compiled/gc_info_encoding.h"

namespace dnheap {

namespace {

constexpr GcInfoEncoding encodings[] = {
    {.architecture = Architecture::x64,
     .code_length = 8,
     .prolog_size = 5,
     .epilog_size = 3,
     .stack_slot_of_header = 6,
     .stack_base_register = 3,
     .stack_area = 3,
     .preserved_area = 4,
     .safe_points = 2,
     .ranges = 1,
     .range_delta = 6,
     .registers = 2,
     .stack_slots = 2,
     .untracked_slots = 1,
     .register_number = 3,
     .register_delta = 2,
     .stack_slot = 6,
     .stack_slot_delta = 4,
     .pointer_size = 3,
     .run = 2,
     .skip = 4,
     .has_fixed_frame = false,
     .frame_pointer = 5,
     .stack_pointer = 4,
     .register_count = 16,
     .instruction_size = 1,
     .stack_unit = 8,
     .chunk_bits = 6},
    {.architecture = Architecture::arm64,
     .code_length = 8,
     .prolog_size = 5,
     .epilog_size = 3,
     .stack_slot_of_header = 6,
     .stack_base_register = 2,
     .stack_area = 3,
     .preserved_area = 4,
     .safe_points = 3,
     .ranges = 1,
     .range_delta = 6,
     .registers = 3,
     .stack_slots = 2,
     .untracked_slots = 1,
     .register_number = 3,
     .register_delta = 2,
     .stack_slot = 6,
     .stack_slot_delta = 4,
     .pointer_size = 3,
     .run = 2,
     .skip = 4,
     .has_fixed_frame = true,
     .frame_pointer = 29,
     .stack_pointer = 31,
     .register_count = 31,
     .instruction_size = 4,
     .stack_unit = 8,
     .chunk_bits = 6},
};

} // namespace

const GcInfoEncoding *gc_info_encoding(Architecture architecture) {
  for (const GcInfoEncoding &encoding : encodings)
    if (encoding.architecture == architecture)
      return &encoding;
  return nullptr;
}

} // namespace dnheap
