// Finds the pages of a dump with a non-zero byte: these were resident when the dump was taken. Other pages may not have
// been. Reads each page of the given ranges up to its first non-zero byte, in parallel; in a dump that mostly has
// objects this costs little more than touching each page.
#pragma once
#include "target/memory.h"

#include <span>
#include <utility>
#include <vector>

namespace dnheap {

// Returns [start, end) by address, in units of 4 KiB or up to a range's end; adjacent ones are merged. `among`: ranges
// [start, end) to look at, by address and without overlaps.
std::vector<std::pair<Address, Address>>
written_pages(const Memory &memory, std::span<const std::pair<Address, Address>> among, unsigned threads);

} // namespace dnheap
