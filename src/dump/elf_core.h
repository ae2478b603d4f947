// ELF cores: what kernels, createdump and gcore write. Memory points into the file, nothing is copied; reads the
// headers and notes only, so it costs the same for a core larger than memory. For dump/open.cc alone.
#pragma once
#include "target/target.h"

namespace dnheap {

// Null when `file` is not an ELF core; throws Error when it is one that cannot be read. `storage` keeps `file` alive.
std::unique_ptr<Target> open_elf_core(Bytes file, std::shared_ptr<const void> storage);

} // namespace dnheap
