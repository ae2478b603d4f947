// A HeapBuilder's process as the ELF core that a kernel would have written of it: for tests that need a file.
#pragma once
#include "support/elf_writer.h"
#include "support/heap_builder.h"

namespace dnheap::test {

// The runtime's memory first, the heap last; every range one segment. Change it, then write().
ElfCoreWriter core_writer(HeapBuilder &heap);
// The file itself.
std::string core_file(HeapBuilder &heap);

} // namespace dnheap::test
