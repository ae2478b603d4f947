// SymbolFile: an ELF file, with the symbols of functions that it has: in its own tables, and in the small ELF file that
// Fedora and its kin compress into its section .gnu_debugdata, whose table has the functions that .dynsym lacks.
// Nothing in it is trusted: what cannot be decompressed within the bound is left out. Any thread; names point into this
// object. For NativeFunctions.
#pragma once
#include "base/host/host.h"
#include "image/elf_sections.h"

#include <memory>
#include <vector>

namespace dnheap {

class SymbolFile {
public:
  // The small file may take up to `most` bytes, decompressed.
  explicit SymbolFile(std::shared_ptr<const MappedFile> file, u64 most = most_decompressed);

  // Returns the nearest of the functions that find_elf_function() finds in either table.
  std::optional<ElfFunction> find_function(u64 address) const;
  u64 decompressed_bytes() const { return inner_.size(); }

  static constexpr u64 most_decompressed = 64 << 20;

private:
  std::shared_ptr<const MappedFile> file_;
  std::vector<std::byte> inner_;
};

} // namespace dnheap
