// extract_core: writes a small ELF core that holds exactly what answers about the heap need: everything read from the
// target so far (Snapshot::reads(), so ask all questions first), in whole pages, all objects, and the stacks in use.
// The same question asked of the core reads the same bytes. Streams: memory of a few MiB, one pass over the heap.
#pragma once
#include "snapshot/snapshot.h"

namespace dnheap {

struct ExtractOptions {
  std::string path; // compressed if it ends in .zst
  // Writes zeros for everything except words that were read, objects' types, lengths and references, and words on
  // stacks that point into the heap, a module or a stack.
  bool no_values = false;
};

struct ExtractedCore {
  u64 file_bytes = 0;                                   // as written
  u64 memory_bytes = 0;                                 // bytes of the target in the core
  u64 heap_bytes = 0, stack_bytes = 0, other_bytes = 0; // a byte of several kinds counts for the first
  u64 segments = 0;
};

// Throws Error if the core cannot be written, and then leaves no file.
ExtractedCore extract_core(const Snapshot &snapshot, const ExtractOptions &options);

} // namespace dnheap
