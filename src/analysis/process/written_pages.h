// Which pages of a dump hold a byte that is not zero: these had memory when it was taken. Others need not have had any.
// Reads each page of the ranges that are asked about up to its first such byte, in parallel; of a dump that has mostly
// objects that is little more than touching each page.
#pragma once
#include "target/memory.h"

#include <span>
#include <utility>
#include <vector>

namespace dnheap {

// [start, end) by address, of 4 KiB each or where a range ends; neighbours are one. `among`: [start, end) that are
// looked at, by address and without overlaps.
std::vector<std::pair<Address, Address>>
written_pages(const Memory &memory, std::span<const std::pair<Address, Address>> among, unsigned threads);

} // namespace dnheap
