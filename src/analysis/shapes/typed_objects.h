// Finds all objects of some types, by the graph if there is one, else by one parallel walk of the heap: 16 bytes for
// each, in order of addresses.
// Snapshot::tally() lists the types; asking for many types costs no more than asking for one. Throws Error,
// Interrupted.
#pragma once
#include "snapshot/snapshot.h"

#include <functional>

namespace dnheap {

struct TypedObject {
  Address address = 0, method_table = 0;
};

// Returns the types in the heap for which `passes` is true, ascending; never Free.
std::vector<Address> types_that(const Snapshot &snapshot, const std::function<bool(Address)> &passes);

// Returns the objects of these types, by address. `method_tables`: ascending.
std::vector<TypedObject> objects_of(const Snapshot &snapshot, const std::vector<Address> &method_tables);
// Returns the objects of the types for which `passes` is true.
std::vector<TypedObject> objects_that(const Snapshot &snapshot, const std::function<bool(Address)> &passes);
// Returns the objects of the types of this full name.
std::vector<TypedObject> objects_called(const Snapshot &snapshot, std::string_view type);

inline bool is_young_generation(GCSegmentGeneration generation) {
  return generation == GCSegmentGeneration::gen0 || generation == GCSegmentGeneration::gen1;
}
struct YoungObjects {
  std::vector<TypedObject> list; // by address
  bool is_everything = true;     // false: ranges beyond the limit were left out
};
// Returns the objects in gen0 and gen1 of the types for which `passes` is true: a walk of these generations alone, by
// one thread, which needs no tally. At most `most_bytes` are walked.
YoungObjects young_objects_that(const Snapshot &snapshot, const std::function<bool(Address)> &passes, u64 most_bytes);

// Returns the number of these objects without a walk, from the tally. Free does not count.
u64 count_that(const Snapshot &snapshot, const std::function<bool(Address)> &passes);
u64 count_called(const Snapshot &snapshot, std::string_view type);

std::vector<Address> addresses_of(const std::vector<TypedObject> &objects);

} // namespace dnheap
