// Writes a .pdb of native code with public symbols, for tests: streams of blocks, and no more than a reader of public
// symbols needs. Fill the struct, call write().
#pragma once
#include "base/bytes.h"

#include <string>
#include <vector>

namespace dnheap::test {

struct PdbWriter {
  struct Section {
    u32 rva = 0, size = 0;
    bool executable = true;
  };
  struct Symbol {
    u16 section = 1; // from 1
    u32 offset = 0;
    std::string name = {};
  };

  u32 block_size = 512;
  u32 age = 1;
  bool rearranged = false;
  std::vector<Section> sections = {{0x1000, 0x1000}};
  std::vector<Symbol> symbols = {};

  // The GUID has the bytes 1 to 16, as PeWriter's.
  std::vector<std::byte> write() const;
};

} // namespace dnheap::test
