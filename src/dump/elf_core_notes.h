// The notes of an ELF core: threads, mapped files, auxiliary vector, program. Costs a pass over the notes. For
// dump/elf_core.cc alone.
#pragma once
#include "dump/modules.h"
#include "image/elf_format.h"
#include "target/target.h"

namespace dnheap {

// Fills threads, auxv, program, pid and dump_kind of `target`; returns the files that were mapped.
std::vector<MappedExtent> read_core_notes(const ElfHeader &header, const std::vector<ElfSegment> &segments, Bytes file,
                                          Target &target);

} // namespace dnheap
