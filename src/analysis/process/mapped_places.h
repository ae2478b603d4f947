// MappedPlaces: the files and memory mapped in a process, as its dump lists them. The account divides these places
// among classes of memory, and the search for resident pages looks through the same. O(mappings + modules). Any thread.
#pragma once
#include "target/target.h"

#include <vector>

namespace dnheap {

// A mapped range as the container lists it.
struct MappedPlace {
  Mapping mapping;
  bool is_file = false;
};

// Returns everything that is mapped: the container's mappings, or if it has none its ranges of bytes, and extents of
// modules that lie elsewhere.
std::vector<MappedPlace> mapped_places(const Target &target);

} // namespace dnheap
