// Object contract, version 1: the first words of an object, and its size; the same for all kinds of runtime. The walk
// calls this once per object, so it is inline. Spec: dotnet/runtime docs/design/datacontracts/Object.md.
#pragma once
#include "target/memory.h"

#include <algorithm>

namespace dnheap {

// Bits of the first word that the GC borrows while it marks: those that are zero in every MethodTable pointer.
constexpr u64 mark_bits(Format format) { return format.pointer_size - 1u; }
// Returns the MethodTable in the first word of an object.
constexpr Address method_table_in(u64 word, Format format) { return word & ~mark_bits(format); }
// Returns the MethodTable of the object at that address; 0: it is not in the target.
inline Address method_table_of(const Memory &memory, Address object) {
  return method_table_in(memory.try_pointer(object).value_or(0), memory.format());
}

// Returns the least size of an object, header included: the computed size of the empty string, 22, is less.
constexpr u64 smallest_object(Format format) { return 3 * u64{format.pointer_size}; }
// Returns the size without rounding, as ClrMD and SOS report it. Types without components have component size 0. The
// product is < 2^48.
constexpr u64 object_size(u32 base_size, u32 component_size, u32 components, Format format) {
  return std::max(base_size + u64{component_size} * components, smallest_object(format));
}

} // namespace dnheap
