// extract_core: writes a small ELF core that holds what answers about the heap rest on, and nothing else: whatever of
// the target was read so far (Snapshot::reads(), so ask all questions first), whole pages of it, all objects, and the
// stacks in use. Whoever then asks the core the same reads the same. Streams: memory of a few MiB, one pass over the
// heap.
#pragma once
#include "snapshot/snapshot.h"

namespace dnheap {

struct ExtractOptions {
  std::string path; // compressed if it ends in .zst
  // Everything is zeros but the words that were read, objects' types, lengths and references, and the words on stacks
  // that point into the heap, a module or a stack.
  bool no_values = false;
};

struct ExtractedCore {
  u64 file_bytes = 0;                                   // as written
  u64 memory_bytes = 0;                                 // of the target that it holds
  u64 heap_bytes = 0, stack_bytes = 0, other_bytes = 0; // parts of these; what is of several counts for the first
  u64 segments = 0;
};

// Throws Error when it cannot be written; then there is no file.
ExtractedCore extract_core(Snapshot &snapshot, const ExtractOptions &options);

} // namespace dnheap
