// What a heap stores for nothing, as rows that never count a byte twice, for every answer that sums it up. One parallel
// pass over the heap and one over its references. Throws Error, Interrupted. One thread.
#pragma once
#include "snapshot/snapshot.h"

#include <string>
#include <vector>

namespace dnheap {

struct ObjectFilter;

enum class WasteKind : u8 { duplicate_strings };
const char *name_of(WasteKind kind); // "duplicate_strings", …

struct WasteRow {
  WasteKind kind = WasteKind::duplicate_strings;
  std::string what;  // the type
  std::string field; // what holds it: "Shop.Quote._currency", "System.String[]", "static Shop.Cache.s_names"
  u64 count = 0;
  u64 bytes = 0; // that fixing would save
};

struct Waste {
  u64 bytes = 0;              // of all rows
  std::vector<WasteRow> rows; // most bytes first
  std::vector<std::string> notes;
};

// What a Snapshot has to work out for it, and the passes of its own (plan.h).
Passes passes_of_waste();
// Of all objects, or those that pass.
Waste find_waste(Snapshot &snapshot, const ObjectFilter &filter);
Waste find_waste(Snapshot &snapshot);

} // namespace dnheap
