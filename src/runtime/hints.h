// RuntimeHints: facts about a runtime that the caller adds to the target's own, or wants ignored. Plain data.
#pragma once
#include "runtime/gc.h"

namespace dnheap {

struct RuntimeHints {
  // Values of the descriptor (TYPE.FIELD, or a global) to treat as not found, to see which results need them.
  std::vector<std::string> left_out = {};
  // Readers for versions of the GC contract that dnheap does not know.
  std::vector<GcReader> gc_readers = {};
  // CoreRT: nothing in its memory format (NF16) leads to these two.
  std::optional<Address> eetype_contract = {};   // the EEType contract's section
  std::vector<Address> allocation_contexts = {}; // addresses of the threads' allocation contexts
};

} // namespace dnheap
