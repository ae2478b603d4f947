// Finds all objects of some types by one parallel walk of the heap: 16 bytes for each, in order of addresses.
// Snapshot::tally() lists the types; asking for many types costs no more than asking for one. Throws Error,
// Interrupted.
#pragma once
#include "snapshot/snapshot.h"

#include <functional>

namespace dnheap {

struct TypedObject {
  Address address = 0, method_table = 0;
};

// Returns the types that occur in the heap and pass, ascending; never Free.
std::vector<Address> types_that(const Snapshot &snapshot, const std::function<bool(Address)> &passes);

// Returns the objects by address, whatever the number of threads. `method_tables`: ascending.
std::vector<TypedObject> objects_of(const Snapshot &snapshot, const std::vector<Address> &method_tables);
// Returns the objects of the types that pass.
std::vector<TypedObject> objects_that(const Snapshot &snapshot, const std::function<bool(Address)> &passes);

// Returns the number of objects of the types that pass, without a walk: the tally has it. Never Free.
u64 count_that(const Snapshot &snapshot, const std::function<bool(Address)> &passes);

std::vector<Address> addresses_of(const std::vector<TypedObject> &objects);

} // namespace dnheap
