// Sections and symbols of an ELF file: what is there for debuggers and linkers, and never mapped. For separate debug
// files (NAME.dbg, NAME.debug). Nothing is trusted: what does not fit is empty. Cost is linear in the symbols. Any
// thread; what is returned points into the bytes.
#pragma once
#include "image/elf_format.h"

#include <functional>

namespace dnheap {

// The content of the section of that name; empty where there is none, or the file does not hold it.
Bytes find_elf_section(Bytes file, std::string_view name);

// Of the note of that kind in any section.
std::vector<u8> elf_section_build_id(Bytes file);

// Every symbol of the file's whole table (.symtab) that is defined, with its address as the file has it.
void for_each_elf_symbol(Bytes file, const std::function<void(u64 address, std::string_view name)> &visit);

} // namespace dnheap
