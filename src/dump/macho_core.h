// Mach-O cores, as createdump, lldb and the kernel of macOS write them. Memory points into the file, nothing is copied.
// Reads load commands, notes, the records of the dynamic linker in the memory, and the headers of images. For
// dump/open.cc alone.
#pragma once
#include "target/target.h"

#include <optional>

namespace dnheap {

// Returns null if `file` is not a Mach-O core; throws Error if it is one that cannot be read. `storage` keeps `file`
// alive.
std::unique_ptr<Target> open_macho_core(Bytes file, std::shared_ptr<const void> storage);

// Returns the length of the core that begins with these bytes, from its load commands: ~0 if these are incomplete;
// nullopt: not a Mach-O core.
std::optional<u64> length_of_macho_core(Bytes first);

} // namespace dnheap
