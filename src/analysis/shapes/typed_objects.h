// All objects of some types, found by one parallel walk of the heap: 16 bytes for each, by address. Which types there
// are, Snapshot::tally() tells; asking for a type costs no more than asking for many. Throws Error, Interrupted.
#pragma once
#include "snapshot/snapshot.h"

#include <functional>

namespace dnheap {

struct TypedObject {
  Address address = 0, method_table = 0;
};

// The types that occur in the heap and pass; Free is none. Ascending.
std::vector<Address> types_that(Snapshot &snapshot, const std::function<bool(Address)> &passes);

// By address, whatever the number of threads. `method_tables`: ascending.
std::vector<TypedObject> objects_of(Snapshot &snapshot, const std::vector<Address> &method_tables);
// Of the types that pass.
std::vector<TypedObject> objects_that(Snapshot &snapshot, const std::function<bool(Address)> &passes);

std::vector<Address> addresses_of(const std::vector<TypedObject> &objects);

} // namespace dnheap
