// Writes the front of an ELF core: header, program headers and notes; the caller then writes the segments' bytes after
// it, one after the other. Besides the notes known to every reader of cores (for Linux: program, threads, auxiliary
// vector, mapped files) there are dnheap's own (dump/extracted.h), which contain everything in a Target. For
// snapshot/extract.cc.
#pragma once
#include "target/target.h"

#include <span>
#include <vector>

namespace dnheap {

struct CoreSegment {
  Address address = 0;
  u64 size = 0;
};

// `target.extraction` must be set. `initial`: the part of Target::initial that goes into the core.
std::vector<std::byte> core_front(const Target &target, std::span<const CoreSegment> segments,
                                  std::span<const Range> initial);

} // namespace dnheap
