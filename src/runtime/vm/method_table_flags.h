// Bits of MethodTable.MTFlags: dotnet/runtime docs/design/datacontracts/RuntimeTypeSystem.md,
// src/coreclr/vm/methodtable.h.
#pragma once
#include "base/integers.h"

namespace dnheap {

inline constexpr u32 mt_has_component_size = 0x80000000; // the low 16 bits are then the component size
inline constexpr u32 mt_contains_gc_pointers = 0x01000000;
inline constexpr u32 mt_category_mask = 0x000f0000;
inline constexpr u32 mt_category_array = 0x00080000; // with bit 0x20000: a vector (one dimension, from 0)
inline constexpr u32 mt_category_sz_array_bit = 0x00020000;
inline constexpr u32 mt_category_value_mask = 0x000c0000, mt_category_value = 0x00040000; // structs and primitives
inline constexpr u32 mt_category_primitive_mask = 0x000e0000, mt_category_primitive = 0x00060000; // primitives and
                                                                                                  // enums
inline constexpr u32 mt_generics_mask = 0x30; // only without component size
inline constexpr u32 mt_generics_typical = 0x30;
inline constexpr u32 mt_contains_generic_variables = 0x20000000;
// Flags of a type whose managed LoaderAllocator lives as long as its objects: the first in .NET 9 and later, the second
// in 8.0 (where the row number is a MethodTable.Token of 16 bits).
inline constexpr u32 mt_collectible = 0x00200000, mt_collectible_with_token = 0x10000000;

constexpr bool is_array(u32 flags) { return (flags & 0xc0000) == mt_category_array; }
constexpr bool is_sz_array(u32 flags) { return is_array(flags) && (flags & mt_category_sz_array_bit); }

} // namespace dnheap
