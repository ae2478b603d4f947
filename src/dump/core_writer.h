// The front of an ELF core: header, program headers and notes, for whoever then writes the segments' bytes, one after
// the other, behind it. Beside the notes that any reader of cores knows (of Linux: program, threads, auxiliary vector,
// mapped files) it has dnheap's own (dump/extracted.h), which say all that a Target does. For snapshot/extract.cc.
#pragma once
#include "target/target.h"

#include <span>
#include <vector>

namespace dnheap {

struct CoreSegment {
  Address address = 0;
  u64 size = 0;
};

// `target.extraction` must be set. `initial`: what of Target::initial goes into the core.
std::vector<std::byte> core_front(const Target &target, std::span<const CoreSegment> segments,
                                  std::span<const Range> initial);

} // namespace dnheap
