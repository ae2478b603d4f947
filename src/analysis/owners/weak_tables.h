// WeakTables: by which ConditionalWeakTable the values of some keys are kept. A dependent handle says which object
// keeps which; the table that has the handle says whose values they are. Reads all dependent handles, and the entries
// of all such tables, up to 64 MiB; nothing where no handle has one of the keys. One thread.
#pragma once
#include "snapshot/snapshot.h"

#include <string>
#include <unordered_map>
#include <vector>

namespace dnheap {

struct WeakTable {
  u64 handles = 0;   // dependent handles that have this key
  std::string field; // that holds the table which has most of these: "static Shop.Session._state"; empty: none has them
};

// By key; what is no key of a dependent handle is left out. Throws Interrupted.
std::unordered_map<Address, WeakTable> find_weak_tables(Snapshot &snapshot, const std::vector<Address> &keys);

} // namespace dnheap
