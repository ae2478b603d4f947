// Writes separate debug files for tests, in all four formats: an ELF file of sections only, with build id,
// symbols, and whatever else.
#pragma once
#include "support/elf_writer.h"

namespace dnheap::test {

struct DebugFileWriter {
  struct Symbol {
    std::string name = {};
    u64 address = 0;
    u16 section = 1; // 0: undefined
    u64 size = 0;
    u8 kind = 0; // 2: a function
  };

  Format format;
  std::vector<u8> build_id = {};
  std::vector<Symbol> symbols = {};
  bool exports = false;        // the symbols are those of .dynsym
  std::string debug_link = {}; // of a program: what it calls its debug file
  struct Section {
    std::string name = {};
    std::vector<std::byte> content = {};
    u32 flags = 0;
  };
  std::vector<Section> more = {};

  std::vector<std::byte> write() const;
};

} // namespace dnheap::test
