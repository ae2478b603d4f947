// WeakTables: finds the ConditionalWeakTable that keeps the values of given keys. A dependent handle shows which object
// keeps which other one; the table that contains the handle shows which class uses it. Reads all dependent handles, and
// the entries of all such tables up to 64 MiB; reads nothing if no handle has one of the keys. Not for several threads
// at once.
#pragma once
#include "snapshot/snapshot.h"

#include <string>
#include <unordered_map>
#include <vector>

namespace dnheap {

struct WeakTable {
  u64 handles = 0;   // dependent handles that have this key
  std::string field; // the field that holds the table with most of these handles: "static Shop.Session._state"; empty:
                     // no table has any
};

// Returns the tables by key; objects that are not a key of a dependent handle are left out. Throws Interrupted.
std::unordered_map<Address, WeakTable> find_weak_tables(const Snapshot &snapshot, const std::vector<Address> &keys);

} // namespace dnheap
