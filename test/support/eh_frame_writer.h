// Writes .eh_frame with its sorted table, or .debug_frame, for tests: one CIE, and an FDE for each function; and a
// small ELF image of x64 around them. Fill the struct, call write().
#pragma once
#include "support/elf_writer.h"

namespace dnheap::test {

// One of x64's functions where it is called: what is behind the stack pointer, and where it returns to.
inline constexpr u8 entry_instructions[] = {0x0c, 7, 8, 0x80 | 16, 1}; // def_cfa rsp+8; offset rip at cfa-8

struct FrameFunction {
  u64 start = 0, size = 0; // in the image
  std::vector<u8> instructions = {};
};

struct EhFrameWriter {
  Format format = {};
  std::string augmentation = "zR";
  std::vector<u8> augmentation_data = {0x1b}; // pointers are relative to their place, of four bytes
  std::vector<u8> shared_instructions = {std::begin(entry_instructions), std::end(entry_instructions)};
  std::vector<FrameFunction> functions = {}; // by start

  // An image whose code lies in [code_at, frames_at), and is not written.
  static constexpr u64 code_at = 0x1000, frames_at = 0x10000;
  std::vector<std::byte> image() const;
  // What .debug_frame has for the same functions.
  std::vector<std::byte> debug_frame() const;
};

} // namespace dnheap::test
