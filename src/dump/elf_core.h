// ELF cores: what kernels, createdump and gcore write. Memory points into the file, nothing is copied; reads the
// headers and notes only, so it costs the same for a core larger than memory. For dump/open.cc alone.
#pragma once
#include "target/target.h"

#include <optional>

namespace dnheap {

// Null when `file` is not an ELF core; throws Error when it is one that cannot be read. `storage` keeps `file` alive.
std::unique_ptr<Target> open_elf_core(Bytes file, std::shared_ptr<const void> storage);

// How long the core is that begins with these bytes, by its headers: ~0 where they do not say, or are not all among
// them; nullopt: it is no ELF file.
std::optional<u64> length_of_elf(Bytes first);

} // namespace dnheap
