// Reads the notes of an ELF core: threads, mapped files, auxiliary vector, program; in an extracted core also dnheap's
// own. Costs a pass over the notes. For dump/elf_core.cc and dump/core_writer.cc.
#pragma once
#include "dump/modules.h"
#include "image/elf_format.h"
#include "target/target.h"

namespace dnheap {

enum : u32 { note_prstatus = 1, note_prpsinfo = 3, note_auxv = 6, note_file = 0x46494c45, note_siginfo = 0x53494749 };

// Returns the offset of the general registers in NT_PRSTATUS (struct elf_prstatus).
constexpr u64 registers_in_status(Format format) { return format.pointer_size == 8 ? 112 : 72; }

struct CoreNotes {
  std::vector<MappedExtent> files; // that were mapped
  Bytes description;               // in an extracted core: see dump/extracted.h
  std::vector<Range> initial;
};

// Fills threads, crash, auxv, program, pid and dump_kind of `target`.
CoreNotes read_core_notes(const ElfHeader &header, const std::vector<ElfSegment> &segments, Bytes file, Target &target);

} // namespace dnheap
