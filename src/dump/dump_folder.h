// Finds the one dump in a folder: as a collector leaves it, with the dump's modules and texts about it beside it, or as
// what was unpacked from an archive. A dump that was split into numbered parts counts as one. For dump/open.cc.
#pragma once
#include "base/bytes.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace dnheap {

// Returns the length that a file's headers give the dump in it: ~0 if that is unknown, nullopt if it is no dump.
using DumpLength = std::function<std::optional<u64>(Bytes file)>;

// Returns the dump's file, or its parts in their order. Looks at the first bytes of all files below the folder, at most
// 10,000; follows no link. Throws Error ("FOLDER: …") if there is no dump, if there are several, or if a part
// is missing.
std::vector<std::string> find_dump_in(const std::string &folder, const DumpLength &length_of);

} // namespace dnheap
