// Writes a small PE file for tests: .text (RVA 0x2000, in the file at 0x400) with CLI header, metadata, exports, debug
// directory, base relocations and a word that they change; .data (RVA 0x4000), larger in memory than in the file.
#pragma once
#include "support/elf_writer.h"
#include "target/memory.h"

namespace dnheap::test {

struct PeWriter {
  static constexpr u32 text_rva = 0x2000, text_offset = 0x400, text_size = 0x400, data_rva = 0x4000,
                       data_offset = 0x800, data_size = 0x200, image_size = 0x6000;
  static constexpr u32 cli = text_rva, metadata = text_rva + 0x80, exports = text_rva + 0x100, debug = text_rva + 0x200,
                       code_view = text_rva + 0x240, relocations = text_rva + 0x280, imports = text_rva + 0x300,
                       constant_pointer = text_rva + 0x380, variable_pointer = data_rva + 0x20,
                       ready_to_run = text_rva + 0x48, // behind the CLI header
      functions = text_rva + 0x390, unwind_data = text_rva + 0x3b0, code = 0x5000;

  bool wide = true;
  u32 cli_size = 72; // 0: not managed
  u32 time_date_stamp = 0x5eadbeef;
  bool is_text_run = true; // false: the first section is read only, as .rdata
  // It was compiled ahead of time, and lists these tables.
  struct Table {
    u32 kind, rva, size;
  };
  std::vector<Table> tables = {};
  bool portable = false; // its .pdb, by GUID and stamp; and one that lies inside: eight bytes of data
  u64 image_base() const { return wide ? 0x180000000 : 0x400000; }

  // Two functions of 256 bytes, from `code` on, push rbx and keep 32 bytes.
  // Both pointers lead to `metadata`. The .pdb's GUID has the bytes 1 to 16.
  std::vector<std::byte> write() const;
  // The same as the Windows loader or the runtime would map it.
  static std::vector<Range> mapped(Bytes file, Address base) {
    return {{base, file.first(0x400)},
            {base + text_rva, file.subspan(text_offset, text_size)},
            {base + data_rva, file.subspan(data_offset, data_size)}};
  }
};

} // namespace dnheap::test
