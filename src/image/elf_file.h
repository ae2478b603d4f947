// ElfFile: lays out an ELF program or library file in memory as the loader would: to supply what is not in a dump, and
// to examine files (lay it out into a Memory, then use ElfImage). parse() reads the headers only; layout() copies only
// the writable segments, usually well below a megabyte. For dump/, contract/, runtime/; const functions from any
// thread. The bytes must outlive the file and its layouts.
#pragma once
#include "image/elf_format.h"
#include "target/memory.h"

#include <memory>

namespace dnheap {

class ElfFile {
public:
  // Nullopt unless `file` is an ELF program or library with complete program headers.
  static std::optional<ElfFile> parse(Bytes file);

  u16 machine() const { return header_.machine; }
  Format format() const { return header_.format; }
  std::vector<u8> build_id() const;

  // Returns the bytes that the loader would put into memory with the start of the file at `base`: read-only segments
  // directly from the file, writable ones as copies (owned by `storage`) with relative relocations applied. Words that
  // need another module's symbols, and .bss, are left out, since the file does not contain their values. Writable
  // segments have their *initial* contents: the caller must consider that the process may have changed them.
  std::vector<Range> layout(Address base, std::vector<std::shared_ptr<const void>> &storage) const;

private:
  ElfFile(Bytes file, const ElfHeader &header) : file_(file), header_(header) {}
  // Returns the segment's bytes in the file.
  Bytes content(const ElfSegment &segment) const;

  Bytes file_;
  ElfHeader header_;
  std::vector<ElfSegment> segments_;
};

} // namespace dnheap
