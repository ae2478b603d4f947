// WeakEntries: all dependent handles, by the ConditionalWeakTable that has them; a handle that no table has is one that
// somebody made as a DependentHandle. A walk of the heap for the tables; reads the handle tables, and the tables'
// entries up to 64 MiB. 40 bytes for each handle. Not for several threads at once.
#pragma once
#include "snapshot/snapshot.h"

#include <vector>

namespace dnheap {

struct WeakEntry {
  Address key = 0, value = 0;
};

struct WeakEntries {
  struct Table {
    Address object = 0; // the ConditionalWeakTable
    std::vector<WeakEntry> entries;
  };
  std::vector<Table> tables;       // those with entries, in order of addresses
  std::vector<WeakEntry> others;   // handles that no table has
  std::vector<Address> containers; // inner objects of tables, which lead back to these
  bool is_cut = false;             // some tables were not read: others may be entries of these
};

// Leaves out handles whose key or value is null. Throws Interrupted.
WeakEntries find_weak_entries(const Snapshot &snapshot);

} // namespace dnheap
