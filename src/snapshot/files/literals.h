// Literals: finds the string literals of programs' code: the #US heaps (ECMA-335 II.24.2.4) of assemblies' metadata. No
// answer uses them, but a search that follows possible pointers can read any page. For ExtractedBytes alone. Costs a
// search for four bytes through the given pages and the images of assemblies.
#pragma once
#include "target/read_record.h"
#include "target/target.h"

#include <utility>
#include <vector>

namespace dnheap {

// Returns stretches [start, end) by address, for all metadata whose root is in one of these pages or in a module of the
// target.
std::vector<std::pair<Address, Address>> find_literals(const Target &target,
                                                       const std::vector<ReadRecord::Page> &pages);

} // namespace dnheap
