// ElfFile: an ELF program or library as a file, to be laid out in memory as the loader would: for what a dump leaves
// out, and for looking at files (lay it out into a Memory, then use ElfImage). parse() reads the headers only; layout()
// copies the writable segments, usually well below a megabyte, and nothing else.
// For dump/, contract/, runtime/; const functions from any thread. The bytes must outlive the file and its layouts.
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

  // The bytes that the loader would put into memory when the start of the file is at `base`: read-only segments
  // straight from the file, writable ones as copies (kept alive by `storage`) in which relative relocations are
  // applied. Words that need another module's symbols, and .bss, are not part of it: the file does not tell them.
  // Writable segments hold their *initial* contents: what the process wrote later is for the caller to consider.
  std::vector<Range> layout(Address base, std::vector<std::shared_ptr<const void>> &storage) const;

private:
  ElfFile(Bytes file, const ElfHeader &header) : file_(file), header_(header) {}
  // What the file holds of a segment.
  Bytes content(const ElfSegment &segment) const;

  Bytes file_;
  ElfHeader header_;
  std::vector<ElfSegment> segments_;
};

} // namespace dnheap
