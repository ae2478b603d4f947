// ELF cores, as kernels, createdump and gcore write them. Memory points into the file, nothing is copied. Reads only
// headers and notes, so a core larger than memory costs no more. For dump/open.cc alone.
#pragma once
#include "target/target.h"

#include <optional>

namespace dnheap {

// Returns null if `file` is not an ELF core; throws Error if it is one that cannot be read. `storage` keeps `file`
// alive.
std::unique_ptr<Target> open_elf_core(Bytes file, std::shared_ptr<const void> storage);

// Returns the length of the core that begins with these bytes, from its headers: ~0 if they do not say, or are
// incomplete; nullopt: not an ELF file.
std::optional<u64> length_of_elf(Bytes first);

} // namespace dnheap
