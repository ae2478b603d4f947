// Sections and symbols of an ELF file: what is there for debuggers and linkers, and never mapped. For separate debug
// files (NAME.dbg, NAME.debug). Nothing is trusted: what does not fit is empty. Cost is linear in the symbols, or in
// what a compressed section holds. Any thread; what is returned points into the bytes.
#pragma once
#include "image/elf_format.h"

#include <functional>
#include <memory>

namespace dnheap {

// The content of the section of that name; empty where there is none, or the file does not hold it.
Bytes find_elf_section(Bytes file, std::string_view name);

// The same, decompressed if it was compressed (SHF_COMPRESSED, zlib or zstd); empty, too, where that fails, or gives
// more than 1 GiB.
struct ElfSectionContent {
  Bytes bytes;
  std::shared_ptr<const void> storage; // keeps them alive; null: they lie in the file
};
ElfSectionContent read_elf_section(Bytes file, std::string_view name);

// Of the note of that kind in any section.
std::vector<u8> elf_section_build_id(Bytes file);

// Every symbol of the file's whole table (.symtab) that is defined, with its address as the file has it.
void for_each_elf_symbol(Bytes file, const std::function<void(u64 address, std::string_view name)> &visit);

// The function in which an address lies, as the file has it: by its whole table of symbols, or that of exported ones.
// Of functions whose size is not told the nearest one below; of exported ones only where they begin, as others may lie
// between. Nullopt: in none that has a name.
struct ElfFunction {
  std::string_view name;
  u64 start = 0;
};
std::optional<ElfFunction> find_elf_function(Bytes file, u64 address);

} // namespace dnheap
