// What a heap stores for nothing, as rows that never count a byte twice, for every answer that sums it up. One parallel
// pass over the heap, one over its references, and one for its holes. Throws Error, Interrupted. One thread.
//
// The rules, in their order; what an earlier one has taken no later one counts:
//  1. Collections (inspect/collection_shapes.h) and the arrays that belong to one of them alone: an empty one wastes
//  all of that; one
//     with one element all but the element's place; one that is less than a third full the unused places. Builders
//     count by characters, and are not asked for one element. What consists of nodes or segments wastes nothing. Arrays
//     of collections are never equal arrays, nor mostly zero.
//  2. Boxes: what they take beyond the value, which would stand where the reference is. A static field's box does not
//  count.
//  3. Strings, arrays without references, and small objects without references (up to 128 bytes, and with fields) of
//  equal type and
//     content: all but one of each.
//  4. Arrays of 256 bytes or more of which at most a tenth of the elements is not zero: the zeros.
//  5. Free objects beside a pinned object.
// What lies in frozen segments, which the GC never frees, is not waste.
#pragma once
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
  free_beside_pins
};
const char *name_of(WasteKind kind); // "duplicate_strings", …

inline constexpr u64 most_small_object = 128;  // bytes, header included
inline constexpr u64 least_sparse_array = 256; // bytes of elements
inline constexpr u64 least_others_share = 10;  // at most one in so many is not zero
constexpr bool is_over_allocated(u64 count, u64 capacity) { return 3 * count < capacity; }

struct WasteRow {
  WasteKind kind = WasteKind::duplicate_strings;
  std::string what; // the type; of holes that of the pinned object
  // What holds it: "Shop.Quote._currency", "System.String[]", "static Shop.Cache.s_names"; of holes the pin.
  std::string field;
  u64 count = 0;
  u64 bytes = 0; // that fixing would save
};

struct Waste {
  u64 bytes = 0;                  // of all rows
  std::vector<WasteRow> rows;     // most bytes first
  std::vector<std::string> notes; // what cannot be told
  bool lacks_contents = false;    // as the core was extracted without them, or strings are not known
};

// What a Snapshot has to work out for it; its own passes are "waste", "holders" and, of all objects, "walk".
inline constexpr Passes passes_of_waste = Pass::index | Pass::tally | Pass::references;
// Of the objects that pass; only what `filter.among` has counts as holder. Holes count where all objects do.
Waste find_waste(Snapshot &snapshot, const ObjectFilter &filter);
Waste find_waste(Snapshot &snapshot);
// Of what is alive, for who has the graph already, and knows that.
Waste find_live_waste(Snapshot &snapshot, const HeapBits &live);

} // namespace dnheap
