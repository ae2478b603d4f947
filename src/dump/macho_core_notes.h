// The notes (LC_NOTE) that lldb puts into Mach-O cores: images, numbers of threads, how many bits addresses have. Pure
// parsing of bytes; notes of unknown versions and invalid rows are left out. For dump/macho_core.cc.
#pragma once
#include "base/bytes.h"

#include <optional>
#include <string>
#include <vector>

namespace dnheap {

struct MachoNoteImage {
  std::string path;
  Address base = 0;
};

struct MachoCoreNotes {
  bool any = false;
  std::vector<MachoNoteImage> images; // "all image infos", "load binary"
  std::vector<Address> linkers;       // "main bin spec": where the dynamic linker, or the program, may lie
  std::vector<u64> threads;           // "process metadata": in the order of the thread commands; 0: unknown
  std::optional<u32> address_bits;    // "addrable bits"
};

// Adds what one note says. `name`: its owner field; `content`: what it points at; `file`: what its offsets count from.
void read_macho_note(std::string_view name, Bytes content, Bytes file, MachoCoreNotes &out);

} // namespace dnheap
