// Turns a list of mapped pieces of files (NT_FILE, /proc/PID/maps) into modules by finding the pieces that belong to
// one mapping of a file. Costs one look at the header of each module. For the openers in dump/.
#pragma once
#include "target/target.h"

namespace dnheap {

struct MappedExtent {
  std::string_view path;
  Extent extent;
};

// A file may be mapped several times: every managed assembly is, once flat and once section by section. The modules and
// their extents are sorted by address.
std::vector<Module> group_into_modules(std::vector<MappedExtent> files, const Memory &memory);

} // namespace dnheap
