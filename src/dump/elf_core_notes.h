// The notes of an ELF core: threads, modules, auxiliary vector, program. Costs a pass over the notes, and one look at
// the ELF or PE header of each module. For dump/elf_core.cc alone.
#pragma once
#include "image/elf_format.h"
#include "target/target.h"

namespace dnheap {

// Fills threads, modules, auxv, program, pid and dump_kind of `target`, whose memory is complete already.
void read_core_notes(const ElfHeader &header, const std::vector<ElfSegment> &segments, Bytes file, Target &target);

} // namespace dnheap
