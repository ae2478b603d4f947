// GC handles: their kinds, and the GC contract's data on one handle. Plain data; Gc1::get_handles (gc_1.h) fills it.
// Spec: dotnet/runtime docs/design/datacontracts/GC.md, GetHandles; kinds: gc/gcinterface.h, HandleType.
#pragma once
#include "base/integers.h"

#include <optional>
#include <vector>

namespace dnheap {

// The numbers are those of the handle tables in all versions. The contract lacks variable, async_pinned, sized_ref and
// weak_native_com, which tables of .NET 8 and of standalone GCs may hold.
enum class HandleType : u8 {
  weak_short = 0,
  weak_long = 1,
  strong = 2,
  pinned = 3,
  variable = 4,
  ref_counted = 5,
  dependent = 6,
  async_pinned = 7,
  sized_ref = 8,
  weak_native_com = 9,
  weak_interior_pointer = 10, // a weak handle that also updates a pointer into the object; .NET 9 and later
  cross_reference = 11,       // .NET 10 and later
};
inline constexpr u32 handle_type_count = 12;
const char *name_of(HandleType type); // "weak_short", …

// True if a handle of that kind always keeps its object alive. False for ref_counted, which does so only while its
// count is not 0.
bool is_strong(HandleType type);
// True if the handle has a second word: a dependent handle's secondary object, the address of a weak_interior_pointer's
// pointer, a cross_reference's context.
bool has_secondary(HandleType type);

struct HandleData {
  Address handle = 0; // the slot
  Address object = 0; // the object in the slot; never null
  HandleType type = HandleType::weak_short;
  bool strong_reference = false;
  // The second word, for the kinds that have one (has_secondary()); absent if the handle's block has no second words.
  // May be null.
  std::optional<Address> secondary = {};
  // The COM wrapper's count of a ref_counted handle, in runtimes with built-in COM that publish its place.
  std::optional<u32> ref_count = {};
  u32 table = 0; // number of its table: 0 for workstation GC, else the processor on which the handle was made
};

} // namespace dnheap
