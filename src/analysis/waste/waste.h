// The waste of a heap, as rows that never count a byte twice, for every answer that sums it up. One parallel pass over
// the heap, one over its references, and one for its holes. Throws Error, Interrupted. Not for several threads at once.
//
// The rules, in their order; a byte that an earlier rule counts is not counted by a later one:
//  1. Collections (analysis/shapes/collections/collection_shapes.h), each with the arrays that belong to it alone. An
//  empty
//     collection wastes all of its bytes; a collection with a single element wastes all but the element's place; a
//     collection that is less than a third full wastes its unused places; a larger one already if a quarter of its
//     places is unused and these have 64 KiB or more. Builders count by characters, and the rule for one element does
//     not apply to them. Owners of a buffer (MemoryStream) count as builders; an empty one wastes nothing but its
//     buffer. Collections of nodes or segments waste nothing. Arrays of collections never count as equal or mostly
//     zero.
//  2. Boxes: their bytes beyond the value, which would be stored in place of the reference. A static field's box does
//     not count.
//  3. Strings, arrays without references, and small objects without references (up to 128 bytes, and with fields) of
//     equal type and content: all but one of each.
//  4. Arrays of 256 bytes or more in which at most a tenth of the elements is not zero: the zeros. Arrays that are all
//     zero count here alone, and by themselves: nothing was written to them yet, so they are no copies to be shared.
//     Buffers for transfers and of pools do not count as arrays that are equal or zero: it is their work to be there.
//  5. Free objects beside a pinned object.
// Objects in frozen segments, which the GC never frees, are not waste.
#pragma once
#include "base/notes.h"
#include "snapshot/snapshot.h"

#include <string>
#include <vector>

namespace dnheap {

struct ObjectFilter;

enum class WasteKind : u8 {
  duplicate_strings,
  duplicate_arrays,
  duplicate_objects,
  mostly_zero_arrays,
  empty_collections,
  one_element_collections,
  over_allocated_collections,
  boxes,
  free_beside_pins,
  zero_arrays,
  unused_room
};
const char *name_of(WasteKind kind); // "duplicate_strings", …

inline constexpr u64 most_small_object = 128;                    // bytes, header included
inline constexpr u64 least_sparse_array = 256;                   // bytes of elements
inline constexpr u64 least_others_share = 10;                    // at most one element in this many is not zero
inline constexpr u64 least_room = 64 << 10, least_room_part = 4; // bytes; one in this many is not used
constexpr bool is_much_room(u64 unused, u64 whole) { return unused >= least_room && unused >= whole / least_room_part; }
constexpr bool is_over_allocated(u64 count, u64 capacity) { return 3 * count < capacity; }

struct WasteRow {
  WasteKind kind = WasteKind::duplicate_strings;
  std::string what; // the type; for holes the type of the pinned object
  // The field that holds it: "Shop.Quote._currency", "System.String[]", "static Shop.Cache.s_names"; for holes the pin.
  std::string field;
  u64 count = 0;
  u64 bytes = 0; // bytes that a fix would save
};

struct Waste {
  u64 bytes = 0;              // of all rows
  std::vector<WasteRow> rows; // most bytes first
  Notes notes;                // what is unknown
};

// The passes that a Snapshot needs for it; its own passes are "waste", "holders" and, for all objects, "walk".
inline constexpr Passes passes_of_waste = Pass::index | Pass::tally | Pass::references;
// Counts the objects that pass the filter; only objects in `filter.among` count as holders. Holes count only if the
// filter lets all objects pass.
Waste find_waste(const Snapshot &snapshot, const ObjectFilter &filter);
Waste find_waste(const Snapshot &snapshot);
// Counts live objects. For callers that have the graph already, and know which objects are alive.
Waste find_live_waste(const Snapshot &snapshot, const HeapBits &live);

} // namespace dnheap
