// Sections and symbols of an ELF file, which debuggers and linkers use and which are never mapped. For separate debug
// files (NAME.dbg, NAME.debug). Nothing is trusted: invalid data are empty. Cost is linear in the symbols, or in the
// content of a compressed section. Any thread; results point into the bytes.
#pragma once
#include "image/elf_format.h"

#include <functional>
#include <memory>

namespace dnheap {

// Returns the content of the section with that name; empty if there is none, or if the file does not contain it.
Bytes find_elf_section(Bytes file, std::string_view name);

// The same, decompressed if it was compressed (SHF_COMPRESSED, zlib or zstd); also empty if that fails, or yields more
// than 1 GiB.
struct ElfSectionContent {
  Bytes bytes;
  std::shared_ptr<const void> storage; // owns the bytes; null: they are in the file
};
ElfSectionContent read_elf_section(Bytes file, std::string_view name);

// Returns the build id from a note in any section.
std::vector<u8> elf_section_build_id(Bytes file);

// Calls visit for every defined symbol of the file's full table (.symtab), with its address in the file.
void for_each_elf_symbol(Bytes file, const std::function<void(u64 address, std::string_view name)> &visit);

// find_elf_function() returns the function that contains an address of the file, from the full symbol table, or else
// from the exported symbols. For functions of unknown size it takes the nearest one below; for exported ones only their
// exact start, as others may lie between. Nullopt: no function with a name.
struct ElfFunction {
  std::string_view name;
  u64 start = 0;
};
std::optional<ElfFunction> find_elf_function(Bytes file, u64 address);

} // namespace dnheap
