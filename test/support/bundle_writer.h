// Writes a single-file program for tests: some program, the mark with the place of the list, files, the list.
// Source: dotnet/runtime src/installer/managed/Microsoft.NET.HostModel/Bundle/Manifest.cs.
#pragma once
#include "support/elf_writer.h"

#include <optional>

namespace dnheap::test {

struct BundleWriter {
  struct File {
    std::string path = {};
    std::vector<std::byte> bytes = {};
    u64 uncompressed_size = 0; // 0: it is not compressed
    u64 alignment = 16;
  };

  std::vector<std::byte> program = {};
  u32 version = 6;
  std::vector<File> files = {};
  std::optional<u64> list = {}; // in place of where it is

  std::vector<std::byte> write() const;
  // Where a file begins in what write() gives.
  u64 offset_of(u64 index) const;
};

} // namespace dnheap::test
